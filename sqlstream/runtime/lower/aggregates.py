"""Aggregates: by window, where Spark closes windows by the watermark; by group, natively where each row may replace that of its key, or else by
our own operator, whose rows carry their kind.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlstream.connectors.in_order import arrival
from sqlstream.core.changelog import KIND
from sqlstream.core.hidden import hidden
from sqlstream.plan.properties import changelog_mode, fields, watermark_lag
from sqlstream.plan.properties import field as field_of
from sqlstream.plan.rules.distinct_windows import over_set
from sqlstream.runtime.lower import java_functions, python_functions, windows
from sqlstream.runtime.lower.native import native
from sqlstream.runtime.lower.operators import AggregateOptions, Mark, keyed_aggregate
from sqlstream.runtime.lower.window_operators import TIME, closing, later
from sqlstream.sql.expressions import AggregateCall, ColumnRef
from sqlstream.sql.functions.base import local
from sqlstream.sql.quoting import quote
from sqlstream.sql.spark_sql import render, render_arrived, render_marked, render_signed, signs
from sqlstream.udf.declarations.functions import Accumulator
from sqlstream.udf.declarations.java import JavaFunction

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, GroupedData, SparkSession

    from sqlstream.plan.nodes import GroupAggregate, NamedAggregate, WindowAggregate
    from sqlstream.sql.types import Type
    from sqlstream.udf.declarations.functions import PythonFunction

_ALL = hidden("all")
_LIVE = hidden("live")
_ARRIVAL = hidden("arrival")
_MARK = hidden("mark_{}")


def window_aggregate(node: WindowAggregate, frame: DataFrame, zone: str) -> DataFrame:
    """The groups of ``frame``, the node's input, as their windows close."""
    from pyspark.sql import functions as F

    session = node.window.kind.merges and not node.attached
    derived_keys = (node.time,) if node.attached else (node.start, node.end, node.time)
    keys = {k: hidden(f"key_{i}") for i, k in enumerate(k for k in node.keys if k not in derived_keys)}
    others = [F.col(quote(f.name)) for f in fields(node.input) if f.name != node.time]
    copies = [F.col(quote(k)).alias(copy) for k, copy in keys.items()]
    lag = watermark_lag(node)
    time = closing(frame, f"{quote(node.time)} - INTERVAL '0.001' SECOND" if session else quote(node.time), lag)
    # Spark aggregates the rows of a session in the order of their times. The time of a micro-batch is the same for all of its rows.
    arrived = [F.struct(F.current_timestamp(), arrival(frame)).alias(_ARRIVAL)] if session else []
    frame = frame.select(*others, *copies, time, *arrived)
    kind = field_of(node.input, node.time).type
    if session:
        if frame.isStreaming and not keys:
            # Spark merges sessions of a key only.
            keys[_ALL] = _ALL
            frame = frame.withColumn(_ALL, F.lit(0))
        grouping, first, last = windows.sessions(node.window, TIME)
        first, last = later(first, -lag), later(last, -lag)
        start, end = local(first, kind, node.zone), f"({local(last, kind, node.zone)} + INTERVAL '0.001' SECOND)"
    elif node.attached:
        grouping, last = F.col(TIME), later(TIME, -lag)
        start, end = keys[node.start], keys[node.end]
    else:
        grouping, last = F.col(TIME), later(TIME, -lag)
        start, end = windows.bounds(node.window, local(last, kind, node.zone))
    # Spark's name of sessions, which users have too, is beside them.
    held = {a.name: hidden(f"value_{i}") for i, a in enumerate(node.aggregates)}
    calls = tuple(replace(a, name=held[a.name]) for a in node.aggregates)
    aggregated = _aggregated(frame.groupBy(grouping, *keys.values()), calls, zone, arrived=_ARRIVAL if session else None)
    derived = {node.time: last, node.end: end, node.start: start} | keys
    outputs = [F.expr(derived[k]).alias(k) for k in node.keys]
    return aggregated.select(*outputs, *[F.col(column).alias(name) for name, column in held.items()])


