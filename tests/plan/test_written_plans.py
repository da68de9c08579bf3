"""EXPLAIN's first tree is what was written: it has the nodes of Flink 2.3's, where a join as of a time is a LogicalCorrelate. The last is what the
rules have made of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from sqlstream.session.session import Session

DECLARATIONS = """
CREATE TABLE a (k STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'datagen');
CREATE TABLE b (j STRING, m INT, us TIMESTAMP(3), WATERMARK FOR us AS us - INTERVAL '5' SECOND) WITH ('connector' = 'datagen');
CREATE TABLE r (cur STRING, rate INT, vs TIMESTAMP(3), WATERMARK FOR vs AS vs, PRIMARY KEY (cur) NOT ENFORCED) WITH ('connector' = 'datagen');
"""
# What Flink's LogicalProject, LogicalFilter, .. are called here.
NAMES = {
    "Calc(select": "Project",
    "Calc(where": "Filter",
    "GroupAggregate(": "Aggregate",
    "WindowTableFunction(": "TableFunctionScan",
    "TableSourceScan(": "TableScan",
}
WRITTEN = {
    "an interval join in WHERE": (
        "SELECT k, m FROM a, b WHERE k = j AND n > 3 AND ts BETWEEN us - INTERVAL '5' SECOND AND us",
        "Project > Filter > Join > WatermarkAssigner > TableScan | WatermarkAssigner > TableScan",
        "IntervalJoin",
    ),
    "a filter above an outer join": (
        "SELECT k, m FROM a LEFT JOIN b ON k = j AND n > 3 WHERE m < 5",
        "Project > Filter > Join > WatermarkAssigner > TableScan | WatermarkAssigner > TableScan",
        "Join",
    ),
    "a window aggregate with HAVING": (
        "SELECT k, window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
        "GROUP BY k, window_start, window_end HAVING COUNT(*) > 2",
        "Project > Filter > Aggregate > Project > TableFunctionScan > WatermarkAssigner > TableScan",
        "WindowAggregate",
    ),
    "a temporal join": (
        "SELECT k, rate FROM a JOIN r FOR SYSTEM_TIME AS OF a.ts ON k = cur WHERE n > 2",
        "Project > Filter > Join > WatermarkAssigner > TableScan | Snapshot > WatermarkAssigner > TableScan",
        "TemporalJoin",
    ),
}


@pytest.mark.parametrize(("query", "written", "operator"), WRITTEN.values(), ids=WRITTEN)
def test_the_first_tree_is_what_was_written(session: Session, query: str, written: str, operator: str) -> None:
    (outcome,) = session.run(f"EXPLAIN {query}")
    first, _, last = outcome.rows[0][0].partition("== Optimized Physical Plan ==")
    assert shape(first.splitlines()[1:]) == written
    assert re.search(rf"\b{operator}\(", last)


def shape(lines: list[str]) -> str:
    """The nodes from above; before the second input of a join stands a bar."""
    nodes = [re.sub(r"^[ |+-]*", "", line) for line in lines if line]
    names = [next((name for start, name in NAMES.items() if node.startswith(start)), node.partition("(")[0]) for node in nodes]
    return " > ".join(names).replace("TableScan > ", "TableScan | ")
