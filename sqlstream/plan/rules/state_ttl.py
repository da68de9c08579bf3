"""Operators without a hint keep the state of idle keys for as long as ``table.exec.state.ttl`` says.

GroupAggregate(keys=[k])        GroupAggregate(keys=[k], ttl=default)
+- input                   ->   +- input
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlstream.plan.nodes import Node


def state_ttl(node: Node, default: int) -> Node:
    """``node`` with ``default``, in milliseconds, in every such operator."""
    return node.with_inputs(tuple(state_ttl(i, default) for i in node.inputs)).with_default_ttl(default)
