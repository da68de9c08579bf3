"""Top-N and deduplication over all rows of a partition."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.core.changelog import KIND
from sqlstream.core.hidden import hidden
from sqlstream.plan.properties import changelog_mode, fields
from sqlstream.runtime.lower.operators import RankOptions, keyed_rank
from sqlstream.runtime.lower.row import row
from sqlstream.sql.quoting import quote, spark_string

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from sqlstream.plan.nodes import Rank, SortKey

# Flink's.
_VIOLATED = "Primary key constraint violation: multiple distinct records with the same primary key detected."
_INSTEAD = "Use ON CONFLICT DO NOTHING to keep the first record."
_ALL, _PLACE, _ARRIVAL = hidden("all"), hidden("place"), hidden("arrival")


def sort_key(key: SortKey) -> Column:
    """A key of ORDER BY."""
    from pyspark.sql import functions as F

    column = F.col(quote(key.name))
    if key.descending:
        return column.desc_nulls_first() if key.nulls_first else column.desc_nulls_last()
    return column.asc_nulls_first() if key.nulls_first else column.asc_nulls_last()


def ranked(node: Rank, frame: DataFrame, *, ttl: int) -> DataFrame:
    """The rows of ``frame``, the node's input, that the rank keeps."""
    from pyspark.sql import functions as F

    if node.unique:
        return _alone(node, ranked(replace(node, unique=False, last=2, rank=_PLACE), frame, ttl=ttl))
    if not frame.isStreaming:
        return _at_once(node, frame)
    columns = [f.name for f in fields(node.input)]
    # Under Spark's watermark mark rows that are late would be dropped.
    unmarked = frame.select(*[F.col(quote(c)).alias(c, metadata={}) for c in columns], *[c for c in frame.columns if c == KIND])
    if changelog_mode(node).carries_kinds or ttl or node.last > 1 or not node.partition:
        return _by_key(node, unmarked, ttl).select(*[quote(c) for c in row(node)])
    kept = unmarked.dropDuplicates(list(node.partition))
    return kept if node.rank is None else kept.withColumn(node.rank, F.lit(1).cast("BIGINT"))


def _alone(node: Rank, frame: DataFrame) -> DataFrame:
    """The first row of each partition of ``frame``, whose second fails the query."""
    checked = frame.where(f"if({quote(_PLACE)} > 1, CAST(raise_error({spark_string(f'{_VIOLATED} {_INSTEAD}')}) AS BOOLEAN), TRUE)")
    return checked.select(*[quote(f.name) for f in fields(node)])


def partitioned(frame: DataFrame, partition: tuple[str, ...]) -> tuple[DataFrame, list[str]]:
    """``frame`` and the columns by which its rows are apart: those of ``partition``, or one in front that is the same in all rows."""
    from pyspark.sql import functions as F

    if partition:
        return frame, list(dict.fromkeys(partition))
    return frame.select(F.lit(0).alias(_ALL), "*"), [_ALL]


def _by_key(node: Rank, frame: DataFrame, ttl: int) -> DataFrame:
    frame, keys = partitioned(frame, node.partition)
    options = RankOptions(
        keys=keys, order=node.order, first=node.first, last=node.last, latest=node.latest, number=node.rank, changes=KIND in frame.columns,
        before=not node.upserts, ttl=ttl,
    )  # fmt: skip
    return keyed_rank(frame, options)


def _at_once(node: Rank, frame: DataFrame) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    arrival = F.col(_ARRIVAL).desc() if node.latest else F.col(_ARRIVAL).asc()
    window = Window.partitionBy(*[F.col(quote(p)) for p in node.partition]).orderBy(*[sort_key(k) for k in node.order], arrival)
    numbered = frame.withColumn(_ARRIVAL, F.monotonically_increasing_id()).withColumn(_PLACE, F.row_number().over(window))
    kept = numbered.where(F.col(_PLACE).between(node.first, node.last))
    number = [] if node.rank is None else [F.col(_PLACE).cast("BIGINT").alias(node.rank)]
    return kept.select(*[F.col(quote(f.name)) for f in fields(node.input)], *number)
