"""Lookup joins: by our own operator where the table is a database's, else by Spark's join with the table as it is in each micro-batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.connectors.in_order import arriving
from sqlstream.core.hidden import hidden
from sqlstream.plan.nodes import JoinKind, LookupJoin
from sqlstream.runtime.lower.operators import LookupOptions, latest_files, lookup_join
from sqlstream.runtime.lower.row import row
from sqlstream.sql.quoting import quote
from sqlstream.sql.spark_sql import render

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HOW = {JoinKind.INNER: "inner", JoinKind.LEFT: "left"}
# Rows that a task holds while it asks a database for their keys.
_TOGETHER = 1 << 12


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
