"""Regular joins: natively where one side is all there, or everything; of two streams by our own operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors.in_order import arriving
from sqlstream.core.changelog import KIND
from sqlstream.plan.nodes import SIDE, Join, JoinKind, KeyedJoin
from sqlstream.plan.properties import changelog_mode, fields
from sqlstream.runtime.lower.operators import KeyedJoinOptions, keyed_join
from sqlstream.runtime.lower.row import row
from sqlstream.sql.generated_names import generated
from sqlstream.sql.quoting import quote
from sqlstream.sql.spark_sql import render

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_HOW = {
    JoinKind.INNER: "inner", JoinKind.LEFT: "left", JoinKind.RIGHT: "right", JoinKind.FULL: "full", JoinKind.SEMI: "left_semi",
    JoinKind.ANTI: "left_anti",
}  # fmt: skip
_SIDES = (generated("left"), generated("right"))
_ALL = generated("k0")


def joined(node: Join, left: DataFrame, right: DataFrame, zone: str) -> DataFrame:
    """The join by Spark, of which at most one side is a stream: each of its rows, whatever its kind, is looked up in the other side."""
    left, right = (side if how is None else side.hint(how) for side, how in zip((left, right), node.hints.strategies, strict=True))
    # At most one side has changes.
    if KIND in right.columns:
        found = arriving(right, lambda changes: _pairs(node, left, changes, zone))
    else:
        found = arriving(left, lambda changes: _pairs(node, changes, right, zone))
    return found.select(*[quote(n) for n in row(node)])


def joined_at_once(node: Join, left: DataFrame, right: DataFrame, zone: str) -> DataFrame:
    """The join by Spark of a stream with a side that each task has a copy of: it gives the pairs of a row before it reads the next, so in order."""
    left, right = (side if side.isStreaming else side.hint("broadcast") for side in (left, right))
    return _pairs(node, left, right, zone).select(*[quote(n) for n in row(node)])


def size(frame: DataFrame) -> int:
    """How many bytes Spark takes ``frame``, which is static, to have."""
    return int(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())


def _pairs(node: Join, left: DataFrame, right: DataFrame, zone: str) -> DataFrame:
    from pyspark.sql import functions as F

    if node.condition is None and node.kind is JoinKind.INNER:
        return left.crossJoin(right)
    condition = F.lit(True) if node.condition is None else F.expr(render(node.condition, zone))
    return left.join(right, condition, _HOW[node.kind])


def keyed(node: KeyedJoin, frame: DataFrame, zone: str, *, ttl: int) -> DataFrame:
    """The join of the rows of both sides in ``frame``, the node's input."""
    from pyspark.sql import functions as F

    sides = [F.struct(*_own(node, side)) for side in (0, 1)]
    keys = [F.col(quote(k)) for k in node.keys] or [F.lit(0).alias(_ALL)]
    here = F.col(quote(SIDE))
    kinds = [F.col(KIND)] if KIND in frame.columns else []
    tagged = frame.select(*keys, here, *(F.when(here == i, side).alias(_SIDES[i]) for i, side in enumerate(sides)), *kinds)
    # The columns of both sides, for the condition to be resolved against.
    pair = tagged.select(*(f"{quote(side)}.*" for side in _SIDES))
    condition = None if node.condition is None else pair.where(render(node.condition, zone))
    options = KeyedJoinOptions(
        how=node.join.kind.name,
        keys=[*node.keys] or [_ALL],
        null_safe=[*node.null_safe] or [False],
        changes=bool(kinds),
        kinds=changelog_mode(node).carries_kinds,
        ttl=ttl,
    )
    return keyed_join(tagged, options, condition)


def _own(node: KeyedJoin, side: int) -> list[Column]:
    from pyspark.sql import functions as F

    return [F.col(quote(held)).alias(f.name) for held, f in zip(node.columns[side], fields(node.join.inputs[side]), strict=True)]
