"""A table in a catalog of Iceberg's, in Spark's JVM: found, made as it is declared, compared with that, and given to Spark."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlstream.connectors.added_jars import provide
from sqlstream.connectors.iceberg import options as rows
from sqlstream.connectors.lake import added, differences, spark_type
from sqlstream.connectors.paths import resolve
from sqlstream.core import options as option_rows
from sqlstream.core.errors import SetupError, ValidationError
from sqlstream.core.java import classes, thrown
from sqlstream.core.options import find_option
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

    from sqlstream.core.options import Option
    from sqlstream.sql.tables import Table

_LOADED = "org.apache.iceberg.spark.source.SparkTable"
# The catalog of Spark's that has the tables which are given to it.
_GIVEN = "sqlstream_given"


@dataclass(frozen=True)
class Iceberg:
    """The table that ``table`` declares, in a session; ``catalog`` and ``identifier`` are Iceberg's."""

    spark: SparkSession
    table: Table
    catalog: Any
    identifier: Any

    def found(self) -> Any | None:
        """Iceberg's table as it is now; None where there is none. Raises SetupError."""
        with refusals(self.table, but=("NoSuchTableException", "NoSuchNamespaceException")):
            return self.catalog.loadTable(self.identifier)

    def load(self) -> Any:
        """The same of a table that is there."""
        with refusals(self.table):
            return self.catalog.loadTable(self.identifier)

    def made(self, *, written: bool) -> Any:
        """Iceberg's table, made where it is not there. Raises ValidationError where it is another than declared: all columns count if it is
        ``written``.
        """
        loaded = self.found()
        if loaded is None:
            with refusals(self.table, but=("AlreadyExistsException",)):
                self._make()
            loaded = self.load()
        self._compare(loaded, written=written)
        return loaded

    def add_columns(self, names: Collection[str]) -> None:
        """Give the table, where it is there, those of the declared columns that it lacks. Raises ValidationError."""
        loaded = self.found()
        if loaded is None:
            return
        lacking = added(self.table, names, self.columns(loaded), f"the Iceberg table {self.identifier}")
        self._compare(loaded, written=True, lacking={c.name for c in lacking})
        with refusals(self.table):
            update = loaded.updateSchema()
            for column in lacking:
                update = update.addColumn(column.name, self._iceberg.spark.SparkSchemaUtil.convert(_spark_type(self.spark, column.type.stored)))
            update.commit()

    def columns(self, loaded: Any) -> Mapping[str, DataType]:
        """The columns of Iceberg's table, and their types in Spark."""
        from pyspark.sql.types import StructType

        with refusals(self.table):
            found = self._iceberg.spark.SparkSchemaUtil.convert(loaded.schema()).json()
        return {field.name: field.dataType for field in StructType.fromJson(json.loads(found)).fields}

    def required(self, loaded: Any) -> set[str]:
        """The columns of Iceberg's table that can't be NULL."""
        return {field.name() for field in loaded.schema().columns() if field.isRequired()}

    def given(self, loaded: Any, role: str, at: Any = None) -> str:
        """The name by which Spark knows Iceberg's table as it is at each use, or ``at`` a snapshot, by its number, or a branch, by its name.

        ``role``: who uses it.
        """
        spark_table = self._iceberg.spark.source.SparkTable
        known = spark_table(loaded, True) if at is None else spark_table(loaded, at, False)
        # Another catalog may have a table of this name, and another query may read this one as it was at another time.
        name = "/".join((str(self.identifier), str(loaded.uuid()), role, *([] if at is None else [str(at)])))
        classes(self.spark).tables.GivenTables.put(name, known)
        return f"{_GIVEN}.{quote(name)}"

    @property
    def _iceberg(self) -> Any:
        jvm: Any = self.spark._jvm
        return jvm.org.apache.iceberg

    def _make(self) -> None:
        jvm: Any = self.spark._jvm
        schema = self._schema()
        spec = self._iceberg.PartitionSpec.builderFor(schema)
        for key in self.table.partition_keys:
            spec = spec.identity(key)
        properties = jvm.java.util.HashMap()
        # MERGE then writes which rows are gone, and not their files anew.
        for key, value in {"write.merge.mode": "merge-on-read", **_own(self.table, rows.TABLE)}.items():
            properties.put(key, value)
        location = properties.remove("location")
        namespace = self.identifier.namespace()
        if self._has_namespaces() and not self.catalog.namespaceExists(namespace):
            self.catalog.createNamespace(namespace, jvm.java.util.HashMap())
        builder = self.catalog.buildTable(self.identifier, schema).withPartitionSpec(spec.build()).withProperties(properties)
        (builder if location is None else builder.withLocation(location)).create()

    def _has_namespaces(self) -> bool:
        jvm: Any = self.spark._jvm
        return bool(jvm.py4j.reflection.TypeUtil.isInstanceOf("org.apache.iceberg.catalog.SupportsNamespaces", self.catalog))

    def _schema(self) -> Any:
        """Iceberg's schema of the declared columns; the PRIMARY KEY is its identifier."""
        jvm: Any = self.spark._jvm
        keys = self.table.primary_key.columns if self.table.primary_key else ()
        required = {c.name for c in self.table.physical if not c.type.nullable} | set(keys)
        declared = ", ".join(f"{quote(c.name)} {c.type.stored}{' NOT NULL' if c.name in required else ''}" for c in self.table.physical)
        schema = self._iceberg.spark.SparkSchemaUtil.convert(_spark_type(self.spark, declared, struct=True))
        identifier = jvm.java.util.HashSet()
        for key in keys:
            identifier.add(schema.findField(key).fieldId())
        return self._iceberg.Schema(schema.columns(), identifier)

    def _compare(self, loaded: Any, *, written: bool, lacking: Collection[str] = ()) -> None:
        actual = {name: _simple(type_.simpleString()) for name, type_ in self.columns(loaded).items()}
        declared = {c.name: _simple(spark_type(c.type.stored)) for c in self.table.physical}
        others = differences(declared, actual, lacking, undeclared=written)
        if others:
            raise ValidationError(
                f"The Iceberg table {self.identifier} is not as '{self.table.path.name}' declares it: {'; '.join(others)}.",
                hint="Declare the table as it is, or choose another 'catalog-table'.",
            )


