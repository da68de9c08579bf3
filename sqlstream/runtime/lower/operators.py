"""Our own Spark operators, whose classes are in ``runtime/java``: each has a function here that puts it above a DataFrame."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sqlstream.core.java import classes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from sqlstream.connectors.base import Lookup


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
    """The changes that rows of ``frame``, whose last column is KIND, make to a table with primary key ``keys``: the row before and after."""
    return _operator(frame, "operators.ChangelogNormalize", list(keys))


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
    return _operator(ordered, "operators.TemporalSort")


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
    """The matches of a pattern in the rows of ``ordered``, an orderBy of columns, of each of ``keys``: PatternMatch.java has the other parameters.

    ``result`` is any frame with the result's columns.
    """
    from pyspark.sql import DataFrame

    spark = ordered.sparkSession
    operator = classes(spark).patterns.PatternMatch
    matches = operator.of(
        ordered._jdf, keys, operator.options(*pattern), conditions._jdf, defined, values, aggregates and aggregates._jdf, measures, result._jdf
    )
    return DataFrame(matches, spark)


def over_aggregate(
    aggregated: DataFrame, time: str, *, arrival: bool, alone: bool, rows: bool, preceding: int, marks: list[list[str]], lags: list[list[str]]
) -> DataFrame:
    """The rows below ``aggregated``, a groupBy of a stream's columns with agg, with the aggregates up to each; see OverAggregate.of."""
    return _operator(aggregated, "operators.OverAggregate", time, arrival, alone, rows, preceding, marks, lags)


def top(row: Column, order: Column, count: int, directions: str, *, latest: bool) -> Column:
    """An aggregate: the first ``count`` structs ``row`` by the struct ``order``, as an array.

    ``directions`` has two letters for each field of ``order``: ``a`` or ``d`` (ascending, descending), ``f`` or ``l`` (NULLs first,
    last). Of equal rows the earlier comes first, or the later where ``latest``.
    """
    from pyspark import SparkContext
    from pyspark.sql.classic.column import Column

    return Column(classes(SparkContext._active_spark_context).aggregates.Top.column(row._jc, order._jc, count, directions, latest))
