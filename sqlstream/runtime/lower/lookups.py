"""Lookup joins: by our own operator where the table is a database's, else by Spark's join with the table as it is in each micro-batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.connectors.in_order import arriving
from sqlstream.core.errors import NotSupported
from sqlstream.core.hidden import hidden
from sqlstream.plan import make
from sqlstream.plan.nodes import Filter, JoinKind, LookupJoin, Project, Scan, origin
from sqlstream.plan.properties import fields
from sqlstream.runtime.lower.operators import LookupOptions, latest_files, lookup_join
from sqlstream.runtime.lower.row import row
from sqlstream.sql import types
from sqlstream.sql.expressions import ColumnRef, FieldAccess
from sqlstream.sql.quoting import quote
from sqlstream.sql.spark_sql import render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from sqlstream.plan.nodes import Node
    from sqlstream.sql.expressions import Expr

_HOW = {JoinKind.INNER: "inner", JoinKind.LEFT: "left"}
# Rows that a task holds while it asks a database for their keys.
_TOGETHER = 1 << 12
_FOUND, _PAIR = hidden("found"), hidden("pair")
_EXPLODE = {JoinKind.INNER: "explode", JoinKind.LEFT: "explode_outer"}


def joined(node: LookupJoin, left: DataFrame, right: DataFrame, zone: str, *, real_time: bool) -> DataFrame:
    """The rows of ``left``, the node's input, with those of ``right``, its table; in ``real_time`` each as it comes."""
    from pyspark.sql import functions as F

    keys = {hidden(f"key_{i}"): column for i, (_, column) in enumerate(node.keys)}
    values = [F.expr(render(value, zone)).alias(key) for key, (value, _) in zip(keys, node.keys, strict=True)]
    conditions = [f"{quote(key)} = {quote(column)}" for key, column in keys.items()]
    conditions += [] if node.condition is None else [f"({render(node.condition, zone)})"]
    table = node.scan.table
    how = find_connector(table.connector).lookup(table)

    def joined_with(left: DataFrame, right: DataFrame) -> DataFrame:
        return left.select("*", *values).join(right, F.expr(" AND ".join(conditions)), _HOW[node.kind])

    if how is not None:
        retry = {} if node.retry is None else {"attempts": node.retry.attempts, "delay_ms": node.retry.delay}
        pairs = lookup_join(joined_with(left, right), LookupOptions(keys=keys, how=how, together=1 if real_time else _TOGETHER, **retry))
    else:
        pairs = arriving(left, lambda rows: joined_with(rows, latest_files(right)))
    return pairs.select(*[quote(name) for name in row(node)])


def answered(node: LookupJoin, left: DataFrame, zone: str) -> DataFrame:
    """The rows of ``left``, the node's input, with those that the connector of its table gives for their keys. Raises NotSupported."""
    from pyspark.sql import functions as F

    table = node.scan.table
    # Both in the array of what was found, and when that has become rows.
    pair = ColumnRef(types.row(*zip(*((c.name, c.type) for c in table.physical), strict=True)), _PAIR)
    cells: dict[str, Expr] = {c.name: FieldAccess(c.type, pair, c.name) for c in table.physical}
    asked, values, conditions = _asked(node, cells, zone)
    fits = " AND ".join(conditions)
    keys = {name: hidden(f"key_{i}") for i, name in enumerate(asked)}
    rows = left.select("*", *(F.expr(render(value, zone)).alias(keys[name]) for name, value in asked.items()))
    retry = (0, 0) if node.retry is None else (node.retry.attempts, node.retry.delay)
    rows = find_connector(table.connector).answered(table, rows, keys, _FOUND, attempts=retry[0], delay_ms=retry[1])
    found = f"filter({_FOUND}, {_PAIR} -> {fits})" if fits else _FOUND
    pairs = rows.selectExpr("*", f"{_EXPLODE[node.kind]}({found}) AS {_PAIR}")
    made = {f.name: f"if({_PAIR} IS NULL, NULL, {render(values[f.name], zone)})" for f in fields(node.table)}
    return pairs.select(*[F.expr(made[name]).alias(name) if name in made else F.col(quote(name)) for name in row(node)])


def generated(node: LookupJoin, left: DataFrame, zone: str) -> DataFrame:
    """The rows of ``left``, the node's input, each with one that its table makes for it. Raises NotSupported."""
    from pyspark.sql import functions as F

    table = node.scan.table
    made = {c.name: hidden(f"found_{i}") for i, c in enumerate(table.physical)}
    asked, values, conditions = _asked(node, {c.name: ColumnRef(c.type, made[c.name]) for c in table.physical}, zone)
    rows = left.select("*", *(F.expr(render(value, zone)).alias(made[name]) for name, value in asked.items()))
    rows = find_connector(table.connector).found(table, rows, {name: column for name, column in made.items() if name not in asked})
    # For an unknown key nothing is found.
    needed = [f"{quote(made[name])} IS NOT NULL" for name in asked]
    fits = " AND ".join([*needed, *conditions])
    if fits and node.kind is JoinKind.INNER:
        rows, fits = rows.where(fits), ""
    cells = {f.name: render(values[f.name], zone) for f in fields(node.table)}
    found = {name: F.expr(f"if({fits}, {cell}, NULL)" if fits else cell).alias(name) for name, cell in cells.items()}
    return rows.select(*[found.get(name, F.col(quote(name))) for name in row(node)])


def _asked(node: LookupJoin, cells: Mapping[str, Expr], zone: str) -> tuple[dict[str, Expr], Mapping[str, Expr], list[str]]:
    """The value that each column of the table is asked for by, the columns of ``node.table``, and SQL of what else a row has to fulfil, of the
    ``cells`` that the table has. Raises NotSupported.
    """
    asked: dict[str, Expr] = {}
    fits = []
    for value, column in node.keys:
        name = origin(node.table, column)
        assert name is not None
        # A view may have one column under several names.
        if asked.setdefault(name, value) is not value:
            fits.append(f"{render(value, zone)} = {render(cells[name], zone)}")
    values, conditions = _above(node.table, cells)
    if node.condition is not None:
        conditions.append(node.condition.transform(lambda e: values.get(e.name) if isinstance(e, ColumnRef) else None))
    return asked, values, [*fits, *(f"({render(condition, zone)})" for condition in conditions)]


def _above(node: Node, columns: Mapping[str, Expr]) -> tuple[Mapping[str, Expr], list[Expr]]:
    """The output of ``node``, of the ``columns`` of the scan below it, and the conditions on them."""
    match node:
        case Scan():
            return columns, []
        case Project(input=source):
            below, conditions = _above(source, columns)
            return {c.name: make.substituted(c.expr, below) for c in node.columns}, conditions
        case Filter(input=source):
            below, conditions = _above(source, columns)
            return below, [*conditions, make.substituted(node.condition, below)]
    raise NotSupported(
        "Functions in Python are not supported over a table that is made where it is looked up.", hint="Call them above the join, in the SELECT."
    )
