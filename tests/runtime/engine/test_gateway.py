"""Threads of Spark's JVM remember which classes there are not: those of Python's calls, of streams and of tasks."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError

pytestmark = pytest.mark.spark
MISSES = "sqlstream.gateway.Misses"


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
