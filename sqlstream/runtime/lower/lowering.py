"""Logical nodes to DataFrames: each node to the Spark operator that has its meaning.

Event time. A Watermark is our own operator over a hidden column that holds the watermark expression's value: the minimum over the
source's splits (Kafka partitions), and under Spark's ``min`` policy over the inputs of a query: Flink's rule. A control source (text
files of epoch milliseconds in the job's folder) is united below each: a row of it raises the watermark of all splits; one of the far
future is the end of a bounded input.

No user column carries Spark's watermark metadata; only window_time gets it, where
a window aggregate groups by it, so that Spark closes a window when ``window_end - 1 ms <= watermark``: Flink's rule.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.connectors.base import SPLIT, Read, SourceFrame, with_kinds
from sqlstream.core import storage
from sqlstream.core.changelog import KIND, KIND_TYPE, RowKind
from sqlstream.core.hidden import hidden
from sqlstream.plan import make
from sqlstream.plan.nodes import (
    ChangelogNormalize,
    CoGroup,
    Correlate,
    Expand,
    Filter,
    GroupAggregate,
    IntervalJoin,
    Join,
    KeyedJoin,
    Limit,
    LookupJoin,
    Match,
    Named,
    Node,
    OneByOne,
    Over,
    Project,
    Rank,
    Scan,
    Sink,
    Sort,
    TemporalJoin,
    TimeAttribute,
    Union,
    Values,
    Watermark,
    WindowAggregate,
    WindowRank,
    WindowTvf,
    scans,
)
from sqlstream.plan.places import at_clause
from sqlstream.plan.properties import awaits_watermark, bounded, changelog_mode, fields, idle_timeout, state_ttl, static
from sqlstream.plan.properties import field as field_of
from sqlstream.runtime.engine.failures import as_job_errors
from sqlstream.runtime.lower import (
    aggregates,
    dead_letters,
    joins,
    lookups,
    not_null,
    ordered,
    patterns,
    python_functions,
    ranks,
    timed_joins,
    window_operators,
    windows,
)
from sqlstream.runtime.lower.context import END_OF_INPUT_MS, Lowering
from sqlstream.runtime.lower.correlate import correlated
from sqlstream.runtime.lower.future_rows import without_future
from sqlstream.runtime.lower.java_functions import ship_jars
from sqlstream.runtime.lower.operators import normalize
from sqlstream.runtime.lower.row import row
from sqlstream.runtime.lower.sources import checked_source
from sqlstream.runtime.lower.watermarks import clock, named_splits
from sqlstream.sql.expressions import Call
from sqlstream.sql.quoting import quote, spark_string
from sqlstream.sql.spark_sql import render

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from sqlstream.sql.expressions import Expr
    from sqlstream.sql.types import Type

WATERMARK = hidden("watermark")


def lower(node: Node, to: Lowering) -> DataFrame:
    """The DataFrame of ``node``: its columns under their names, in carrier types, and KIND where its rows carry their kind."""
    ship_jars(node, to.spark)
    frame = _lowered(node, to)
    to.mark(node, frame)
    return frame


def _lowered(node: Node, to: Lowering) -> DataFrame:
    match node:
        case Watermark():
            return _watermark(node, to)
        case Scan() | OneByOne():
            return _source(node, to, splits=False).frame
        case ChangelogNormalize(input=source, keys=keys):
            # The row before an update is identified by its key.
            return normalize(lower(source, to).where(f"{KIND} <> {RowKind.UPDATE_BEFORE.code}"), keys)
        case Expand(input=source):
            return _expand(node, lower(source, to), to)
        case Correlate(input=source):
            return correlated(node, lower(source, to), to.zone)
        case Values():
            return _values(node, to)
        case WindowTvf(input=source, window=window):
            by_clock = field_of(source, window.time).time is TimeAttribute.PROCTIME
            return windows.assigned(node, _clocked_window(node, to) if by_clock else lower(source, to))
        case WindowAggregate(input=source):
            return aggregates.window_aggregate(node, not_null.aggregated(node, lower(source, to)), to.zone)
        case Rank(input=source) if awaits_watermark(node):
            return ordered.first_rows(node, lower(source, to))
        case Rank(input=source):
            return ranks.ranked(node, _expiring(node, source, to), ttl=_ttl(node, to))
        case WindowRank(input=source):
            return window_operators.ranked(node, lower(source, to))
        case Match(input=source, order=order):
            return patterns.matched(node, lower(source, to), [ranks.sort_key(k) for k in order], to.zone)
        case CoGroup(input=source):
            return window_operators.co_grouped(node, lower(source, to), to.zone)
        case IntervalJoin() if to.streaming and not static(node):
            return timed_joins.interval_joined(node, *_timed(node, to), to.zone)
        case TemporalJoin():
            return timed_joins.temporal_joined(node, *_timed(node, to), to.zone)
        case LookupJoin(input=source) if find_connector(node.scan.table.connector).generates:
            return lookups.generated(node, lower(source, to), to.zone)
        case LookupJoin(input=source) if find_connector(node.scan.table.connector).answers:
            return lookups.answered(node, lower(source, to), to.zone)
        case LookupJoin(input=source, table=table):
            return lookups.joined(node, lower(source, to), lower(table, to), to.zone, real_time=to.real_time)
        case Join():
            return _join(node, to)
        case KeyedJoin(input=source):
            return joins.keyed(node, _expiring(node, source, to), to.zone, ttl=_ttl(node, to))
        case GroupAggregate(input=source):
            return aggregates.group_aggregate(
                node, not_null.aggregated(node, _expiring(node, source, to)), to.zone, batch=to.batch, ttl=_ttl(node, to)
            )
        case Union(branches=branches):
            return _union_all(branches, to)
        case Limit(input=source):
            frame = lower(source, to)
            frame = frame.offset(node.offset) if node.offset else frame
            return frame if node.count is None else frame.limit(node.count)
        case Sort(input=source):
            return ordered.sorted_rows(node, lower(source, to))
        case Over(input=source):
            return ordered.over(node, not_null.aggregated(node, lower(source, to)), to.zone, batch=to.batch)
        case Sink(input=source):
            return not_null.written(node, lower(source, to), to)
    raise TypeError(type(node).__name__)


def _source(node: Node, to: Lowering, *, splits: bool) -> SourceFrame:
    """The rows of ``node``; with ``splits`` also the splits they come from, from the scan below."""
    match node:
        case Scan(table=table):
            streaming = to.streaming and not node.static
            request = Read(
                spark=to.spark, table=table, streaming=streaming, splits=splits and streaming, name=to.source_name(table.path.name),
                zone=to.zone, project=to.project, shared=to.shared, pause=to.pause, readers=to.readers(table),
                unread=dead_letters.unread(to, node),
            )  # fmt: skip
            with at_clause(node), as_job_errors():
                source = checked_source(request, find_connector(table.connector).read(request), carries_kinds=changelog_mode(node).carries_kinds)
            to.source_tasks += len(source.splits) if streaming else 0
            if source.topics is not None and to.watch is not None:
                to.watch.add_topics(source.topics)
            return source
        case Watermark():
            pass
        case OneByOne(input=below):
            source = _source(below, to, splits=splits)
            return replace(source, frame=_each(node, source.frame, to))
    return SourceFrame(lower(node, to))


def _each(node: OneByOne, frame: DataFrame, to: Lowering) -> DataFrame:
    """The rows of ``node`` for those of ``frame``, that of its input, which may have columns KIND and SPLIT besides: these stay."""
    match node:
        case Project(input=below):
            node = _with_times(node) if to.real_time else node
            python_functions.register(node, to.spark, to.zone)
            columns = [_column(c.name, python_functions.cell(c.expr, below, to.zone)) for c in node.columns]
            return python_functions.right_rows(node, to, frame.select(*columns, *[c for c in frame.columns if c in (KIND, SPLIT)]))
        case Filter(input=below):
            condition = render(node.condition, to.zone)
            return frame.where(_in_its_place(condition) if to.streaming and _above_windows(below) else condition)
    raise TypeError(type(node).__name__)


def _with_times(node: Project) -> Project:
    """``node``, in which each row has its own processing time: in real time a micro-batch goes on for long."""
    now = make.builtin("CURRENT_ROW_TIMESTAMP")

    def timed(expr: Expr) -> Expr | None:
        return Call(expr.type, now, ()) if isinstance(expr, Call) and expr.function.name == "PROCTIME" else None

    return Project(node.input, tuple(Named(c.name, c.expr.transform(timed)) for c in node.columns))


def _above_windows(node: Node) -> bool:
    """Whether only what passes rows on one by one is between ``node`` and what keeps windows in an aggregate of Spark's."""
    while isinstance(node, OneByOne):
        node = node.input
    return isinstance(node, WindowAggregate | WindowRank | CoGroup)


