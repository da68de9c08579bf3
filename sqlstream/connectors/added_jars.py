"""Classes that a session gets from a jar when a table needs them; Spark's own are on its class path from its start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.core import jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def provide(spark: SparkSession, name: str, jar_set: str | None, *, shared: bool = False) -> bool:
    """Load the class ``name``, of the jars ``jar_set`` of ``jars.lock`` where there are such, into a session that lacks it, and make it visible to
    this thread; whether it is there. Raises SetupError.

    ``shared``: tasks that run in the driver's JVM get objects of its classes as they are, so both have to have them from one loader.
    """
    assert spark._jvm is not None
    thread = spark._jvm.java.lang.Thread.currentThread()
    if _loads(thread.getContextClassLoader(), name):
        return True
    # What a session was given after its start is in a loader of its own, and each thread has the loader that was last set for it.
    added = spark._jsparkSession.sharedState().jarClassLoader()
    if not _loads(added, name) and jar_set is not None:
        for jar in jars.ensure(jar_set):
            if shared:
                added.getParent().addURL(spark._jvm.java.net.URI(jar.as_uri()).toURL())
            spark.sql(f"ADD JAR '{jar.as_uri()}'")
    if not _loads(added, name):
        return False
    thread.setContextClassLoader(added)
    return True


def _loads(loader: Any, name: str) -> bool:
    from py4j.protocol import Py4JJavaError

    try:
        return loader is not None and loader.loadClass(name) is not None
    except Py4JJavaError:
        return False
