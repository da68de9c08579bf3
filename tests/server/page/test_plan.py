"""Plans as boxes, with the figures of a real query's kind. No JVM."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sqlstream.plan.properties import walk
from sqlstream.plan.upgrade.record import node_ids
from sqlstream.runtime.checkpoints import QueryRecord
from sqlstream.runtime.checkpoints.records import OperatorRecord
from sqlstream.runtime.monitor.metrics import BrokerContact, Input, Partition, QueryMetrics, Split, StateOperator, Timed
from sqlstream.server.page.plan import PlanGraph, tree
from sqlstream.sql.statements.parsing import parse
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.plan.nodes import Sink
    from sqlstream.server.page.plan import Box

KAFKA = "WITH ('connector' = 'kafka', 'topic' = '{}', 'properties.bootstrap.servers' = 'localhost:9', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')"
DECLARATIONS = (
    f"CREATE TABLE a (id INT, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {KAFKA.format('topic-a')};"
    f"CREATE TABLE b (id INT, m INT) {KAFKA.format('topic-b')};"
    "CREATE TABLE answers (id INT, n BIGINT) WITH ('connector' = 'print');"
)
JOIN = "SELECT id, COUNT(*) FROM (SELECT a.id FROM a JOIN b ON a.id = b.id WHERE a.n > 3) GROUP BY id"


@pytest.fixture
def planned(tmp_path: Path):
    session = open_session(tmp_path, DECLARATIONS)

    def plan(query: str) -> Sink:
        return session.planner.planned(parse(f"INSERT INTO answers {query}"), session.planner.environment()).plan

    return plan


def boxes(sink: Sink, query: QueryMetrics | None = None, record: QueryRecord | None = None, *, runs: bool = True) -> dict[str, Box]:
    return {box.title: box for box in PlanGraph(0, sink.table.path.name, sink, str).boxes(query, record, runs=runs)}


def test_the_boxes_of_a_join_and_an_aggregate(planned) -> None:
    found = boxes(planned(JOIN))
    assert list(found) == ["a", "b", "Join", "GroupAggregate", "answers"]
    ids = {title: box.id for title, box in found.items()}
    assert found["Join"].from_ == (ids["a"], ids["b"]) and found["GroupAggregate"].from_ == (ids["Join"],)
    assert found["a"].kind == "kafka" and found["answers"].kind == "print" and found["Join"].kind == ""
    assert [box.changes for box in found.values()] == ["[I]", "[I]", "[I]", "[I,UB,UA]", "[I,UB,UA]"]
    # What leaves rows out stands where they come from; a projection is no line.
    assert [line.partition("(")[0] for line in found["a"].lines] == ["Calc"] and "n > 3" in found["a"].lines[0]
    assert found["GroupAggregate"].lines == ("groupBy=[id], select=[id, COUNT(*) AS EXPR$1]",)
    assert [title for title, box in found.items() if box.keeps_state] == ["Join", "GroupAggregate"]


def test_a_table_that_is_read_twice_is_one_box(planned) -> None:
    found = boxes(planned("SELECT x.id, CAST(x.n AS BIGINT) FROM a AS x JOIN a AS y ON x.id = y.n"))
    assert list(found) == ["a", "Join", "answers"] and found["Join"].from_ == (found["a"].id,)


def test_the_figures_of_boxes(planned) -> None:
    sink = planned(JOIN)
    nodes = {node.explain()[0]: node_ids(sink)[id(node)] for node in walk(sink)}
    query = QueryMetrics(
        rows_out=7, late=2, written=((0, 0), (1000, 5)), inputs=(Input("topic-b", 3), Input("topic-a", 9, (Partition("topic-a-0", 5, 9), Partition("topic-a-1", 1, 2)))),
        timed=(Timed("a", (Split("topic-a-0", 5000, False, 0), Split("topic-a-1", 2000, False, 0))),),
        states=(StateOperator("first", 4, 40), StateOperator("second", 0, 50), StateOperator("third", 1, 60)),
    )  # fmt: skip
    record = QueryRecord(
        (), tuple(OperatorRecord(number, nodes[node], part, kind, "", ()) for number, node, part, kind in [
            (2, "Join", 1, "third"), (0, "GroupAggregate", 0, "first"), (1, "Join", 0, "second"),
        ]),
    )  # fmt: skip
    found = boxes(sink, query, record)
    assert (found["a"].rows, found["a"].lag, found["a"].watermark, found["a"].held) == (9, 5, 2.0, "topic-a-1")
    assert (found["b"].rows, found["b"].lag, found["b"].watermark, found["b"].held) == (3, None, None, None)
    assert (found["answers"].rows, found["answers"].rate) == (7, 5.0)
    silent = boxes(sink, replace(query, brokers=(BrokerContact("localhost:9", 1),)), record)
    assert (silent["a"].rows, silent["a"].lag) == (9, None)
    still = boxes(sink, query, record, runs=False)
    assert (still["a"].rows, still["a"].lag, still["a"].watermark, still["a"].held, still["answers"].rate) == (9, None, None, None, None)
    assert still["Join"].state_bytes == 110
    assert (found["GroupAggregate"].state_rows, found["GroupAggregate"].state_bytes) == (4, 40)
    assert (found["Join"].state_rows, found["Join"].state_bytes) == (1, 110)
    # Nothing of it waits for a watermark: no box is known to have dropped late rows.
    assert {box.late for box in found.values()} == {None}
    # Operators that are not those of the record are nobody's.
    others = boxes(sink, query, QueryRecord((), record.operators[:2]))
    assert {box.state_bytes for box in others.values()} == {None}


def test_late_rows_are_those_of_the_only_operator_that_waits(planned) -> None:
    window = "SELECT id, COUNT(*) FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY id, window_start, window_end"
    found = boxes(planned(window), QueryMetrics(late=3))
    assert {title: box.late for title, box in found.items() if box.late is not None} == {"WindowAggregate": 3}


def test_texts_of_the_plan_have_no_secrets(planned) -> None:
    sink = planned("SELECT id, CAST(n AS BIGINT) FROM a WHERE n > 3")
    assert "n > *" in " ".join(PlanGraph(0, sink.table.path.name, sink, lambda text: text.replace("3", "*")).boxes(None, None, runs=True)[0].lines)
    assert "n > *" in tree([sink], lambda text: text.replace("3", "*"))
