"""The user's functions in Java: their jars, sent to the machines of a cluster before a plan calls them; what takes rows into accumulators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.core.java import classes
from sqlstream.plan.identity import user_functions
from sqlstream.runtime.engine.python_archives import on_this_machine
from sqlstream.udf.declarations.java import JavaFunction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlstream.plan.nodes import Node
    from sqlstream.sql.types import Type

_shipped: set[tuple[str, str]] = set()


def ship_jars(node: Node, spark: SparkSession) -> None:
    """Send the executors of another machine what ``node`` needs to call functions in Java; they find it by the names of the files."""
    context = spark.sparkContext
    if on_this_machine(context.master or ""):
        return
    for function in user_functions(node):
        for jar in (*function.jars, *function.functions.own_jars) if isinstance(function, JavaFunction) else ():
            if (context.applicationId, jar.name) not in _shipped:
                context.addFile(str(jar))
                _shipped.add((context.applicationId, jar.name))


def fold(function: JavaFunction, kept: Type, spark: SparkSession) -> Any:
    """What takes rows into accumulators of ``function``; ``kept``: the type of what is kept of a group."""
    return classes(spark).calls.JavaCall.fold(function.of_group(kept, kept))
