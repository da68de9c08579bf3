"""What a plan keeps for ever, with what would bound it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.plan.explain import describe
from sqlstream.plan.nodes import GroupAggregate, KeyedJoin, Rank
from sqlstream.plan.properties import bounded, changelog_mode, on_time, state_ttl, static, walk

if TYPE_CHECKING:
    from sqlstream.plan.nodes import Node

_AGGREGATE = "GROUP BY window_start, window_end of a window keeps groups until it closes"
_JOIN = "an interval join, BETWEEN times of both sides, keeps rows no longer than these need"
_RANK = "ORDER BY a time in a window keeps rows until it closes"


@dataclass(frozen=True)
class Unbounded:
    """An operator whose state grows with the keys or rows that come, its line in EXPLAIN, and what would bound it."""

    node: Node
    text: str
    bound: str


def unbounded_state(node: Node) -> list[Unbounded]:
    """The operators of ``node`` whose state grows for as long as the query runs; of equal ones the first."""
    if bounded(node):
        return []
    # State that expires is refused beside operators on time.
    expiring = "" if on_time(node) else "SET 'table.exec.state.ttl' lets go of idle keys, "
    found: dict[str, Unbounded] = {}
    for below in walk(node):
        if (bound := _bound(below)) is not None:
            text = describe(below)
            found.setdefault(text, Unbounded(below, text, expiring + bound))
    return list(found.values())


def _bound(node: Node) -> str | None:
    """What would bound the state of ``node``; None where it is bounded."""
    if static(node) or state_ttl(node):
        return None
    match node:
        case GroupAggregate(keys=keys, aggregates=aggregates):
            return _AGGREGATE if keys or any(a.call.distinct for a in aggregates) else None
        case KeyedJoin():
            return _JOIN
        case Rank(input=source, partition=partition):
            return _RANK if partition or changelog_mode(source).updates else None
    return None
