"""Turns a sub-query that reads the outer row into one that does not, and the condition by which its rows belong to outer rows.

SELECT MAX(m) FROM b WHERE b.k = a.k AND m > 1    ->    SELECT MAX(m), b.k AS $c0 FROM b WHERE m > 1 GROUP BY b.k,    $c0 = a.k

A limit holds for each outer row: it becomes a Top-N by ROW_NUMBER. What reads the outer row otherwise joins the distinct values of its columns; a
row with NULL in one of them has no partner then, as in Flink.

SELECT MAX(m) FROM b WHERE b.m < a.n    ->    SELECT MAX(m), $outer.$c0 FROM b, $outer WHERE b.m < $outer.$c0 GROUP BY $outer.$c0,    $c0 = a.n
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.plan import make
from sqlstream.plan.builder.order_by import ordinal
from sqlstream.plan.builder.set_operations import distinct
from sqlstream.plan.nodes import Join, Named, Project, Snapshot
from sqlstream.plan.properties import fields
from sqlstream.sql.bind import Scope, ScopeColumn, bind, function_named
from sqlstream.sql.expressions import ColumnRef
from sqlstream.sql.generated_names import generated
from sqlstream.sql.sqlglot.dialect import flink_sql
from sqlstream.sql.syntax.calls import call as new_call
from sqlstream.sql.syntax.calls import call_name, calls, is_called
from sqlstream.sql.syntax.clauses import (
    from_of,
    group_of,
    having_of,
    limit_count,
    limit_of,
    offset_of,
    own_parts,
    qualify_of,
    unwrapped,
    where_of,
    with_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlstream.plan.builder.scope import Environment
    from sqlstream.plan.nodes import Node
    from sqlstream.sql.expressions import Expr

_RANK, _OUTER = generated("rank"), generated("outer")


@dataclass(frozen=True)
class Decorrelated:
    """``query`` has the sub-query's columns, then ``keys``, which ``conditions`` compare with columns of the outer query.

    ``scalar``: it is an aggregate without GROUP BY, with one row for each outer row; ``select`` is the original, in the scope ``inside``. ``values``
    are those of the outer rows that it reads.
    """

    query: exp.Expr
    select: exp.Select | None = None
    keys: tuple[str, ...] = ()
    conditions: tuple[exp.Expr, ...] = ()
    scalar: bool = False
    inside: Scope | None = None
    values: Node | None = None

    def environment(self, env: Environment) -> Environment:
        """``env`` for the sub-query."""
        return env if self.values is None else replace(env, ctes={**env.ctes, _OUTER: self.values})

    def asked(self, keys: Sequence[Expr], around: Scope) -> list[Expr]:
        """The conditions, bound: ``keys`` are the columns of the sub-query's keys, ``around`` is the scope around it."""
        inner = tuple(ScopeColumn(None, name, ref) for name, ref in zip(self.keys, keys, strict=True) if isinstance(ref, ColumnRef))
        return [bind(c, replace(around, columns=inner, outer=around)) for c in self.conditions]

    def of_no_rows(self, place: int) -> exp.Expr | None:
        """A column's value for an outer row without rows in the sub-query; None where that is NULL."""
        if not (self.keys and self.scalar) or self.select is None or self.inside is None or having_of(self.select):
            return None
        written = self.select.expressions[place]
        item = (written.this if isinstance(written, exp.Alias) else written).copy()
        by_id = {id(whole_call(call)): call for call in aggregate_calls(item, self.inside)}
        if id(item) in by_id and not is_called(by_id[id(item)], "COUNT"):
            return None
        none: exp.Expr = item.transform(lambda n: _of_nothing(by_id[id(n)]) if id(n) in by_id else n, copy=False)
        return none


@contextmanager
def reading(around: Scope) -> Iterator[None]:
    """Where a sub-query is built whose outer row is in the scope ``around``: raises NotSupported for a column of that which it may not read there."""
    try:
        yield
    except ValidationError as error:
        if isinstance(error.at, exp.Column) and "not found" in error.message and is_of(error.at, around):
            what = "A sub-query can read the outer row in its select list and its WHERE, not in those of its own sub-queries."
            raise NotSupported(what, at=error.at, hint="Join what it reads in FROM.") from None
        raise


