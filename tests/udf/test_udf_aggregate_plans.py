"""Aggregate functions in Python in plans: arrays of arguments below, calls above. No Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SqlStreamError
from sqlstream.plan.state import unbounded_state
from sqlstream.sql.statements.parsing import parse
from tests.support.sessions import open_session, optimized_plan

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session

MODULE = """
from pyflink.table import DataTypes, ListView, MapView, TableAggregateFunction
from pyflink.table.udf import AggregateFunction, udaf, udf, udtaf


class Spread(AggregateFunction):
    def create_accumulator(self): return []
    def accumulate(self, accumulator, x: int, times: int = 1): accumulator.append(x * times)
    def get_value(self, accumulator) -> int: return max(accumulator) - min(accumulator)


spread = udaf(Spread())


class Drift(Spread):
    def retract(self, accumulator, x: int, times: int = 1): accumulator.remove(x * times)


drift = udaf(Drift())
mean = udaf(lambda x: x.mean(), result_type="DOUBLE", func_type="pandas")
twice = udf(lambda x: 2 * x, input_types="BIGINT", result_type="BIGINT")


class Top(TableAggregateFunction):
    def create_accumulator(self): return []
    def accumulate(self, accumulator, value): accumulator.append(value)
    def emit_value(self, accumulator): yield max(accumulator)


