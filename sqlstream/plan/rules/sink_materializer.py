"""A query without an upsert key writes into a sink with a primary key through a rank that keeps, for each key, the latest row that has not been
retracted. When that row is retracted, the one before it is known.

Sink(PRIMARY KEY k)              Sink
+- x, no upsert key        ->    +- Rank(partition=[k], the last that came)
                                    +- x
"""

from __future__ import annotations

from dataclasses import replace

from sqlstream.connectors import find_connector
from sqlstream.core.changelog import ChangelogMode
from sqlstream.plan.nodes import Node, Rank, Sink
from sqlstream.plan.properties import changelog_mode, upsert_key


def sink_materializer(node: Node) -> Node:
    """``node``, a whole plan, with such a rank below its sink if it needs one."""
    if (
        not isinstance(node, Sink)
        or node.table.primary_key is None
        or ChangelogMode.UPSERT not in find_connector(node.table.connector).sink_modes(node.table)
    ):
        return node
    if find_connector(node.table.connector).shows_changes or not changelog_mode(node.input).retracts or upsert_key(node.input) is not None:
        return node
    return replace(node, input=Rank(node.input, node.table.primary_key.columns, (), None, 1, 1, latest=True, at=node.at))
