"""ORDER BY of a query: by columns of its select list, by their names or positions, or by expressions that are computed only for it.

SELECT a FROM t ORDER BY b * 2    ->    SELECT a, b * 2 AS $order0 FROM t ORDER BY $order0, without that column
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import ValidationError, length_of, offset_of
from sqlstream.plan import make
from sqlstream.plan.naming import free_names
from sqlstream.plan.nodes import Named, Node, Project, Sort, SortKey
from sqlstream.plan.properties import field, fields
from sqlstream.sql.generated_names import generated
from sqlstream.sql.keys import require_key
from sqlstream.sql.syntax.clauses import is_descending, is_distinct, nulls_first, order_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlstream.sql.expressions import Expr


def with_order_columns(select: exp.Select) -> tuple[exp.Select, tuple[str, ...]]:
    """``select`` with an additional column for each key of ORDER BY that its select list lacks, and the names of these columns."""
    order = order_of(select)
    if order is None or is_distinct(select):
        return select, ()
    names = [item.alias_or_name if isinstance(item, exp.Alias | exp.Column | exp.Dot) else "" for item in select.expressions]
    items = {name: item.this if isinstance(item, exp.Alias) else item for name, item in zip(names, select.expressions, strict=True) if name}
    star = any(item.is_star for item in select.expressions)
    keys: list[exp.Expr] = []
    added: list[exp.Expr] = []
    for ordered in order.expressions:
        key = ordered.this.unnest()
        # A name is one of the select list first.
        named = isinstance(key, exp.Column) and (
            (not key.table and (key.name in items or star)) or (names.count(key.name) == 1 and items.get(key.name) == key)
        )
        if named or isinstance(key, exp.Literal):
            keys.append(ordered)
            continue
        own = exp.to_identifier(generated(f"order{len(added)}"), quoted=True)
        value = key.transform(lambda n: items[n.name].copy() if isinstance(n, exp.Column) and not n.table and n.name in items else n)
        added.append(exp.alias_(value, own))
        column = exp.column(own.copy())
        if (start := offset_of(key)) is not None:
            column.meta.update(start=start, end=start + length_of(key) - 1)
        moved = ordered.copy()
        moved.set("this", column)
        keys.append(moved)
    if not added:
        return select, ()
    made = select.copy()
    made.set("expressions", [*made.expressions, *added])
    made.set("order", exp.Order(expressions=keys))
    return made, tuple(a.alias for a in added)


def sort(order: exp.Order, node: Node, names: Sequence[str], bound: Callable[[exp.Expr], Expr]) -> Sort:
    """The rows of ``node`` in ``order``, with an additional column for each key that is not a column.

    ``names`` are the query's names for its columns, which are the first of ``node``; the columns after them only serve the order. ``bound`` types a
    key that is neither one of the columns nor a position.
    Raises ValidationError.
    """
    columns_below = fields(node)
    called = (*names, *(f.name for f in columns_below[len(names) :]))
    places = [_place(item.this.unnest(), called, len(names)) for item in order.expressions]
    own = free_names([generated(f"sort{i}") for i in range(len(places))], (f.name for f in columns_below))
    columns = [own[i] if place is None else columns_below[place].name for i, place in enumerate(places)]
    computed = (Named(own[i], bound(item.this)) for i, item in enumerate(order.expressions) if places[i] is None)
    if added := tuple(computed):
        node = Project(node, (*(Named(f.name, make.ref(f)) for f in columns_below), *added))
    for item, name in zip(order.expressions, columns, strict=True):
        if (type_ := field(node, name).type).root == "NULL":
            raise ValidationError("Illegal use of 'NULL'", at=item, hint="CAST(NULL AS ..)")
        require_key(type_, item, "ORDER BY")
    keys = (SortKey(n, is_descending(i), nulls_first(i)) for n, i in zip(columns, order.expressions, strict=True))
    return Sort(node, tuple(keys))


def ordinal(key: exp.Literal, count: int) -> int:
    """The position, from 0, that ``key`` stands for among ``count`` columns; a fraction is cut off. Raises ValidationError."""
    place = Decimal(key.this)
    if not 1 <= place < count + 1:
        raise ValidationError("Ordinal out of range", at=key, hint=f"The query has {count} column{'s' if count != 1 else ''}.")
    return int(place) - 1


def _place(key: exp.Expr, names: Sequence[str], count: int) -> int | None:
    """The position of the column that ``key`` refers to by number, up to ``count``, or by name; None for any other expression."""
    if isinstance(key, exp.Literal) and not key.is_string:
        return ordinal(key, count)
    if not isinstance(key, exp.Column) or key.name not in names:
        return None
    if names.count(key.name) > 1 and not key.table:
        raise ValidationError(f"Column '{key.name}' is ambiguous", at=key, hint="Give one of them another name with AS.")
    return names.index(key.name)
