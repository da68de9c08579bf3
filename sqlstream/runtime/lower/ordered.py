"""Operators on the order of rows, ORDER BY and OVER: Spark's own where all rows are there, else ours, which see rows as the watermark passes them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.core.hidden import hidden
from sqlstream.plan.nodes import Over, Rank, Sort, TimeAttribute
from sqlstream.plan.properties import field, fields, watermark_lag
from sqlstream.runtime.lower.operators import Lag, Mark, OverOptions, first_row, over_aggregate, time_sort
from sqlstream.runtime.lower.ranks import partitioned, sort_key
from sqlstream.runtime.lower.window_operators import later
from sqlstream.runtime.lower.windows import NO_TIME
from sqlstream.sql.expressions import AggregateCall, ColumnRef, Expr, constant
from sqlstream.sql.functions.aggregates import OVER_SET
from sqlstream.sql.quoting import quote
from sqlstream.sql.spark_sql import render, render_marked, render_over, render_signed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlstream.plan.nodes import NamedAggregate

_TIME = hidden("order")
_NOTHING = hidden("nothing")
_MARK = hidden("mark_{}")
_VALUE = hidden("value_{}")
_ARRIVAL = hidden("arrival")


def sorted_rows(node: Sort, frame: DataFrame) -> DataFrame:
    """The rows of ``frame``, the node's input, in order."""
    from pyspark.sql import functions as F

    if not frame.isStreaming:
        return frame.orderBy(*[sort_key(k) for k in node.keys])
    first, *further = node.keys
    if field(node.input, first.name).time is TimeAttribute.PROCTIME:
        return frame
    timed = _timed(frame, first.name, watermark_lag(node))
    in_order = time_sort(timed.orderBy(F.col(_TIME), *[sort_key(k) for k in further]))
    return in_order.select(*[quote(f.name) for f in fields(node)])


def _timed(frame: DataFrame, time: str, lag: int) -> DataFrame:
    """``frame`` with the moment of the watermark by which a row's ``time`` has come; its query fails where a row has none, as in Flink."""
    from pyspark.sql import functions as F

    return frame.withColumn(_TIME, F.expr(later(f"coalesce({quote(time)}, CAST({NO_TIME} AS TIMESTAMP))", lag)))


def first_rows(node: Rank, frame: DataFrame) -> DataFrame:
    """The first row by time of each key of ``frame``, the node's input, a stream."""
    from pyspark.sql import functions as F

    frame, keys = partitioned(frame, node.partition)
    kept = first_row(_timed(frame, node.order[0].name, watermark_lag(node)), keys, _TIME)
    number = [] if node.rank is None else [F.lit(1).cast("BIGINT").alias(node.rank)]
    return kept.select(*[quote(f.name) for f in fields(node.input)], *number)


def over(node: Over, frame: DataFrame, zone: str, *, batch: bool) -> DataFrame:
    """The rows of ``frame``, the node's input, with the node's aggregates; ``batch``: in batch mode."""
    frame_out = _streaming(node, frame, zone) if frame.isStreaming else _static(node, frame, zone, batch=batch)
    return frame_out.select(*[quote(f.name) for f in fields(node)])


def _static(node: Over, frame: DataFrame, zone: str, *, batch: bool) -> DataFrame:
    from pyspark.sql import functions as F

    lags = [] if batch or _by_arrival(node) else [a for a in node.aggregates if a.call.function.name == "LAG"]
    frame = _of_peers(node, lags, frame, zone) if lags else frame
    columns = []
    for named in (a for a in node.aggregates if a not in lags):
        call = named.call
        if call.distinct and call.function.name in OVER_SET:
            call = replace(call, function=OVER_SET[call.function.name])
        window = _window(node, framed=not call.function.over_only)
        columns.append(F.expr(render_over(call, zone, window)).alias(named.name))
    return frame.select("*", *columns)


def _of_peers(node: Over, lags: list[NamedAggregate], frame: DataFrame, zone: str) -> DataFrame:
    """``frame`` with LAG as a stream has it: rows of one time come together, and each has the value of the last of them."""
    from pyspark.sql import functions as F

    placed = frame.withColumn(_ARRIVAL, F.monotonically_increasing_id())
    window = f"{_window(node, framed=False)}, {_ARRIVAL}"
    own = {_VALUE.format(i): F.expr(render_over(lag.call, zone, window)) for i, lag in enumerate(lags)}
    peers = f"PARTITION BY {', '.join(quote(name) for name in (*node.partition, node.order[0].name))}"
    last = {lag.name: F.expr(f"max_by({value}, {_ARRIVAL}) OVER ({peers})") for lag, value in zip(lags, own, strict=True)}
    return placed.withColumns(own).withColumns(last)


