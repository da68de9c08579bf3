"""Which queries run in real time, on which release of Spark, and why others don't."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import NotSupported
from sqlstream.core.spark_releases import RELEASES
from sqlstream.plan.real_time import prevented, replaces
from sqlstream.sql.statements.parsing import parse
from tests.support.sessions import run

if TYPE_CHECKING:
    from sqlstream.plan.nodes import Sink
    from sqlstream.session.session import Session

BROKER = "'properties.bootstrap.servers' = 'h:1'"
TOPIC = f"('connector' = 'kafka', 'topic' = 't', {BROKER}, 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')"
UPSERTS = f"('connector' = 'upsert-kafka', 'topic' = 'u', {BROKER}, 'key.format' = 'json', 'value.format' = 'json')"
DECLARATIONS = f"""
CREATE TABLE e (id INT, k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH {TOPIC};
CREATE TABLE f (id INT, k INT, w INT) WITH {TOPIC};
CREATE TABLE u (id INT, k INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH {UPSERTS};
CREATE TABLE by_k (k BIGINT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH {UPSERTS};
CREATE TABLE by_id (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH {UPSERTS};
CREATE TABLE changes (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH {TOPIC.replace("json", "debezium-json")};
CREATE TABLE rows_ (id INT, n INT) WITH {TOPIC};
CREATE TABLE lake (k BIGINT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'd');
CREATE TABLE base (k BIGINT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/x', 'table-name' = 'd');
CREATE TABLE cut (k BIGINT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/x', 'table-name' = 'd', 'sink.parallelism' = '2');
"""
DECLARATIONS += """
CREATE TABLE names (id INT, n INT) WITH ('connector' = 'filesystem', 'path' = 'd', 'format' = 'json');
"""
FIRST = "(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY v) AS n FROM e) AS a WHERE n = 1)"
BY_MICRO_BATCHES = {
    "processing time in a condition": ("INSERT INTO rows_ SELECT id, v FROM e WHERE PROCTIME() > ts", "The time is that of a micro-batch in "),
    "windows": (
        "INSERT INTO by_k SELECT k, COUNT(*) FROM TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' SECOND) GROUP BY window_start, window_end, k",
        "It has ",
    ),
    "an interval join": ("INSERT INTO rows_ SELECT e.id, x.v FROM e, e AS x WHERE e.id = x.id AND e.ts BETWEEN x.ts AND x.ts", "It has IntervalJoin"),
    "the first row by time": (
        "INSERT INTO rows_ SELECT id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts) AS n FROM e) AS a WHERE n = 1",
        "It has Rank",
    ),
    "state that expires above other state": (
        "INSERT INTO by_k SELECT /*+ STATE_TTL('a' = '1 h') */ v, COUNT(*) FROM (SELECT id, MAX(v) AS v FROM e GROUP BY id) AS a GROUP BY v",
        "State expires above GroupAggregate",
    ),
    "a union above state": (
        "INSERT INTO by_id SELECT id, MAX(n) FROM (SELECT id, v AS n FROM u UNION ALL SELECT id, MAX(w) FROM f GROUP BY id) AS a GROUP BY id",
        "Streams are brought together above ",
    ),
    "a join above state": (f"INSERT INTO by_id SELECT a.id, f.w FROM {FIRST} AS a JOIN f ON a.id = f.id", "Streams are brought together above Rank"),
    "changes of a row from several tasks": (
        "INSERT INTO by_id SELECT id, v FROM changes",
        "The changes of one row of `default_catalog`.`default_database`.`by_id`, by its primary key, come from several tasks of Spark's",
    ),
    "a sink with tasks of its own": ("INSERT INTO cut SELECT k, COUNT(*) FROM e GROUP BY k", "A 'jdbc' table, as "),
    "a lookup of files": (
        "INSERT INTO rows_ SELECT x.id, names.n FROM (SELECT id, PROCTIME() AS p FROM e) AS x JOIN names FOR SYSTEM_TIME AS OF x.p ON x.id = names.id",
        "The table of LookupJoin(table=[default_catalog.default_database.names]",
    ),
    "rows of files alone": ("INSERT INTO rows_ SELECT id, n FROM names", "What it reads ends by itself."),
    "a full join with files": (
        "INSERT INTO by_id SELECT COALESCE(e.id, 0), n FROM e FULL JOIN names ON e.id = names.id",
        "A 'filesystem' table, as ",
    ),
    "a Delta table": ("INSERT INTO lake SELECT k, v FROM e", "A 'delta' table, as "),
}
ROW_BY_ROW = {
    "the latest row by processing time": (
        "INSERT INTO by_id SELECT id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY PROCTIME() DESC) AS n FROM e) AS a WHERE n = 1"
    ),
    "a group, cast to the type of the key": "INSERT INTO by_k SELECT k, COUNT(*) FROM e GROUP BY k",
    "state that expires": "INSERT INTO by_k SELECT /*+ STATE_TTL('e' = '1 h') */ k, COUNT(*) FROM e GROUP BY k",
    "a database": "INSERT INTO base SELECT k, COUNT(*) FROM e GROUP BY k",
    "a join by the key": "INSERT INTO by_id SELECT e.id, f.w FROM e JOIN f ON e.id = f.id",
    "an outer join, whose rows have no key": "INSERT INTO by_id SELECT e.id, f.w FROM e LEFT JOIN f ON e.k = f.k",
    "a join with files": "INSERT INTO rows_ SELECT e.id, n FROM e LEFT JOIN names ON e.id = names.id",
    "files that are counted first": "INSERT INTO rows_ SELECT e.id, m FROM e JOIN (SELECT id, MAX(n) AS m FROM names GROUP BY id) AS c ON e.id = c.id",
    "counts with files": "INSERT INTO by_k SELECT c.k, c.n + names.n FROM (SELECT k, COUNT(*) AS n FROM e GROUP BY k) AS c JOIN names ON c.k = names.id",
    "a lookup": "INSERT INTO rows_ SELECT x.id, x.k FROM (SELECT id, k, PROCTIME() AS p FROM e) AS x JOIN base FOR SYSTEM_TIME AS OF x.p ON x.k = base.k",
    "a topic of changes": "INSERT INTO by_id SELECT id, v FROM u",
    "changes that are counted": "INSERT INTO by_k SELECT k, COUNT(*) FROM u GROUP BY k",
    "a table by key from rows that only come": "INSERT INTO by_id SELECT id, v FROM e",
}

STATELESS = ("a join with files", "files that are counted first", "a lookup", "a topic of changes", "a table by key from rows that only come")


def planned(session: Session, statement: str) -> Sink:
    """The plan of an INSERT."""
    planner = session.context.planner
    return planner.planned(parse(statement), planner.environment()).plan


@pytest.mark.parametrize("what", BY_MICRO_BATCHES)
def test_what_keeps_a_query_from_it(session: Session, what: str) -> None:
    statement, why = BY_MICRO_BATCHES[what]
    told = prevented(planned(session, statement), RELEASES["4.3"], asked=True)
    assert told is not None and told.startswith(why)


@pytest.mark.parametrize("what", ROW_BY_ROW)
def test_what_runs_so(session: Session, what: str) -> None:
    sink = planned(session, ROW_BY_ROW[what])
    assert prevented(sink, RELEASES["4.3"], asked=True) is None
    before = prevented(sink, RELEASES["4.2"], asked=True)
    stateless = what in STATELESS
    assert before is None if stateless else before is not None


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("base SELECT k, COUNT(*) FROM e GROUP BY k", True),
        # Rows that come again take the place of what they were.
        ("by_k SELECT k, COUNT(*) FROM e GROUP BY k", False),
        # A row that was once joined is again.
        ("rows_ SELECT e.id, f.w FROM e JOIN f ON e.id = f.id", False),
        ("base SELECT k, v FROM e", False),
    ],
)
def test_changes_that_can_not_be_taken_back_are_made_by_micro_batches_unless_asked(session: Session, query: str, kept: bool) -> None:
    sink = planned(session, f"INSERT INTO {query}")
    told = prevented(sink, RELEASES["4.3"], asked=False)
    assert prevented(sink, RELEASES["4.3"], asked=True) is None
    assert (told is not None and "keeps what it was given after the last offsets when the job dies" in told) if kept else told is None


def test_a_release_that_can_is_told(session: Session) -> None:
    run(session, "SET 'execution.real-time' = 'true'")
    with pytest.raises(NotSupported, match="which keeps state: Spark 4.2 does that by micro-batches") as met:
        run(session, "EXPLAIN INSERT INTO by_k SELECT k, COUNT(*) FROM e GROUP BY k")
    assert met.value.hint is not None and met.value.hint.startswith("SET 'spark.version' = '4.3', before Spark starts, runs it in real time.")
    with pytest.raises(NotSupported, match="It has ") as met:
        run(session, f"EXPLAIN {BY_MICRO_BATCHES['windows'][0]}")
    assert met.value.hint is not None and "4.3" not in met.value.hint


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("rows_ SELECT id, v FROM e WHERE PROCTIME() > ts", "PROCTIME() > ts"),
        (BY_MICRO_BATCHES["windows"][0], "GROUP BY window_start, window_end, k"),
        (BY_MICRO_BATCHES["the first row by time"][0], "ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts)"),
        (BY_MICRO_BATCHES["a lookup of files"][0], "JOIN names FOR"),
        ("rows_ SELECT e.id, x.v FROM e JOIN e AS x ON e.id = x.id AND e.ts = x.ts", "JOIN e AS x"),
        ("by_id SELECT id, v FROM changes", "by_id SELECT"),
        ("by_id SELECT id, v FROM e UNION ALL SELECT id, MAX(w) FROM f GROUP BY id", "SELECT id, v FROM e UNION"),
        ("by_id SELECT id, v FROM of_windows", "of_windows"),
        # Its projection and that of the sink are one.
        ("by_k SELECT id, twice(v) FROM e", "SELECT id, twice(v)"),
        ("by_k SELECT id, twice(v) FROM (SELECT id, v FROM e)", "SELECT id, twice(v)"),
    ],
)
def test_a_refusal_is_at_the_clause(session: Session, query: str, place: str) -> None:
    (session.project / "udfs").mkdir()
    (session.project / "udfs" / "m.py").write_text("def twice(v: int) -> int:\n    return 2 * v\n")
    run(session, "CREATE TEMPORARY FUNCTION twice AS 'm.twice' LANGUAGE PYTHON")
    run(
        session,
        "CREATE VIEW of_windows AS SELECT id, MAX(v) AS v FROM TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' SECOND) GROUP BY window_start, window_end, id",
    )
    run(session, "SET 'spark.version' = '4.3'; SET 'execution.real-time' = 'true'")
    statement = query if query.startswith("INSERT") else f"INSERT INTO {query}"
    with pytest.raises(NotSupported, match="can't run in real time") as met:
        run(session, f"EXPLAIN\n{statement}")
    assert met.value.location is not None and met.value.location.line == 2
    assert met.value.location.text[met.value.location.column - 1 :].startswith(place)


def test_delta_is_refused_where_there_is_none(session: Session) -> None:
    run(session, "SET 'spark.version' = '4.3'")
    for statement in ("INSERT INTO lake SELECT k, v FROM e", "SELECT * FROM lake"):
        with pytest.raises(
            NotSupported, match="There is no Delta for Spark 4.3, so table 'default_catalog.default_database.lake' can't be used"
        ) as met:
            run(session, f"EXPLAIN {statement}")
        assert met.value.at is not None and met.value.hint is not None and "sqlstream jobs start" in met.value.hint


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("by_k SELECT k, COUNT(*) FROM e GROUP BY k", True),
        # What a condition takes away has to be removed.
        ("by_k SELECT k, COUNT(*) FROM e GROUP BY k HAVING COUNT(*) > 1", False),
        # A constant, and what is computed of the key, are the same in both.
        ("by_k SELECT 1, COUNT(*) FROM e", True),
        ("by_k SELECT COALESCE(k, -1), COUNT(*) FROM e GROUP BY GROUPING SETS ((k), ())", True),
        # A join gives what a row was on by itself where the join's key changes.
        ("by_id SELECT u.id, x.n FROM u JOIN by_id AS x ON u.id = x.id", False),
    ],
)
def test_what_a_row_was_is_left_out_where_what_it_is_follows(session: Session, query: str, expected: bool) -> None:
    assert replaces(planned(session, f"INSERT INTO {query}")) is expected
