"""Our own Spark operators, in Java, and how Python plans them.

``jar`` compiles the Java files beside this one and those of ``functions``, once, into the user's cache; the session's classpath has it.
Each operator has a function
here that puts it above a DataFrame.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlstream.core import jars, sealed
from sqlstream.core.errors import SetupError
from sqlstream.core.java import require_java
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sqlstream.connectors.base import Lookup

EXTENSIONS = "sqlstream.Extensions"
CLOCK = "sqlstream.Clock"
_SOURCES = sorted([*Path(__file__).parent.glob("*.java"), *Path(__file__).parent.with_name("functions").glob("*.java")])

_NO_TIME = -(1 << 63)


class SplitTimes:
    """How far the splits of one source of a query have come: what its watermark is made of."""

    def __init__(self, spark: SparkSession, splits: int | Any, *, end: int | None = None, idle_ms: int = 0, inputs: Any = None) -> None:
        """``splits``: how many the source has, or those of ``named_splits``. ``end``: the watermark, in milliseconds since 1970, after a
        micro-batch that has all that there is. ``idle_ms``: a split without rows for so long holds the others back no longer; 0 for never.
        ``inputs``: of ``new_inputs``.
        """
        self._spark = spark
        assert spark._jvm is not None
        splits = named_splits(spark, map(str, range(splits))) if isinstance(splits, int) else splits
        shared = new_inputs(spark) if inputs is None else inputs
        self._jvm = spark._jvm.sqlstream.SplitTimes(splits, _NO_TIME if end is None else end, idle_ms, shared)

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
    return spark._jvm.sqlstream.Splits(found)


def left_out(spark: SparkSession, row: str, folder: Path, table: str, error: str) -> Column:
    """A condition that is FALSE: the row, ``row`` as JSON (SQL), is kept in ``folder`` as one that ``table``'s readers leave out."""
    from pyspark.sql import functions as F
    from pyspark.sql.classic.column import Column

    assert spark._jvm is not None
    return Column(spark._jvm.sqlstream.LeftOutRows(str(folder), table, error).leftOut(F.expr(row)._jc))


class QueryWatch:
    """What can be known of a query from outside while it runs. It counts the rows that go through one frame, ``counted``."""

    def __init__(self, spark: SparkSession) -> None:
        assert spark._jvm is not None
        self._spark = spark
        self._rows = spark._jvm.sqlstream.QueryRows(spark.sparkContext._jsc.sc())
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
        assert self._spark._jvm is not None
        return json.loads(self._spark._jvm.sqlstream.Samples.of(query._jsq, self._rows, self._times, self._topics, after, look))


def sample_of_group(spark: SparkSession, group: str, frame: DataFrame) -> Any:
    """What Samples.ofGroup says of the work of a job group, which writes ``frame``."""
    assert spark._jvm is not None
    return json.loads(spark._jvm.sqlstream.Samples.ofGroup(group, frame._jdf))


def new_inputs(spark: SparkSession) -> Any:
    """What the SplitTimes of one query share."""
    assert spark._jvm is not None
    return spark._jvm.sqlstream.EventTimes()


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
    assert spark._jvm is not None
    spark._jvm.sqlstream.LocalFiles.install(spark.sparkContext._jsc.hadoopConfiguration())


def keyed_aggregate(aggregated: DataFrame, marks: list[list[str]], folds: dict[str, Any], kind: str, kinds: int, ttl: int) -> DataFrame:
    """``aggregated``, a groupBy of columns with agg over a stream, by our own operator; the arguments are those of KeyedAggregate.of."""
    from pyspark.sql import DataFrame

    spark = aggregated.sparkSession
    assert spark._jvm is not None
    return DataFrame(spark._jvm.sqlstream.KeyedAggregate.of(aggregated._jdf, marks, folds, kind, kinds, ttl), spark)


