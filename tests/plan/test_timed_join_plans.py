"""Which joins are interval joins and which regular, as Flink decides it, and what gives versions for a temporal join."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import NotSupported, ValidationError
from tests.support.sessions import optimized_plan

if TYPE_CHECKING:
    from sqlstream.session.session import Session

DECLARATIONS = """
CREATE TABLE a (k INT, v STRING, n INT, ts TIMESTAMP(3), t2 TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE b (k INT, v STRING, n INT, ts TIMESTAMP(3), t2 TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE z (k INT, v STRING, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE p (k INT, v STRING, t AS PROCTIME()) WITH ('connector' = 'datagen');
CREATE TABLE r (k INT, rate INT, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE r2 (k INT, v STRING, rate INT, ts TIMESTAMP(3), PRIMARY KEY (k, v) NOT ENFORCED, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE still (k INT, rate INT, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'datagen');
CREATE VIEW last_b AS SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n0 FROM b) WHERE n0 = 1;
CREATE VIEW upper_b AS SELECT k AS id, UPPER(v) AS v, ts FROM last_b;
CREATE VIEW other_key AS SELECT k + 1 AS k, v, ts FROM last_b;
CREATE VIEW some_b AS SELECT * FROM last_b WHERE v <> 'x';
CREATE VIEW first_b AS SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n0 FROM b) WHERE n0 = 1;
CREATE VIEW two_b AS SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n0 FROM b) WHERE n0 <= 2;
CREATE VIEW largest AS SELECT k, MAX(v) AS v FROM b GROUP BY k;
CREATE VIEW pairs AS SELECT a.k, a.ts, b.ts AS other FROM a LEFT JOIN b ON a.k = b.k AND a.ts BETWEEN b.ts AND b.ts + INTERVAL '1' HOUR;
CREATE VIEW rated AS SELECT a.k, a.ts, b.rate FROM a LEFT JOIN r FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k;
"""


INTERVALS = {
    "BETWEEN": ("a.ts BETWEEN b.ts - INTERVAL '5' SECOND AND b.ts + INTERVAL '3' SECOND", -5000, 3000),
    "inequalities": ("b.ts < a.ts + INTERVAL '5' SECOND AND a.ts < b.ts + INTERVAL '3' SECOND AND a.v > b.v", -4999, 2999),
    "equal times": ("a.ts = b.ts", 0, 0),
    "by the other side": ("b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR", -3600000, 0),
    "TIMESTAMPADD": ("TIMESTAMPADD(HOUR, 1, a.ts) > b.ts AND a.ts < b.ts", -3599999, -1),
    "a month from 1970 on": ("a.ts + INTERVAL '1' MONTH > b.ts AND a.ts < b.ts", -2678399999, -1),
    "an interval that is empty": ("a.ts > b.ts + INTERVAL '5' SECOND AND a.ts < b.ts", 5001, -1),
    "a time that is no attribute besides": ("a.ts >= b.ts AND a.ts <= b.ts + INTERVAL '1' SECOND AND a.t2 < b.ts", 0, 1000),
    "not outside": ("a.ts >= b.ts AND b.ts + INTERVAL '1' SECOND >= a.ts AND (a.v = 'x' OR b.ts > a.ts)", 0, 1000),
}


@pytest.mark.parametrize("kind", ["JOIN", "FULL JOIN"])
@pytest.mark.parametrize(("condition", "lower", "upper"), INTERVALS.values(), ids=INTERVALS)
def test_an_interval_join(session: Session, kind: str, condition: str, lower: int, upper: int) -> None:
    found = optimized_plan(session, f"SELECT a.v, b.v FROM a {kind} b ON a.k = b.k AND {condition}")
    assert f"isRowTime=true, leftLowerBound={lower}, leftUpperBound={upper}," in found
    assert found.count("WatermarkAssigner") == 2


def test_an_interval_join_in_where_without_keys_by_processing_time(session: Session) -> None:
    found = optimized_plan(session, "SELECT x.v, y.v FROM p AS x, p AS y WHERE x.t BETWEEN y.t - INTERVAL '1' MINUTE AND y.t")
    assert "IntervalJoin(joinType=[InnerJoin], windowBounds=[isRowTime=false, leftLowerBound=-60000, leftUpperBound=0" in found


REGULAR = {
    "a time that is no attribute": "a.t2 BETWEEN b.ts AND b.ts + INTERVAL '1' HOUR",
    "one bound": "a.ts > b.ts",
    "two lower bounds": "a.ts > b.ts AND a.ts > b.ts - INTERVAL '1' HOUR",
    "three bounds": "a.ts > b.ts AND a.ts < b.ts + INTERVAL '1' HOUR AND a.ts < b.ts + INTERVAL '2' HOUR",
    "an equality and a bound": "a.ts = b.ts AND a.ts > b.ts - INTERVAL '1' HOUR",
    "an equality that moves a time": "a.ts = b.ts + INTERVAL '1' SECOND",
    "days": "CAST(a.ts AS DATE) = CAST(b.ts AS DATE)",
    "times of two kinds": "b.p BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR",
}


@pytest.mark.parametrize("condition", REGULAR.values(), ids=REGULAR)
def test_a_regular_join(session: Session, condition: str) -> None:
    found = optimized_plan(session, f"SELECT a.v, b.v FROM a JOIN b ON a.k = b.k AND {condition}")
    assert "Join(joinType=[InnerJoin]" in found
    assert "IntervalJoin" not in found
    assert "WatermarkAssigner" not in found


def test_only_what_is_read_is_kept(session: Session) -> None:
    found = optimized_plan(session, "SELECT a.v FROM a JOIN b ON a.k = b.k AND a.ts = b.ts")
    assert "Calc(select=[k AS k0, ts AS ts0]" in found or "Calc(select=[k0, ts0]" in found
    found = optimized_plan(session, "SELECT a.v FROM a JOIN last_b FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k")
    assert "Calc(select=[k AS k0, ts AS ts0]" in found or "Calc(select=[k0, ts0]" in found


@pytest.mark.parametrize(("view", "time"), [("pairs", "ts"), ("pairs", "other"), ("rated", "ts")])
def test_times_stay_attributes(session: Session, view: str, time: str) -> None:
    found = optimized_plan(
        session, f"SELECT window_end, COUNT(*) FROM TUMBLE(TABLE {view}, DESCRIPTOR({time}), INTERVAL '1' HOUR) GROUP BY window_start, window_end"
    )
    assert "WindowAggregate" in found


def test_what_gives_versions(session: Session) -> None:
    assert "OverAggregate" not in optimized_plan(
        session, "SELECT a.k, u.v FROM a JOIN upper_b FOR SYSTEM_TIME AS OF a.ts AS u ON a.k = u.id AND a.n > 3"
    )
    assert "TemporalJoin" in optimized_plan(
        session, "SELECT * FROM a LEFT JOIN r2 FOR SYSTEM_TIME AS OF a.ts ON r2.v = a.v AND r2.k = a.k AND r2.ts < a.t2"
    )


def test_a_condition_behind_where_is_asked_of_the_left_below_a_temporal_join(session: Session) -> None:
    found = optimized_plan(session, "SELECT a.n FROM a JOIN r FOR SYSTEM_TIME AS OF a.ts AS r ON a.k = r.k WHERE r.rate > 5 AND a.n > 3")
    assert [line.strip(" +-|").partition("(")[0] for line in found.splitlines()][:3] == ["Calc", "Calc", "TemporalJoin"]
    above, below = found.split("TemporalJoin")
    assert "rate > 5" in above
    assert "n > 3" in below


REFUSED = {
    "bounds by hours": ("a JOIN b ON FLOOR(a.ts TO HOUR) >= b.ts AND a.ts < b.ts", "The time bound (FLOOR(ts TO HOUR) >= ts0) is not supported."),
    "two types of time": (
        "a JOIN z ON a.ts BETWEEN z.ts AND z.ts + INTERVAL '1' HOUR",
        "Interval join with rowtime attribute requires same rowtime types, but the types are TIMESTAMP(3) *ROWTIME* and TIMESTAMP_LTZ(3) *ROWTIME*.",
    ),
    "processing time beside a rowtime": (
        "p JOIN b ON p.t = b.p",
        "Interval join with proctime attribute requires no event-time attributes are in the join inputs.",
    ),
    "right": ("a RIGHT JOIN r FOR SYSTEM_TIME AS OF a.ts ON a.k = r.k", "Unknown join type RIGHT"),
    "no key": ("a JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.k = b.k", "requires primary key in versioned table, but no primary key can be found."),
    "a part of the key": ("a JOIN r2 FOR SYSTEM_TIME AS OF a.ts ON a.k = r2.k", "requires primary key in versioned table"),
    "another column": ("a JOIN r FOR SYSTEM_TIME AS OF a.ts ON a.n = r.rate", "requires primary key in versioned table"),
    "a key that is computed": ("a JOIN other_key FOR SYSTEM_TIME AS OF a.ts AS o ON a.k = o.k", "requires primary key in versioned table"),
    "a condition without equality": ("a JOIN r FOR SYSTEM_TIME AS OF a.ts ON a.k > r.k", "the join key in Temporal Table Join can not be empty."),
    "a comma": ("a, r FOR SYSTEM_TIME AS OF a.ts WHERE a.k = r.k", "the join key in Temporal Table Join can not be empty."),
    "no rowtime": (
        "a JOIN still FOR SYSTEM_TIME AS OF a.ts ON a.k = still.k",
        "requires both primary key and row time attribute in versioned table, but no row time attribute can be found.",
    ),
    "another type of time": (
        "z JOIN r FOR SYSTEM_TIME AS OF z.ts ON z.k = r.k",
        "but the rowtime types are TIMESTAMP_LTZ(3) *ROWTIME* and TIMESTAMP(3) *ROWTIME*.",
    ),
    "no attribute": ("a JOIN r FOR SYSTEM_TIME AS OF a.t2 ON a.k = r.k", "only supports 'FOR SYSTEM_TIME AS OF' left table's time attribute field"),
    "a filter of versions": (
        "a JOIN some_b FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k",
        "Filter is not allowed for right changelog input of event time temporal join",
    ),
    "first rows": ("a JOIN first_b FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k", "other rows than the last of each key"),
    "two rows": ("a JOIN two_b FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k", "other rows than the last of each key"),
    "an aggregate": ("a JOIN largest FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k", "A temporal join with the versions of GroupAggregate"),
    "an equality besides of the key": (
        "a JOIN r FOR SYSTEM_TIME AS OF a.ts ON a.k = r.k AND a.n = r.rate",
        "(n = rate) in a temporal join is not supported",
    ),
}


@pytest.mark.parametrize(("source", "message"), REFUSED.values(), ids=REFUSED)
def test_refusal(session: Session, source: str, message: str) -> None:
    with pytest.raises((ValidationError, NotSupported)) as error:
        optimized_plan(session, f"SELECT * FROM {source}")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("select", "joined"),
    [
        ("k, rate FROM a JOIN r2 FOR SYSTEM_TIME AS OF a.ts USING (k, v)", "where=[((k = k0) AND (v = v0))]"),
        ("rate FROM (SELECT k, ts AS t FROM a) AS a NATURAL JOIN r FOR SYSTEM_TIME AS OF t", "where=[(k = k0)]"),
    ],
)
def test_a_temporal_join_by_columns_of_one_name(session: Session, select: str, joined: str) -> None:
    assert f"TemporalJoin(joinType=[InnerJoin], {joined}" in optimized_plan(session, f"SELECT {select}")


@pytest.mark.parametrize("asked", ["SELECT a.v FROM a JOIN b ON {0}", "SELECT a.v FROM a JOIN b ON a.k = b.k WHERE {0}"])
def test_a_bound_that_is_not_supported_is_refused_at_its_join(session: Session, asked: str) -> None:
    sql = f"EXPLAIN {asked.format('a.ts > FLOOR(b.ts TO HOUR) AND a.ts < b.ts')}"
    with pytest.raises(NotSupported, match="The time bound .* is not supported") as refused:
        list(session.run(sql))
    assert refused.value.location.column == sql.index("JOIN") + 1


def test_a_join_of_a_view_is_refused_where_the_view_is_read(session: Session) -> None:
    source = "(k INT, rate INT, ts TIMESTAMP(3){0}, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')"
    view = "CREATE VIEW of_rates AS SELECT a.v, rate FROM a JOIN rates FOR SYSTEM_TIME AS OF a.ts ON a.k = rates.k"
    list(
        session.run(
            f"CREATE TABLE rates {source.format(', PRIMARY KEY (k) NOT ENFORCED')};{view};DROP TABLE rates;CREATE TABLE rates {source.format('')}"
        )
    )
    sql = "EXPLAIN SELECT v FROM of_rates"
    with pytest.raises(ValidationError, match="requires primary key in versioned table") as refused:
        list(session.run(sql))
    assert refused.value.location.column == sql.index("of_rates") + 1