def _in_its_place(condition: str) -> str:
    """``condition`` as one that Spark's optimizer does not test earlier, on the keys of an aggregate: what that has in its state, from before
    the condition was written so, would not be tested.
    """
    return f"if(spark_partition_id() >= 0, {condition}, FALSE)"


def _column(name: str, sql: str) -> Column:
    from pyspark.sql import functions as F

    return F.expr(sql).alias(name)


def _watermark(node: Watermark, to: Lowering) -> DataFrame:
    source = _source(node.input, to, splits=True)
    if not source.frame.isStreaming:
        return source.frame if node.current is None else source.frame.withColumn(node.current, _nothing(field_of(node, node.column).type))
    split = quote(SPLIT) if SPLIT in source.frame.columns else "0"
    frame = without_future(node, source.frame, to) if to.future_ms else source.frame
    marked = frame.select(
        *_names(node.input),
        _column(WATERMARK, f"CAST({render(node.expression, to.zone)} AS TIMESTAMP)"),
        _column(SPLIT, split),
    )
    # All of a bounded source is in the first micro-batch, beside an unbounded one too.
    ends = bounded(node.input)
    splits = named_splits(to.spark, source.splits) if source.topics is None else source.topics.splits()
    idle_ms = idle_timeout(node, to.idle_ms)
    watermark = to.source_watermark(splits, END_OF_INPUT_MS if ends else None, idle_ms)
    to.observe(watermark, ", ".join(dict.fromkeys(s.table.path.name for s in scans(node))))
    united = [marked, _moments(node.input, _control(to), "timestamp_millis(CAST(value AS BIGINT))")]
    if idle_ms and not ends:
        # Before the source, which Spark asks in this order: a row that comes in between does not count as silence.
        united.insert(0, _moments(node.input, watermark.idle_moments(to.source_name("idle")), "timestamp_millis(value)"))
    passed = watermark.attach(reduce(lambda a, b: a.unionAll(b), united), WATERMARK, SPLIT)
    current = [] if node.current is None else [watermark.current().alias(node.current)]
    return passed.select(*_names(node.input), *current)


