"""Operators that keep state for ever, and what would bound it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.plan.explain import describe
from sqlstream.plan.properties import bounded, on_time, state_ttl, static, walk

if TYPE_CHECKING:
    from sqlstream.plan.nodes import Node


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
        bound = None if static(below) or state_ttl(below) else below.bound()
        if bound is not None:
            text = describe(below)
            by_text.setdefault(text, Unbounded(below, text, expiring + bound))
    return list(by_text.values())
