"""Operators on windows as Spark aggregates by window: Top-N keeps the first rows of each group, a join collects the rows of both sides.

All group by the window's last millisecond under Spark's watermark mark, so that they close by Flink's rule; see ``runtime/lower/windows``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.core.hidden import hidden
from sqlstream.plan.nodes import SIDE, CoGroup, Collected, JoinKind, JoinSide, WindowJoin, WindowRank
from sqlstream.plan.properties import fields, watermark_lag
from sqlstream.runtime.lower.operators import TopOptions, top
from sqlstream.sql.expressions import ColumnRef, Expr, FieldAccess
from sqlstream.sql.generated_names import bound
from sqlstream.sql.quoting import quote, spark_string
from sqlstream.sql.spark_sql import render

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

TIME = hidden("time")
WATERMARK_METADATA = {"spark.watermarkDelayMs": 0}
_START, _END, _ROWS, _ROW, _PLACE = hidden("start"), hidden("end"), hidden("rows"), hidden("row"), hidden("place")
_LEFT, _RIGHT = _SIDES = (hidden("left"), hidden("right"))


def closing(frame: DataFrame, time: str, lag: int) -> Column:
    """SQL ``time``, the last millisecond of a row's window, as the column that Spark closes windows by: ``lag`` milliseconds later.

    To be selected in a projection of its own: an alias among grouping expressions loses its metadata.
    """
    from pyspark.sql import functions as F

    column = F.expr(later(time, lag))
    return column.alias(TIME, metadata=WATERMARK_METADATA) if frame.isStreaming else column.alias(TIME)


def later(time: str, millis: int) -> str:
    """SQL ``time``, moved."""
    return f"timestamp_micros(unix_micros({time}) + {millis * 1000}L)" if millis else time


def _closed(frame: DataFrame, lag: int) -> DataFrame:
    """``frame``, grouped by a ``closing`` column, with the last millisecond of the window itself in it."""
    from pyspark.sql import functions as F

    return frame.withColumn(TIME, F.expr(later(TIME, -lag))) if lag else frame


def ranked(node: WindowRank, frame: DataFrame) -> DataFrame:
    """The rows of ``frame``, the node's input, that the rank keeps."""
    from pyspark.sql import functions as F

    lag = watermark_lag(node)
    columns = [f.name for f in fields(node.input)]
    outside = {node.start: _START, node.end: _END, **{p: hidden(f"key_{i}") for i, p in enumerate(node.partition)}}
    inside = [c for c in columns if c not in outside and c != node.time]
    order = [replace(k, name=f"o{i}") for i, k in enumerate(node.order)]
    rows = frame.select(
        closing(frame, quote(node.time), lag),
        *[F.col(quote(name)).alias(copy) for name, copy in outside.items()],
        _struct(inside, _ROW),
        F.struct(*[F.col(quote(k.name)).alias(o.name) for k, o in zip(node.order, order, strict=True)]).alias(_PLACE),
    )
    kept = top(F.col(_ROW), F.col(_PLACE), TopOptions(count=node.last, order=order, latest=node.latest))
    grouped = _closed(rows.groupBy(TIME, *outside.values()).agg(kept.alias(_ROWS)), lag)
    each = grouped.select(TIME, *outside.values(), F.posexplode(_ROWS).alias(_PLACE, _ROW))
    if node.first > 1:
        each = each.where(f"{_PLACE} >= {node.first - 1}")
    sql = {c: f"{_ROW}.{quote(c)}" for c in inside} | outside | {node.time: TIME}
    return each.select(*[F.expr(sql[c]).alias(c) for c in columns], F.expr(f"CAST({_PLACE} + 1 AS BIGINT)").alias(node.rank))


def _struct(names: list[str], alias: str) -> Column:
    from pyspark.sql import functions as F

    # A struct needs a field.
    return (F.struct(*[F.col(quote(n)) for n in names]) if names else F.struct(F.lit(0).alias("_"))).alias(alias)


def co_grouped(node: CoGroup, frame: DataFrame, zone: str) -> DataFrame:
    """The node's join, of the rows of both sides in ``frame``."""
    from pyspark.sql import functions as F

    lag = watermark_lag(node)
    keys = [quote(k) for k in node.keys]
    plain = [f.name for f in fields(node.input) if f.name not in (node.time, *node.bounds, *node.keys)]
    marked = frame.select(
        closing(frame, quote(node.time), lag),
        F.col(quote(node.bounds[0])).alias(_START),
        F.col(quote(node.bounds[1])).alias(_END),
        *keys,
        *[F.col(quote(c)) for c in plain],
        *[_own_rows(node, i) for i, side in enumerate(node.sides) if side.collected is not Collected.AGGREGATES],
    )
    collected = [column for i, side in enumerate(node.sides) for column in _collected(side, i, zone)]
    grouped = _closed(marked.groupBy(TIME, _START, _END, *keys).agg(*collected), lag)
    rows = grouped.select(TIME, _START, _END, *[_rows(side, i, zone) for i, side in enumerate(node.sides)])
    pairs = _pairs(node.join, rows, [_START, _END], _condition(node.join, zone))
    shown = (0,) if node.join.kind.left_only else (0, 1)
    return pairs.select(*[F.expr(sql).alias(name) for i in shown for name, sql in _outputs(node.join, i).items()])


def _window(join: WindowJoin, index: int) -> dict[str, str]:
    """The window's columns of one input, and what holds their values here."""
    return {join.bounds[0][index]: _START, join.bounds[1][index]: _END, join.times[index]: TIME}


def _inside(join: WindowJoin, index: int) -> list[str]:
    """The columns of one input that are not the window's."""
    return [f.name for f in fields(join.inputs[index]) if f.name not in _window(join, index)]


