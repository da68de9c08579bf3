"""Rows of a frame in this process: however many, however slowly they are read, and what is left of them."""

from __future__ import annotations

import gc
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from sqlstream.connectors.local_rows import LocalRows
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
WIDE = 2000


def wide(spark: SparkSession, rows: int, partitions: int = 3) -> DataFrame:
    """Rows of two kilobytes, numbered."""
    return spark.range(0, rows, 1, partitions).select(F.col("id"), F.repeat(F.lit("ä"), WIDE // 2).alias("text"))


def kept(spark: SparkSession) -> int:
    """How many blocks on the disk are rows of queries."""
    blocks = spark._jvm.org.apache.spark.SparkEnv.get().blockManager()
    jvm = spark._jvm.scala.jdk.javaapi.CollectionConverters
    names = [str(name) for name in jvm.asJava(blocks.diskBlockManager().getAllBlocks())]
    return sum(name.startswith("rdd_") for name in names)


@pytest.fixture(autouse=True)
def before(spark: SparkSession) -> Iterator[int]:
    """How many blocks there were before the test; after it there are no more. They go a moment after a query does."""
    count = kept(spark)
    yield count
    until(lambda: kept(spark) == count)


def test_more_rows_than_a_piece_has_come_in_their_order(spark: SparkSession, before: int) -> None:
    rows = iter(LocalRows(wide(spark, 6000)))
    first = next(rows)
    assert (first.id, first.text) == (0, "ä" * (WIDE // 2))
    until(lambda: kept(spark) > before + 5)
    assert [row.id for row in rows] == list(range(1, 6000))
    until(lambda: kept(spark) == before)


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_few_rows(spark: SparkSession, before: int, rows: int) -> None:
    assert [row.id for row in LocalRows(wide(spark, rows))] == list(range(rows))
    assert kept(spark) == before


def test_rows_that_are_there_need_no_task(spark: SparkSession) -> None:
    frame = spark.sql("SELECT * FROM VALUES (1, NULL, X'01FF', DATE '2020-01-02'), (2, 'x', NULL, NULL) AS t(a, b, c, d)")
    tracker = spark.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup())
    assert list(LocalRows(frame)) == frame.collect()
    assert len(tracker.getJobIdsForGroup()) == before
    assert list(LocalRows(frame.repartition(2).sort("a"))) == frame.collect()


def test_an_error_in_the_midst_of_the_rows(spark: SparkSession) -> None:
    frame = wide(spark, 6000, 1).select(F.expr("if(id = 5900, raise_error('bad row'), id)").alias("id"), "text")
    read = []
    with pytest.raises(Exception, match="bad row"):
        read += [row.id for row in LocalRows(frame)]
    rows = LocalRows(frame)
    with pytest.raises(Exception, match="bad row"):
        rows.await_all()
    rows.close()


def test_a_query_of_which_nobody_reads_more_ends(spark: SparkSession, before: int) -> None:
    endless = spark.range(0, 10**9, 1, 2).select(F.col("id"), F.repeat(F.lit("x"), 100))
    begun = time.monotonic()
    with closing(iter(LocalRows(endless))) as rows:
        assert [next(rows).id for _ in range(3)] == [0, 1, 2]
    # A task that computes on does not hear of an interrupt by itself.
    tracker = spark.sparkContext.statusTracker()
    until(lambda: not tracker.getActiveStageIds() and kept(spark) == before)
    assert time.monotonic() - begun < 30


def test_a_thread_that_is_interrupted_reads_no_more(spark: SparkSession, before: int) -> None:
    rows = LocalRows(wide(spark, 6000))
    rows.await_all()
    assert kept(spark) > before
    thread = spark._jvm.java.lang.Thread
    thread.currentThread().interrupt()
    rows.close()
    assert thread.interrupted()
    until(lambda: kept(spark) == before)


def test_rows_that_are_awaited_when_the_query_is_stopped(spark: SparkSession) -> None:
    rows = LocalRows(spark.range(0, 10**9, 1, 2).select(F.sum(F.sqrt("id"))))
    errors: list[BaseException] = []

    def wait() -> None:
        try:
            rows.await_all()
        except Exception as error:
            errors.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.5)
    rows.close()
    waiting.join(30)
    assert not waiting.is_alive() and len(errors) == 1
    until(lambda: not spark.sparkContext.statusTracker().getActiveStageIds())


def test_rows_that_are_cut_off_are_not_taken_for_all(spark: SparkSession) -> None:
    rows = LocalRows(wide(spark, 6000))
    rows.await_all()
    reading = iter(rows)
    assert next(reading).id == 0
    rows.close()
    with pytest.raises(Exception, match="not read any more"):
        assert len(list(reading)) < 5999


def test_nothing_is_kept_of_queries(spark: SparkSession) -> None:
    """Spark keeps a job, and its plan and session, until its query ends."""
    scheduler = spark.sparkContext._jsc.sc().dagScheduler()
    before = scheduler.activeQueryToJobs().size()
    for _ in range(3):
        assert sum(1 for _ in LocalRows(wide(spark, 10))) == 10
    gc.collect()
    until(lambda: scheduler.activeQueryToJobs().size() <= before)
