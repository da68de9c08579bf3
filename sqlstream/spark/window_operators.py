"""Operators on windows as Spark aggregates by window: Top-N keeps the first rows of each group, a join collects the rows of both sides.

All group by the window's last millisecond under Spark's watermark mark, so that they close by Flink's rule; see ``spark/windows``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan.nodes import JoinKind, WindowJoin, WindowRank
from sqlstream.plan.properties import fields
from sqlstream.spark.operators import top
from sqlstream.sql.expressions import ColumnRef, Expr, FieldAccess
from sqlstream.sql.spark_sql import render
from sqlstream.sql.types import quote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from sqlstream.plan.nodes import Node

TIME = "__sqlstream_time"
WATERMARK_METADATA = {"spark.watermarkDelayMs": 0}
_START, _END, _ROWS, _ROW, _PLACE = "__sqlstream_start", "__sqlstream_end", "__sqlstream_rows", "__sqlstream_row", "__sqlstream_place"
_LEFT, _RIGHT, _ALONE = "__sqlstream_left", "__sqlstream_right", "__sqlstream_alone"


def closing(frame: DataFrame, time: str) -> Column:
    """SQL ``time``, the last millisecond of a row's window, as the column that Spark closes windows by.

    To be selected in a projection of its own: an alias among grouping expressions loses its metadata.
    """
    from pyspark.sql import functions as F

    column = F.expr(time)
    return column.alias(TIME, metadata=WATERMARK_METADATA) if frame.isStreaming else column.alias(TIME)


def ranked(node: WindowRank, frame: DataFrame) -> DataFrame:
    """The rows of ``frame``, the node's input, that the rank keeps."""
    from pyspark.sql import functions as F

    columns = [f.name for f in fields(node.input)]
    outside = {node.start: _START, node.end: _END, **{p: f"__sqlstream_key_{i}" for i, p in enumerate(node.partition)}}
    inside = [c for c in columns if c not in outside and c != node.time]
    order = [F.col(quote(k.name)).alias(f"o{i}") for i, k in enumerate(node.order)]
    rows = frame.select(
        closing(frame, quote(node.time)),
        *[F.col(quote(name)).alias(copy) for name, copy in outside.items()],
        _struct(inside, _ROW),
        F.struct(*order).alias(_PLACE),
    )
    directions = "".join(("d" if k.descending else "a") + ("f" if k.nulls_first else "l") for k in node.order)
    kept = top(F.col(_ROW), F.col(_PLACE), node.last, directions, latest=node.latest)
    grouped = rows.groupBy(TIME, *outside.values()).agg(kept.alias(_ROWS))
    each = grouped.select(TIME, *outside.values(), F.posexplode(_ROWS).alias(_PLACE, _ROW))
    if node.first > 1:
        each = each.where(f"{_PLACE} >= {node.first - 1}")
    sql = {c: f"{_ROW}.{quote(c)}" for c in inside} | outside | {node.time: TIME}
    return each.select(*[F.expr(sql[c]).alias(c) for c in columns], F.expr(f"CAST({_PLACE} + 1 AS BIGINT)").alias(node.rank))


def _struct(names: list[str], alias: str) -> Column:
    from pyspark.sql import functions as F

    # A struct needs a field.
    return (F.struct(*[F.col(quote(n)) for n in names]) if names else F.struct(F.lit(0).alias("_"))).alias(alias)


def joined(node: WindowJoin, left: DataFrame, right: DataFrame, zone: str) -> DataFrame:
    """The window join of its inputs' frames: one aggregate over the rows of both, which collects each side's."""
    from pyspark.sql import functions as F

    sides = [_Side(node, 0), _Side(node, 1)]
    both = sides[0].tagged(left).unionAll(sides[1].tagged(right))
    keys = [c for c in both.columns if c not in (TIME, _LEFT, _RIGHT)]
    marked = both.select(closing(both, TIME), *keys, _LEFT, _RIGHT)
    grouped = marked.groupBy(TIME, *keys).agg(F.collect_list(_LEFT).alias(_LEFT), F.collect_list(_RIGHT).alias(_RIGHT))
    pairs = _pairs(node, grouped, [_START, _END], _lambda(node, sides, zone))
    shown = [sides[0], *([] if node.kind.left_only else [sides[1]])]
    return pairs.select(*[F.expr(sql).alias(name) for side in shown for name, sql in side.outputs.items()])


