"""Whether a node's input ends, or is complete from the start."""

from __future__ import annotations

from sqlstream.plan.nodes import Join, JoinKind, Node, Scan
from sqlstream.plan.properties.once import once


@once
def bounded(node: Node) -> bool:
    """Whether the node's input ends by itself."""
    return node.bounded if isinstance(node, Scan) else all(bounded(i) for i in node.inputs)


@once
def static(node: Node) -> bool:
    """Whether all of the node's input is there from the start, so that no streaming query is needed."""
    return node.static if isinstance(node, Scan) else all(static(i) for i in node.inputs)


def of_static(node: Join) -> bool:
    """Whether one side is a stream, each row of which can be joined by itself with the other, static side."""
    if static(node.left) == static(node.right):
        return False
    allowed = (JoinKind.INNER, JoinKind.RIGHT) if static(node.left) else (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)
    return node.kind in allowed
