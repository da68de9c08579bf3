"""Records that are written exactly once: one transaction a task and micro-batch, by Java's TransactionalSink.

What a task has committed is an offset of a group that has the name of its transactional id. A batch that is no micro-batch is one transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.java import classes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_SINK = "sqlstream.kafka.TransactionalSink"
_CLIENT = {
    # As long as brokers allow by default: what is aborted before its task ends is never committed.
    "transaction.timeout.ms": "900000",
    # Each task has a producer of its own, and nobody sees a record before all are sent: few large requests are better than many small ones.
    "linger.ms": "20",
    "batch.size": "131072",
}
# What a producer keeps for records on their way: Kafka's 32 MB would be kept by each task.
_BUFFER_BYTES = 8 << 20


def producer_properties(given: Mapping[str, str]) -> dict[str, str]:
    """The properties of the clients of a sink whose table has those that are ``given``."""
    largest = given.get("max.request.size", "")
    buffer = max(_BUFFER_BYTES, 2 * int(largest) if largest.isdecimal() else 0)
    return {**_CLIENT, "buffer.memory": str(buffer), **given}


def write_stream(records: DataFrame, options: Mapping[str, str]) -> DataStreamWriter:
    """The stream of ``records``; ``options`` are those of the sink."""
    return _bytes(records).writeStream.format(_SINK).options(**options)


def write_micro_batch(records: DataFrame, options: Mapping[str, str], number: int) -> None:
    """Write ``records``, those of a micro-batch, in the thread of its query."""
    session = records.sparkSession
    # Else the number of tasks follows from sizes, and a micro-batch that runs again must have as many.
    session.conf.set("spark.sql.adaptive.enabled", "false")
    writer = session.sparkContext.getLocalProperty("sql.streaming.queryId")
    _bytes(records).write.format(_SINK).mode("append").options(**options, writer=writer, batch=str(number)).save()


def write_batch(records: DataFrame, options: Mapping[str, str], version: tuple[str, int]) -> None:
    """Write static ``records``, all of them or none; ``version`` as of Write."""
    writer, number = version
    whole = _bytes(records).repartition(1)
    whole.write.format(_SINK).mode("append").options(**options, writer=writer, batch=str(number)).save()


def landed(spark: SparkSession, client: Mapping[str, str], topic: str, query: str, batch: int) -> bool | None:
    """Whether a micro-batch of a query that has ended is in the topic; None where the rows of some of its tasks are."""
    part = classes(spark).kafka.Landed.part(dict(client), topic, query, batch)
    return None if part < 0 else bool(part)


def forget(spark: SparkSession, client: Mapping[str, str], writer: str) -> None:
    """Delete what the cluster keeps of a query that never writes again."""
    classes(spark).kafka.Landed.forget(dict(client), writer)


def _bytes(records: DataFrame) -> DataFrame:
    return records.selectExpr(*(f"CAST({c} AS BINARY) AS {c}" if c in ("key", "value") else c for c in records.columns))
