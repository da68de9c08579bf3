"""Operators that keep rows (joins, ranks, patterns, ChangelogNormalize) or fetch them from a database get only the columns that are read above them.
Spark's optimizer can't see into our own operators.

Project(a.n)                     Project(a.n)
+- Join(a.k = b.k)               +- Join(a.k = b.k)
   +- a(k, n, ts)           ->      +- Project(k, n)
   +- b(k, page, ts)                |  +- a(k, n, ts)
                                    +- Project(k)
                                       +- b(k, page, ts)
"""

from __future__ import annotations

from dataclasses import replace

from sqlstream.plan import make
from sqlstream.plan.nodes import ChangelogNormalize, Correlate, Join, LookupJoin, Match, Named, Node, OneByOne, Project, Rank, Watermark, WindowJoin
from sqlstream.plan.properties import fields


def unread_columns(node: Node) -> Node:
    """``node`` with a projection below each such operator that needs one."""
    return _narrowed(node, None)


def _narrowed(node: Node, read: set[str] | None) -> Node:
    """``node`` with at least the columns ``read``, which may be empty; None means all."""
    match node:
        case Project(input=source, columns=columns):
            kept = tuple(c for c in columns if read is None or c.name in read) or columns[:1]
            return replace(node, input=_narrowed(source, {n for c in kept for n in make.columns(c.expr)}), columns=kept)
        case Watermark(input=source):
            # Spark reads no more columns of a table than are read of it.
            return node.with_inputs((_narrowed(source, None),))
        case OneByOne(input=source):
            below = None if read is None else {s for name, s in node.sources.items() if name in read} | node.reads()
            return node.with_inputs((_narrowed(source, below),))
        case Correlate(input=source):
            return replace(node, input=_narrowed(source, None if read is None else read | node.reads()))
        case ChangelogNormalize(input=source) if read is not None:
            wanted = read | node.reads()
            return replace(node, input=_only(_narrowed(source, wanted), wanted))
        case Rank(input=source, rank=rank):
            number = rank if rank is not None and (read is None or rank in read) else None
            wanted = {f.name for f in fields(source)} if read is None else read | node.reads()
            return replace(node, input=_only(_narrowed(source, wanted), wanted), rank=number)
        case Join() if not isinstance(node, WindowJoin):
            below = ({f.name for f in fields(node)} if read is None else read) | node.reads()
            return node.with_inputs(tuple(_only(_narrowed(i, below), below) for i in node.inputs))
        case LookupJoin(input=source, table=table):
            below = ({f.name for f in fields(node)} if read is None else read) | node.reads()
            return replace(node, input=_only(_narrowed(source, below), below), table=_only(_narrowed(table, below), below))
        case Match(input=source):
            below = node.reads()
            return replace(node, input=_only(_narrowed(source, below), below))
    return node.with_inputs(tuple(_narrowed(i, None) for i in node.inputs))


def _only(node: Node, read: set[str]) -> Node:
    columns = fields(node)
    kept = [f for f in columns if f.name in read] or list(columns[:1])
    return node if len(kept) == len(columns) else Project(node, tuple(Named(f.name, make.ref(f)) for f in kept))
