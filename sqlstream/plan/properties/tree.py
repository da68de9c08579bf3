"""The nodes of a tree."""

from __future__ import annotations

from sqlstream.plan.nodes import LookupJoin, Node, Scan


def scans(node: Node) -> tuple[Scan, ...]:
    """All scans below ``node``, from left to right."""
    found, waiting = [], [node]
    while waiting:
        if isinstance(one := waiting.pop(), Scan):
            found.append(one)
        waiting += reversed(one.inputs)
    return tuple(found)


def walk(node: Node) -> list[Node]:
    """``node`` and all below it, tables that are looked up among them."""
    found, waiting = [], [node]
    while waiting:
        found.append(one := waiting.pop())
        waiting += reversed((*one.inputs, one.table) if isinstance(one, LookupJoin) else one.inputs)
    return found
