"""Threads of Spark's JVM remember which classes there are not: those of Python's calls, of streams and of tasks."""

from __future__ import annotations

import threading

import pytest
from py4j.clientserver import ClientServerConnection
from py4j.protocol import Py4JJavaError

from tests.support.waiting import until

pytestmark = pytest.mark.spark
MISSES = "sqlstream.gateway.Misses"
WAITS = ClientServerConnection.run.__qualname__


def loaders(spark) -> list[str]:
    """The classes of the class loaders of this thread, the nearest first."""
    loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    found = []
    while loader is not None:
        found.append(loader.getClass().getName())
        loader = loader.getParent()
    return found


def test_a_class_that_is_missing_is_missing_again(spark) -> None:
    assert MISSES in loaders(spark)
    loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    for _ in range(2):
        with pytest.raises(Py4JJavaError, match="ClassNotFoundException: sqlstream.Nowhere"):
            loader.loadClass("sqlstream.Nowhere")
        assert loader.loadClass("sqlstream.Extensions").getName() == "sqlstream.Extensions"


def test_the_same_classes_are_found_as_without_it(spark) -> None:
    loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    for name in ("java.lang.String", "org.apache.spark.sql.SparkSession", MISSES):
        assert loader.loadClass(name).equals(spark._jvm.java.lang.ClassLoader.getSystemClassLoader().loadClass(name))


def test_tasks_have_it(spark) -> None:
    """An executor makes its class loader of that of the thread in which Spark was started."""
    spark.range(1).selectExpr("id + 1").collect()
    threads = spark._jvm.java.lang.Thread.getAllStackTraces().keySet()
    parents = [
        thread.getContextClassLoader().getParent().getClass().getName()
        for thread in threads
        if thread.getName().startswith("Executor task") and thread.getContextClassLoader() is not None
    ]
    assert parents and set(parents) == {MISSES}


def connections() -> int:
    """How many threads wait here for calls of the JVM."""
    return sum(getattr(thread, "_target", None) is not None and thread._target.__qualname__ == WAITS for thread in threading.enumerate())


def test_a_query_that_has_ended_leaves_no_connection(spark, tmp_path) -> None:
    """One that runs meanwhile goes on."""
    rates = spark.readStream.name("rates").format("rate-micro-batch").option("rowsPerBatch", "1").load()

    def started(name: str, seen: list[int]):
        writer = rates.writeStream.foreachBatch(lambda _, batch: seen.append(batch))
        return writer.option("checkpointLocation", str(tmp_path / name)).start()

    going: list[int] = []
    live = started("live", going)
    try:
        until(lambda: len(going) > 1)
        before = connections()
        assert before > 0
        for n in range(4):
            seen: list[int] = []
            query = started(str(n), seen)
            until(lambda seen=seen: len(seen) > 1)
            query.stop()
            until(lambda: connections() <= before)
            then = len(going)
            until(lambda then=then: len(going) > then + 2)
        assert going == list(range(len(going)))
        assert live.isActive
    finally:
        live.stop()
