"""A window join runs as one aggregate over the rows of both sides, grouped by window and keys: it has one state, and one scan of a shared source.

WindowJoin(a.k = b.k)                CoGroup(keys=[k], collects=[rows of a, rows of b])
+- a                            ->   +- Union
+- b                                    +- a, SIDE 0, NULLs for b's columns
                                        +- b, SIDE 1, NULLs for a's columns

If a side is itself a window aggregate by exactly the join's keys, the same aggregate computes it. If it has no aggregate functions (DISTINCT),
its distinct rows are collected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlstream.plan import make
from sqlstream.plan.nodes import (
    SIDE,
    CoGroup,
    Collected,
    JoinSide,
    Named,
    NamedAggregate,
    Node,
    Project,
    Union,
    WindowAggregate,
    WindowJoin,
)
from sqlstream.plan.places import placed
from sqlstream.plan.properties import field, fields
from sqlstream.sql.expressions import ColumnRef, Expr
from sqlstream.sql.generated_names import generated
from sqlstream.udf.declarations.functions import calls_python

_TIME, _START, _END = generated("time"), generated("start"), generated("end")
_ALONE = generated("alone")


def co_group(node: Node) -> Node:
    """``node`` with every window join below it rewritten."""
    node = node.with_inputs(tuple(co_group(i) for i in node.inputs))
    if not isinstance(node, WindowJoin):
        return node
    sources = [_source(node, 0), _source(node, 1)]
    keys = [generated(f"k{i}") for i in range(len(node.keys))]
    # NULL is equal to nothing, the other side's NULL included: such rows are grouped by side.
    lonely = [n for n, (a, b) in enumerate(zip(*(s.keys for s in sources), strict=True)) if a.type.nullable and b.type.nullable]
    branches = []
    for side, source in enumerate(sources):
        columns = [Named(SIDE, make.number(side)), Named(_TIME, source.time), Named(_START, source.bounds[0]), Named(_END, source.bounds[1])]
        columns += [Named(name, key) for name, key in zip(keys, source.keys, strict=True)]
        if lonely:
            missing = [make.is_null(source.keys[n]) for n in lonely]
            columns.append(Named(_ALONE, make.when(make.any_of(missing), make.number(side), make.number(-1))))
        for other, holder in enumerate(sources):
            columns += [c if other == side else Named(c.name, make.null(c.expr.type)) for c in holder.columns]
        branches.append(Project(source.node, tuple(columns)))
    grouped = (*keys, *([_ALONE] if lonely else []))
    return placed(CoGroup(Union(tuple(branches)), node, _TIME, (_START, _END), grouped, (sources[0].side, sources[1].side)), node.at)


@dataclass(frozen=True)
class _Source:
    """Where the rows of a side come from, and how they are collected."""

    node: Node
    time: Expr
    bounds: tuple[Expr, Expr]
    keys: tuple[Expr, ...]
    columns: tuple[Named, ...]
    side: JoinSide


def _source(join: WindowJoin, index: int) -> _Source:
    node = join.inputs[index]
    names = (join.times[index], join.bounds[0][index], join.bounds[1][index])
    keys = tuple(pair[index] for pair in join.keys)
    inside = [f for f in fields(node) if f.name not in names]
    aggregate, exprs = _below_projections(node)
    if isinstance(aggregate, WindowAggregate) and (aggregate.attached or not aggregate.window.kind.merges):
        folded = _folded(aggregate, exprs, keys, [f.name for f in inside], names, index)
        if folded is not None:
            return folded
    time, start, end = (make.ref(field(node, n)) for n in names)
    columns = tuple(Named(generated(f"{index}.{f.name}"), make.ref(f)) for f in inside)
    side = JoinSide(Collected.ROWS, tuple(c.name for c in columns))
    return _Source(node, time, (start, end), tuple(make.ref(field(node, k)) for k in keys), columns, side)


def _below_projections(node: Node) -> tuple[Node, dict[str, Expr]]:
    """What is below the projections that ``node`` begins with, and ``node``'s columns as expressions over it. Projections alone call Python."""
    exprs: dict[str, Expr] = {f.name: make.ref(f) for f in fields(node)}
    while isinstance(node, Project) and not any(calls_python(c.expr) for c in node.columns):
        inner = {c.name: c.expr for c in node.columns}
        exprs = {name: make.substituted(e, inner) for name, e in exprs.items()}
        node = node.input
    return node, exprs


def _folded(
    aggregate: WindowAggregate, exprs: dict[str, Expr], keys: tuple[str, ...], inside: list[str], names: tuple[str, str, str], index: int
) -> _Source | None:
    """The side as rows below ``aggregate``, where the join groups by its keys; None where it does not."""
    window = (aggregate.time, aggregate.start, aggregate.end)
    if any(exprs[n] != make.ref(field(aggregate, w)) for n, w in zip(names, window, strict=True) if w in aggregate.keys):
        return None
    others = [k for k in aggregate.keys if k not in window]
    joined = [exprs[k].name if isinstance(exprs[k], ColumnRef) else "" for k in keys]  # type: ignore[attr-defined]
    below = aggregate.input
    refs = {name: make.ref(field(below, name)) for name in (*window, *others)}
    if not set(joined) <= set(others) or any(c in window for e in (exprs[n] for n in inside) for c in make.columns(e)):
        return None
    places = tuple(refs[k] for k in joined)
    if set(joined) == set(others):
        # A column of the aggregate below holds each argument; rows of the other side have NULL there.
        arguments = {c: generated(f"{index}.{c}") for call in aggregate.aggregates for c in sorted(make.columns(call.call))}
        here = make.equals(ColumnRef(make.number(0).type, SIDE), index)
        calls = []
        for named in aggregate.aggregates:
            call = named.call.with_children(tuple(make.renamed(e, arguments) for e in named.call.children))
            both = make.all_of([here, *([call.filter] if call.filter is not None else [])])
            calls.append(NamedAggregate(generated(f"{index}.{named.name}"), replace(call, filter=both)))
        results = {a.name: generated(f"{index}.{a.name}") for a in aggregate.aggregates}
        results |= {k: generated(f"k{n}") for n, k in reversed(list(enumerate(joined)))}
        row = tuple(Named(n, make.renamed(exprs[n], results)) for n in inside)
        columns = tuple(Named(name, make.ref(field(below, c))) for c, name in arguments.items())
        side = JoinSide(Collected.AGGREGATES, tuple(c.name for c in columns), tuple(calls), row)
    elif not aggregate.aggregates:
        columns = tuple(Named(generated(f"{index}.{n}"), make.substituted(exprs[n], refs)) for n in inside)
        side = JoinSide(Collected.DISTINCT, tuple(c.name for c in columns))
    else:
        return None
    return _Source(below, refs[window[0]], (refs[window[1]], refs[window[2]]), places, columns, side)
