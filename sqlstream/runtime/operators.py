"""Our own Spark operators, whose classes are in ``java/``: each has a function here that puts it above a DataFrame."""

from __future__ import annotations

import json
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sqlstream.core.java import classes
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sqlstream.connectors.base import Lookup

CLOCK = "sqlstream.watermark.Clock"
_NO_TIME = -(1 << 63)


class SplitTimes:
    """How far the splits of one source of a query have come: what its watermark is made of."""

    def __init__(self, spark: SparkSession, splits: int | Any, *, end: int | None = None, idle_ms: int = 0, inputs: Any = None) -> None:
        """``splits``: how many the source has, or those of ``named_splits``. ``end``: the watermark, in milliseconds since 1970, after a
        micro-batch that has all that there is. ``idle_ms``: a split without rows for so long holds the others back no longer; 0 for never.
        ``inputs``: of ``new_inputs``.
        """
        self._spark = spark
        splits = named_splits(spark, map(str, range(splits))) if isinstance(splits, int) else splits
        shared = new_inputs(spark) if inputs is None else inputs
        self._jvm = classes(spark).watermark.SplitTimes(splits, _NO_TIME if end is None else end, idle_ms, shared)

    def watermark(self, frame: DataFrame, time: str, split: str) -> DataFrame:
        """``frame`` under the watermark: the minimum over splits of the greatest ``time`` (TIMESTAMP) of each.

        ``split`` (INT, from 0) says where a row comes from; a row where it is NULL raises the watermark of all of them and is taken out.
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
    """The splits of a source, by their names (Java's Splits)."""
    assert spark._jvm is not None
    found = spark._jvm.java.util.ArrayList()
    for name in names:
        found.add(name)
    return classes(spark).watermark.Splits(found)


def left_out(spark: SparkSession, row: str, folder: Path, table: str, error: str) -> Column:
    """A condition that is FALSE: the row, ``row`` as JSON (SQL), is kept in ``folder`` as one that ``table``'s readers leave out."""
    from pyspark.sql import functions as F
    from pyspark.sql.classic.column import Column

    return Column(classes(spark).monitor.LeftOutRows(str(folder), table, error).leftOut(F.expr(row)._jc))


class QueryWatch:
    """What can be known of a query from outside while it runs. It counts the rows that go through one frame, ``counted``."""

    def __init__(self, spark: SparkSession) -> None:
        assert spark._jvm is not None
        self._spark = spark
        self._rows = classes(spark).monitor.QueryRows(spark.sparkContext._jsc.sc())
        self._times = spark._jvm.java.util.ArrayList()
        self._topics = spark._jvm.java.util.ArrayList()

    def counted(self, frame: DataFrame) -> DataFrame:
        """``frame``, that which goes to the sink: its rows are counted, and those around its filters."""
        from pyspark.sql import DataFrame

        return DataFrame(self._rows.counted(frame._jdf), self._spark)

    def add(self, times: SplitTimes) -> None:
        """Look at a watermark of the query, too."""
        self._times.add(times._jvm)

    def add_topics(self, topics: Any) -> None:
        """Look at a source of the query, Java's KafkaTopics, too."""
        self._topics.add(topics)

    def sample(self, query: StreamingQuery, after: str, *, look: bool) -> Any:
        """What Samples.of says of a run of it, with the micro-batches that began after ``after``, a timestamp. ``look``: its own."""
        return json.loads(classes(self._spark).monitor.Samples.of(query._jsq, self._rows, self._times, self._topics, after, look))


def sample_of_group(spark: SparkSession, group: str, frame: DataFrame) -> Any:
    """What Samples.ofGroup says of the work of a job group, which writes ``frame``."""
    return json.loads(classes(spark).monitor.Samples.ofGroup(group, frame._jdf))


def new_inputs(spark: SparkSession) -> Any:
    """What the SplitTimes of one query share."""
    return classes(spark).watermark.EventTimes()


def reached(inputs: Any) -> int | None:
    """The watermark of the query whose SplitTimes share ``inputs``, in milliseconds since 1970, with the rows that tasks have seen up to now."""
    millis = inputs.reached()
    return None if millis is None else int(millis)


def clock(spark: SparkSession, name: str, every_ms: int, offset_ms: int, zone: str) -> DataFrame:
    """A streaming source, ``name``, that has a row (value BIGINT: milliseconds since 1970) whenever a window of that length begins."""
    reader = spark.readStream.name(name).format(CLOCK).option("every", str(every_ms)).option("offset", str(offset_ms))
    return reader.option("zone", zone).load()


def use_local_files(spark: SparkSession) -> None:
    """Let Spark write local files, its checkpoints above all, without starting a process for each. Only where driver and executors are one JVM."""
    classes(spark).files.LocalFiles.install(spark.sparkContext._jsc.hadoopConfiguration())


def _operator(frame: DataFrame, name: str, *arguments: Any) -> DataFrame:
    """What ``of`` of our class ``name``, after its package, makes of ``frame`` and ``arguments``."""
    from pyspark.sql import DataFrame

    spark = frame.sparkSession
    return DataFrame(attrgetter(name)(classes(spark)).of(frame._jdf, *arguments), spark)


def keyed_aggregate(aggregated: DataFrame, marks: list[list[str]], folds: dict[str, Any], kind: str, kinds: int, ttl: int) -> DataFrame:
    """``aggregated``, a groupBy of columns with agg over a stream, by our own operator; the arguments are those of KeyedAggregate.of."""
    return _operator(aggregated, "operators.KeyedAggregate", marks, folds, kind, kinds, ttl)


def keyed_join(
    tagged: DataFrame, how: str, keys: list[str], null_safe: list[bool], changes: bool, kinds: bool, conditioned: DataFrame | None, ttl: int
) -> DataFrame:
    """The join of the rows of both sides in ``tagged``, by our own operator; the arguments are those of KeyedJoin.of."""
    condition = None if conditioned is None else conditioned._jdf
    return _operator(tagged, "operators.KeyedJoin", how, keys, null_safe, changes, kinds, condition, ttl)


def keyed_rank(
    frame: DataFrame,
    keys: list[str],
    order: list[str],
    directions: str,
    first: int,
    last: int,
    latest: bool,
    number: str,
    changes: bool,
    ttl: int,
) -> DataFrame:
    """The first rows of each key of ``frame``, by our own operator; the arguments are those of KeyedRank.of."""
    return _operator(frame, "operators.KeyedRank", keys, order, directions, first, last, latest, number, changes, ttl)


def normalize(frame: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """The changes that rows of ``frame``, whose last column is KIND, make to a table with primary key ``keys``: what was, and what is."""
    return _operator(frame, "operators.Normalize", list(keys))


def interval_join(joined: DataFrame, times: tuple[str, str], *, lower: int, upper: int, slack: int, lag: int) -> DataFrame:
    """The rows of ``joined``, a join of two streams, for which ``lower <= left time - right time <= upper``, in milliseconds.

    Rows are kept until the watermark, which is ``lag`` ahead of their times, says that they can find none, and ``slack`` longer.
    """
    return _operator(joined, "operators.IntervalJoin", *times, lower, upper, slack, lag)


def temporal_join(joined: DataFrame, times: tuple[str, str], *, kind: int | None, lag: int) -> DataFrame:
    """The rows of the left of ``joined``, an inner or left join of two streams, each with the right's latest row up to its time.

    ``kind``: the number of the right's column with the kind of its rows, if they carry it. The watermark is ``lag`` milliseconds ahead of times.
    """
    place = -1 if kind is None else kind
    return _operator(joined, "operators.TemporalJoin", *times, place, lag)


def first_row(frame: DataFrame, keys: list[str], time: str) -> DataFrame:
    """The rows of a stream that are the first of their ``keys`` by the column ``time``, as the watermark passes them."""
    return _operator(frame, "operators.FirstRow", keys, time)


def time_sort(ordered: DataFrame) -> DataFrame:
    """The same as ``ordered``, an orderBy of a stream's columns, the first with its times: rows come out as the watermark passes them."""
    return _operator(ordered, "operators.TimeSort")


def lookup_join(joined: DataFrame, keys: dict[str, str], how: Lookup, *, attempts: int = 0, delay_ms: int = 0) -> DataFrame:
    """The same as ``joined``, an inner or left join with a table of a database, which is asked for the keys that come.

    ``keys``: the columns of its left, each with the column of its right that it is equal to. ``attempts``: how often a key without a row is
    asked for again, after so many milliseconds each time.
    """
    limits = [-1 if limit is None else limit for limit in (how.max_keys, how.after_write_ms, how.after_access_ms)]
    cache = classes(joined.sparkSession).jdbc.LookupCache(*limits, how.misses) if how.cached else None
    return _operator(joined, "jdbc.LookupJoin", list(keys), list(keys.values()), cache, how.retries, attempts, delay_ms)


def latest_files(frame: DataFrame) -> DataFrame:
    """``frame``, a static one, with every folder that it reads listed anew for each micro-batch of a query that it is part of."""
    return _operator(frame, "files.LatestFiles")


def pattern_match(
    ordered: DataFrame,
    keys: list[str],
    pattern: tuple[list[list[list[int]]], int, str, int, int, bool],
    conditions: DataFrame,
    defined: list[int],
    values: list[list[int]],
    aggregates: DataFrame | None,
    measures: list[list[int]],
    result: DataFrame,
) -> DataFrame:
    """The matches of a pattern in the rows of ``ordered``, an orderBy of columns, of each of ``keys``: PatternMatch.java says what all else is.

    ``result`` is any frame with the result's columns.
    """
    from pyspark.sql import DataFrame

    spark = ordered.sparkSession
    operator = classes(spark).patterns.PatternMatch
    made = operator.of(
        ordered._jdf, keys, operator.options(*pattern), conditions._jdf, defined, values, aggregates and aggregates._jdf, measures, result._jdf
    )
    return DataFrame(made, spark)


def over_aggregate(
    aggregated: DataFrame, time: str, *, arrival: bool, alone: bool, rows: bool, preceding: int, marks: list[list[str]], lags: list[list[str]]
) -> DataFrame:
    """The rows below ``aggregated``, a groupBy of a stream's columns with agg, with the aggregates up to each; see OverAggregate.of."""
    return _operator(aggregated, "operators.OverAggregate", time, arrival, alone, rows, preceding, marks, lags)


def top(row: Column, order: Column, count: int, directions: str, *, latest: bool) -> Column:
    """An aggregate: the first ``count`` structs ``row`` by the struct ``order``, as an array.

    ``directions`` has two letters for each field of ``order``: ``a`` or ``d`` (ascending, descending), ``f`` or ``l`` (NULLs first,
    last). Of equal rows the earlier goes first, or the later where ``latest``.
    """
    from pyspark import SparkContext
    from pyspark.sql.classic.column import Column

    return Column(classes(SparkContext._active_spark_context).aggregates.Top.column(row._jc, order._jc, count, directions, latest))