def group_aggregate(node: GroupAggregate, frame: DataFrame, zone: str, *, batch: bool, ttl: int) -> DataFrame:
    """The groups of ``frame``, the node's input; ``batch``: in batch mode, where a group of all rows is there without rows too."""
    from pyspark.sql import functions as F

    # A group of its own for "all rows": Spark's global aggregate would emit a row for an empty stream, Flink's emits none.
    if not (node.keys or batch):
        frame = frame.withColumn(_ALL, F.lit(0))
    keys = [F.col(quote(k)) for k in node.keys] or ([] if batch else [F.col(_ALL)])
    if not frame.isStreaming or native(node):
        if not node.aggregates:
            # Under Spark's watermark mark it would drop rows that are late.
            return frame.select(*[F.col(quote(k)).alias(k, metadata={}) for k in node.keys]).dropDuplicates()
        return _aggregated(frame.groupBy(*keys), _as_rows_come(node.aggregates), zone).select(*[quote(f.name) for f in fields(node)])
    return _keyed(node, frame, keys, zone, ttl)


def _as_rows_come(aggregates: tuple[NamedAggregate, ...]) -> tuple[NamedAggregate, ...]:
    """``aggregates`` without Spark's DISTINCT where one depends on the order of rows: Spark groups them by the distinct values, and loses it."""
    if not any(a.call.function.ordered for a in aggregates):
        return aggregates
    return tuple(replace(a, call=over_set(a.call)) for a in aggregates)


def _aggregated(grouped: GroupedData, aggregates: tuple[NamedAggregate, ...], zone: str, arrived: str | None = None) -> DataFrame:
    from pyspark.sql import functions as F

    sql = [render(a.call, zone) if arrived is None else render_arrived(a.call, zone, arrived) for a in aggregates]
    calls = [F.expr(text).alias(a.name) for text, a in zip(sql, aggregates, strict=True)]
    return grouped.agg(*(calls or [F.lit(0).alias(_ALL)]))


def _keyed(node: GroupAggregate, frame: DataFrame, keys: list[Column], zone: str, ttl: int) -> DataFrame:
    """The groups by our own operator."""
    from pyspark.sql import functions as F

    retracting = KIND in frame.columns
    marks: dict[tuple[str | None, tuple[str, ...]], str] = {}
    calls = []
    for named in node.aggregates:
        once = named.call.distinct and (not retracting or named.call.function.signed is not None)
        mark = marks.setdefault(_marked(named.call), _MARK.format(len(marks))) if once else None
        if retracting:
            sql = render_signed(named.call, zone, KIND, mark)
        else:
            sql = render(named.call, zone) if mark is None else render_marked(named.call, zone, mark)
        calls.append(F.expr(sql).alias(named.name))
    if retracting:
        calls.append(F.expr(f"sum(CAST({signs(KIND)} AS BIGINT))").alias(_LIVE))
    for mark in marks.values():
        frame = frame.withColumn(mark, F.lit(0))
    mode = changelog_mode(node)
    spark = frame.sparkSession
    calls_of = [(a.name, a.call.type, a.call.function) for a in node.aggregates]
    folds = {name: _fold(f.of, type_, spark, zone) for name, type_, f in calls_of if isinstance(f, Accumulator)}
    options = AggregateOptions(
        marks=[Mark(column=mark, filter=condition, arguments=arguments) for (condition, arguments), mark in marks.items()],
        changes=retracting,
        emits="BEFORE_TOO" if mode.retracts else "KINDS" if mode.carries_kinds else "ROWS",
        ttl=ttl,
    )
    aggregated = keyed_aggregate(frame.groupBy(*keys).agg(*(calls or [F.lit(0).alias(_ALL)])), options, folds)
    return aggregated.select(*[quote(f.name) for f in fields(node)], *([KIND] if mode.carries_kinds else []))


def _fold(function: PythonFunction | JavaFunction, kept: Type, spark: SparkSession, zone: str) -> Any:
    """What takes rows of ``kept``, the type of what is kept of a group, into accumulators of ``function``."""
    if isinstance(function, JavaFunction):
        return java_functions.fold(function, kept, spark)
    return python_functions.fold(function, kept, spark, zone)


def _marked(call: AggregateCall) -> tuple[str | None, tuple[str, ...]]:
    """The column of a call's condition, None without one, and those of its arguments that are not constant."""
    condition = call.filter.name if isinstance(call.filter, ColumnRef) else None
    return condition, tuple(a.name for a in call.args if isinstance(a, ColumnRef))
