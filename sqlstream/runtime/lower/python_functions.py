"""The user's Python functions as functions of a Spark session: registered where a plan calls them, with all that their workers need."""

from __future__ import annotations

import pickle
import sys
import tempfile
import threading
import zipfile
from hashlib import sha1
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlstream
from sqlstream.core.java import classes
from sqlstream.plan import make
from sqlstream.plan.nodes import Correlate, Project
from sqlstream.plan.properties import walk
from sqlstream.runtime.engine.python_archives import on_this_machine
from sqlstream.runtime.lower import dead_letters
from sqlstream.sql.expressions import Call
from sqlstream.sql.quoting import quote
from sqlstream.sql.spark_sql import render
from sqlstream.udf.declarations.functions import PythonFunction, keeps_failures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from sqlstream.plan.nodes import Node
    from sqlstream.runtime.lower.context import Lowering
    from sqlstream.sql.expressions import Expr
    from sqlstream.sql.types import Type

# What of this package a worker runs.
SHIPPED = (
    "__init__.py", "core/__init__.py", "core/private.py", "core/secrets.py", "core/zones.py", "sql/__init__.py", "sql/quoting.py", "sql/types.py",
    "sql/syntax/__init__.py", "sql/syntax/lexer.py", "udf/*.py", "udf/worker/*.py",
)  # fmt: skip
_lock = threading.Lock()
_applications: set[str] = set()


def register(node: Node, spark: SparkSession, zone: str) -> None:
    """Register with Spark the Python functions that ``node`` calls."""
    for call in _calls(node):
        function = call.function
        assert isinstance(function, PythonFunction)
        types = tuple(a.type for a in call.args)
        name = function.spark_name(types, zone)
        if not spark.catalog.functionExists(name):
            _register(call, function, name, spark, zone)


def called_names(node: Node) -> list[str]:
    """Those of the functions in Python that a plan calls."""
    return [call.function.name for below in walk(node) for call in _calls(below)]


def cell(expr: Expr, source: Node, zone: str) -> str:
    """Spark SQL for a column of a projection of ``source``. A call whose failing rows are kept gets the row, too."""
    text = render(expr, zone)
    if not keeps_failures(expr):
        return text
    return f"{text[:-1]}, {dead_letters.json(source)})"


def right_rows(node: Project, to: Lowering, frame: DataFrame) -> DataFrame:
    """The rows of ``frame``, the projection ``node``, for which no function has failed: the others are kept as dead letters."""
    kept = {c.name: c.expr.function.name for c in node.columns if isinstance(c.expr, Call) and keeps_failures(c.expr)}
    if not kept:
        return frame
    right = frame
    for name, function in sorted(kept.items()):
        row, error = f"{quote(name)}.row", f"{quote(name)}.error"
        right = dead_letters.without(right, f"{error} IS NOT NULL", to, dead_letters.FUNCTION, function, f"{function} fails", row=row, error=error)
    return right.selectExpr(*[f"{quote(n)}.value AS {quote(n)}" if n in kept else quote(n) for n in frame.columns])


def _calls(node: Node) -> Iterator[Call]:
    expressions: list[Expr] = []
    match node:
        case Project(columns=columns):
            expressions = [c.expr for c in columns]
        case Correlate(collection=collection):
            expressions = [collection]
    for expr in expressions:
        yield from (e for e in expr.walk() if isinstance(e, Call) and isinstance(e.function, PythonFunction))


def _register(call: Call, function: PythonFunction, name: str, spark: SparkSession, zone: str) -> None:
    from pyspark.sql.pandas.functions import arrow_udf

    from sqlstream.udf.declarations.tasks import task
    from sqlstream.udf.worker.evaluation import evaluator

    columns = tuple(", ".join(sorted(make.columns(a))) for a in call.args)
    registered = task(function, tuple(a.type for a in call.args), call.type, zone, columns)
    _ship(spark)
    # Its stubs know no function of so many columns as it is given.
    declare: Any = arrow_udf
    kept = registered.keeps_failures
    called = declare(evaluator(registered), f"STRUCT<value: {call.type.spark}, error: STRING, row: STRING>" if kept else call.type.spark)
    # Of a deterministic one Spark would make two calls where a filter reads its value: one below the filter, one above.
    spark.udf.register(name, called.asNondeterministic())


def fold(function: PythonFunction, groups: Type, spark: SparkSession, zone: str) -> Any:
    """The PythonFold that takes rows of ``groups``, the type of what is kept of a group, into accumulators of ``function``."""
    from sqlstream.udf.declarations.tasks import task

    assert spark._jvm is not None
    _ship(spark)
    context = spark.sparkContext
    pickled_task = pickle.dumps(task(function, (groups,), function.of.result, zone, ()))
    python, files, environment = context.pythonExec, list(context._python_includes or ()), dict(context.environment)
    key = sha1(b"".join([pickled_task, repr((python, files, sorted(environment.items()))).encode()])).hexdigest()
    return classes(spark).aggregates.PythonFold(key, pickled_task, python, files, environment)


def _ship(spark: SparkSession) -> None:
    """Send workers of a cluster, or of another Python than this one, the part of this package that they run."""
    context = spark.sparkContext
    with _lock:
        master = context.master or ""
        here = on_this_machine(master) and context.pythonExec == sys.executable
        if here or context.applicationId in _applications:
            return
        home = Path(sqlstream.__file__).parent
        archive = Path(tempfile.mkdtemp(prefix="sqlstream-")) / "sqlstream_functions.zip"
        with zipfile.ZipFile(archive, "w") as out:
            for file in sorted(shipped for pattern in SHIPPED for shipped in home.glob(pattern)):
                out.write(file, f"sqlstream/{file.relative_to(home).as_posix()}")
        context.addPyFile(str(archive))
        _applications.add(context.applicationId)
