"""Python functions are called by projections, each at the top of a column: what only looks at values, a join's condition or an operator of our own,
can't call them, and Spark SQL that names a value twice would call them twice.

Filter(where=[f(a) > 1])      ->   Project(a)
+- input(a)                        +- Filter(where=[$py0 > 1])
                                      +- Project(a, f(a) AS $py0)
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from sqlstream.core.errors import NotSupported
from sqlstream.plan import make
from sqlstream.plan.nodes import Correlate, Expand, Filter, IntervalJoin, Join, JoinKind, LookupJoin, Named, Node, Project, Union, Values, Watermark
from sqlstream.plan.properties import fields
from sqlstream.sql.expressions import Call, ColumnRef, Expr
from sqlstream.sql.generated_names import generated
from sqlstream.udf.declarations.functions import PythonFunction, keeps_failures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlstream.plan.nodes import Field

_BOTH_SIDES = (
    "Only inner join condition with equality predicates supports the Python UDF taking the inputs from the left table and the right table at "
    "the same time."
)
_OUTER_LATERAL = "Python functions are not supported in the condition of a LEFT JOIN LATERAL."
_LOOKUP = "Python functions are not supported in the condition of a lookup join besides its keys."


def python_joins(node: Node) -> Node:
    """``node`` with the Python calls of its joins' conditions below the joins, or above."""
    node = node.with_inputs(tuple(python_joins(i) for i in node.inputs))
    return _joined(node) if isinstance(node, Join) and _calls(node.condition) else node


def python_calls(node: Node) -> Node:
    """``node`` with its Python calls in projections. Raises NotSupported."""
    node = node.with_inputs(tuple(python_calls(i) for i in node.inputs))
    match node:
        case Project(input=source, columns=columns):
            lift = _Lift(fields(source), often=[call for c in columns for call in _calls(c.expr)])
            made = tuple(Named(c.name, lift.top(c.expr)) for c in columns)
            return Project(python_calls(lift.below(source)), made) if lift.found else node
        case Filter(input=Project(input=source, columns=columns), condition=condition) if any(_calls(c.expr) for c in columns):
            return _filtered(node, source, columns)
        case Filter(input=source, condition=condition) if _calls(condition):
            lift = _Lift(fields(source))
            return _restored(node, replace(node, condition=lift(condition), input=lift.below(source)))
        case Watermark(input=source, expression=expression) if _calls(expression):
            lift = _Lift(fields(source))
            return _restored(node, replace(node, expression=lift(expression), input=lift.below(source)))
        case Expand(input=source, projections=projections, conditions=conditions):
            lift = _Lift(fields(source))
            projections = tuple(tuple(Named(c.name, lift(c.expr)) for c in p) for p in projections)
            conditions = tuple(None if c is None else lift(c) for c in conditions)
            return Expand(python_calls(lift.below(source)), projections, conditions) if lift.found else node
        case Correlate(input=source, collection=collection, condition=condition):
            if _calls(condition):
                raise NotSupported(_OUTER_LATERAL, hint="Call them in a sub-query around it.")
            lift = _Lift(fields(source))
            made_of = lift(collection) if keeps_failures(collection) else lift.top(collection)
            return _restored(node, replace(node, collection=made_of, input=python_calls(lift.below(source)))) if lift.found else node
        case LookupJoin(input=source, keys=keys, condition=condition):
            if _calls(condition):
                raise NotSupported(_LOOKUP, hint="Filter its rows in WHERE.")
            lift = _Lift(fields(source))
            values = tuple((lift(value), name) for value, name in keys)
            return _restored(node, replace(node, keys=values, input=python_calls(lift.below(source)))) if lift.found else node
        case Values(rows=rows) if any(_calls(cell) for row in rows for cell in row):
            return _computed(node)
    return node


def _is_call(expr: Expr) -> bool:
    return isinstance(expr, Call) and isinstance(expr.function, PythonFunction)


def _is_fixed(call: Expr) -> bool:
    """Whether one call does for all that are equal to it."""
    return isinstance(call, Call) and call.function.deterministic


def _calls(expr: Expr | None) -> list[Expr]:
    """The outermost Python calls of ``expr``."""
    if expr is None:
        return []
    return [expr] if _is_call(expr) else [call for child in expr.children for call in _calls(child)]


