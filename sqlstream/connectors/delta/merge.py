"""Changes into a Delta table by primary key: one MERGE a micro-batch.

A commit carries the id of its writer and the number of the micro-batch (Delta's ``txn`` action): after a crash between the commit and
Spark's note that the micro-batch is through, the same micro-batch comes again and is passed over. MERGE takes both from the session's
settings alone, so it runs in a session that nobody else has: a streaming query has one, a batch write gets one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.connectors.key_ranges import key_ranges, key_types
from sqlstream.connectors.lake import by_key, merged
from sqlstream.connectors.upserts import DELETED
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.connectors.base import Write


def merge_stream(request: Write, path: str) -> DataStreamWriter:
    """A writer that merges each micro-batch into the Delta table at ``path``."""

    def write(batch: DataFrame, number: int) -> None:
        # The checkpoint's own id: a new checkpoint begins again at batch 0.
        writer = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        _merge(batch, request, path, batch.sparkSession, (writer, number) if writer else None)

    return request.in_batches(write)


def merge_batch(request: Write, path: str) -> None:
    """Merge a static frame into the Delta table at ``path``."""
    from pyspark.sql import SparkSession

    own: Any = request.spark._jsparkSession.cloneSession()
    _merge(request.frame, request, path, SparkSession(request.spark.sparkContext, own), request.version)


def _merge(batch: DataFrame, request: Write, path: str, session: SparkSession, version: tuple[str, int] | None) -> None:
    if version is not None:
        session.conf.set("spark.databricks.delta.write.txnAppId", version[0])
        session.conf.set("spark.databricks.delta.write.txnVersion", str(version[1]))
    source = by_key(batch, request).persist()
    try:
        ranges = key_ranges(source, request.table, "t")
        if ranges is not None:
            _commit(source, request, path, session, ranges)
    finally:
        source.unpersist()


def _commit(source: DataFrame, request: Write, path: str, session: SparkSession, ranges: list[str]) -> None:
    from delta import exceptions
    from delta.tables import DeltaTable

    # Another writer has changed the table in the meantime.
    conflicts = (
        exceptions.ConcurrentAppendException, exceptions.ConcurrentDeleteReadException, exceptions.ConcurrentDeleteDeleteException,
        exceptions.ConcurrentWriteException,
    )  # fmt: skip
    keys = key_types(request.table)
    condition = " AND ".join([*(f"t.{quote(k)} = s.{quote(k)}" for k in keys), *ranges])
    cells = {quote(c.name): f"s.{quote(c.name)}" for c in request.table.physical}
    others = {quote(c.name): cells[quote(c.name)] for c in request.table.physical if c.name not in keys}

    def merge() -> None:
        merging = DeltaTable.forPath(session, path).alias("t").merge(source.alias("s"), condition)
        if request.mode.carries_kinds:
            merging = merging.whenMatchedDelete(f"s.{DELETED}")
        if others:
            merging = merging.whenMatchedUpdate(set=others)  # type: ignore[arg-type]
        merging.whenNotMatchedInsert(f"NOT s.{DELETED}", cells).execute()  # type: ignore[arg-type]

    merged(merge, lambda error: isinstance(error, conflicts))
