"""A sink that takes upserts need not know what a row was before. So Spark's own aggregate can be used, and upserts pass through unchanged.

Sink(accepts upserts of k)                  Sink
+- GroupAggregate(keys=[k])            ->   +- GroupAggregate(keys=[k], upserts)

Sink(accepts upserts of k)                  Sink
+- ChangelogNormalize(keys=[k])        ->   +- X
   +- X
"""

from __future__ import annotations

from dataclasses import replace

from sqlstream.connectors import find_connector
from sqlstream.core.changelog import ChangelogMode
from sqlstream.plan.nodes import ChangelogNormalize, GroupAggregate, Node, OneByOne, Sink
from sqlstream.plan.properties import changelog_mode, upsert_key


def upserts(node: Node) -> Node:
    """``node``, a whole plan, without the rows that its sink does not need."""
    if not isinstance(node, Sink):
        return node
    connector = find_connector(node.table.connector)
    if connector.shows_changes or ChangelogMode.UPSERT_DELETE not in connector.sink_modes(node.table):
        return node
    key = node.table.primary_key
    if key is not None and set(upsert_key(node.input) or ()) != set(key.columns):
        return node
    return replace(node, input=_with_upserts(node.input))


def _with_upserts(node: Node) -> Node:
    match node:
        case GroupAggregate():
            return replace(node, upserts=True)
        case ChangelogNormalize(input=source) if not changelog_mode(source).retracts:
            return source
        case OneByOne(input=source) if not node.leaves_out:
            return node.with_inputs((_with_upserts(source),))
    return node
