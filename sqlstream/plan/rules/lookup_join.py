"""Lookup joins: FROM o JOIN d FOR SYSTEM_TIME AS OF o.proctime ON o.k = d.k. Each row is joined with the rows that ``d`` has when it arrives.

Join(o.k = d.k AND o.a > 1 AND d.b = 2)             LookupJoin(table: Filter(d, b = 2), keys: k = o.k)
+- o                                           ->   +- Filter(o, a > 1)
+- Snapshot(o.proctime)
   +- d
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.core.errors import NotSupported
from sqlstream.plan import make
from sqlstream.plan.nodes import Join, JoinKind, LookupJoin, Node, OneByOne, Scan, Snapshot, TimeAttribute, Watermark, filtered, origin
from sqlstream.plan.properties import field, fields
from sqlstream.sql.expressions import Call, ColumnRef, Expr

if TYPE_CHECKING:
    from sqlglot import exp


def lookup_join(node: Node) -> Node:
    """The lookup join that ``node`` is, or ``node`` itself. Raises NotSupported."""
    if not isinstance(node, Join) or not isinstance(node.right, Snapshot):
        return node
    snapshot = node.right
    if field(node.left, snapshot.time).time is not TimeAttribute.PROCTIME:
        return node
    table = _table(snapshot.input, snapshot.at)
    return with_conditions(LookupJoin(node.left, table, node.kind, retry=snapshot.retry), make.conjuncts(node.condition))


def with_conditions(node: LookupJoin, conditions: list[Expr]) -> LookupJoin:
    """``node`` with further conditions, from ON or from above: each becomes a key, a filter of the table or of an inner join's input, or remains."""
    lefts, rights = ({f.name for f in fields(side)} for side in (node.input, node.table))
    plain = {name for name in rights if origin(node.table, name) is not None}
    keys, of_table, of_input, rest = list(node.keys), [], [], make.conjuncts(node.condition)
    for condition in conditions:
        read = make.columns(condition)
        key = _key(condition, lefts, plain)
        if key is not None and key[1] not in {name for _, name in keys}:
            keys.append(key)
        elif read and read <= rights:
            of_table.append(condition)
        elif read and read <= lefts and node.kind is JoinKind.INNER:
            of_input.append(condition)
        else:
            rest.append(condition)
    source, table = (filtered(side, make.all_of(own)) for side, own in ((node.input, of_input), (node.table, of_table)))
    return replace(node, input=source, table=table, keys=tuple(keys), condition=make.all_of(rest))


def _table(node: Node, at: exp.Expr | None) -> Node:
    """``node``, which is a table or projects and filters one, as the table of a lookup join. Raises NotSupported."""
    match node:
        case Scan(table=table):
            if not find_connector(table.connector).can_be_looked_up:
                raise NotSupported(
                    "A table that can't be looked up has no rows AS OF a processing time.",
                    at=at,
                    hint=f"A '{table.connector}' table can't be looked up; 'jdbc', 'delta', 'filesystem' and 'faker' tables can.",
                )
            return replace(node, static=True, bounded=True)
        case Watermark(input=source):
            return _table(source, at)
        case OneByOne(input=source):
            return node.with_inputs((_table(source, at),))
    raise NotSupported(
        "Only a table, or a view that selects columns and rows of one, can be looked up.",
        at=at,
        hint="Write the result of the query into a table by a job of its own, and look that up.",
    )


def _key(condition: Expr, lefts: set[str], plain: set[str]) -> tuple[Expr, str] | None:
    """The value that ``condition`` compares with a column of the table, and the column's name."""
    if not (isinstance(condition, Call) and condition.function.name == "="):
        return None
    for value, column in (condition.args, condition.args[::-1]):
        read = make.columns(value)
        same = value.type.stored == column.type.stored
        if isinstance(column, ColumnRef) and column.name in plain and read and read <= lefts and same:
            return value, column.name
    return None