def _names(node: Node) -> list[str]:
    return [quote(name) for name in row(node)]


def _nothing(type_: Type) -> Column:
    from pyspark.sql import functions as F

    return F.expr(f"CAST(NULL AS {type_.spark})")


def _control(to: Lowering) -> DataFrame:
    # Those that all queries have read are deleted.
    reader = to.spark.readStream.schema("value STRING").name(to.source_name("control")).option("ignoreMissingFiles", "true")
    return reader.text(storage.uri(to.control))


def _moments(node: Node, source: DataFrame, watermark: str) -> DataFrame:
    """The rows of ``source`` as control rows below a watermark over ``node``'s columns: they say only how far time is."""
    types = {f.name: f.type.spark for f in fields(node)}
    nulls = [_column(name, f"CAST(NULL AS {types.get(name, KIND_TYPE)})") for name in row(node)]
    return source.select(*nulls, _column(WATERMARK, watermark), _column(SPLIT, "CAST(NULL AS INT)"))


def _clocked_window(node: WindowTvf, to: Lowering) -> DataFrame:
    """The input of windows on processing time."""
    window, frame = node.window, lower(node.input, to)
    # A session may end at any time.
    every = min(window.size, 1000) if window.kind.merges else window.slide
    return _clocked(frame, node.input, to, every, window.offset) if frame.isStreaming else frame.where("FALSE")


def _clocked(frame: DataFrame, node: Node, to: Lowering, every: int, offset: int = 0) -> DataFrame:
    """``frame``, of ``node``, under a watermark that the clock raises every so many milliseconds.

    Nothing else does: what waits for the clock when the input ends, or the job is drained, emits nothing, as in Flink.
    """
    names = _names(node)
    rows = frame.select(*names, _column(WATERMARK, "CAST(NULL AS TIMESTAMP)"), _column(SPLIT, "0"))
    ticks = clock(to.spark, to.source_name("clock"), every, offset, to.zone, to.pause)
    moments = _moments(node, ticks, "timestamp_millis(value - 1)")
    return to.source_watermark(0, None).attach(rows.unionAll(moments), WATERMARK, SPLIT).select(*names)


def _ttl(node: Node, to: Lowering) -> int:
    """For how long ``node`` keeps state. A bounded query, which is one micro-batch, keeps all."""
    return 0 if to.bounded else state_ttl(node)


