"""Lookup joins: FROM o JOIN d FOR SYSTEM_TIME AS OF o.proctime ON o.k = d.k. Each row gets the rows of ``d`` that are there when it comes.

Filter(WHERE o.a > 1 AND d.k = o.k)              LookupJoin(table: Filter(d, ..), keys: k=k, condition: ..)
+- o, d FOR SYSTEM_TIME AS OF o.proctime    ->   +- Filter(o, a > 1)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.connectors import find
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.core.options import parse_duration, parse_whole
from sqlstream.plan import make
from sqlstream.plan.nodes import Filter, JoinKind, LookupJoin, Node, Project, Retry, Scan, Watermark
from sqlstream.plan.properties import fields, origin
from sqlstream.sql.expressions import Call, ColumnRef, Expr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from sqlstream.plan.build.scope import Environment

_RETRY = ("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")
_WITHOUT_EFFECT = {
    "async": "the keys of many rows are looked up together",
    "output-mode": "rows come in their order",
    "capacity": "the keys of many rows are looked up together",
    "timeout": "the database's own time limits count",
    "shuffle": "each task looks up the keys of its own rows",
}


def lookup_table(node: Node, at: exp.Expr) -> Node:
    """``node``, a table or a view of projections and filters of one, as the table of a lookup join. Raises NotSupported."""
    match node:
        case Scan(table=table):
            if not find(table.connector).can_be_looked_up:
                raise NotSupported(
                    "Processing-time temporal join is not supported yet.",
                    at=at,
                    hint=f"A '{table.connector}' table can't be looked up; 'jdbc', 'delta' and 'filesystem' tables can.",
                )
            return replace(node, static=True, bounded=True)
        case Watermark(input=source):
            return lookup_table(source, at)
        case Project(input=source) | Filter(input=source):
            return node.with_inputs((lookup_table(source, at),))
    raise NotSupported("Only a table, or a view that selects columns and rows of one, can be looked up.", at=at)


def conditioned(node: LookupJoin, conditions: list[Expr]) -> tuple[LookupJoin, list[Expr]]:
    """``node`` with further conditions, and those of them that its input can be asked for."""
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
    wanted = make.all_of(of_table)
    table = node.table if wanted is None else Filter(node.table, wanted)
    return replace(node, table=table, keys=tuple(keys), condition=make.all_of(rest)), of_input


def _key(condition: Expr, lefts: set[str], plain: set[str]) -> tuple[Expr, str] | None:
    """What a column of the table is to be equal to by ``condition``, and the column."""
    if not (isinstance(condition, Call) and condition.function.name == "="):
        return None
    for value, column in (condition.args, condition.args[::-1]):
        read = make.columns(value)
        same = value.type.stored == column.type.stored
        if isinstance(column, ColumnRef) and column.name in plain and read and read <= lefts and same:
            return value, column.name
    return None


def retries(select: exp.Expr, names: set[str], env: Environment) -> Mapping[str, Retry]:
    """What the LOOKUP hints of a SELECT say about its tables, whose names and aliases are ``names``. Raises ValidationError."""
    found = {}
    hint = select.args.get("hint")
    for item in hint.expressions if hint is not None else ():
        if item.name != "LOOKUP":
            continue
        given = {o.this.name: o.expression.name for o in item.expressions}
        table = given.pop("table", "")
        if table not in names:
            raise ValidationError(f"The options of following hints cannot match the name of input tables or views: \n`{table}` in `LOOKUP`", at=item)
        env.notices.extend(f"The option '{k}' of the hint LOOKUP has no effect: {_WITHOUT_EFFECT.get(k, 'it is not known.')}"
                           for k in given if k not in _RETRY)  # fmt: skip
        if any(key in given for key in _RETRY):
            found[table] = _retry(given, item)
    return found


def _retry(given: Mapping[str, str], at: exp.Expr) -> Retry:
    if not all(key in given for key in _RETRY):
        raise ValidationError("Invalid LOOKUP hint: retry options can be both null or all not null", at=at, hint=f"These are: {', '.join(_RETRY)}.")
    for key, only in (("retry-predicate", "lookup_miss"), ("retry-strategy", "fixed_delay")):
        if given[key].lower() != only:
            raise ValidationError(f"Invalid LOOKUP hint: unsupported {key} '{given[key]}', only '{only}' is supported", at=at)
    try:
        delay, attempts = parse_duration(given["fixed-delay"]), parse_whole(given["max-attempts"])
    except ValueError as error:
        raise ValidationError(f"Invalid LOOKUP hint: {error}", at=at) from None
    if attempts <= 0:
        raise ValidationError(f"Invalid LOOKUP hint: max-attempts value should be positive integer but was {attempts}", at=at)
    return Retry(delay, attempts)
