"""Operators that keep state for ever, and what would bound it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.plan.explain import describe
from sqlstream.plan.nodes import GroupAggregate, KeyedJoin, Over, Rank
from sqlstream.plan.properties import bounded, changelog_mode, on_time, state_ttl, static, walk
from sqlstream.sql.functions.aggregates import ARGUMENTS

if TYPE_CHECKING:
    from sqlstream.plan.nodes import NamedAggregate, Node

_AGGREGATE = "GROUP BY window_start, window_end of a window keeps groups until it closes"
_ROWS = "; a pandas aggregate function, or one without retract over rows that are retracted, keeps all rows of a group"
_FRAME = "a frame, as ROWS BETWEEN 100 PRECEDING AND CURRENT ROW, keeps no more rows of a key than the frame has: functions in Python keep them"
_JOIN = "an interval join, BETWEEN times of both sides, keeps rows no longer than these need"
_RANK = "ORDER BY a time in a window keeps rows until it closes"


@dataclass(frozen=True)
class Unbounded:
    """An operator whose state grows with the keys or rows that arrive, its line in EXPLAIN, and what would bound it."""

    node: Node
    text: str
    bound: str


def unbounded_state(node: Node) -> list[Unbounded]:
    """The operators of ``node`` whose state grows for as long as the query runs; of equal ones the first."""
    if bounded(node):
        return []
    # State that expires is refused beside operators on time.
    expiring = "" if on_time(node) else "SET 'table.exec.state.ttl' removes idle keys, "
    by_text: dict[str, Unbounded] = {}
    for below in walk(node):
        if (bound := _bound(below)) is not None:
            text = describe(below)
            by_text.setdefault(text, Unbounded(below, text, expiring + bound))
    return list(by_text.values())


def _bound(node: Node) -> str | None:
    """What would bound the state of ``node``; None where it is bounded."""
    if static(node) or state_ttl(node):
        return None
    match node:
        case GroupAggregate(keys=keys, aggregates=aggregates):
            of_rows = any(_of_rows(a) for a in aggregates)
            return f"{_AGGREGATE}{_ROWS if of_rows else ''}" if keys or of_rows or any(a.call.distinct for a in aggregates) else None
        case Over(aggregates=aggregates, frame=frame):
            return _FRAME if frame.first is None and any(_of_rows(a) for a in aggregates) else None
        case KeyedJoin():
            return _JOIN
        case Rank(input=source, partition=partition):
            return _RANK if partition or changelog_mode(source).updates else None
    return None


def _of_rows(named: NamedAggregate) -> bool:
    return named.call.function.name == ARGUMENTS.name
