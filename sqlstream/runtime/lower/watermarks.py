"""The watermark of a source, from the times of its splits, and the clock as a source (Java's package ``watermark``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.core import storage
from sqlstream.core.java import classes
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import Column, DataFrame, SparkSession

    from sqlstream.core.storage import Place

CLOCK = "sqlstream.watermark.Clock"
_NO_TIME = -(1 << 63)


class SourceWatermark:
    """How far the splits of one source of a query have come: what its watermark is made of."""

    def __init__(self, spark: SparkSession, splits: int | Any, *, end: int | None = None, idle_ms: int = 0, inputs: Any = None) -> None:
        """``splits``: how many the source has, or those of ``named_splits``. ``end``: the watermark, in milliseconds since 1970, after a
        micro-batch that has all that there is. ``idle_ms``: a split without rows for this long no longer holds the others back; 0: never.
        ``inputs``: of ``new_inputs``.
        """
        self._spark = spark
        splits = named_splits(spark, map(str, range(splits))) if isinstance(splits, int) else splits
        shared = new_inputs(spark) if inputs is None else inputs
        self._jvm = classes(spark).watermark.SourceWatermark(splits, _NO_TIME if end is None else end, idle_ms, shared)

    def attach(self, frame: DataFrame, time: str, split: str) -> DataFrame:
        """``frame`` under the watermark: the minimum over splits of the greatest ``time`` (TIMESTAMP) of each.

        ``split`` (INT, from 0) says where a row comes from; a row where it is NULL raises the watermark of all of them and is dropped.
        """
        from pyspark.sql import DataFrame
        from pyspark.sql import functions as F

        millis = F.expr(f"coalesce(unix_millis({quote(time)}), {_NO_TIME + 1}L - 1L)")
        numbers = F.expr(f"coalesce({quote(split)}, -1)")
        return DataFrame(self._jvm.watermark(frame._jdf, millis._jc, numbers._jc, time), self._spark)

    def current(self) -> Column:
        """The watermark as a column (TIMESTAMP) of a frame above it: that of the micro-batch's start, NULL before the first."""
        from pyspark.sql import functions as F
        from pyspark.sql.classic.column import Column

        millis = Column(self._jvm.currentColumn())
        return F.when(millis > _NO_TIME, F.timestamp_millis(millis))

    def idle_moments(self, name: str) -> DataFrame:
        """A streaming source, ``name``, that has a row (value BIGINT, NULL) whenever a split has become idle."""
        return self._spark.readStream.name(name).format(CLOCK).option("times", self._jvm.watched()).load()


def named_splits(spark: SparkSession, names: Iterable[str]) -> Any:
    """The splits of a source, by their names (Java's SourceSplits)."""
    assert spark._jvm is not None
    listed = spark._jvm.java.util.ArrayList()
    for name in names:
        listed.add(name)
    return classes(spark).watermark.SourceSplits(listed)


def new_inputs(spark: SparkSession) -> Any:
    """What the watermarks of one query share (Java's QueryWatermark)."""
    return classes(spark).watermark.QueryWatermark()


def reached(inputs: Any) -> int | None:
    """The watermark of the query whose sources share ``inputs``, in milliseconds since 1970, with the rows that tasks have seen up to now."""
    millis = inputs.reached()
    return None if millis is None else int(millis)


def clock(spark: SparkSession, name: str, every_ms: int, offset_ms: int, zone: str, pause: Place | None) -> DataFrame:
    """A streaming source, ``name``, that has a row (value BIGINT: milliseconds since 1970) whenever a window of that length begins.

    In real time it has one as a micro-batch begins; ``pause`` as of Read.
    """
    reader = spark.readStream.name(name).format(CLOCK).option("every", str(every_ms)).option("offset", str(offset_ms)).option("zone", zone)
    return reader.load() if pause is None else reader.option("pause", storage.uri(pause)).load()
