"""GROUP BY, HAVING and aggregate calls of a SELECT: a projection of keys and arguments, the aggregate, a projection of the results."""

from __future__ import annotations

import math
from itertools import combinations, count
from typing import TYPE_CHECKING, TypeGuard

from sqlglot import exp

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.plan import make
from sqlstream.plan.nodes import Expand, Filter, GroupAggregate, Named, NamedAggregate, Node, Project
from sqlstream.plan.properties import fields
from sqlstream.sql.bind import IN_SUB_QUERY, Scope, bind, to_text
from sqlstream.sql.expressions import AggregateCall, ColumnRef, Expr, Literal, OverCall, constant
from sqlstream.sql.functions.aggregates import GROUPINGS
from sqlstream.sql.functions.base import VARIES
from sqlstream.sql.generated_names import generated
from sqlstream.sql.keys import require_key
from sqlstream.sql.quoting import quote
from sqlstream.sql.types import INT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlstream.plan.builder.subqueries import SubQueries

# Each is a row for each row of the input. Flink plans the 1,024 of ten columns in twenty seconds.
_MOST_SETS = 4096
_SETS_HINT = "GROUPING SETS names those that are wanted."


def aggregate(
    source: Node,
    group: exp.Group | None,
    items: list[Named],
    having: Expr | None,
    scope: Scope,
    select: exp.Select,
    inner: SubQueries,
    ttl: int | None = None,
) -> Node:
    """``items`` over the groups of ``source`` and sub-queries. Raises ValidationError for a column that is neither grouped nor aggregated."""
    sets: list[tuple[Expr, ...]] = _grouping_sets(group, scope) if group else [()]
    keys = list(dict.fromkeys(key for keys in sets for key in keys))
    used = {f.name for f in fields(source)} | {i.name for i in items}
    fresh = _fresh(used)
    below: dict[Expr, str] = {}

    def column(expr: Expr) -> ColumnRef:
        """A column of the projection below the aggregate that holds ``expr``."""
        if expr not in below:
            below[expr] = expr.name if isinstance(expr, ColumnRef) else fresh(generated("f"))
        return ColumnRef(expr.type, below[expr])

    def below_call(call: AggregateCall) -> Iterator[Expr]:
        """The arguments of ``call``; a constant after the first (a separator, a percentage) must stay a constant."""
        for i, expr in enumerate(call.children):
            yield expr if i > 0 and expr is not call.filter and constant(expr) is not VARIES else column(expr)

    key_columns = {key: column(key) for key in keys}
    calls: dict[AggregateCall, str] = {}
    for item in items:
        for call in _calls(item.expr):
            if call not in calls:
                calls[call] = item.name if item.expr == call and item.name not in below.values() else fresh(generated("agg"))
    for asked in (*filter(None, [having]), *inner.conditions):
        for call in _calls(asked):
            calls.setdefault(call, fresh(generated("agg")))
    aggregates = tuple(NamedAggregate(name, call.with_children(tuple(below_call(call)))) for call, name in calls.items())
    arguments = Project(source, tuple(Named(name, expr) for expr, name in below.items())) if below else source
    names = tuple(dict.fromkeys(c.name for c in key_columns.values()))
    number = None
    if len(sets) > 1:
        number = ColumnRef(INT.not_null(), fresh(generated("e")))
        arguments, key_columns, names = _expanded(arguments, sets, key_columns, number, fresh)
    joined = {c.ref.name for c in inner.columns}

    def above(expr: Expr) -> Expr | None:
        if expr in key_columns:
            return key_columns[expr]
        if _is_grouping(expr):
            return _grouping(expr, sets, number, select)
        if isinstance(expr, AggregateCall):
            return ColumnRef(expr.type, calls[expr])
        if isinstance(expr, ColumnRef) and expr.name not in joined:
            hint = f"Add it to GROUP BY, or aggregate it, as MAX({quote(expr.name)})."
            raise ValidationError(f"Expression '{expr.name}' is not being grouped", at=_place(select, expr.name, scope), hint=hint)
        return None

    result = inner.apply(GroupAggregate(arguments, names, aggregates, ttl=ttl), above)
    if having is not None:
        result = Filter(result, having.transform(above))
    return Project(result, tuple(Named(i.name, i.expr.transform(above)) for i in items))


def _expanded(
    source: Node, sets: list[tuple[Expr, ...]], key_columns: dict[Expr, ColumnRef], number: ColumnRef, fresh: Callable[[str], str]
) -> tuple[Node, dict[Expr, ColumnRef], tuple[str, ...]]:
    """``source`` with each row once for every grouping set; the keys that are not in the set are NULL.

    Keys that are in every set stay as they are. The others get columns of their own, since an aggregate may read their values too.
    """
    own = {key: fresh(generated("k")) for key in key_columns if not all(key in s for s in sets)}
    below = [Named(f.name, make.ref(f)) for f in fields(source)]
    projections = []
    for i, grouping in enumerate(sets):
        copies = (Named(n, key_columns[k] if k in grouping else make.null(k.type)) for k, n in own.items())
        projections.append((*below, *copies, Named(number.name, make.number(i))))
    columns = {key: ColumnRef(key.type.null(), own[key]) if key in own else column for key, column in key_columns.items()}
    return Expand(source, tuple(projections)), columns, (*dict.fromkeys(c.name for c in columns.values()), number.name)


