"""Operators without a hint keep the state of idle keys for as long as ``table.exec.state.ttl`` says.

GroupAggregate(keys=[k])        GroupAggregate(keys=[k], ttl=default)
+- input                   ->   +- input
"""

from __future__ import annotations

from dataclasses import replace

from sqlstream.plan.nodes import GroupAggregate, Join, KeyedJoin, Node, Rank


def state_ttl(node: Node, default: int) -> Node:
    """``node`` with ``default``, in milliseconds, in every such operator."""
    node = node.with_inputs(tuple(state_ttl(i, default) for i in node.inputs))
    match node:
        case GroupAggregate(ttl=None) | Rank(ttl=None):
            return replace(node, ttl=default)
        case KeyedJoin(join=Join(hints=hints)):
            left, right = (default if ttl is None else ttl for ttl in hints.ttl)
            return replace(node, join=replace(node.join, hints=replace(hints, ttl=(left, right))))
    return node
