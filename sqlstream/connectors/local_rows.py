"""Rows of a frame in this process, a partition at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, Row, SparkSession


def local_rows(frame: DataFrame, *, prefetch: bool = False) -> Iterator[Row]:
    """The rows of ``frame``, of no more than one partition at once; ``prefetch``: also of the next one."""
    try:
        yield from frame.toLocalIterator(prefetchPartitions=prefetch)
    finally:
        _forget_jobs(frame.sparkSession)


def _forget_jobs(spark: SparkSession) -> None:
    """Release the jobs of queries that have ended.

    Spark (4.2.0) keeps a job, and with it the query's plan and session, until its query ends. Those of a local iterator start when it has
    ended already, and would be kept forever.
    """
    scheduler = spark.sparkContext._jsc.sc().dagScheduler()
    jvm = spark._jvm
    assert jvm is not None
    running = jvm.org.apache.spark.sql.execution.SQLExecution.getQueryExecution
    for query in list(scheduler.activeQueryToJobs().keySet()):
        if running(query) is None:
            scheduler.cleanupQueryJobs(query)
