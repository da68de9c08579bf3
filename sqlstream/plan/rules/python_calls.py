"""Only projections call Python functions, each at the top of a column. Filters, joins and our own operators can't call them, and Spark SQL that names
a value twice would call them twice.

Filter(where=[f(a) > 1])      ->   Project(a)
+- input(a)                        +- Filter(where=[$py0 > 1])
                                      +- Project(a, f(a) AS $py0)
"""

from __future__ import annotations

from dataclasses import replace

from sqlstream.core.errors import NotSupported
from sqlstream.plan import make
from sqlstream.plan.nodes import Correlate, Expand, Filter, LookupJoin, Named, Node, Project, Union, Values, Watermark
from sqlstream.plan.places import at_clause, placed
from sqlstream.plan.properties import fields
from sqlstream.plan.rules.python_lift import Lift, outermost_calls
from sqlstream.sql.expressions import ColumnRef, Expr
from sqlstream.udf.declarations.functions import keeps_failures

_OUTER_LATERAL = "Python functions are not supported in the condition of a LEFT JOIN LATERAL."
_LOOKUP = "Python functions are not supported in the condition of a lookup join besides its keys."


def python_calls(node: Node) -> Node:
    """``node`` with its Python calls in projections. Raises NotSupported."""
    node = node.with_inputs(tuple(python_calls(i) for i in node.inputs))
    with at_clause(node):
        return placed(_without_calls(node), node.at)


def _without_calls(node: Node) -> Node:
    match node:
        case Project(input=source, columns=columns):
            lift = Lift(fields(source), often=[call for c in columns for call in outermost_calls(c.expr)])
            made = tuple(Named(c.name, lift.top(c.expr)) for c in columns)
            return Project(python_calls(lift.below(source)), made) if lift.calls else node
        case Filter(input=Project(input=source, columns=columns), condition=condition) if any(outermost_calls(c.expr) for c in columns):
            return _filtered(node, source, columns)
        case Filter(input=source, condition=condition) if outermost_calls(condition):
            lift = Lift(fields(source))
            return _restored(node, replace(node, condition=lift(condition), input=lift.below(source)))
        case Watermark(input=source, expression=expression) if outermost_calls(expression):
            lift = Lift(fields(source))
            return _restored(node, replace(node, expression=lift(expression), input=lift.below(source)))
        case Expand(input=source, projections=projections, conditions=conditions):
            lift = Lift(fields(source))
            projections = tuple(tuple(Named(c.name, lift(c.expr)) for c in p) for p in projections)
            conditions = tuple(None if c is None else lift(c) for c in conditions)
            return Expand(python_calls(lift.below(source)), projections, conditions) if lift.calls else node
        case Correlate(input=source, collection=collection, condition=condition):
            if outermost_calls(condition):
                raise NotSupported(_OUTER_LATERAL, hint="Call them in a sub-query around it.")
            lift = Lift(fields(source))
            made_of = lift(collection) if keeps_failures(collection) else lift.top(collection)
            return _restored(node, replace(node, collection=made_of, input=python_calls(lift.below(source)))) if lift.calls else node
        case LookupJoin(input=source, keys=keys, condition=condition):
            if outermost_calls(condition):
                raise NotSupported(_LOOKUP, hint="Filter its rows in WHERE.")
            lift = Lift(fields(source))
            values = tuple((lift(value), name) for value, name in keys)
            return _restored(node, replace(node, keys=values, input=python_calls(lift.below(source)))) if lift.calls else node
        case Values(rows=rows) if any(outermost_calls(cell) for row in rows for cell in row):
            return _computed(node)
    return node


def _filtered(node: Filter, source: Node, columns: tuple[Named, ...]) -> Node:
    """``node`` over a projection that calls functions: conditions that don't need their results are tested first."""
    plain = {c.name: c.expr for c in columns if isinstance(c.expr, ColumnRef)}
    parts = make.conjuncts(node.condition)
    before = [p for p in parts if make.columns(p) <= plain.keys() and not outermost_calls(p)]
    below = make.all_of([make.substituted(p, plain) for p in before])
    projected = Project(source if below is None else Filter(source, below), columns)
    condition = make.all_of([p for p in parts if p not in before])
    if condition is None:
        return projected
    lift = Lift(fields(projected))
    asked = lift(condition)
    return _restored(node, Filter(lift.below(projected), asked)) if lift.calls else Filter(projected, condition)


def _restored(node: Node, rewritten: Node) -> Node:
    """``rewritten`` with the columns of ``node`` alone."""
    return Project(python_calls(rewritten), tuple(Named(f.name, make.ref(f)) for f in fields(node)))


def _computed(node: Values) -> Node:
    """Constant rows with Python calls, as a union with one branch for each row."""

    def branch(row: tuple[Expr, ...]) -> Node:
        cells = tuple(Named(f.name, cell) for f, cell in zip(node.fields, row, strict=True))
        return python_calls(Project(Values(((),), ()), cells))

    branches = tuple(branch(row) for row in node.rows)
    return branches[0] if len(branches) == 1 else Union(branches)
