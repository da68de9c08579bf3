"""CURRENT_WATERMARK(time) becomes a column of the table's Watermark, which is carried up to where it is read.

Filter(time > CURRENT_WATERMARK(time))        Project(columns without it)
+- Watermark(time)                       ->   +- Filter(time > $watermark)
                                                 +- Watermark(time, current=$watermark)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.plan import make
from sqlstream.plan.nodes import Filter, Named, Node, OneByOne, Project, TimeAttribute, Watermark
from sqlstream.plan.places import at_clause, placed
from sqlstream.plan.properties import field, fields
from sqlstream.sql.expressions import Call, ColumnRef, Expr
from sqlstream.sql.generated_names import generated

_NAME = generated("watermark")


def current_watermark(node: Node) -> Node:
    """``node`` with every such call below it replaced. Raises ValidationError where an argument is not a rowtime attribute."""
    node = node.with_inputs(tuple(current_watermark(i) for i in node.inputs))
    with at_clause(node):
        return placed(_without_calls(node), node.at)


def _without_calls(node: Node) -> Node:
    match node:
        case Project(input=source, columns=columns) if calls := _calls([c.expr for c in columns]):
            source = _carried(source, calls)
            return Project(source, tuple(Named(c.name, _read(c.expr, source)) for c in columns))
        case Filter(input=source, condition=condition) if calls := _calls([condition]):
            names = [f.name for f in fields(source)]
            carried = _carried(source, calls)
            kept = Filter(carried, _read(condition, carried))
            return Project(kept, tuple(Named(n, make.ref(field(kept, n))) for n in names))
    return node


def _calls(exprs: list[Expr]) -> list[Call]:
    return [e for expr in exprs for e in expr.walk() if _is_call(e)]


def _is_call(expr: Expr) -> TypeGuard[Call]:
    return isinstance(expr, Call) and expr.function.name == "CURRENT_WATERMARK"


def _read(expr: Expr, source: Node) -> Expr:
    return expr.transform(lambda e: make.ref(field(source, _NAME)) if _is_call(e) else None)


def _carried(node: Node, calls: list[Call]) -> Node:
    for call in calls:
        (argument,) = call.args
        if not isinstance(argument, ColumnRef) or field(node, argument.name).time is not TimeAttribute.ROWTIME:
            raise ValidationError(f"The argument of CURRENT_WATERMARK() must be a rowtime attribute, but was '{argument.type}'.")
    return _with_current(node)


def _with_current(node: Node) -> Node:
    """``node`` with the column ``_NAME``."""
    match node:
        case Watermark():
            return replace(node, current=_NAME)
        case OneByOne(input=source):
            return node if any(f.name == _NAME for f in fields(node)) else node.carrying(_with_current(source), _NAME, _NAME)[0]
    raise NotSupported("CURRENT_WATERMARK above an aggregate, a join or a UNION is not supported.", hint="Call it over the table itself.")
