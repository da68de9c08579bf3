"""How long operators keep the state of keys without new rows, where no hint says so: as ``table.exec.state.ttl`` does."""

from __future__ import annotations

from dataclasses import replace

from sqlstream.plan.nodes import GroupAggregate, Join, KeyedJoin, Node, Rank


def state_ttl(node: Node, default: int) -> Node:
    """``node`` with ``default``, in milliseconds, for every such operator in it."""
    node = node.with_inputs(tuple(state_ttl(i, default) for i in node.inputs))
    match node:
        case GroupAggregate(ttl=None) | Rank(ttl=None):
            return replace(node, ttl=default)
        case KeyedJoin(join=Join(hints=hints)):
            left, right = (default if ttl is None else ttl for ttl in hints.ttl)
            return replace(node, join=replace(node.join, hints=replace(hints, ttl=(left, right))))
    return node
