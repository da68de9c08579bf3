"""ORDER BY of a query: by columns of its select list, by name or place, or by what is computed for it alone.

SELECT a FROM t ORDER BY b * 2    ->    SELECT a, b * 2 AS $order0 FROM t ORDER BY $order0, without that column
"""

from __future__ import annotations

from sqlglot import exp

from sqlstream.errors import NotSupported
from sqlstream.plan.nodes import Node, Sort, SortKey
from sqlstream.plan.properties import fields


def with_order_columns(select: exp.Select) -> tuple[exp.Select, tuple[str, ...]]:
    """``select`` with a column for each key of its ORDER BY that its select list lacks, and what these are called."""
    order = select.args.get("order")
    if order is None or select.args.get("distinct"):
        return select, ()
    names = [item.alias_or_name if isinstance(item, exp.Alias | exp.Column | exp.Dot) else "" for item in select.expressions]
    items = {name: item.this if isinstance(item, exp.Alias) else item for name, item in zip(names, select.expressions, strict=True) if name}
    star = any(item.is_star for item in select.expressions)
    keys: list[exp.Expr] = []
    added: list[exp.Expr] = []
    for ordered in order.expressions:
        key = ordered.this
        # A name is one of the select list first.
        named = isinstance(key, exp.Column) and (
            (not key.table and (key.name in items or star)) or (names.count(key.name) == 1 and items.get(key.name) == key)
        )
        if named or isinstance(key, exp.Literal):
            keys.append(ordered)
            continue
        own = exp.to_identifier(f"$order{len(added)}", quoted=True)
        value = key.transform(lambda n: items[n.name].copy() if isinstance(n, exp.Column) and not n.table and n.name in items else n)
        added.append(exp.alias_(value, own))
        moved = ordered.copy()
        moved.set("this", exp.column(own.copy()))
        keys.append(moved)
    if not added:
        return select, ()
    made = select.copy()
    made.set("expressions", [*made.expressions, *added])
    made.args["order"].set("expressions", keys)
    return made, tuple(a.alias for a in added)


def sort(order: exp.Order, node: Node) -> Node:
    """The rows of ``node`` in ``order``, whose keys are columns of ``node``, by name or place."""
    names = [f.name for f in fields(node)]
    keys = []
    for item in order.expressions:
        key = item.this
        if isinstance(key, exp.Literal) and not key.is_string:
            keys.append(_key(names[int(key.this) - 1], item))
        elif isinstance(key, exp.Column) and key.name in names:
            keys.append(_key(key.name, item))
        else:
            raise NotSupported("ORDER BY takes columns of the select list here.", at=item, hint="Give the expression a name in the select list.")
    return Sort(node, tuple(keys))


def _key(name: str, item: exp.Ordered) -> SortKey:
    return SortKey(name, bool(item.args.get("desc")), bool(item.args.get("nulls_first")))
