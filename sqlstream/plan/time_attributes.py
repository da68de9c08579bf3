"""Which columns are time attributes, and why a column is not one any more.

That depends on the operators, so both look at the plan after the rules that turn plain nodes into operators.
"""

from __future__ import annotations

from sqlstream.plan import make
from sqlstream.plan.nodes import (
    Correlate,
    Filter,
    Join,
    LookupJoin,
    Node,
    Over,
    Project,
    Sort,
    TemporalJoin,
    TimeAttribute,
    Union,
    Watermark,
    WindowAggregate,
    WindowRank,
    WindowTvf,
)
from sqlstream.plan.properties import field, fields
from sqlstream.plan.rules.each_node import resolved
from sqlstream.sql.bind import to_text
from sqlstream.sql.expressions import ColumnRef


def time_attribute(node: Node, name: str) -> TimeAttribute | None:
    """Which time attribute the column ``name`` of ``node`` is, if it is one."""
    return field(resolved(node), name).time


def why_none(node: Node, name: str) -> str:
    """Why the column ``name`` of ``node`` is not a time attribute, and what to do."""
    lost = _lost(resolved(node), name)
    if lost is None:
        return f"Declare WATERMARK FOR {name} in the table; a function or cast of a time attribute is not one."
    return f"{lost} Select the attribute itself as well."


def _lost(node: Node, name: str) -> str | None:
    """The sentence about where the column lost its attribute; None where it never had one."""
    match node:
        case Project(input=source, columns=columns):
            expr = next(c.expr for c in columns if c.name == name)
            if isinstance(expr, ColumnRef):
                return _lost(source, expr.name)
            attribute = next((c for c in sorted(make.columns(expr)) if field(source, c).time is not None), None)
            return attribute and f"'{name}' is {to_text(expr)}: a function or cast of the time attribute '{attribute}' is not one."
        case WindowTvf(input=source, window=window) if name == window.time:
            return f"'{name}' was the time of a window function, whose result has the time attribute 'window_time'."
        case TemporalJoin(right=right) if name in {f.name for f in fields(right)}:
            return f"'{name}' is the time of a version in a temporal join, whose rows have the time of the left side."
        case Join() if not node.keeps_times:
            side = next((s for s in node.inputs if name in {f.name for f in fields(s)}), None)
            if side is not None and field(side, name).time is not None:
                return f"'{name}' comes out of a regular join, which emits rows in any order."
            return None if side is None else _lost(side, name)
        case Union(branches=branches):
            position = [f.name for f in fields(node)].index(name)
            named = [(b, fields(b)[position]) for b in branches]
            if any(f.time is not None for _, f in named):
                return f"'{name}' is not a time attribute in every branch of UNION ALL."
            return next((lost for b, f in named if (lost := _lost(b, f.name))), None)
        case (
            Filter(input=source)
            | Correlate(input=source)
            | LookupJoin(input=source)
            | Watermark(input=source)
            | WindowRank(input=source)
            | WindowTvf(input=source)
            | Over(input=source)
            | Sort(input=source)
        ):
            return _lost(source, name) if name in {f.name for f in fields(source)} else None
        case WindowAggregate(input=source, keys=keys) if name in keys:
            return _lost(source, name)
    return None
