"""OVER: functions over the rows around each row."""

from __future__ import annotations

from sqlstream.plan import make
from sqlstream.plan.nodes import (
    Named,
    NamedAggregate,
    Node,
    Over,
    Project,
    SortKey,
)
from sqlstream.plan.properties import field, fields
from sqlstream.sql.expressions import ColumnRef, Expr, Literal, OverCall
from sqlstream.sql.generated_names import generated


def below_over(items: list[Named]) -> tuple[list[Named], tuple[OverCall, ...]]:
    """``items`` with the columns that calls of OVER read in place of those with such calls; and the calls."""
    calls = tuple(dict.fromkeys(e for i in items for e in i.expr.walk() if isinstance(e, OverCall)))
    if not calls:
        return items, ()
    plain = [i for i in items if not _over_calls(i.expr)]
    computed, names = {i.expr for i in plain}, {i.name for i in plain}
    below = list(plain)
    for expr in dict.fromkeys(p for i in items if _over_calls(i.expr) for p in _parts(i.expr)):
        if expr not in computed:
            name = expr.name if isinstance(expr, ColumnRef) and expr.name not in names else generated(f"o{len(below) - len(plain)}")
            below.append(Named(name, expr))
    return below, calls


def _over_calls(expr: Expr) -> bool:
    return any(isinstance(e, OverCall) for e in expr.walk())


def _parts(expr: Expr) -> list[Expr]:
    """The parts of ``expr`` that are computed below its calls of OVER: the arguments of these, and everything else."""
    if isinstance(expr, Literal):
        return []
    if isinstance(expr, OverCall):
        return [*expr.partition, *expr.order, *(e for e in expr.call.children if not isinstance(e, Literal))]
    return [p for e in expr.children for p in _parts(e)] if _over_calls(expr) else [expr]


def over(node: Node, below: list[Named], calls: tuple[OverCall, ...], items: list[Named]) -> Node:
    """``items`` above ``node``, which has the columns ``below`` of ``below_over``: an Over for each window of ``calls``."""
    columns = {f.name: make.ref(f) for f in fields(node)}
    known: dict[Expr, Expr] = {i.expr: columns[i.name] for i in reversed(below)}
    for window in dict.fromkeys(c.window for c in calls):
        own = {generated(f"over{i}"): c for i, c in enumerate(calls) if c.window == window}
        first = next(iter(own.values()))
        order = zip((_column(known[e]) for e in first.order), first.descending, first.nulls_first, strict=True)
        aggregates = (NamedAggregate(n, c.call.with_children(tuple(known.get(e, e) for e in c.call.children))) for n, c in own.items())
        partition = tuple(_column(known[e]) for e in first.partition)
        node = Over(node, partition, tuple(SortKey(*key) for key in order), tuple(aggregates), first.frame)
        known |= {c: make.ref(field(node, n)) for n, c in own.items()}
    return Project(node, tuple(Named(i.name, i.expr.transform(known.get)) for i in items))


def _column(expr: Expr) -> str:
    assert isinstance(expr, ColumnRef)
    return expr.name