def decorrelated(query: exp.Expr, inside_of: Callable[[exp.Select], Scope], around: Scope, outer: Node, *, by_keys: bool = False) -> Decorrelated:
    """``query``, in the scope ``around`` of the rows of ``outer``, decorrelated; ``inside_of`` returns the scope of a SELECT's own FROM. ``by_keys``:
    the conditions are equalities of all keys. Other errors are left to building it.

    Raises NotSupported, and ValidationError for a column that neither has.
    """
    select = unwrapped(query)
    if not isinstance(select, exp.Select) or with_of(select):
        return Decorrelated(query)
    inner = inside_of(select)
    scalar = _aggregates(select, inner) and not group_of(select)
    where = where_of(select)
    parts = conjuncts(where.this) if where is not None else []
    outside = [part for part in parts if not _within(part, inner)]
    listed = _outer(select.expressions, inner)
    for column in [*_outer(outside, inner), *listed]:
        bind(column, replace(inner, outer=around))
    if not (outside or listed):
        return Decorrelated(query, select, scalar=scalar, inside=inner)
    if (window := next(over_calls([*select.expressions, *filter(None, [qualify_of(select)])]), None)) is not None:
        # The rows that it is over are those of one outer row; Flink 2.3 takes those of all.
        raise NotSupported("OVER in a sub-query that reads the outer row is not supported.", at=window, hint="Join in FROM, and call it around that.")
    if listed or ((by_keys or _grouped(select, inner)) and not all(_equality(part, inner) for part in outside)):
        return _of_values(select, inner, [*_outer(outside, inner), *listed], around, outer, scalar=scalar)
    keys: list[exp.Expr] = []
    conditions = [_condition(part, inner, keys) for part in outside]
    inside = select.copy()
    rest = [part.copy() for part in parts if part not in outside]
    inside.set("where", exp.Where(this=exp.and_(*rest, wrap=False, copy=False)) if rest else None)
    names = _with_keys(inside, keys, inner)
    if limit_of(select) or offset_of(select):
        return Decorrelated(_top_n(inside, keys, select), select, names, tuple(conditions))
    inside.set("order", None)
    return Decorrelated(inside, select, names, tuple(conditions), scalar, inner)


def _with_keys(inside: exp.Select, keys: Sequence[exp.Expr], inner: Scope) -> tuple[str, ...]:
    """The names of ``keys``, which ``inside`` now has as columns, and groups by where it does."""
    grouped = _aggregates(inside, inner) or group_of(inside)
    names = tuple(generated(f"c{i}") for i in range(len(keys)))
    inside.set("expressions", [*inside.expressions, *(_named(key.copy(), name) for key, name in zip(keys, names, strict=True))])
    if grouped:
        group = group_of(inside)
        inside.set("group", exp.Group(expressions=[*(group.expressions if group else []), *(k.copy() for k in keys)]))
    return names


def _of_values(select: exp.Select, inner: Scope, read: Sequence[exp.Expr], around: Scope, outer: Node, *, scalar: bool) -> Decorrelated:
    """``select`` joined with the distinct values of ``read``, columns of ``outer``."""
    if limit_of(select) or offset_of(select):
        raise NotSupported(
            "A sub-query that limits its rows can compare them with the outer row only by =, in WHERE.",
            at=read[0],
            hint="Number the rows by ROW_NUMBER() in it, and compare outside.",
        )
    if from_of(select) is None:
        raise NotSupported("The select list of a sub-query without FROM reads the outer row.", at=read[0], hint="Use it in the outer query.")
    if any(isinstance(item, exp.Star) for item in select.expressions):
        raise NotSupported("SELECT * in a sub-query that reads the outer row like this is not supported.", at=select, hint="Name its columns.")
    if _aggregates(select, inner) or group_of(select):
        taken = {id(c) for item in select.expressions for call in aggregate_calls(item, inner) for c in whole_call(call).find_all(exp.Column)}
        if loose := next((c for c in _outer(select.expressions, inner) if id(c) not in taken), None):
            raise ValidationError(f"Expression '{flink_sql(loose)}' is not being grouped", at=loose)
    columns = list(dict.fromkeys(read))
    keys = [exp.column(generated(f"c{i}"), table=_OUTER) for i in range(len(columns))]
    inside = select.copy()
    for part in [*inside.expressions, inside.args.get("where")]:
        for column in own_parts(part, exp.Column) if part is not None else ():
            if column in columns:
                column.replace(keys[columns.index(column)].copy())
    inside.append("joins", exp.Join(this=exp.to_table(_OUTER), kind="CROSS"))
    inside.set("order", None)
    names = _with_keys(inside, keys, inner)
    conditions = tuple(exp.EQ(this=exp.column(name), expression=column.copy()) for name, column in zip(names, columns, strict=True))
    bound = [bind(column, around) for column in columns]
    values = Project(_side(outer, set().union(*map(make.columns, bound))), tuple(map(Named, names, bound)))
    return Decorrelated(inside, select, names, conditions, scalar, inner, distinct(values))


def _side(node: Node, names: set[str]) -> Node:
    """The side of the joins in ``node`` that has all of ``names``, which has all of their values that ``node`` has, but NULL."""
    while isinstance(node, Join):
        # What is looked up is nothing by itself.
        sides = (s for s in node.inputs if names <= {f.name for f in fields(s)} and not isinstance(s, Snapshot))
        if (side := next(sides, None)) is None:
            break
        node = side
    return node


def whole_call(call: exp.Expr) -> exp.Expr:
    """``call`` of an aggregate with its FILTER."""
    return call.parent if isinstance(call.parent, exp.Filter) else call


def _of_nothing(call: exp.Expr) -> exp.Expr:
    return exp.Literal.number(0) if is_called(call, "COUNT") else exp.Null()


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """The conditions that AND combines."""
    if isinstance(node, exp.And):
        return [*conjuncts(node.this), *conjuncts(node.expression)]
    return conjuncts(node.this) if isinstance(node, exp.Paren) and isinstance(node.this, exp.And) else [node]