top = udtaf(Top(), result_type="BIGINT")
"""

TABLE = (
    "CREATE TABLE r (k STRING, x BIGINT, y BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '/nowhere', "
    "'format' = 'json', 'source.monitor-interval' = '1 s');"
)
WINDOWS = "TABLE(TUMBLE(TABLE r, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "udfs").mkdir()
    (tmp_path / "udfs" / "groups.py").write_text(MODULE)
    return open_session(tmp_path, TABLE)


def plan(session: Session, sql: str) -> list[str]:
    return [line.strip(" +-") for line in optimized_plan(session, sql).splitlines()]


def test_a_group_aggregate(session: Session) -> None:
    found = plan(
        session,
        "SELECT k, spread(x) AS a, spread(x) + 1 AS b, mean(x) AS c, COUNT(*) AS n, spread(DISTINCT x, 2) FILTER (WHERE y > 1) AS d FROM r GROUP BY k HAVING spread(x) > 1",
    )
    # A function of columns is given all rows.
    assert found[1:4] == [
        "Calc(where=[(a > 1)], changelogMode=[I,UB,UA])",
        "Calc(select=[k, SPREAD($rows0) AS a, MEAN($rows1) AS c, n, SPREAD($rows2) AS d], changelogMode=[I,UB,UA])",
        "GroupAggregate(groupBy=[k], select=[k, COUNT(*) AS n, ACCUMULATOR(x) AS $rows0, ARGUMENTS(x) AS $rows1, ACCUMULATOR(DISTINCT x, 2) FILTER (WHERE $f1) AS $rows2], changelogMode=[I,UB,UA])",
    ]


def aggregates(session: Session, sql: str) -> str:
    (line,) = [line for line in plan(session, sql) if "$rows" in line and line.startswith(("GroupAggregate(", "WindowAggregate(", "OverAggregate("))]
    return line.split("select=[")[1].split("]")[0]


def test_where_an_accumulator_stands_for_rows(session: Session) -> None:
    """Where rows go it needs a retract; windows and batch mode have all rows anyway."""
    changing = "(SELECT k, SUM(x) AS x FROM r GROUP BY k)"
    assert aggregates(session, "SELECT spread(x), drift(x) FROM r") == "ACCUMULATOR(x) AS $rows0, ACCUMULATOR(x) AS $rows1"
    assert aggregates(session, f"SELECT spread(x), drift(x), drift(DISTINCT x), mean(x) FROM {changing}") == (
        "ARGUMENTS(x) AS $rows0, ACCUMULATOR(x) AS $rows1, ACCUMULATOR(DISTINCT x) AS $rows2"
    )
    assert aggregates(session, f"SELECT drift(x) FROM {WINDOWS} GROUP BY window_start, window_end").endswith(" ARGUMENTS(x) AS $rows0")
    list(
        session.run(
            "SET 'execution.runtime-mode' = 'batch'; CREATE TABLE b (x BIGINT) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json')"
        )
    )
    assert aggregates(session, "SELECT drift(x) FROM b") == "ARGUMENTS(x) AS $rows0"


def test_windows_and_over(session: Session) -> None:
    found = plan(session, f"SELECT window_start, spread(twice(x)) FROM {WINDOWS} GROUP BY window_start, window_end")
    assert "ARGUMENTS(" in next(line for line in found if line.startswith("WindowAggregate("))
    found = plan(session, "SELECT k, spread(x) OVER (PARTITION BY k ORDER BY ts) AS s, COUNT(*) OVER (PARTITION BY k ORDER BY ts) AS n FROM r")
    assert found[0].startswith("Calc(select=[k, SPREAD($rows0) AS s, ")
    assert "ARGUMENTS(x) AS $rows0" in found[1]


def test_a_window_join_reads_their_values(session: Session) -> None:
    side = f"(SELECT window_start, window_end, k, spread(x) AS s FROM {WINDOWS} GROUP BY window_start, window_end, k)"
    found = plan(
        session, f"SELECT a.s, b.s FROM {side} AS a JOIN {side} AS b ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.k = b.k"
    )
    places = [
        next(i for i, line in enumerate(found) if text in line) for text in ("collects=[rows, rows]", "SPREAD($rows0) AS s", "WindowAggregate(")
    ]
    assert places == sorted(places)


def test_state_that_grows_is_told(session: Session) -> None:
    def bounds(sql: str) -> list[str]:
        return [kept.bound for kept in unbounded_state(session.planner.plans(parse(sql))[0].plan)]

    for kept in ("mean(x) FROM r", "spread(x) FROM (SELECT k, SUM(x) AS x FROM r GROUP BY k)"):
        assert bounds(f"SELECT {kept}")[0].endswith(
            "a pandas aggregate function, or one without retract over rows that are retracted, keeps all rows of a group"
        )
    (bound,) = bounds("SELECT k, spread(x) FROM r GROUP BY k")
    assert bound.endswith("keeps groups until it closes")
    assert bounds("SELECT spread(x) FROM r") == []
    (bound,) = bounds("SELECT spread(x) OVER (ORDER BY ts) FROM r")
    assert bound.endswith("functions in Python keep them")
    assert bounds("SELECT spread(x) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM r") == []
    assert bounds(f"SELECT spread(x) FROM {WINDOWS} GROUP BY window_start, window_end") == []
    assert bounds("SELECT SUM(x) FROM r") == bounds("SELECT SUM(x) OVER (ORDER BY ts) FROM r") == []


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT top(x) FROM r", "TOP can't be called: SQL has no call of table aggregate functions, in Flink either."),
        ("SELECT spread(spread(x)) FROM r", "Aggregate expressions cannot be nested"),
        ("SELECT k FROM r WHERE EXISTS (SELECT spread(x) FROM r AS o WHERE o.k = r.k HAVING spread(x) > 1)", "EXISTS of an aggregate without GROUP BY that has HAVING or LIMIT is not supported."),
        ("SELECT * FROM r MATCH_RECOGNIZE (ORDER BY ts MEASURES spread(A.x) AS s PATTERN (A B) DEFINE B AS B.x > 1)", "Python Function can not be used in MATCH_RECOGNIZE for now."),
        ("SELECT * FROM r MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(A.x) AS s PATTERN (A B) DEFINE B AS twice(B.x) > 1)", "Python Function can not be used in MATCH_RECOGNIZE for now."),
    ],
)  # fmt: skip
def test_calls_that_are_refused(session: Session, sql: str, problem: str) -> None:
    with pytest.raises(SqlStreamError) as raised:
        list(session.run(f"EXPLAIN {sql}"))
    assert raised.value.message == problem


def test_a_sub_query_of_each_row(session: Session) -> None:
    found = plan(session, "SELECT k FROM r WHERE x > (SELECT spread(x) FROM r AS o WHERE o.k = r.k)")
    assert any(line.startswith("GroupAggregate(groupBy=[k], select=[k, ACCUMULATOR(x) AS $rows0]") for line in found)


def test_an_examples_aggregate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from sqlstream.cli.main import main

    (tmp_path / "udfs").mkdir()
    (tmp_path / "udfs" / "means.py").write_text(
        "from sqlstream.udf import udaf\n\n\n@udaf(input_types=['BIGINT', 'DOUBLE'], result_type='DOUBLE', func_type='pandas')\ndef mean(x, w):\n"
        "    '''\n    >>> mean([1, None, 3], [1.0, 1.0, 3.0])\n    2.5\n    >>> mean([], [])\n    '''\n    return (x * w).sum() / w[x.notna()].sum() if len(x) else None\n"
    )
    assert main(["test-udf", "--project", str(tmp_path), str(tmp_path / "udfs" / "means.py")]) == 0, capsys.readouterr().out