class _Side:
    """One input of a window join: its rows as structs, and how its columns are read from them."""

    def __init__(self, node: WindowJoin, index: int) -> None:
        self._node, self._index = node, index
        self.row = (_LEFT, _RIGHT)[index]
        source: Node = node.inputs[index]
        self.fields = fields(source)
        self._window = {node.bounds[0][index]: _START, node.bounds[1][index]: _END, node.times[index]: TIME}
        self._inside = [f.name for f in self.fields if f.name not in self._window]
        optional = (node.kind.left_optional, node.kind.right_optional)[index]
        self.outputs = {f.name: f"{self.row}.{quote(f.name)}" for f in self.fields if f.name not in self._window} | {
            name: f"if({self.row} IS NULL, NULL, {sql})" if optional else sql for name, sql in self._window.items()
        }
        self.outputs = {f.name: self.outputs[f.name] for f in self.fields}

    def tagged(self, frame: DataFrame) -> DataFrame:
        """The rows as TIME, bounds, keys, whether a key is NULL, and one struct a side, the other's NULL."""
        from pyspark.sql import functions as F

        node, i = self._node, self._index
        window = [F.col(quote(name)).alias(copy) for name, copy in self._window.items()]
        keys = [F.col(quote(pair[i])).alias(f"__sqlstream_key_{n}") for n, pair in enumerate(node.keys)]
        types = {f.name: f.type for side in node.inputs for f in fields(side)}
        # NULL is equal to nothing, the other side's NULL included.
        lonely = [pair[i] for pair in node.keys if types[pair[0]].nullable and types[pair[1]].nullable]
        alone = []
        if lonely:
            alone = [F.expr(f"if({' OR '.join(f'{quote(n)} IS NULL' for n in lonely)}, {i}, -1)").alias(_ALONE)]
        own = _struct(self._inside, self.row)
        source = node.inputs[1 - i]
        window_names = (node.bounds[0][1 - i], node.bounds[1][1 - i], node.times[1 - i])
        others = [f for f in fields(source) if f.name not in window_names]
        shape = ", ".join(f"{quote(f.name)}: {f.type.spark}" for f in others) or "_: INT"
        other = F.expr(f"CAST(NULL AS STRUCT<{shape}>)").alias((_RIGHT, _LEFT)[i])
        return frame.select(*window, *keys, *alone, *([own, other] if i == 0 else [other, own]))


def _lambda(node: WindowJoin, sides: list[_Side], zone: str) -> str | None:
    """The condition over rows ``_LEFT`` and ``_RIGHT`` and the window's columns."""
    if node.condition is None:
        return None
    refs: dict[str, Expr] = {}
    for index, side in enumerate(sides):
        window = {node.bounds[0][index]: _START, node.bounds[1][index]: _END, node.times[index]: TIME}
        for f in side.fields:
            copy = window.get(f.name)
            inner = FieldAccess(f.type, ColumnRef(f.type, side.row), f.name)
            refs[f.name] = inner if copy is None else ColumnRef(f.type, copy)
    return render(node.condition.transform(lambda e: refs[e.name] if isinstance(e, ColumnRef) else None), zone)


def _pairs(node: WindowJoin, grouped: DataFrame, bounds: list[str], condition: str | None) -> DataFrame:
    """A row for each pair of ``grouped``'s two arrays that the join gives, ``_LEFT`` and ``_RIGHT`` in it."""
    from pyspark.sql import functions as F

    kept = [TIME, *bounds]

    def matching(rows: str, row: str) -> str:
        return rows if condition is None else f"filter({rows}, {row} -> {condition})"

    def some(rows: str, row: str) -> str:
        return f"size({rows}) > 0" if condition is None else f"exists({rows}, {row} -> {condition})"

    match node.kind:
        case JoinKind.SEMI | JoinKind.ANTI:
            rows = f"filter({_LEFT}, {_LEFT} -> {'' if node.kind is JoinKind.SEMI else 'NOT '}({some(_RIGHT, _RIGHT)}))"
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
