"""LIMIT over a stream is a Top-N of all rows, in the order of the ORDER BY below it, or in the order in which they arrive.

Limit(n, offset)            Rank(rank offset + 1 to offset + n)
+- Sort(keys)         ->    +- x
   +- x
"""

from __future__ import annotations

from sqlstream.plan.nodes import Limit, Node, Rank, Sort
from sqlstream.plan.properties import changelog_mode, static


def limit(node: Node) -> Node:
    """``node`` with every such limit below it rewritten."""
    node = node.with_inputs(tuple(limit(i) for i in node.inputs))
    match node:
        case Limit(input=source, count=count, offset=offset) if count and not static(node):
            ordered = isinstance(source, Sort)
            below, order = (source.input, source.keys) if isinstance(source, Sort) else (source, ())
            # The first rows of those that only come stay the first.
            once = not ordered and offset == 0 and count == 1 and not changelog_mode(below).updates
            return Rank(below, (), order, None, offset + 1, offset + count, once=once, at=node.at)
    return node
