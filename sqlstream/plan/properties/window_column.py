"""The column in whose order rows are emitted as windows close."""

from __future__ import annotations

from sqlstream.plan.nodes import CoGroup, Filter, JoinKind, Node, Project, Sink, WindowAggregate, WindowJoin, WindowRank
from sqlstream.sql.expressions import ColumnRef


def window_column(node: Node) -> str | None:
    """The column with the end of a row's window, if rows are emitted as windows close: Flink emits them in its order."""
    match node:
        case WindowAggregate(end=end):
            return end
        case Project(input=source, columns=columns):
            below = window_column(source)
            return next((c.name for c in columns if isinstance(c.expr, ColumnRef) and c.expr.name == below), None)
        case WindowRank(end=end):
            return end
        case WindowJoin(kind=kind, bounds=bounds):
            return None if kind is JoinKind.FULL else bounds[1][kind.left_optional]
        case CoGroup(join=join):
            return window_column(join)
        case Filter(input=source) | Sink(input=source):
            return window_column(source)
    return None
