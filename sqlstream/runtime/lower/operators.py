"""Our own Spark operators, whose classes are in ``runtime/java``: each has a function here that puts it above a DataFrame.

What is asked of an operator is a dataclass here and the record ``Options`` of its class, which says what the names mean. It goes as JSON: one
call, and a name that only one side has is an error.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from sqlstream.core.java import classes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from sqlstream.connectors.base import Lookup
    from sqlstream.plan.builder.row_pattern import Edge
    from sqlstream.plan.nodes import SortKey


def _operator(frame: DataFrame, name: str, *arguments: Any) -> DataFrame:
    """What ``of`` of our class ``name``, after its package, makes of ``frame`` and ``arguments``."""
    from pyspark.sql import DataFrame

    spark = frame.sparkSession
    return DataFrame(attrgetter(name)(classes(spark)).of(frame._jdf, *arguments), spark)


def _described(options: Any) -> str:
    """``options``, a dataclass, for our classes."""
    return json.dumps(asdict(options))


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A column that says which rows bring new values of the columns ``arguments``, or take the last of such away."""

    column: str
    filter: str | None
    arguments: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class AggregateOptions:
    """What KeyedAggregate is asked for."""

    marks: list[Mark]
    changes: bool
    emits: Literal["ROWS", "KINDS", "BEFORE_TOO"]
    ttl: int


def keyed_aggregate(aggregated: DataFrame, options: AggregateOptions, folds: dict[str, Any]) -> DataFrame:
    """``aggregated``, a groupBy of columns with agg over a stream, by our own operator; ``folds`` are those of KeyedAggregate.of."""
    return _operator(aggregated, "operators.KeyedAggregate", _described(options), folds)


@dataclass(frozen=True, kw_only=True)
class KeyedJoinOptions:
    """What KeyedJoin is asked for."""

    how: str
    keys: list[str]
    null_safe: list[bool]
    changes: bool
    kinds: bool
    ttl: int


def keyed_join(tagged: DataFrame, options: KeyedJoinOptions, conditioned: DataFrame | None) -> DataFrame:
    """The join of the rows of both sides in ``tagged``, by our own operator; the frames are those of KeyedJoin.of."""
    return _operator(tagged, "operators.KeyedJoin", _described(options), conditioned and conditioned._jdf)


@dataclass(frozen=True, kw_only=True)
class RankOptions:
    """What KeyedRank is asked for."""

    keys: list[str]
    order: tuple[SortKey, ...]
    first: int
    last: int
    latest: bool
    number: str | None
    changes: bool
    before: bool
    ttl: int


def keyed_rank(frame: DataFrame, options: RankOptions) -> DataFrame:
    """The first rows of each key of ``frame``."""
    return _operator(frame, "operators.KeyedRank", _described(options))


def normalize(frame: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """The changes that rows of ``frame``, whose last column is KIND, make to a table with primary key ``keys``: the row before and after."""
    return _operator(frame, "operators.ChangelogNormalize", list(keys))


@dataclass(frozen=True, kw_only=True)
class IntervalJoinOptions:
    """What IntervalJoin is asked for."""

    left_time: str
    right_time: str
    lower: int
    upper: int
    slack: int
    lag: int


def interval_join(joined: DataFrame, options: IntervalJoinOptions) -> DataFrame:
    """The rows of ``joined``, a join of two streams, for which ``lower <= left time - right time <= upper``.

    Rows are kept until the watermark, which is ``lag`` ahead of their times, says that they can find none, and ``slack`` longer.
    """
    return _operator(joined, "operators.IntervalJoin", _described(options))


@dataclass(frozen=True, kw_only=True)
class TemporalJoinOptions:
    """What TemporalJoin is asked for."""

    left_time: str
    right_time: str
    kind: str | None
    lag: int


def temporal_join(joined: DataFrame, options: TemporalJoinOptions) -> DataFrame:
    """The rows of the left of ``joined``, an inner or left join of two streams, each with the right's latest row up to its time."""
    return _operator(joined, "operators.TemporalJoin", _described(options))


def first_row(frame: DataFrame, keys: list[str], time: str) -> DataFrame:
    """The rows of a stream that are the first of their ``keys`` by the column ``time``, as the watermark passes them."""
    return _operator(frame, "operators.FirstRow", keys, time)


def time_sort(ordered: DataFrame) -> DataFrame:
    """The same as ``ordered``, an orderBy of a stream's columns, the first with its times: rows come out as the watermark passes them."""
    return _operator(ordered, "operators.TemporalSort")


@dataclass(frozen=True, kw_only=True)
class LookupOptions:
    """What LookupJoin is asked for."""

    keys: dict[str, str]
    how: Lookup
    together: int
    attempts: int = 0
    delay_ms: int = 0


def lookup_join(joined: DataFrame, options: LookupOptions) -> DataFrame:
    """The same as ``joined``, an inner or left join with a table of a database, which is asked for the keys that come."""
    return _operator(joined, "jdbc.LookupJoin", _described(options))


def latest_files(frame: DataFrame) -> DataFrame:
    """``frame``, a static one, with every folder that it reads listed anew for each micro-batch of a query that it is part of."""
    return _operator(frame, "files.LatestFiles")


@dataclass(frozen=True, kw_only=True)
class NamedValue:
    """A value of a match, which is a column of a row or an aggregate over rows."""

    kind: Literal["FIRST", "LAST", "AGGREGATE"]
    variable: str | None
    offset: int
    column: str


@dataclass(frozen=True, kw_only=True)
class MatchOptions:
    """What PatternMatch is asked for."""

    keys: tuple[str, ...]
    variables: list[str]
    states: list[list[Edge]]
    skip: str
    target: str | None
    within: int
    together: bool
    values: list[NamedValue]
    measures: list[NamedValue]


def pattern_match(ordered: DataFrame, options: MatchOptions, *, conditions: DataFrame, aggregates: DataFrame | None, result: DataFrame) -> DataFrame:
    """The matches of a pattern in the rows of ``ordered``, an orderBy of columns, of each key: PatternMatch.of has the other frames.

    ``result`` is any frame with the result's columns.
    """
    return _operator(ordered, "patterns.PatternMatch", _described(options), conditions._jdf, aggregates and aggregates._jdf, result._jdf)


@dataclass(frozen=True, kw_only=True)
class Lag:
    """A column with the value of a row before, or for lack of such what stands in for it, a column too."""

    name: str
    value: str
    offset: int
    otherwise: str | None


@dataclass(frozen=True, kw_only=True)
class OverOptions:
    """What OverRows is asked for."""

    time: str
    arrival: bool
    alone: bool
    rows: bool
    preceding: int | None
    marks: list[Mark]
    lags: list[Lag]


def over_aggregate(aggregated: DataFrame, options: OverOptions) -> DataFrame:
    """The rows below ``aggregated``, a groupBy of a stream's columns with agg, with the aggregates up to each."""
    return _operator(aggregated, "operators.OverAggregate", _described(options))


@dataclass(frozen=True, kw_only=True)
class TopOptions:
    """What Top is asked for."""

    count: int
    order: list[SortKey]
    latest: bool


def top(row: Column, order: Column, options: TopOptions) -> Column:
    """An aggregate: the first structs ``row`` by the fields of the struct ``order``, as an array."""
    from pyspark import SparkContext
    from pyspark.sql.classic.column import Column

    return Column(classes(SparkContext._active_spark_context).aggregates.Top.column(row._jc, order._jc, _described(options)))
