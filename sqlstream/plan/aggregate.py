"""GROUP BY, HAVING and aggregate calls of a SELECT: a projection of keys and arguments, the aggregate, a projection of the results."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.errors import NotSupported, ValidationError
from sqlstream.plan.nodes import Filter, GroupAggregate, Named, NamedAggregate, Node, Project
from sqlstream.plan.properties import fields
from sqlstream.sql.bind import Scope, bind, to_text
from sqlstream.sql.expressions import AggregateCall, ColumnRef, Expr, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

_GROUP_WINDOWS = ("TUMBLE", "HOP", "SESSION")


def aggregate(source: Node, group: exp.Group | None, items: list[Named], having: Expr | None, scope: Scope, select: exp.Select) -> Node:
    """``items`` over the groups of ``source``. Raises ValidationError for a column that is neither grouped nor aggregated."""
    keys = _keys(group, scope) if group else []
    taken = {f.name for f in fields(source)} | {i.name for i in items}
    fresh = _fresh(taken)
    below: dict[Expr, str] = {}

    def column(expr: Expr) -> ColumnRef:
        """A column of the projection below the aggregate that holds ``expr``."""
        if expr not in below:
            below[expr] = expr.name if isinstance(expr, ColumnRef) else fresh("$f")
        return ColumnRef(expr.type, below[expr])

    key_columns = {key: column(key) for key in keys}
    calls: dict[AggregateCall, str] = {}
    for item in items:
        for call in _calls(item.expr):
            if call not in calls:
                calls[call] = item.name if item.expr == call and item.name not in below.values() else fresh("$agg")
    if having is not None:
        for call in _calls(having):
            calls.setdefault(call, fresh("$agg"))
    aggregates = tuple(NamedAggregate(name, call.with_children(tuple(column(c) for c in call.children))) for call, name in calls.items())
    arguments = Project(source, tuple(Named(name, expr) for expr, name in below.items())) if below else source
    grouped = GroupAggregate(arguments, tuple(dict.fromkeys(c.name for c in key_columns.values())), aggregates)

    def above(expr: Expr) -> Expr | None:
        if expr in key_columns:
            return key_columns[expr]
        if isinstance(expr, AggregateCall):
            return ColumnRef(expr.type, calls[expr])
        if isinstance(expr, ColumnRef):
            raise ValidationError(f"Expression '{expr.name}' is not being grouped", at=_place(select, expr.name))
        return None

    result: Node = grouped
    if having is not None:
        result = Filter(result, having.transform(above))
    return Project(result, tuple(Named(i.name, i.expr.transform(above)) for i in items))


def _keys(group: exp.Group, scope: Scope) -> list[Expr]:
    for form in ("grouping_sets", "cube", "rollup", "totals", "all"):
        if group.args.get(form):
            raise NotSupported(f"{form.upper().replace('_', ' ')} is not supported yet.", at=group)
    keys = []
    for node in group.expressions:
        if isinstance(node, exp.Anonymous) and node.name.upper() in _GROUP_WINDOWS:
            name = node.name.upper()
            raise NotSupported(
                f"The group window function {name} is not supported yet.", at=node,
                hint=f"Use the window table-valued function: FROM TABLE({name}(TABLE t, DESCRIPTOR(time), ...)) GROUP BY window_start, window_end.",
            )  # fmt: skip
        key = bind(node, scope)
        if any(isinstance(e, AggregateCall) for e in key.walk()):
            raise ValidationError(f"Aggregate expression is illegal in GROUP BY clause: {to_text(key)}", at=node)
        if isinstance(key, Literal):
            raise NotSupported(
                "GROUP BY takes columns and expressions, not positions.", at=node, hint="Repeat the expression of the select list."
            )
        keys.append(key)
    return keys


def _calls(expr: Expr) -> list[AggregateCall]:
    return [e for e in expr.walk() if isinstance(e, AggregateCall)]


def _fresh(taken: set[str]) -> Callable[[str], str]:
    counter = count()

    def name(prefix: str) -> str:
        found = next(f"{prefix}{i}" for i in counter if f"{prefix}{i}" not in taken)
        taken.add(found)
        return found

    return name


def _place(select: exp.Select, name: str) -> exp.Expr:
    return next((c for c in select.find_all(exp.Column) if c.name == name), select)