def _is_grouping(expr: Expr) -> TypeGuard[AggregateCall]:
    return isinstance(expr, AggregateCall) and expr.function.name in GROUPINGS


def _grouping(call: AggregateCall, sets: list[tuple[Expr, ...]], number: ColumnRef | None, select: exp.Select) -> Expr:
    """GROUPING(..) as a constant of each grouping set: one bit for each argument, the first the highest, set if it is not in the grouping set."""
    if not any(sets) and len(sets) == 1:
        raise ValidationError(f"{call.function.name} operator may only occur in an aggregate query", at=_place(select, ""))
    if call.function.name == "GROUP_ID":
        alike = [{*s} for s in sets]
        values = [alike[:i].count(s) for i, s in enumerate(alike)]
        return _of_set(call, values, number)
    for key in call.args:
        if not any(key in s for s in sets):
            raise ValidationError(f"Argument to {call.function.name} operator must be a grouped expression", at=_place(select, to_text(key)))
    return _of_set(call, [sum(1 << i for i, key in enumerate(reversed(call.args)) if key not in s) for s in sets], number)


def _of_set(call: AggregateCall, values: list[int], number: ColumnRef | None) -> Expr:
    """The one of ``values`` that belongs to a row's grouping set."""
    last: Expr = Literal(call.type, values[-1])
    if number is None or len(set(values)) == 1:
        return last
    cells = [e for i, value in enumerate(values[:-1]) for e in (make.equals(number, i), Literal(call.type, value))]
    return make.when(*cells, last)


def _grouping_sets(group: exp.Group, scope: Scope) -> list[tuple[Expr, ...]]:
    """The grouping sets of GROUP BY: one, unless there are GROUPING SETS, ROLLUP or CUBE, which multiply."""
    if (number := math.prod(map(_count, group.expressions))) > _MOST_SETS:
        at = max(group.expressions, key=_count)
        raise NotSupported(f"GROUP BY has {number:,} grouping sets; at most {_MOST_SETS:,} are supported.", at=at, hint=_SETS_HINT)
    sets: list[tuple[Expr, ...]] = [()]
    for node in group.expressions:
        sets = [(*left, *(k for k in right if k not in left)) for left in sets for right in _sets(node, scope)]
    return sets


def _count(node: exp.Expr) -> int:
    """How many grouping sets ``node`` stands for."""
    match node:
        case exp.GroupingSets():
            return sum(map(_count, node.expressions))
        case exp.Rollup():
            return len(node.expressions) + 1
        case exp.Cube():
            return 1 << len(node.expressions)
    return 1


def _sets(node: exp.Expr, scope: Scope) -> list[tuple[Expr, ...]]:
    match node:
        case exp.GroupingSets():
            return [s for item in node.expressions for s in _sets(item, scope)]
        case exp.Rollup():
            parts = [_sets(item, scope)[0] for item in node.expressions]
            return [tuple(k for part in parts[:n] for k in part) for n in range(len(parts), -1, -1)]
        case exp.Cube():
            parts = [_sets(item, scope)[0] for item in node.expressions]
            chosen = [c for n in range(len(parts), -1, -1) for c in combinations(parts, n)]
            return [tuple(k for part in parts for k in part) for parts in chosen]
        case exp.Tuple():
            return [tuple(_key(item, scope) for item in node.expressions)]
    return [(_key(node, scope),)]


def _key(node: exp.Expr, scope: Scope) -> Expr:
    key = bind(node, scope)
    if any(isinstance(e, OverCall) for e in key.walk()):
        raise ValidationError("Windowed aggregate expression is illegal in GROUP BY clause", at=node, hint=IN_SUB_QUERY)
    if key.type.root == "NULL":
        raise ValidationError("Illegal use of 'NULL'", at=node, hint="CAST(NULL AS ..)")
    require_key(key.type, node, "GROUP BY")
    if any(isinstance(e, AggregateCall) for e in key.walk()):
        raise ValidationError(f"Aggregate expression is illegal in GROUP BY clause: {to_text(key)}", at=node, hint=IN_SUB_QUERY)
    return key


def _calls(expr: Expr) -> list[AggregateCall]:
    return [e for e in expr.walk() if isinstance(e, AggregateCall) and not _is_grouping(e)]


def _fresh(used: set[str]) -> Callable[[str], str]:
    counter = count()

    def name(prefix: str) -> str:
        free = next(f"{prefix}{i}" for i in counter if f"{prefix}{i}" not in used)
        used.add(free)
        return free

    return name


def _place(select: exp.Select, name: str, scope: Scope | None = None) -> exp.Expr:
    """Where ``select`` names the column ``name`` itself, or else one of ``scope`` in a sub-query."""
    named = [c for c in select.find_all(exp.Column) if c.name == name]
    around = {c.qualifier for c in scope.columns} if scope is not None else ()
    own = [c for c in named if c.find_ancestor(exp.Select) is select]
    return next(iter([*own, *(c for c in named if c.table in around)]), select)