class _Lift:
    """Expressions with columns in the place of Python calls; ``found`` are these, by the name of their column."""

    def __init__(self, given: Sequence[Field], prefix: str = generated("py"), often: Sequence[Expr] = ()) -> None:
        self.found: dict[str, Expr] = {}
        self._twice = [call for i, call in enumerate(often) if _is_fixed(call) and call in often[:i]]
        taken = {f.name for f in given}
        self._names: Iterator[str] = (name for n in count() if (name := f"{prefix}{n}") not in taken)

    def __call__(self, expr: Expr) -> Expr:
        return expr.transform(lambda e: self.column(e) if _is_call(e) else None)

    def top(self, expr: Expr) -> Expr:
        """``expr``, which may be a call, of calls, unless it is needed elsewhere too."""
        if not _is_call(expr) or expr in self._twice:
            return self(expr)
        inner = self if keeps_failures(expr) else self.top
        return expr.with_children(tuple(inner(a) for a in expr.children))

    def below(self, source: Node) -> Node:
        """``source`` with the columns that were found."""
        if not self.found:
            return source
        kept = (Named(f.name, make.ref(f)) for f in fields(source))
        return Project(source, (*kept, *(Named(n, e) for n, e in self.found.items())))

    def column(self, call: Expr) -> ColumnRef:
        name = next((n for n, e in self.found.items() if e == call and _is_fixed(call)), None)
        if name is None:
            name = next(self._names)
            self.found[name] = call
        return ColumnRef(call.type, name)


def _filtered(node: Filter, source: Node, columns: tuple[Named, ...]) -> Node:
    """``node`` over a projection that calls functions: what they are not asked for is left out before."""
    passed = {c.name: c.expr for c in columns if isinstance(c.expr, ColumnRef)}
    parts = make.conjuncts(node.condition)
    before = [p for p in parts if make.columns(p) <= passed.keys() and not _calls(p)]
    below = make.all_of([make.substituted(p, passed) for p in before])
    projected = Project(source if below is None else Filter(source, below), columns)
    condition = make.all_of([p for p in parts if p not in before])
    if condition is None:
        return projected
    lift = _Lift(fields(projected))
    asked = lift(condition)
    return _restored(node, Filter(lift.below(projected), asked)) if lift.found else Filter(projected, condition)


def _restored(node: Node, made: Node) -> Node:
    """``made`` with the columns of ``node`` alone."""
    return Project(python_calls(made), tuple(Named(f.name, make.ref(f)) for f in fields(node)))


def _computed(node: Values) -> Node:
    """Constant rows whose Python calls are computed of their arguments: one branch a row."""

    def branch(row: tuple[Expr, ...]) -> Node:
        cells = tuple(Named(f.name, cell) for f, cell in zip(node.fields, row, strict=True))
        return python_calls(Project(Values(((),), ()), cells))

    branches = tuple(branch(row) for row in node.rows)
    return branches[0] if len(branches) == 1 else Union(branches)


def _joined(node: Join) -> Node:
    # The names of both sides are in one condition.
    taken = (*fields(node.left), *fields(node.right))
    sides = [_Lift(taken, prefix) for prefix in (generated("py_left"), generated("py_right"))]
    columns = [{f.name for f in fields(side)} for side in node.inputs]
    above: list[Expr] = []

    def split(condition: Expr | None) -> Expr | None:
        kept = []
        for part in make.conjuncts(condition):
            reads = [make.columns(call) for call in _calls(part)]
            if any(not (r <= columns[0] or r <= columns[1]) for r in reads):
                if part not in above:
                    above.append(part)
            else:
                kept.append(part.transform(lambda e: sides[0 if make.columns(e) <= columns[0] else 1].column(e) if _is_call(e) else None))
        return make.all_of(kept)

    made = replace(node, condition=split(node.condition))
    if isinstance(made, IntervalJoin):
        made = replace(made, rest=split(made.rest))
    if above and node.kind is not JoinKind.INNER:
        raise NotSupported(_BOTH_SIDES, hint="Call the function in a sub-query, over columns of one side.")
    found: Node = made.with_inputs(tuple(lift.below(side) for lift, side in zip(sides, node.inputs, strict=True)))
    condition = make.all_of(above)
    found = found if condition is None else Filter(found, condition)
    return Project(found, tuple(Named(f.name, make.ref(f)) for f in fields(node)))
