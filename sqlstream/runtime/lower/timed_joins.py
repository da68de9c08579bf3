"""Joins on time as our own operators over the rows of both sides; they replace a join of Spark's, which has their other conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.core.changelog import KIND, RowKind
from sqlstream.core.hidden import hidden
from sqlstream.plan import make
from sqlstream.plan.nodes import JoinKind
from sqlstream.plan.properties import fields, watermark_lag
from sqlstream.runtime.lower.operators import IntervalJoinOptions, TemporalJoinOptions, interval_join, temporal_join
from sqlstream.sql.expressions import Call, ColumnRef
from sqlstream.sql.quoting import quote
from sqlstream.sql.spark_sql import render

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlstream.plan.nodes import IntervalJoin, Join, TemporalJoin
    from sqlstream.sql.expressions import Expr

_HOW = {JoinKind.INNER: "inner", JoinKind.LEFT: "left", JoinKind.RIGHT: "right", JoinKind.FULL: "full"}
_UNTIL, _PLACE = hidden("until"), hidden("place")


def interval_joined(node: IntervalJoin, left: DataFrame, right: DataFrame, zone: str) -> DataFrame:
    """The join of two streams."""
    joined = _joined(left, right, node.rest, node.kind, zone)
    left_time, right_time = node.times
    options = IntervalJoinOptions(left_time=left_time, right_time=right_time, lower=node.lower, upper=node.upper, slack=node.slack, lag=_lag(node))
    return interval_join(joined, options)


def temporal_joined(node: TemporalJoin, left: DataFrame, right: DataFrame, zone: str) -> DataFrame:
    """The join of ``left`` with the versions in ``right``: two streams, or two tables."""
    names = [quote(f.name) for f in fields(node)]
    if not left.isStreaming:
        return _joined(left, _intervals(node, right), _null_safe(node), node.kind, zone, _holds(node)).select(*names)
    kind = KIND if KIND in right.columns else None
    # What a row was before an update ended when the update came.
    versions = right.where(f"{KIND} <> {RowKind.UPDATE_BEFORE.code}") if kind else right
    joined = _joined(left, versions, _null_safe(node), node.kind, zone)
    left_time, right_time = node.times
    options = TemporalJoinOptions(left_time=left_time, right_time=right_time, kind=kind, lag=_lag(node))
    return temporal_join(joined, options).select(*names)


def _null_safe(node: TemporalJoin) -> Expr | None:
    """The condition, in which keys of NULL are equal: Flink keeps versions and rows by key, and compares no more than that."""
    return make.all_of([_same(c) if _of_key(c, node) else c for c in make.conjuncts(node.condition)])


def _of_key(condition: Expr, node: TemporalJoin) -> bool:
    if not (isinstance(condition, Call) and condition.function.name == "="):
        return False
    return any(isinstance(arg, ColumnRef) and arg.name in node.version_key for arg in condition.args)


def _same(equality: Expr) -> Expr:
    assert isinstance(equality, Call)
    return replace(equality, function=make.builtin("IS NOT DISTINCT FROM"))


def _lag(node: Join) -> int:
    return max(watermark_lag(side) for side in node.inputs)


def _intervals(node: TemporalJoin, versions: DataFrame) -> DataFrame:
    """``versions`` of a table, each with the time at which the next comes."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    key = [F.col(quote(k)) for k in node.version_key]
    time = F.col(quote(node.times[1]))
    # Of versions of one time one holds.
    single = versions.withColumn(_PLACE, F.row_number().over(Window.partitionBy(*key, time).orderBy(F.monotonically_increasing_id().desc())))
    return single.where(f"{_PLACE} = 1").withColumn(_UNTIL, F.lead(time).over(Window.partitionBy(*key).orderBy(time)))


def _holds(node: TemporalJoin) -> str:
    time, since = (quote(t) for t in node.times)
    return f"{time} >= {since} AND ({_UNTIL} IS NULL OR {time} < {_UNTIL})"


def _joined(left: DataFrame, right: DataFrame, condition: Expr | None, kind: JoinKind, zone: str, times: str = "TRUE") -> DataFrame:
    from pyspark.sql import functions as F

    times_match = F.expr(times)
    on = times_match if condition is None else times_match & F.expr(render(condition, zone))
    return _unmarked(left).join(_unmarked(right), on, _HOW[kind])


def _unmarked(frame: DataFrame) -> DataFrame:
    """``frame`` without Spark's watermark marks, under which rows would be dropped that are late."""
    from pyspark.sql import functions as F

    return frame.select(*[F.col(quote(name)).alias(name, metadata={}) for name in frame.columns])
