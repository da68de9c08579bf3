"""The nodes of a tree."""

from __future__ import annotations

from sqlstream.plan.nodes import LookupJoin, Node, Scan


def scans(node: Node) -> tuple[Scan, ...]:
    """All scans below ``node``, from left to right."""
    below, waiting = [], [node]
    while waiting:
        if isinstance(one := waiting.pop(), Scan):
            below.append(one)
        waiting += reversed(one.inputs)
    return tuple(below)


def walk(node: Node) -> list[Node]:
    """``node`` and all below it, tables that are looked up among them."""
    nodes, waiting = [], [node]
    while waiting:
        nodes.append(top := waiting.pop())
        waiting += reversed((*top.inputs, top.table) if isinstance(top, LookupJoin) else top.inputs)
    return nodes