def _own_rows(node: CoGroup, index: int) -> Column:
    """A row's columns of its own side as a struct; NULL for a row of the other side."""
    from pyspark.sql import functions as F

    named = zip(_inside(node.join, index), node.sides[index].columns, strict=True)
    # A struct needs a field.
    cells = [F.col(quote(column)).alias(name) for name, column in named] or [F.lit(0).alias("_")]
    return F.when(F.col(quote(SIDE)) == index, F.struct(*cells)).alias(_SIDES[index])


def _collected(side: JoinSide, index: int, zone: str) -> list[Column]:
    """What a group keeps of one side."""
    from pyspark.sql import functions as F

    match side.collected:
        case Collected.ROWS:
            return [F.collect_list(_SIDES[index]).alias(_SIDES[index])]
        case Collected.DISTINCT:
            return [F.collect_set(_SIDES[index]).alias(_SIDES[index])]
    count = F.expr(f"count(*) FILTER (WHERE {quote(SIDE)} = {index})").alias(_SIDES[index])
    return [count, *[F.expr(render(a.call, zone)).alias(a.name) for a in side.aggregates]]


def _rows(side: JoinSide, index: int, zone: str) -> Column:
    """The rows of one side of a group as an array of structs."""
    from pyspark.sql import functions as F

    name = _SIDES[index]
    if side.collected is not Collected.AGGREGATES:
        return F.col(name)
    cells = ", ".join(f"{spark_string(c.name)}, {render(c.expr, zone)}" for c in side.row) or "'_', 0"
    return F.expr(f"filter(array(if({name} > 0, named_struct({cells}), NULL)), {bound(lambda r: f'{r} IS NOT NULL')})").alias(name)


def _outputs(join: WindowJoin, index: int) -> dict[str, str]:
    """The columns that the join emits of one input, as SQL over its row and the window's columns."""
    row, window = _SIDES[index], _window(join, index)
    optional = (join.kind.left_optional, join.kind.right_optional)[index]
    held = {name: f"if({row} IS NULL, NULL, {sql})" if optional else sql for name, sql in window.items()}
    return {f.name: held.get(f.name, f"{row}.{quote(f.name)}") for f in fields(join.inputs[index])}


def _condition(join: WindowJoin, zone: str) -> str | None:
    """The join's condition over a row of each side and the window's columns."""
    if join.condition is None:
        return None
    refs: dict[str, Expr] = {}
    for index, source in enumerate(join.inputs):
        window = _window(join, index)
        for f in fields(source):
            own = FieldAccess(f.type, ColumnRef(f.type, _SIDES[index]), f.name)
            refs[f.name] = ColumnRef(f.type, window[f.name]) if f.name in window else own
    return render(join.condition.transform(lambda e: refs[e.name] if isinstance(e, ColumnRef) else None), zone)


def _pairs(join: WindowJoin, grouped: DataFrame, bounds: list[str], condition: str | None) -> DataFrame:
    """A row for each pair of ``grouped``'s two arrays that the join emits, ``_LEFT`` and ``_RIGHT`` in it."""
    from pyspark.sql import functions as F

    kept = [TIME, *bounds]

    def matching(rows: str, row: str) -> str:
        return rows if condition is None else f"filter({rows}, {row} -> {condition})"

    def some(rows: str, row: str) -> str:
        return f"size({rows}) > 0" if condition is None else f"exists({rows}, {row} -> {condition})"

    match join.kind:
        case JoinKind.SEMI | JoinKind.ANTI:
            rows = f"filter({_LEFT}, {_LEFT} -> {'' if join.kind is JoinKind.SEMI else 'NOT '}({some(_RIGHT, _RIGHT)}))"
            return grouped.select(*kept, F.explode(F.expr(rows)).alias(_LEFT))
        case JoinKind.RIGHT:
            each = grouped.select(*kept, F.explode(_RIGHT).alias(_RIGHT), _LEFT)
            return each.select(*kept, _RIGHT, F.explode_outer(F.expr(matching(_LEFT, _LEFT))).alias(_LEFT))
        case JoinKind.FULL if condition is not None:
            left = f"transform({_LEFT}, {_LEFT} -> struct({_LEFT} AS l, {matching(_RIGHT, _RIGHT)} AS r))"
            unmatched = f"filter({_RIGHT}, {_RIGHT} -> NOT {some(_LEFT, _LEFT)})"
            right = f"transform({unmatched}, {_RIGHT} -> struct(CAST(NULL AS {_type(grouped, _LEFT)}) AS l, array({_RIGHT}) AS r))"
            each = grouped.select(*kept, F.explode(F.expr(f"concat({left}, {right})")).alias(_ROW))
            return each.select(*kept, F.expr(f"{_ROW}.l").alias(_LEFT), F.explode_outer(F.expr(f"{_ROW}.r")).alias(_RIGHT))
        case JoinKind.FULL:
            each = grouped.select(*kept, F.explode_outer(_LEFT).alias(_LEFT), _RIGHT)
            return each.select(*kept, _LEFT, F.explode_outer(_RIGHT).alias(_RIGHT))
        case JoinKind.LEFT:
            each = grouped.select(*kept, F.explode(_LEFT).alias(_LEFT), _RIGHT)
            return each.select(*kept, _LEFT, F.explode_outer(F.expr(matching(_RIGHT, _RIGHT))).alias(_RIGHT))
    each = grouped.select(*kept, F.explode(_LEFT).alias(_LEFT), _RIGHT)
    pairs = each.select(*kept, _LEFT, F.explode(_RIGHT).alias(_RIGHT))
    return pairs if condition is None else pairs.where(condition)


def _type(frame: DataFrame, name: str) -> str:
    array = frame.schema[name].dataType
    return str(array.elementType.simpleString())  # type: ignore[attr-defined]
