"""A query whose rows may meet at one primary key of its sink writes there through a rank. It keeps, for each key, the latest row that has not been
retracted: when that row is retracted, the one before it is known. Of rows that never change the latest replaces the others in the sink itself; with
ON CONFLICT DO NOTHING the rank keeps the first, with DO ERROR it fails at the second.

Sink(PRIMARY KEY k)              Sink
+- x, other upsert key     ->    +- Rank(partition=[k], the last that came)
                                    +- x
"""

from __future__ import annotations

from dataclasses import replace

from sqlstream.connectors import find_connector
from sqlstream.plan.conflicts import may_conflict
from sqlstream.plan.nodes import ChangelogNormalize, Conflict, Node, Rank, Sink
from sqlstream.plan.properties import changelog_mode, upsert_key


def sink_materializer(node: Node) -> Node:
    """``node``, a whole plan, with such a rank below its sink if it needs one."""
    if not isinstance(node, Sink) or not may_conflict(node):
        return node
    assert node.table.primary_key is not None
    source, key, mode = node.input, node.table.primary_key.columns, changelog_mode(node.input)
    if not mode.updates:
        first = Rank(source, key, (), None, 1, 1, at=node.at)
        match node.conflict:
            case Conflict.NOTHING:
                return replace(node, input=replace(first, once=True))
            case Conflict.ERROR:
                return replace(node, input=replace(first, unique=True))
        return node
    if not mode.retracts and (replaced := upsert_key(source)) is not None:
        source = ChangelogNormalize(source, replaced, at=node.at)
    # A sink with rows of its own needs no more than the new one, either; it is told of both.
    upserts = find_connector(node.table.connector).takes_any_change
    return replace(node, input=Rank(source, key, (), None, 1, 1, latest=True, upserts=upserts, at=node.at))