def _expiring(node: Node, source: Node, to: Lowering) -> DataFrame:
    """The frame of ``source``, the input of ``node``, under the clock where state of it goes by that."""
    frame, ttl = lower(source, to), _ttl(node, to)
    return _clocked(frame, source, to, min(max(ttl // 4, 500), 600_000)) if ttl and frame.isStreaming else frame


def _expand(node: Expand, frame: DataFrame, to: Lowering) -> DataFrame:
    from pyspark.sql import functions as F

    types = {f.name: f.type.spark for f in fields(node)}
    rows = []
    for projection in node.projections:
        cells = [f"{spark_string(c.name)}, CAST({render(c.expr, to.zone)} AS {types[c.name]})" for c in projection]
        cells += [f"{spark_string(c)}, {quote(c)}" for c in frame.columns if c == KIND]
        rows.append(f"named_struct({', '.join(cells)})")
    if not node.conditions:
        return frame.select(F.inline(F.expr(f"array({', '.join(rows)})")))
    wheres = ["TRUE" if c is None else render(c, to.zone) for c in node.conditions]
    each = (f"if({where}, array({struct}), array())" for where, struct in zip(wheres, rows, strict=True))
    # What no projection takes is left out before the rows are made.
    kept = frame if "TRUE" in wheres else frame.where(" OR ".join(f"({where})" for where in wheres))
    return kept.select(F.inline(F.expr(f"flatten(array({', '.join(each)}))")))


def _values(node: Values, to: Lowering) -> DataFrame:
    structs = (
        "named_struct("
        + ", ".join(f"'c{i}', CAST({render(cell, to.zone)} AS {f.type.spark})" for i, (cell, f) in enumerate(zip(cells, node.fields, strict=True)))
        + ")"
        for cells in node.rows
    )
    frame = to.spark.range(0, 1, 1, 1).selectExpr(f"inline(array({', '.join(structs)}))")
    return frame.toDF(*[f.name for f in node.fields])


def _union_all(branches: tuple[Node, ...], to: Lowering) -> DataFrame:
    names = [f.name for f in fields(branches[0])]
    kinds = any(changelog_mode(b).carries_kinds for b in branches)
    frames = [with_kinds(f) if kinds else f for f in _both_streams(branches, to)]
    return reduce(lambda a, b: a.unionAll(b), [f.toDF(*names, *([KIND] if kinds else [])) for f in frames])


def _both_streams(inputs: tuple[Node, ...], to: Lowering) -> list[DataFrame]:
    """Frames that can be united: all streaming where one is."""
    mixed = to.streaming and not all(static(i) for i in inputs)
    return [_as_stream(lower(i, to), to) if mixed and static(i) else lower(i, to) for i in inputs]


def _timed(node: IntervalJoin | TemporalJoin, to: Lowering) -> tuple[DataFrame, DataFrame]:
    """The inputs of a join that waits for the watermark, or for the clock."""
    left, right = _both_streams(node.inputs, to)
    by_clock = field_of(node.left, node.times[0]).time is TimeAttribute.PROCTIME
    return _clocked(left, node.left, to, 1000) if by_clock else left, right


def _join(node: Join, to: Lowering) -> DataFrame:
    left, right = (lower(i, to) for i in node.inputs)
    if left.isStreaming != right.isStreaming:
        # The stream is joined with the table as it was when the job began, after a restart too.
        left, right = (f if f.isStreaming else to.spark.read.parquet(_as_files(f, to)[1]) for f in (left, right))
        if to.real_time:
            to.copied_bytes += sum(joins.size(f) for f in (left, right) if not f.isStreaming)
            return joins.joined_at_once(node, left, right, to.zone)
    return joins.joined(node, left, right, to.zone)


def _as_stream(frame: DataFrame, to: Lowering) -> DataFrame:
    """A static frame as a streaming source, since Spark unites no stream with a table."""
    name, folder = _as_files(frame, to)
    return to.spark.readStream.schema(frame.schema).name(name).parquet(folder)


def _as_files(frame: DataFrame, to: Lowering) -> tuple[str, str]:
    """A static frame written once into the job's folder: a name of its own, and the path."""
    name = to.source_name("static")
    folder = to.state / name
    if not (folder / "_SUCCESS").exists():
        frame.write.mode("overwrite").parquet(storage.uri(folder))
    return name, storage.uri(folder)
