"""The plan of a job as a graph: boxes, with what is known of each.

A box is a source, a sink, or an operator. What leaves rows out is a line in the box whose rows it takes; what only computes columns is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlstream.plan.explain import describe
from sqlstream.plan.explain import tree as explained
from sqlstream.plan.nodes import CoGroup, Expand, KeyedJoin, OneByOne, Project, Scan, Sink, Union, Watermark
from sqlstream.plan.properties import awaits_watermark, changelog_mode, static, walk
from sqlstream.plan.upgrade.record import node_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlstream.plan.nodes import Node
    from sqlstream.runtime.checkpoints import QueryRecord
    from sqlstream.runtime.monitor.metrics import Input, QueryMetrics, StateOperator, Timed


@dataclass(frozen=True)
class Box:
    """A part of a plan. ``from_``: the ids of those whose rows it takes. ``title`` is short, ``kind`` the name of a connector or an operator,
    ``changes`` the changelog mode of what comes out, ``lines`` what it does, as EXPLAIN writes it.

    Counts are those of this run; ``watermark`` is in seconds since 1970, ``held``: which of its splits holds the watermark back. None: not known.
    """

    id: str
    from_: tuple[str, ...]
    title: str
    kind: str
    changes: str
    lines: tuple[str, ...]
    keeps_state: bool = False
    rows: int | None = None
    rate: float | None = None
    lag: int | None = None
    late: int | None = None
    state_rows: int | None = None
    state_bytes: int | None = None
    watermark: float | None = None
    held: str | None = None


class PlanGraph:
    """The boxes of the ``number``th sink of a job, which is called ``name``. ``masked`` takes secrets out of a text about its plan."""

    def __init__(self, number: int, name: str, sink: Sink, masked: Callable[[str], str]) -> None:
        self._ids = node_ids(sink)
        # What is read first stands first: a box, and the node that it is of.
        self._boxes: list[tuple[Box, Node]] = []
        self._waiting = waiting(sink)
        self._name = name
        self._add(sink, {}, number, masked)

    def _add(self, node: Node, known: dict[str, str], number: int, masked: Callable[[str], str]) -> str:
        """The id of the box in which ``node`` is; ``known`` are those that there are, by the ids of nodes."""
        if (there := known.get(self._ids[id(node)])) is not None:
            return there
        folded: list[Node] = []
        head = node
        while isinstance(head, OneByOne | Watermark):
            folded.insert(0, head)
            head = head.input
        below = tuple(dict.fromkeys(self._add(each, known, number, masked) for each in (*_inputs(head), *head.tables)))
        name = known[self._ids[id(node)]] = f"n{number}-{len(self._boxes)}"
        lines = tuple(masked(describe(each)) for each in folded if not isinstance(each, Project))
        if not isinstance(head, Scan | Sink):
            # Its name is the title, as what a table is called is that of its box.
            lines = (masked(describe(head).partition("(")[2].removesuffix(")")), *lines)
        box = Box(name, below, self._title(head), _kind(head), changelog_mode(node).value, lines, head.keeps_state and not static(head))
        self._boxes.append((box, head))
        return name

    def _title(self, node: Node) -> str:
        if isinstance(node, Sink):
            return self._name
        return node.table.path.name if isinstance(node, Scan) else node.explain()[0]

    def boxes(self, query: QueryMetrics | None, record: QueryRecord | None, *, runs: bool) -> list[Box]:
        """All of them with their figures; rates, lags and watermarks are of a query that ``runs``. ``record``: what it keeps, where that is known."""
        states = {} if query is None or record is None else _states(query, record)
        boxes = [self._with_figures(box, node, query, states.get(self._ids[id(node)])) for box, node in self._boxes]
        return boxes if runs else [replace(box, rate=None, lag=None, watermark=None, held=None) for box in boxes]

    def _with_figures(self, box: Box, node: Node, query: QueryMetrics | None, state: StateOperator | None) -> Box:
        if query is None:
            return box
        if isinstance(node, Scan):
            return _read(box, node, query)
        if isinstance(node, Sink):
            return replace(box, rows=query.rows_out, rate=query.rows_out_per_second)
        # Which of several operators has dropped late rows is not known.
        late = query.late if self._waiting == [node] else None
        return replace(box, late=late, state_rows=None if state is None else state.rows or None, state_bytes=None if state is None else state.bytes)


def waiting(sink: Sink) -> list[Node]:
    """What waits for a time, and so may leave late rows out."""
    return [node for node in walk(sink) if awaits_watermark(node) and not static(node)]


def _inputs(node: Node) -> tuple[Node, ...]:
    """Whose rows a node takes: what only marks them for an operator by key is none of them."""
    if isinstance(node, KeyedJoin | CoGroup) and isinstance(node.input, Union | Expand):
        return node.input.inputs
    return node.inputs


def _kind(node: Node) -> str:
    return node.table.connector if isinstance(node, Scan | Sink) else ""


def _read(box: Box, scan: Scan, query: QueryMetrics) -> Box:
    found = _input(scan, query)
    timed = next((t for t in query.timed if t.table == scan.table.path.name), None)
    reached = None if timed is None else timed.watermark
    return replace(
        box,
        rows=None if found is None else found.rows,
        lag=None if found is None or not found.partitions or _is_silent(scan, query) else _lag(found, query),
        watermark=None if reached is None else reached / 1000,
        held=None if timed is None else _held(timed),
    )


def _lag(found: Input, query: QueryMetrics) -> int:
    """Records that wait for a table; where it is the only one, without those that the running micro-batch has read."""
    alone = sum(1 for each in query.inputs if each.partitions) == 1
    return query.lag or 0 if alone else sum(p.lag for p in found.partitions)


def _is_silent(scan: Scan, query: QueryMetrics) -> bool:
    """Whether the brokers of a table do not answer: nobody knows then how much waits there."""
    servers = scan.table.options.get("properties.bootstrap.servers")
    return any(broker.silent is not None and broker.servers == servers for broker in query.brokers)


def _input(scan: Scan, query: QueryMetrics) -> Input | None:
    """What is known of a table that is read, by its topic or its path; the only one of a query is also known by that."""
    options = scan.table.options
    places = [options[name] for name in ("topic", "path", "table-path") if name in options]
    found = [i for i in query.inputs if any(i.name == place or i.name == place.rstrip("/") for place in places)]
    return found[0] if len(found) == 1 else query.inputs[0] if len(query.inputs) == 1 and len(query.timed) <= 1 else None


def _held(timed: Timed) -> str | None:
    """The split that holds the watermark back, of several."""
    counting = timed.counting
    if len(counting) < 2:
        return None
    slowest = min(counting, key=lambda s: -1 if s.watermark is None else s.watermark)
    others = [s.watermark for s in counting if s is not slowest and s.watermark is not None]
    return slowest.name if others and (slowest.watermark is None or slowest.watermark < min(others)) else None


def _states(query: QueryMetrics, record: QueryRecord) -> dict[str, StateOperator]:
    """What each node keeps: Spark reports its operators in the order of their numbers. Nothing where they are not those of the record."""
    operators = sorted(record.operators, key=lambda operator: operator.operator)
    if [o.kind for o in operators] != [s.name for s in query.states]:
        return {}
    found: dict[str, StateOperator] = {}
    for operator, state in zip(operators, query.states, strict=True):
        if operator.node is not None:
            found[operator.node] = _together(found.get(operator.node), state)
    return found


def _together(one: StateOperator | None, other: StateOperator) -> StateOperator:
    return other if one is None else replace(one, rows=one.rows + other.rows, bytes=one.bytes + other.bytes)


def tree(sinks: Sequence[Sink], masked: Callable[[str], str]) -> str:
    """The plans of all sinks as EXPLAIN writes them."""
    return masked("\n\n".join(map(explained, sinks)))
