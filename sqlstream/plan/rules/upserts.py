"""A group aggregate below a sink that takes upserts by the aggregate's key need not say what a row was: Spark's own aggregate serves then.

Sink(accepts upserts of k)                  Sink
+- GroupAggregate(keys=[k])            ->   +- GroupAggregate(keys=[k], upserts)
"""

from __future__ import annotations

from dataclasses import replace

from sqlstream.connectors import find
from sqlstream.plan.nodes import GroupAggregate, Node, Project, Sink
from sqlstream.plan.properties import upsert_key


def upserts(node: Node) -> Node:
    """``node``, a plan, with such an aggregate told so."""
    if not isinstance(node, Sink) or find(node.table.connector).shows_changes:
        return node
    key = node.table.primary_key
    if key is not None and set(upsert_key(node.input) or ()) != set(key.columns):
        return node
    return replace(node, input=_told(node.input))


def _told(node: Node) -> Node:
    match node:
        case GroupAggregate():
            return replace(node, upserts=True)
        case Project(input=source):
            return replace(node, input=_told(source))
    return node