def opened(spark: SparkSession, table: Table, project: Path) -> Iceberg:
    """Raises SetupError for a catalog that can't be opened."""
    if not provide(spark, _LOADED, "iceberg", shared=True):
        raise SetupError("Iceberg can't be loaded.", hint="It is in a jar that sqlstream fetches: look into the log of Spark.")
    # A query's own session has the settings that this one has when it starts.
    spark.conf.set(f"spark.sql.catalog.{_GIVEN}", "sqlstream.tables.GivenTables")
    jvm: Any = spark._jvm
    properties = jvm.java.util.HashMap()
    for key, value in _own(table, rows.CATALOG).items():
        properties.put("type" if key == "catalog-type" else key, value)
    if "catalog-impl" in properties:
        properties.remove("type")
    elif catalog_type(table) == "hadoop":
        properties.put("warehouse", resolve(table.options["warehouse"], project))
    with refusals(table):
        catalog = jvm.org.apache.iceberg.CatalogUtil.buildIcebergCatalog(
            table.options["catalog-name"], properties, spark._jsparkSession.sessionState().newHadoopConf()
        )
        namespace, name = where(table)
        gateway: Any = spark.sparkContext._gateway
        levels = gateway.new_array(jvm.java.lang.String, len(namespace))
        for i, level in enumerate(namespace):
            levels[i] = level
        of = jvm.org.apache.iceberg.catalog
        return Iceberg(spark, table, catalog, of.TableIdentifier.of(of.Namespace.of(levels), name))


def catalog_type(table: Table) -> str:
    """Of the catalog that has ``table``; a class of the user's has none."""
    return "" if "catalog-impl" in table.options else str(option_rows.value(table.options, rows.CATALOG, "catalog-type")).lower()


def where(table: Table) -> tuple[tuple[str, ...], str]:
    """The levels of the namespace in which ``table`` is in Iceberg's catalog, and its name there."""
    base = [level for level in table.options.get("base-namespace", "").split(".") if level]
    return (*base, table.options.get("catalog-database", table.path.database)), table.options.get("catalog-table", table.path.name)


@contextmanager
def refusals(table: Table, *, but: Collection[str] = ()) -> Iterator[None]:
    """What Iceberg throws is a SetupError that says so; its exceptions called ``but`` are passed over."""
    try:
        yield
    except Exception as error:
        if (met := thrown(error)) is None:
            raise
        if any(_is(error, name) for name in but):
            return
        said = (met.getMessage() or met.getClass().getName()).partition("\n")[0]
        raise SetupError(
            f"Iceberg's catalog '{table.options['catalog-name']}' can't give the table '{table.path.name}': {said}",
            hint="Check its options: 'catalog-type', 'uri', 'warehouse'.",
        ) from error


def is_conflict(error: Exception) -> bool:
    """Whether ``error`` says that another writer has changed the table in the meantime."""
    return _is(error, "ValidationException") or _is(error, "CommitFailedException")


def _is(error: Exception, name: str) -> bool:
    """Whether ``error`` is, or was caused by, Iceberg's exception called ``name``."""
    met = thrown(error)
    while met is not None and met.getClass().getName() != f"org.apache.iceberg.exceptions.{name}":
        met = met.getCause()
    return met is not None


def _own(table: Table, declared: tuple[Option, ...]) -> dict[str, str]:
    """The options of ``table`` that are ``declared``, those with a default included."""
    written = {key: value for key, value in table.options.items() if find_option(declared, key) is not None}
    return {o.key: o.default for o in declared if o.default is not None} | written


def _spark_type(spark: SparkSession, ddl: str, *, struct: bool = False) -> Any:
    """Spark's type of ``ddl``, in the JVM: that of a value, or of the columns of a table."""
    jvm: Any = spark._jvm
    of = jvm.org.apache.spark.sql.types
    return of.StructType.fromDDL(ddl) if struct else of.DataType.fromDDL(ddl)


def _simple(type_: str) -> str:
    """``type_`` as Iceberg has it: it has no integers of less than 32 bits."""
    return type_.replace("tinyint", "int").replace("smallint", "int")