def _window(node: Over, *, framed: bool) -> str:
    """The node's window in Spark SQL."""
    frame = node.frame
    bounded = bool({frame.first, frame.last} - {None, 0})
    arrival = _by_arrival(node)
    order = []
    for key in node.order:
        # Spark's RANGE takes numbers of what it orders by.
        column = f"unix_millis({quote(key.name)})" if bounded and not frame.rows else quote(key.name)
        order.append(f"{column} {'DESC' if key.descending else 'ASC'} NULLS {'FIRST' if key.nulls_first else 'LAST'}")
    parts = [f"PARTITION BY {', '.join(quote(k) for k in node.partition)}"] if node.partition else []
    parts += [f"ORDER BY {', '.join(order)}"] if order else []
    if framed and order:
        kind = "ROWS" if frame.rows or (arrival and not bounded) else "RANGE"
        # A range is in milliseconds, a BIGINT as what it orders by; rows are counted by an INT.
        unit = "" if kind == "ROWS" else "L"
        parts.append(f"{kind} BETWEEN {_bound(frame.first, 'PRECEDING', unit)} AND {_bound(frame.last, 'FOLLOWING', unit)}")
    return " ".join(parts)


def _bound(bound: int | None, side: str, unit: str) -> str:
    if bound is None:
        return f"UNBOUNDED {side}"
    return "CURRENT ROW" if bound == 0 else f"{abs(bound)}{unit} {'PRECEDING' if bound < 0 else 'FOLLOWING'}"


def _by_arrival(node: Over) -> bool:
    return bool(node.order) and field(node.input, node.order[0].name).time is TimeAttribute.PROCTIME


def _streaming(node: Over, frame: DataFrame, zone: str) -> DataFrame:
    from pyspark.sql import functions as F

    (key,) = node.order
    arrival = _by_arrival(node)
    frame = frame if arrival else _timed(frame, key.name, watermark_lag(node))
    frame, keys = partitioned(frame, node.partition)
    first = node.frame.first
    marks: dict[tuple[str, ...], str] = {}
    values: dict[str, str] = {}
    calls, lags = [], []

    def column(expr: Expr) -> str:
        """A column with the values of ``expr``, which is one or a constant."""
        if isinstance(expr, ColumnRef):
            return expr.name
        return values.setdefault(render(expr, zone), _VALUE.format(len(values)))

    for named in node.aggregates:
        call = named.call
        if call.function.name == "LAG":
            value, *more = call.args
            otherwise = column(more[1]) if len(more) > 1 else None
            lags.append(Lag(name=named.name, value=column(value), offset=constant(more[0]) if more else 1, otherwise=otherwise))
            continue
        sliding = first is not None
        mark = marks.setdefault(tuple(column(a) for a in call.args), _MARK.format(len(marks))) if _counts_once(call, sliding=sliding) else None
        calls.append(F.expr(_sql(call, zone, mark, sliding=sliding)).alias(named.name))
    frame = frame.withColumns({name: F.expr(sql) for sql, name in values.items()} | {mark: F.lit(0) for mark in marks.values()})
    aggregated = frame.groupBy(*[quote(k) for k in keys]).agg(*(calls or [F.lit(0).alias(_NOTHING)]))
    options = OverOptions(
        time=key.name if arrival else _TIME,
        arrival=arrival,
        alone=node.frame.rows or (arrival and first is None),
        rows=node.frame.rows,
        preceding=None if first is None else -first * (1 if node.frame.rows else 1000),
        marks=[Mark(column=m, filter=None, arguments=of) for of, m in marks.items()],
        lags=lags,
    )
    return over_aggregate(aggregated, options)


def _counts_once(call: AggregateCall, *, sliding: bool) -> bool:
    """Whether equal values count once, where that makes a difference, and rows are marked for it."""
    return call.distinct and not call.function.same_distinct and not (sliding and call.function.signed is None)


def _sql(call: AggregateCall, zone: str, mark: str | None, *, sliding: bool) -> str:
    """A call over the rows of a key: its rows with DISTINCT are those with a mark."""
    if call.function.name == "ROW_NUMBER":
        return "count(1)"
    if mark is None:
        of_set = OVER_SET.get(call.function.name) if call.distinct else None
        return render(replace(call, distinct=False) if of_set is None else replace(call, function=of_set), zone)
    return render_signed(call, zone, "", mark) if sliding else render_marked(call, zone, mark)