def keyed_join(
    tagged: DataFrame, how: str, keys: list[str], null_safe: list[bool], changes: bool, kinds: bool, conditioned: DataFrame | None, ttl: int
) -> DataFrame:
    """The join of the rows of both sides in ``tagged``, by our own operator; the arguments are those of KeyedJoin.of."""
    from pyspark.sql import DataFrame

    spark = tagged.sparkSession
    assert spark._jvm is not None
    condition = None if conditioned is None else conditioned._jdf
    return DataFrame(spark._jvm.sqlstream.KeyedJoin.of(tagged._jdf, how, keys, null_safe, changes, kinds, condition, ttl), spark)


def keyed_rank(
    frame: DataFrame, keys: list[str], order: list[str], directions: str, first: int, last: int, latest: bool, number: str, changes: bool,
    ttl: int,
) -> DataFrame:
    """The first rows of each key of ``frame``, by our own operator; the arguments are those of KeyedRank.of."""
    from pyspark.sql import DataFrame

    spark = frame.sparkSession
    assert spark._jvm is not None
    return DataFrame(spark._jvm.sqlstream.KeyedRank.of(frame._jdf, keys, order, directions, first, last, latest, number, changes, ttl), spark)


def normalize(frame: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """The changes that rows of ``frame``, whose last column is KIND, make to a table with primary key ``keys``: what was, and what is."""
    from pyspark.sql import DataFrame

    spark = frame.sparkSession
    assert spark._jvm is not None
    return DataFrame(spark._jvm.sqlstream.Normalize.of(frame._jdf, list(keys)), spark)


def interval_join(joined: DataFrame, times: tuple[str, str], *, lower: int, upper: int, slack: int, lag: int) -> DataFrame:
    """The rows of ``joined``, a join of two streams, for which ``lower <= left time - right time <= upper``, in milliseconds.

    Rows are kept until the watermark, which is ``lag`` ahead of their times, says that they can find none, and ``slack`` longer.
    """
    from pyspark.sql import DataFrame

    spark = joined.sparkSession
    assert spark._jvm is not None
    return DataFrame(spark._jvm.sqlstream.IntervalJoin.of(joined._jdf, *times, lower, upper, slack, lag), spark)


def temporal_join(joined: DataFrame, times: tuple[str, str], *, kind: int | None, lag: int) -> DataFrame:
    """The rows of the left of ``joined``, an inner or left join of two streams, each with the right's latest row up to its time.

    ``kind``: the number of the right's column with the kind of its rows, if they carry it. The watermark is ``lag`` milliseconds ahead of times.
    """
    from pyspark.sql import DataFrame

    spark = joined.sparkSession
    assert spark._jvm is not None
    place = -1 if kind is None else kind
    return DataFrame(spark._jvm.sqlstream.TemporalJoin.of(joined._jdf, *times, place, lag), spark)


def first_row(frame: DataFrame, keys: list[str], time: str) -> DataFrame:
    """The rows of a stream that are the first of their ``keys`` by the column ``time``, as the watermark passes them."""
    from pyspark.sql import DataFrame

    spark = frame.sparkSession
    assert spark._jvm is not None
    return DataFrame(spark._jvm.sqlstream.FirstRow.of(frame._jdf, keys, time), spark)


def time_sort(ordered: DataFrame) -> DataFrame:
    """The same as ``ordered``, an orderBy of a stream's columns, the first with its times: rows come out as the watermark passes them."""
    from pyspark.sql import DataFrame

    spark = ordered.sparkSession
    assert spark._jvm is not None
    return DataFrame(spark._jvm.sqlstream.TimeSort.of(ordered._jdf), spark)


def lookup_join(joined: DataFrame, keys: dict[str, str], how: Lookup, *, attempts: int = 0, delay_ms: int = 0) -> DataFrame:
    """The same as ``joined``, an inner or left join with a table of a database, which is asked for the keys that come.

    ``keys``: the columns of its left, each with the column of its right that it is equal to. ``attempts``: how often a key without a row is
    asked for again, after so many milliseconds each time.
    """
    from pyspark.sql import DataFrame

    spark = joined.sparkSession
    assert spark._jvm is not None
    operators = spark._jvm.sqlstream
    limits = [-1 if limit is None else limit for limit in (how.max_keys, how.after_write_ms, how.after_access_ms)]
    cache = operators.LookupCache(*limits, how.misses) if how.cached else None
    return DataFrame(operators.LookupJoin.of(joined._jdf, list(keys), list(keys.values()), cache, how.retries, attempts, delay_ms), spark)


def latest_files(frame: DataFrame) -> DataFrame:
    """``frame``, a static one, with every folder that it reads listed anew for each micro-batch of a query that it is part of."""
    from pyspark.sql import DataFrame

    spark = frame.sparkSession
    assert spark._jvm is not None
    return DataFrame(spark._jvm.sqlstream.LatestFiles.of(frame._jdf), spark)


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
    assert spark._jvm is not None
    operator = spark._jvm.sqlstream.PatternMatch
    made = operator.of(
        ordered._jdf, keys, operator.options(*pattern), conditions._jdf, defined, values, aggregates and aggregates._jdf, measures, result._jdf
    )
    return DataFrame(made, spark)


def over_aggregate(
    aggregated: DataFrame, time: str, *, arrival: bool, alone: bool, rows: bool, preceding: int, marks: list[list[str]], lags: list[list[str]]
) -> DataFrame:
    """The rows below ``aggregated``, a groupBy of a stream's columns with agg, with the aggregates up to each; see OverAggregate.of."""
    from pyspark.sql import DataFrame

    spark = aggregated.sparkSession
    assert spark._jvm is not None
    return DataFrame(spark._jvm.sqlstream.OverAggregate.of(aggregated._jdf, time, arrival, alone, rows, preceding, marks, lags), spark)


def top(row: Column, order: Column, count: int, directions: str, *, latest: bool) -> Column:
    """An aggregate: the first ``count`` structs ``row`` by the struct ``order``, as an array.

    ``directions`` has two letters for each field of ``order``: ``a`` or ``d`` (ascending, descending), ``f`` or ``l`` (NULLs first,
    last). Of equal rows the earlier goes first, or the later where ``latest``.
    """
    from pyspark import SparkContext
    from pyspark.sql.classic.column import Column

    context = SparkContext._active_spark_context
    assert context is not None and context._jvm is not None
    return Column(context._jvm.sqlstream.Top.column(row._jc, order._jc, count, directions, latest))


def jar(progress: Callable[[str], None]) -> Path:
    """The operators' jar. Raises SetupError."""
    class_path = [*libraries(), *jars.ensure("spark", progress)]
    digest = hashlib.sha256()
    for path in _SOURCES:
        digest.update(path.read_bytes())
    digest.update(" ".join(p.name for p in class_path).encode())
    target = jars.cache_dir() / f"sqlstream-operators-{digest.hexdigest()[:16]}.jar"
    if not sealed.intact(target):
        (compiler,) = jars.ensure("compiler", progress)
        progress("Compiling sqlstream's operators (once)")
        with tempfile.TemporaryDirectory(prefix=".compile-", dir=target.parent) as work:
            _compile(compiler, class_path, Path(work)).replace(target)
        sealed.seal(target)
    return target


def libraries() -> list[Path]:
    """Spark's own jars."""
    spec = importlib.util.find_spec("pyspark")
    places = (spec.submodule_search_locations if spec else None) or ()
    return sorted(p for place in places for p in Path(place).glob("jars/*.jar"))


def _compile(compiler: Path, class_path: list[Path], work: Path) -> Path:
    classes = work / "classes"
    command = [str(require_java()), "-jar", str(compiler), "-17", "-proc:none", "-nowarn", "-encoding", "UTF-8", "-d", str(classes)]
    command += ["-cp", os.pathsep.join(map(str, class_path)), *map(str, _SOURCES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SetupError(f"sqlstream's operators do not compile:\n{done.stderr or done.stdout}")
    packed = work / "operators.jar"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(classes.rglob("*.class")):
            archive.write(path, path.relative_to(classes))
    return packed
