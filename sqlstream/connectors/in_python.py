"""Connectors of the project's own: data sources in Python, by Spark's API, in modules of ``connectors/``.

In: a subclass of ``pyspark.sql.datasource.DataSource``, and the options that it declares in ``OPTIONS``. Out: a connector. What the class reads and
writes is what its methods do that it has itself: ``reader`` rows that end, ``streamReader`` or ``simpleStreamReader`` a stream, ``writer`` and
``streamWriter`` a sink, ``lookup``, which is our own, the rows of keys.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from typing import TYPE_CHECKING, Any

from sqlstream.connectors.asked_in_python import METHOD, Asking
from sqlstream.connectors.base import Connector, Read, SourceFrame, Write, plain_options
from sqlstream.core import options
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.core.options import Option
from sqlstream.sql.quoting import quote
from sqlstream.sql.types import NESTED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path
    from types import ModuleType

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSource
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.sql.tables import Table
    from sqlstream.sql.types import Type

DECLARED = "OPTIONS"
_CARRIED = {
    "CHAR", "VARCHAR", "BINARY", "VARBINARY", "BOOLEAN", "DECIMAL", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "TIMESTAMP",
    "TIMESTAMP_LTZ", "ARRAY", "MAP", "ROW",
}  # fmt: skip


class InPython(Connector):
    """Base of these; each has a class of its own, see ``connector_of``."""

    def __init__(self, source: type[DataSource], pickled: Callable[[], AbstractContextManager[Any]], project: Path) -> None:
        """``pickled``: as long as it is open, the project's modules go to Spark's workers by value."""
        self._source = source
        self._pickled = pickled
        self._streams = _streams(source)
        self._writes_streams = _has(source, "streamWriter")
        # Spark has one list of formats for all: that of another project, or of Spark's own, is another one.
        self._format = f"sqlstream_{hashlib.sha256(str(project).encode()).hexdigest()[:8]}_{self.name}"

    def check(self, table: Table) -> list[str]:
        notices = options.check_options(self.name, plain_options(table), self.options)
        for column in table.physical:
            if wrong := _not_carried(column.type):
                raise NotSupported(
                    f"The connector '{self.name}' can't carry type {wrong}, of column '{column.name}'.",
                    hint="It is in Python: declare a text or a number, and cast it in the query.",
                )
        return notices

    def bounded(self, table: Table) -> bool:
        return not self._streams

    def static(self, table: Table) -> bool:
        return not self._streams

    def places(self, table: Table, *, written: bool = False) -> tuple[str, ...]:
        # What no option says: then each table is a place of its own.
        return super().places(table, written=written) or (f"{table.path}: {self.name}",)

    def read(self, request: Read) -> SourceFrame:
        if not self.is_source:
            return super().read(request)
        self._register(request.spark)
        table = request.table
        streams = request.streaming and self._streams
        reader = request.spark.readStream.name(request.name) if streams else request.spark.read
        frame = reader.format(self._format).schema(_columns(table)).options(**plain_options(table)).load()
        return SourceFrame(frame)

    def answered(self, table: Table, rows: DataFrame, keys: Mapping[str, str], into: str, *, attempts: int, delay_ms: int) -> DataFrame:
        from pyspark.sql.types import ArrayType, StructType, _parse_datatype_string

        schema = _parse_datatype_string(_columns(table))
        assert isinstance(schema, StructType)
        for name in keys:
            (column,) = (c for c in table.physical if c.name == name)
            if column.type.root in NESTED:
                raise NotSupported(
                    f"Column '{name}' is {column.type}: values of it are no keys of the connector '{self.name}'.",
                    hint="Declare a text or a number as the key.",
                )
        asking = Asking(self._source, plain_options(table), schema, keys, into, attempts, delay_ms)
        made = StructType([*rows.schema.fields]).add(into, ArrayType(schema))
        with self._pickled():
            return rows.mapInArrow(asking, made)

    def write_stream(self, request: Write) -> DataStreamWriter:
        self._register(request.spark)
        if self._writes_streams:
            return request.frame.writeStream.format(self._format).options(**plain_options(request.table))

        return request.in_batches(lambda batch, _: self._write(batch, request))

    def write_batch(self, request: Write) -> None:
        if not _has(self._source, "writer"):
            raise ValidationError(f"Connector '{self.name}' writes streams alone.", hint="SET 'execution.runtime-mode' = 'streaming';")
        self._register(request.spark)
        self._write(request.frame, request)

    def _write(self, frame: Any, request: Write) -> None:
        mode = "overwrite" if request.overwrite else "append"
        frame.write.format(self._format).options(**plain_options(request.table)).mode(mode).save()

    def _register(self, spark: SparkSession) -> None:
        """Let Spark know the class as it is now."""
        name = self._format
        named = type(self._source.__name__, (self._source,), {"name": classmethod(lambda _: name), "__module__": self._source.__module__})
        with self._pickled():
            spark.dataSource.register(named)


class Outlined(Connector):
    """A connector whose module is not run: which options it has is not known."""

    def check(self, table: Table) -> list[str]:
        return []


_READ, _WRITE = ("reader", "streamReader", "simpleStreamReader"), ("writer", "streamWriter")


def outlined(path: Path) -> list[Connector]:
    """The connectors of the module ``path`` as its text says. Raises SyntaxError, UnicodeDecodeError, OSError."""
    made: list[Connector] = []
    for node in ast.parse(path.read_text("utf-8"), str(path)).body:
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("DataSource") for base in node.bases):
            methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
            said = [one.value for one in ast.walk(methods["name"]) if isinstance(one, ast.Return)] if "name" in methods else []
            name = said[0].value if said and isinstance(said[0], ast.Constant) else node.name
            attributes = {
                "name": str(name), "summary": "", "example": "",
                "is_source": any(method in methods for method in (*_READ, METHOD)), "is_sink": any(method in methods for method in _WRITE),
                "can_be_looked_up": METHOD in methods or "reader" in methods, "answers": METHOD in methods,
                "only_answers": METHOD in methods and not any(method in methods for method in _READ),
            }  # fmt: skip
            made.append(type(node.name, (Outlined,), attributes)())
    return made


def sources(module: ModuleType) -> list[Any]:
    """The data sources that a module has."""
    # A module that has one has imported it.
    api = sys.modules.get("pyspark.sql.datasource")
    own = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
    return [] if api is None else [value for value in own if issubclass(value, api.DataSource)]


def line_of(source: type) -> int:
    """Where the class begins in its file, from 1."""
    try:
        return inspect.getsourcelines(source)[1]
    except (OSError, TypeError):
        return 1


def connector_of(source: type[DataSource], pickled: Callable[[], AbstractContextManager[Any]], project: Path) -> InPython:
    """The connector of a data source. Raises ValidationError where it can't be one."""
    name = source.name()
    declared = getattr(source, DECLARED, ())
    if not isinstance(name, str) or not name.replace("-", "_").isidentifier() or name != name.lower():
        raise ValidationError(f"The connector of {source.__name__} is called {name!r}.", hint="A name has small letters, digits and -.")
    if not all(isinstance(one, Option) for one in declared):
        raise ValidationError(f"{source.__name__}.{DECLARED} has something that is no Option.", hint="from sqlstream.core.options import Option")
    is_read = any(_has(source, method) for method in _READ)
    answers = callable(getattr(source, METHOD, None))
    is_sink = any(_has(source, method) for method in _WRITE)
    if not (is_read or is_sink or answers):
        raise ValidationError(f"{source.__name__} reads nothing and writes nothing.", hint="Write one of its methods reader, streamReader, writer ..")
    said = inspect.getdoc(source) if source.__doc__ else None
    needed = "".join(f", '{one.key}' = '..'" for one in declared if one.required)
    attributes = {
        "name": name,
        "summary": said.splitlines()[0] if said else f"The data source {source.__name__} of the project.",
        "example": f"CREATE TABLE t (..) WITH ('connector' = '{name}'{needed});",
        "options": tuple(declared),
        "is_source": is_read or answers,
        "is_sink": is_sink,
        # What ends, and gives no rows by key, is read again for each micro-batch that looks it up.
        "can_be_looked_up": answers or (_has(source, "reader") and not _streams(source)),
        "answers": answers,
        "only_answers": answers and not is_read,
    }
    made: InPython = type(f"{source.__name__}Connector", (InPython,), attributes)(source, pickled, project)
    return made


def _columns(table: Table) -> str:
    """Its columns as Spark's text of a schema."""
    return ", ".join(f"{quote(c.name)} {c.type.spark}" for c in table.physical)


def _has(source: type[DataSource], method: str) -> bool:
    from pyspark.sql.datasource import DataSource

    return getattr(source, method) is not getattr(DataSource, method)


def _streams(source: type[DataSource]) -> bool:
    return _has(source, "streamReader") or _has(source, "simpleStreamReader")


def _not_carried(type_: Type) -> Type | None:
    """The type, or one in it, that rows of Python don't have here; None where all have."""
    if type_.root not in _CARRIED:
        return type_
    return next((wrong for child in type_.children if (wrong := _not_carried(child)) is not None), None)
