"""DISTINCT in an aggregate that is updated as rows come: what a row brings for the first time is found out before.

GroupAggregate(keys, SUM(b), COUNT(DISTINCT a) FILTER c)      GroupAggregate(keys, SUM(b) FILTER $group = 0, COUNT($d0) FILTER $s0)
                                                         ->   +- FirstSeen(keys, $group, $d0; $s0)
                                                                 +- Expand: $d0 = a, $s0 = c; a row for each distinct argument

The rows of the first distinct argument are those of the other calls too, and all go on. State is a number for each value of a group.
"""

from __future__ import annotations

from dataclasses import replace

from sqlstream.plan import make
from sqlstream.plan.nodes import Expand, FirstSeen, GroupAggregate, Named, NamedAggregate, Node
from sqlstream.plan.properties import field
from sqlstream.plan.rules.distinct_windows import PLAIN
from sqlstream.sql.expressions import ColumnRef, Expr
from sqlstream.sql.types import BOOLEAN, INT

_GROUP = "$group"
# A number of state has a bit for each condition.
_MOST = 64


def distinct_updates(node: Node) -> Node:
    """``node`` with every such aggregate below it rewritten."""
    node = node.with_inputs(tuple(distinct_updates(i) for i in node.inputs))
    if not isinstance(node, GroupAggregate):
        return node
    calls = tuple(NamedAggregate(a.name, replace(a.call, distinct=False) if a.call.function.name in PLAIN else a.call) for a in node.aggregates)
    distinct = [a.call for a in calls if a.call.distinct]
    # What is distinct, and under which conditions.
    flags: dict[tuple[Expr, Expr | None], str] = {}
    values: dict[Expr, str] = {}
    for call in distinct:
        values.setdefault(call.args[0], f"$d{len(values)}")
        flags.setdefault((call.args[0], call.filter), f"$s{len(flags)}")
    if not distinct or len(flags) > _MOST or any(len(c.args) != 1 for c in distinct):
        return replace(node, aggregates=calls)
    plain = [a for a in calls if not a.call.distinct]
    keys = (*node.keys, _GROUP, *values.values())
    seen = FirstSeen(_expand(node, plain, values, flags), keys, _GROUP, tuple(flags.values()))
    first = make.equals(ColumnRef(INT.not_null(), _GROUP), 0)
    outer = []
    for named in calls:
        call = named.call
        if call.distinct:
            value = ColumnRef(call.args[0].type.null(), values[call.args[0]])
            flag = ColumnRef(BOOLEAN.not_null(), flags[call.args[0], call.filter])
            call = replace(call, args=(value,), distinct=False, filter=flag)
        else:
            call = replace(call, filter=make.all_of([first, *([] if call.filter is None else [call.filter])]))
        outer.append(NamedAggregate(named.name, call))
    return replace(node, input=seen, aggregates=tuple(outer))


def _expand(
    node: GroupAggregate, plain: list[NamedAggregate], values: dict[Expr, str], flags: dict[tuple[Expr, Expr | None], str]
) -> Expand:
    """The input once for each distinct argument, numbered from 0 where the first one's rows stand for all of the input, else from 1.

    They must where there are other calls, and where a row under none of the conditions can be the first of its group.
    """
    all_go_on = bool(plain) or None not in [condition for _, condition in flags]
    kept = sorted({c for a in plain for c in make.columns(a.call)} - set(node.keys))
    projections = []
    conditions: list[Expr | None] = []
    for number, value in enumerate(values, 0 if all_go_on else 1):
        columns = [Named(k, make.ref(field(node.input, k))) for k in node.keys]
        columns.append(Named(_GROUP, make.number(number)))
        for name in kept:
            type_ = field(node.input, name).type.null()
            columns.append(Named(name, make.null(type_) if number else ColumnRef(type_, name)))
        columns += [Named(n, v if v == value else make.null(v.type)) for v, n in values.items()]
        # FILTER takes what is TRUE.
        columns += [Named(n, make.is_true(f) if v == value else make.boolean(False)) for (v, f), n in flags.items()]
        projections.append(tuple(columns))
        own = [f for v, f in flags if v == value]
        conditions.append(None if number == 0 or None in own else make.any_of([f for f in own if f is not None]))
    return Expand(node.input, tuple(projections), tuple(conditions) if any(conditions) else ())
