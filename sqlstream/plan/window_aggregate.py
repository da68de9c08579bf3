"""GROUP BY window_start, window_end over a window table-valued function is a window aggregate: one row a window, when it closes.

GroupAggregate(keys=[.., window_start, window_end])        WindowAggregate(window, keys)
+- Project/Filter ..                                  ->   +- Project/Filter .. with window_time
   +- WindowTvf                                               +- WindowTvf
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlstream.plan.nodes import (
    WINDOW_END,
    WINDOW_START,
    WINDOW_TIME,
    Expand,
    Filter,
    GroupAggregate,
    Named,
    Node,
    Project,
    WindowAggregate,
    WindowTvf,
)
from sqlstream.plan.properties import field, fields
from sqlstream.sql.expressions import ColumnRef


def window_aggregate(node: GroupAggregate) -> GroupAggregate | WindowAggregate:
    """The window aggregate that ``node`` is, or ``node`` itself."""
    origins = {key: origin for key in node.keys if (origin := _origin(node.input, key)) is not None}
    tvfs = {id(o.tvf): o.tvf for o in origins.values()}
    columns = {o.column for o in origins.values()}
    if len(tvfs) != 1 or not {WINDOW_START, WINDOW_END} <= columns:
        return node
    (tvf,) = tvfs.values()
    source, time = _carry_time(node.input)
    by_column = {o.column: key for key, o in origins.items()}
    return WindowAggregate(
        source,
        tvf.window,
        tvf.zone,
        node.keys,
        node.aggregates,
        by_column[WINDOW_START],
        by_column[WINDOW_END],
        by_column.get(WINDOW_TIME, time),
    )


@dataclass(frozen=True)
class _Origin:
    tvf: WindowTvf
    column: str


def _origin(node: Node, name: str) -> _Origin | None:
    """The window column of a TVF that ``name`` is, unchanged; None where it is something else."""
    match node:
        case WindowTvf():
            inner = {f.name for f in fields(node.input)}
            return _Origin(node, name) if name in (WINDOW_START, WINDOW_END, WINDOW_TIME) and name not in inner else None
        case Filter(input=source):
            return _origin(source, name)
        case Expand(input=source, projections=projections):
            exprs = {c.expr for p in projections for c in p if c.name == name}
            expr = exprs.pop()
            return _origin(source, expr.name) if not exprs and isinstance(expr, ColumnRef) else None
        case Project(input=source, columns=columns):
            expr = next(c.expr for c in columns if c.name == name)
            return _origin(source, expr.name) if isinstance(expr, ColumnRef) else None
    return None


def _carry_time(node: Node) -> tuple[Node, str]:
    """``node`` with the TVF's window_time among its columns, and its name there."""
    match node:
        case WindowTvf():
            return node, WINDOW_TIME
        case Filter(input=source):
            carried, name = _carry_time(source)
            return replace(node, input=carried), name
        case Expand(input=source, projections=projections):
            carried, name = _carry_time(source)
            added = Named(f"$${WINDOW_TIME}", ColumnRef(field(carried, name).type, name))
            return Expand(carried, tuple((*p, added) for p in projections)), added.name
        case Project(input=source, columns=columns):
            carried, name = _carry_time(source)
            for column in columns:
                if isinstance(column.expr, ColumnRef) and column.expr.name == name:
                    return replace(node, input=carried), column.name
            fresh = WINDOW_TIME if all(c.name != WINDOW_TIME for c in columns) else f"$${WINDOW_TIME}"
            time = field(carried, name)
            return Project(carried, (*columns, Named(fresh, ColumnRef(time.type, name)))), fresh
    raise TypeError(type(node).__name__)
