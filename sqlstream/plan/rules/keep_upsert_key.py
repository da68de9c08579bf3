"""Adds the upsert key of an updating plan behind its columns, where a projection dropped it: the screen needs it to say what
a row replaces."""

from __future__ import annotations

from dataclasses import replace

from sqlstream.plan.nodes import Named, Node, Project
from sqlstream.plan.properties import field, upsert_key
from sqlstream.sql.expressions import ColumnRef


def keep_upsert_key(node: Node) -> Node:
    """``node`` with its key; its own columns come first, in order."""
    if upsert_key(node) is not None or not isinstance(node, Project):
        return node
    source = keep_upsert_key(node.input)
    key = upsert_key(source)
    if key is None:
        return node
    kept = {c.expr.name for c in node.columns if isinstance(c.expr, ColumnRef)}
    extra = tuple(Named(f"$key_{k}", ColumnRef(field(source, k).type, k)) for k in key if k not in kept)
    return replace(node, input=source, columns=(*node.columns, *extra))
