"""DISTINCT in a window aggregate: the values of each distinct argument are grouped first, so that each is counted once.

WindowAggregate(keys, COUNT(*), COUNT(DISTINCT a))      WindowAggregate(keys, FIRST_VALUE(n) FILTER $plain, COUNT($v0))
                                                   ->   +- Project($plain = $group = 0, $v0 = CASE WHEN $group = 1 THEN $d0 END)
                                                           +- WindowAggregate(keys, $group, $d0, n = COUNT(*))
                                                              +- Expand: each row once for the plain calls, once for each distinct argument

The inner aggregate keeps one row of state for each value, so its cost does not depend on how many values a group has.

Sessions of each value would differ from the sessions of all rows, so over sessions the calls become functions of the set of values.
"""

from __future__ import annotations

from dataclasses import replace

from sqlstream.plan import make
from sqlstream.plan.nodes import Expand, Named, NamedAggregate, Node, Project, WindowAggregate
from sqlstream.plan.properties import field
from sqlstream.sql.expressions import AggregateCall, ColumnRef, Expr
from sqlstream.sql.functions.aggregates import OVER_SET, summed_as_set
from sqlstream.sql.generated_names import generated
from sqlstream.sql.types import INT

_GROUP = generated("group")


def distinct_windows(node: Node) -> Node:
    """``node`` with every such aggregate below it rewritten."""
    node = node.with_inputs(tuple(distinct_windows(i) for i in node.inputs))
    if not isinstance(node, WindowAggregate):
        return node
    if node.window.kind.merges and not node.attached:
        # Sessions of each value would be others than those of all rows.
        return replace(node, aggregates=tuple(NamedAggregate(a.name, over_set(a.call)) for a in node.aggregates))
    # Those that keep all values anyway take a set.
    calls = tuple(NamedAggregate(a.name, a.call if _is_split(a.call) else over_set(a.call)) for a in node.aggregates)
    distinct = [a for a in calls if a.call.distinct and _is_split(a.call)]
    if not distinct:
        return replace(node, aggregates=calls)
    plain = [a for a in calls if a not in distinct]
    # Equal arguments share their values.
    values: dict[Expr, str] = {}
    for named in distinct:
        values.setdefault(_value(named.call), generated(f"d{len(values)}"))
    windowed = tuple(dict.fromkeys((*node.keys, node.start, node.end, node.time)))
    inner = WindowAggregate(
        _expand(node, windowed, plain, values),
        node.window,
        node.zone,
        (*windowed, _GROUP, *values.values()),
        tuple(NamedAggregate(a.name, _of_plain_rows(a.call)) for a in plain),
        node.start,
        node.end,
        node.time,
        node.attached,
    )
    group = ColumnRef(INT.not_null(), _GROUP)
    is_plain = make.equals(group, 0)
    columns = [*(_same(inner, name) for name in windowed), *(_same(inner, a.name) for a in plain), Named(generated("plain"), is_plain)]
    for number, (value, name) in enumerate(values.items(), 1):
        here = make.when(make.equals(group, number), ColumnRef(value.type.null(), name), make.null(value.type))
        columns.append(Named(generated(f"v{number}"), here))
    numbers = {value: generated(f"v{number}") for number, value in enumerate(values, 1)}
    flag = ColumnRef(is_plain.type, generated("plain"))
    outer = []
    for named in calls:
        if named in distinct:
            value = _value(named.call)
            call = replace(named.call, args=(ColumnRef(value.type.null(), numbers[value]),), distinct=False, filter=None)
        else:
            call = AggregateCall(named.call.type, make.builtin("FIRST_VALUE"), (ColumnRef(named.call.type, named.name),), filter=flag)
        outer.append(NamedAggregate(named.name, call))
    return replace(node, input=Project(inner, tuple(columns)), aggregates=tuple(outer))


def _is_split(call: AggregateCall) -> bool:
    """Whether the values of ``call`` with DISTINCT have rows of their own."""
    return call.function.ignores_nulls and not call.function.same_distinct


def _of_plain_rows(call: AggregateCall) -> AggregateCall:
    """``call`` over the plain rows: in the rows for distinct arguments, its own arguments are NULL."""
    if call.function.ignores_nulls:  # others may fail at one
        return call
    plain = make.equals(ColumnRef(INT.not_null(), _GROUP), 0)
    return replace(call, filter=plain if call.filter is None else make.all_of([call.filter, plain]))


def over_set(call: AggregateCall) -> AggregateCall:
    """``call`` without DISTINCT, as a function of the set of its values where it has such a form."""
    if not call.distinct or call.function.same_distinct:
        return replace(call, distinct=False)
    if call.function.name in ("SUM", "AVG") and not summed_as_set(call.args[0].type):
        return call
    return replace(call, function=OVER_SET.get(call.function.name, call.function))


def _value(call: AggregateCall) -> Expr:
    """The value that has to be distinct: the argument where the condition holds, else NULL, which none of these functions counts."""
    return call.args[0] if call.filter is None else make.when(call.filter, call.args[0], make.null(call.args[0].type))


def _expand(node: WindowAggregate, windowed: tuple[str, ...], plain: list[NamedAggregate], values: dict[Expr, str]) -> Expand:
    arguments = dict.fromkeys(c.name for a in plain for e in a.call.children for c in e.walk() if isinstance(c, ColumnRef))
    kept = [name for name in arguments if name not in windowed]
    projections = []
    for group in range(0 if plain else 1, len(values) + 1):
        columns = [_same(node.input, name) for name in windowed]
        columns.append(Named(_GROUP, make.number(group)))
        for name in kept:
            type_ = field(node.input, name).type.null()
            columns.append(Named(name, make.null(type_) if group else ColumnRef(type_, name)))
        for number, (value, name) in enumerate(values.items(), 1):
            columns.append(Named(name, value if number == group else make.null(value.type)))
        projections.append(tuple(columns))
    return Expand(node.input, tuple(projections))


def _same(source: Node, name: str) -> Named:
    return Named(name, make.ref(field(source, name)))
