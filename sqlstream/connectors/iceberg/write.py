"""Rows into an Iceberg table: appended, or merged by primary key, in one snapshot a micro-batch.

A snapshot says which query has written it, and in which micro-batch: after a crash between the commit and Spark's note that the micro-batch is
through, the same micro-batch comes again and is passed over. Iceberg takes that from the session's settings, so it is written in a session that
nobody else has: a streaming query has one, a batch write gets one. A micro-batch without rows makes no snapshot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.connectors.iceberg import snapshots
from sqlstream.connectors.iceberg.catalog import is_conflict
from sqlstream.connectors.iceberg.options import UPSERT
from sqlstream.connectors.key_ranges import key_ranges, key_types
from sqlstream.connectors.lake import by_key, last_of_each_key, merged, stored
from sqlstream.connectors.upserts import DELETED
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.connectors.base import Write
    from sqlstream.connectors.iceberg.catalog import Iceberg


def write_stream(request: Write, iceberg: Iceberg) -> DataStreamWriter:
    """A writer of micro-batches into the table."""
    begun: set[str] = set()

    def write(batch: DataFrame, number: int) -> None:
        session = batch.sparkSession
        # The checkpoint's own id: a new checkpoint begins again at batch 0.
        query = session.sparkContext.getLocalProperty("sql.streaming.queryId")
        assert query is not None
        # What was written before this run is asked for once.
        if query not in begun and landed(request, iceberg, query, number):
            return
        begun.add(query)
        _write(batch, request, iceberg, session, (query, number))

    return request.in_batches(write)


def write_batch(request: Write, iceberg: Iceberg) -> None:
    """Write a static frame."""
    from pyspark.sql import DataFrame, SparkSession

    if request.version is not None and landed(request, iceberg, *request.version):
        return
    own: Any = request.spark._jsparkSession.cloneSession()
    session = SparkSession(request.spark.sparkContext, own)
    jvm: Any = request.spark._jvm
    datasets = getattr(getattr(jvm.org.apache.spark.sql.classic, "Dataset$"), "MODULE$")
    frame = DataFrame(datasets.ofRows(own, request.frame._jdf.logicalPlan()), session)
    _write(frame, request, iceberg, session, request.version)


def landed(request: Write, iceberg: Iceberg, query: str, batch: int) -> bool:
    """Whether a micro-batch of a query is in the table."""
    found = iceberg.found()
    return found is not None and snapshots.landed(found, _branch(request), query, batch)


def _write(frame: DataFrame, request: Write, iceberg: Iceberg, session: SparkSession, version: tuple[str, int] | None) -> None:
    for key, value in snapshots.marks(*version).items() if version is not None else ():
        session.conf.set(key, value)
    loaded, table = iceberg.load(), request.table
    if request.overwrite:
        rows = last_of_each_key(frame, request) if table.primary_key else stored(frame, table)
        rows.writeTo(_target(request, iceberg, loaded)).overwritePartitions()
    elif _merges(request, loaded):
        _merge(frame, request, iceberg)
    elif request.frame.isStreaming:
        rows = stored(frame, table).persist()
        try:
            if not rows.isEmpty():
                rows.writeTo(_target(request, iceberg, loaded)).append()
        finally:
            rows.unpersist()
    else:
        stored(frame, table).writeTo(_target(request, iceberg, loaded)).append()


def _merges(request: Write, loaded: Any) -> bool:
    """Whether rows take the place of those with their PRIMARY KEY: as in Flink where they are changes, or the table says so.

    What a batch knows a key of would be changes in a stream.
    """
    if request.table.primary_key is None:
        return False
    if request.mode.updates or (request.keys and not request.frame.isStreaming):
        return True
    says = request.table.options.get(UPSERT) or loaded.properties().get(UPSERT) or "false"
    return bool(says.strip().lower() == "true")


def _merge(frame: DataFrame, request: Write, iceberg: Iceberg) -> None:
    from pyspark.sql import DataFrame

    source = by_key(frame, request).persist()
    # MERGE reads its source twice, and takes only what gives the same rows each time.
    session, kept = source.sparkSession, source._jdf
    rows = DataFrame(session._jsparkSession.internalCreateDataFrame(kept.queryExecution().toRdd(), kept.schema(), False), session)

    def merge() -> None:
        target = _target(request, iceberg, iceberg.load())
        ranges = key_ranges(rows, request.table, target)
        if ranges is not None:
            _merge_once(rows, request, target, ranges)

    try:
        merged(merge, is_conflict)
    finally:
        source.unpersist()


def _merge_once(source: DataFrame, request: Write, target: str, ranges: Sequence[str]) -> None:
    from pyspark.sql import functions as F

    keys = key_types(request.table)
    cells = {c.name: F.expr(f"s.{quote(c.name)}") for c in request.table.physical}
    others = {name: cell for name, cell in cells.items() if name not in keys}
    condition = " AND ".join([*(f"{target}.{quote(k)} = s.{quote(k)}" for k in keys), *ranges])
    merge = source.alias("s").mergeInto(target, F.expr(condition))
    if request.mode.carries_kinds:
        merge = merge.whenMatched(F.expr(f"s.{DELETED}")).delete()
    if others:
        merge = merge.whenMatched().update({quote(name): cell for name, cell in others.items()})
    merge.whenNotMatched(F.expr(f"NOT s.{DELETED}")).insert({quote(name): cell for name, cell in cells.items()}).merge()


def _target(request: Write, iceberg: Iceberg, loaded: Any) -> str:
    """The name by which Spark writes the table, as it is ``loaded``."""
    return iceberg.given(loaded, f"written by {request.name}", _branch(request))


def _branch(request: Write) -> str | None:
    return request.table.options.get("branch")
