"""Branches of UNION ALL over the same input read it once: each row is emitted once for every branch that selects it.

Union                                  Expand(projections of a and of b, each where its condition holds)
+- a: Project/Filter over X       ->   +- X
+- b: Project/Filter over X

If all branches apply the same window function, it moves below the Expand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlstream.plan import make
from sqlstream.plan.nodes import WINDOW_COLUMNS, Expand, Filter, Named, Node, Project, Union, Window, WindowTvf
from sqlstream.plan.properties import field, fields, static
from sqlstream.sql.expressions import Call, ColumnRef, Expr
from sqlstream.udf.declarations.functions import calls_python


def shared_scan(node: Node) -> Node:
    """``node`` with every such union below it rewritten."""
    node = node.with_inputs(tuple(shared_scan(i) for i in node.inputs))
    if not isinstance(node, Union):
        return node
    branches = [_branch(b) for b in node.branches]
    shared = [b for b in branches if sum(b.source == other.source for other in branches) > 1 and _shareable(b.base)]
    if not shared:
        return node
    made: list[Node] = []
    for branch, original in zip(branches, node.branches, strict=True):
        if branch not in shared:
            made.append(original)
        elif branch is next(b for b in branches if b.source == branch.source):
            made.append(_expand([b for b in branches if b.source == branch.source], [f.name for f in fields(node)]))
    return made[0] if len(made) == 1 else Union(tuple(made))


def _shareable(base: Node) -> bool:
    """Whether reading ``base`` twice is worth saving."""
    return not static(base)


@dataclass(frozen=True)
class _Branch:
    """A branch as expressions over ``base`` and its windows, if any. ``before`` are the conditions on rows before windows are assigned."""

    base: Node
    window: tuple[Window, str] | None
    exprs: tuple[Named, ...]
    conditions: tuple[Expr, ...] = ()
    before: tuple[Expr, ...] = ()

    @property
    def source(self) -> object:
        return self.base, self.window

    def over(self, expr: Expr) -> Expr:
        """``expr``, which reads the branch's columns, over the base."""
        return make.substituted(expr, {c.name: c.expr for c in self.exprs})


def _branch(node: Node) -> _Branch:
    alone = _Branch(node, None, tuple(Named(f.name, make.ref(f)) for f in fields(node)))
    match node:
        case Project(input=source, columns=columns) if not any(_once(c.expr) for c in columns):
            below = _branch(source)
            return replace(below, exprs=tuple(Named(c.name, below.over(c.expr)) for c in columns))
        case Filter(input=source, condition=condition) if not _once(condition):
            below = _branch(source)
            return replace(below, conditions=(*below.conditions, below.over(condition)))
        case WindowTvf(input=source, window=window, zone=zone) if not window.kind.merges:
            below = _branch(source)
            time = below.over(make.ref(field(source, window.time)))
            if below.window is not None or not isinstance(time, ColumnRef) or any(f.name in WINDOW_COLUMNS for f in fields(below.base)):
                return alone
            columns = tuple(Named(name, make.ref(field(node, name))) for name in WINDOW_COLUMNS)
            windowed = (replace(window, time=time.name), zone)
            return replace(below, window=windowed, exprs=(*below.exprs, *columns), conditions=(), before=below.conditions)
    return alone


def _once(expr: Expr) -> bool:
    """Whether ``expr`` is computed once a row: not twice, as one that is put in the place of a column may be."""
    return calls_python(expr) or any(isinstance(e, Call) and not (e.function.deterministic or e.function.clock) for e in expr.walk())


def _expand(branches: list[_Branch], names: list[str]) -> Node:
    first = branches[0]
    base = first.base
    if first.window is not None:
        # A row without a time may get here only if a branch would have selected it.
        conditions_below = [make.all_of(b.before) for b in branches]
        stated = [t for t in conditions_below if t is not None]
        base = WindowTvf(Filter(base, make.any_of(stated)) if len(stated) == len(conditions_below) else base, *first.window)
    projections = tuple(tuple(Named(n, c.expr) for n, c in zip(names, b.exprs, strict=True)) for b in branches)
    conditions = tuple(make.all_of((*b.before, *b.conditions)) for b in branches)
    if all(c is None for c in conditions):
        return Expand(base, projections)
    return Expand(base, projections, conditions)