def _within(node: exp.Expr, scope: Scope) -> bool:
    """Whether ``node`` reads only columns of ``scope``."""
    return all(is_of(column, scope) for column in own_parts(node, exp.Column))


def is_of(column: exp.Expr, scope: Scope) -> bool:
    """Whether ``scope`` has ``column``."""
    try:
        bind(column, scope)
    except ValidationError as error:
        return "not found" not in error.message
    return True


def _outer(nodes: Sequence[exp.Expr], scope: Scope) -> list[exp.Expr]:
    """The columns that ``nodes`` name and ``scope`` lacks."""
    return [c for node in nodes for c in own_parts(node, exp.Column) if not isinstance(c.this, exp.Star) and not is_of(c, scope)]


def _grouped(select: exp.Select, inner: Scope) -> bool:
    """Whether a row of ``select`` is not one row of its FROM."""
    return _aggregates(select, inner) or any(select.args.get(k) for k in ("group", "distinct", "limit", "offset", "qualify"))


def _aggregates(select: exp.Select, inner: Scope) -> bool:
    """Whether ``select`` calls an aggregate function, not in a sub-query and not by OVER."""
    return any(aggregate_calls(item, inner) for item in [*select.expressions, *filter(None, [having_of(select)])])


def aggregate_calls(node: exp.Expr, scope: Scope) -> list[exp.Expr]:
    """The calls of aggregate functions in ``node``, the user's among them."""
    aggregates = []
    for call in calls(node):
        function = function_named(call, call_name(call).upper(), scope)
        if function is not None and function.aggregate and call.find_ancestor(exp.Select, exp.Window) is node.find_ancestor(exp.Select):
            aggregates.append(call)
    return aggregates


def over_calls(items: Sequence[exp.Expr]) -> Iterator[exp.Window]:
    """The calls of OVER in ``items`` of a SELECT, not in their own sub-queries."""
    return (window for item in items for window in own_parts(item, exp.Window))


def _equality(part: exp.Expr, inner: Scope) -> tuple[exp.Expr, exp.Expr] | None:
    """The sides of ``own = other``, of which the first reads only the sub-query, and the second only the outer row; None for any other condition."""
    if isinstance(part, exp.EQ):
        left, right = part.this, part.expression
        for own, other in ((left, right), (right, left)):
            if _within(own, inner) and not any(is_of(c, inner) for c in own_parts(other, exp.Column)):
                return own, other
    return None


def _condition(part: exp.Expr, inner: Scope, keys: list[exp.Expr]) -> exp.Expr:
    """``part`` with keys in place of what it reads of the sub-query; what it reads is added to ``keys``."""

    def key(node: exp.Expr) -> exp.Expr:
        if node not in keys:
            keys.append(node)
        return exp.column(generated(f"c{keys.index(node)}"))

    if (sides := _equality(part, inner)) is not None:
        own, other = sides
        return exp.EQ(this=key(own), expression=other.copy())
    return part.copy().transform(lambda n: key(n.copy()) if isinstance(n, exp.Column) and is_of(n, inner) else n)


def _named(node: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=node, alias=exp.to_identifier(name, quoted=True))


def _top_n(inside: exp.Select, keys: list[exp.Expr], select: exp.Select) -> exp.Expr:
    """``inside`` limited for each value of ``keys``."""
    order, limit, offset = (inside.args.get(k) for k in ("order", "limit", "offset"))
    if order is None or limit is None:
        raise NotSupported(
            "A limit in a sub-query that reads the outer row needs ORDER BY and LIMIT.",
            at=select,
            hint="ORDER BY says which of the rows are meant, as in a Top-N.",
        )
    written = {i.alias: i.this for i in select.expressions if isinstance(i, exp.Alias)}
    for item in order.expressions:
        key = item.this.unnest()
        if isinstance(key, exp.Literal) and not key.is_string:
            item.set("this", select.expressions[ordinal(key, len(select.expressions))].unalias().copy())
        elif isinstance(key, exp.Column) and not key.table and key.name in written:
            item.set("this", written[key.name].copy())
    for part in ("order", "limit", "offset"):
        inside.set(part, None)
    rank = exp.Window(this=new_call("ROW_NUMBER"), partition_by=[k.copy() for k in keys], order=order, over="OVER")
    names = [i.alias if isinstance(i, exp.Alias) else i.name if isinstance(i, exp.Column) else "" for i in inside.expressions]
    if not all(names):
        raise NotSupported("The columns of a sub-query with a limit need names.", at=select, hint="Name them by AS.")
    inside.append("expressions", _named(rank, _RANK))
    skipped = int(offset.expression.this) if offset is not None else 0
    count = limit_count(limit)
    kept: exp.Expr = exp.LTE(this=exp.column(_RANK), expression=exp.Literal.number(skipped + int(count.this)))
    if skipped:
        kept = exp.And(this=kept, expression=exp.GT(this=exp.column(_RANK), expression=exp.Literal.number(skipped)))
    return exp.Select(
        expressions=[exp.column(name) for name in names],
        from_=exp.From(this=exp.Subquery(this=inside)),
        where=exp.Where(this=kept),
    )
