"""The jdbc connector: tables of a relational database, read at once, looked up by key, appended to or, with a PRIMARY KEY, upserted.

Spark's JDBC source reads: partitions, columns that are read and conditions go down to the database. ``DatabaseWriter.java`` writes rows, one
transaction a task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.connectors.base import Dataset, Lookup, Read, SourceFrame, Write, plain_options
from sqlstream.connectors.jdbc.dialects import actual_names, dialect, provide_driver
from sqlstream.connectors.keyed_sink import KeyedSink, Writers
from sqlstream.connectors.upserts import DELETED
from sqlstream.core import options as option_rows
from sqlstream.core.errors import JobFailed, ValidationError
from sqlstream.core.java import classes, thrown
from sqlstream.core.options import Option, OptionKind, Role, Support
from sqlstream.formats.base import refuse_types
from sqlstream.sql.quoting import quote, spark_string

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from sqlstream.sql.tables import Table
    from sqlstream.sql.types import Type

_PARTITION = ("scan.partition.column", "scan.partition.num", "scan.partition.lower-bound", "scan.partition.upper-bound")
# Flink's older names of options.
_OLD = {
    "lookup.cache.max-rows": "lookup.partial-cache.max-rows",
    "lookup.cache.ttl": "lookup.partial-cache.expire-after-write",
    "lookup.cache.caching-missing-key": "lookup.partial-cache.cache-missing-key",
    "lookup.partial-cache.caching-missing-key": "lookup.partial-cache.cache-missing-key",
}
# Rows that are fetched at a time by default: a driver may otherwise load the whole table.
_FETCHED_ROWS = 10_000
_CHECK_CONNECTION = "Check 'url', 'username' and 'password', and that the database runs."
_CHECK_TABLE = "Check 'table-name', and what the user may read."
# Classes of SQLSTATE of a database that gives no answer: the connection, who may have one, an operator who ends it.
_NO_ANSWER = ("08", "28", "57")
_FLUSH = "a batch is written as a whole, in one transaction a task"


class Jdbc(KeyedSink):
    """A table of a relational database."""

    name = "jdbc"
    summary = "Tables of PostgreSQL and MySQL: read, looked up, appended to or upserted."
    example = (
        "CREATE TABLE customers (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED)\n"
        "WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost:5432/shop', 'table-name' = 'customers',\n"
        "  'username' = 'analyst', 'password' = '${env:SHOP_PASSWORD}');"
    )
    is_source = True
    can_be_looked_up = True
    options = (
        Option("url", OptionKind.STRING, required=True, summary="The URL: jdbc:postgresql://host:port/database.", role=Role.PLACE,
               sample="jdbc:postgresql://host/database"),
        Option("table-name", OptionKind.STRING, required=True, summary="The table in the database.", role=Role.PLACE),
        Option("driver", OptionKind.STRING, summary="The driver's class; by default that of the URL."),
        Option("username", OptionKind.STRING, summary="The user.", role=Role.TUNING),
        Option("password", OptionKind.STRING, summary="The user's password.", role=Role.TUNING),
        Option("properties.*", OptionKind.STRING, summary="A property of the connection.", role=Role.TUNING),
        Option("compatible-mode", use=Support.REFUSED, why="The URL says which database it is."),
        Option("connection.max-retry-timeout", OptionKind.DURATION, "60 s", use=Support.NOTICE, why="each task opens a connection of its own"),
        Option("scan.partition.column", OptionKind.STRING, summary="A number, date or time by which the table is read in parts."),
        Option("scan.partition.num", OptionKind.INT, summary="How many parts."),
        Option("scan.partition.lower-bound", OptionKind.LONG, summary="About where the second part begins; no row is left out."),
        Option("scan.partition.upper-bound", OptionKind.LONG, summary="About where the last part begins."),
        Option("scan.fetch-size", OptionKind.INT, "0", "How many rows are fetched at a time; 0: the driver's default.", role=Role.TUNING),
        Option("scan.auto-commit", OptionKind.BOOLEAN, "true", use=Support.NOTICE, why="it is set as reading in parts needs it"),
        Option("filter.handling.policy", OptionKind.ENUM, "always", "Whether the database evaluates conditions.", values=("always", "never")),
        Option("lookup.cache", OptionKind.ENUM, "none", "Whether rows that were looked up are kept.", values=("none", "partial")),
        Option("lookup.partial-cache.max-rows", OptionKind.LONG, summary="How many keys are kept; the least recently used is dropped first."),
        Option("lookup.partial-cache.expire-after-write", OptionKind.DURATION, summary="How long a key is kept after it was looked up."),
        Option("lookup.partial-cache.expire-after-access", OptionKind.DURATION, summary="How long a key is kept after it was used."),
        Option("lookup.partial-cache.cache-missing-key", OptionKind.BOOLEAN, "true", "Whether keys without a row are kept."),
        Option("lookup.partial-cache.caching-missing-key", OptionKind.BOOLEAN, summary="As lookup.partial-cache.cache-missing-key."),
        Option("lookup.cache.max-rows", OptionKind.LONG, summary="The same as lookup.partial-cache.max-rows, with a cache."),
        Option("lookup.cache.ttl", OptionKind.DURATION, summary="The same as lookup.partial-cache.expire-after-write, with a cache."),
        Option("lookup.cache.caching-missing-key", OptionKind.BOOLEAN, summary="As lookup.partial-cache.cache-missing-key."),
        Option("lookup.max-retries", OptionKind.INT, "3", "How often a failed look-up is retried.", role=Role.TUNING),
        Option("sink.buffer-flush.max-rows", OptionKind.INT, "100", "How many rows are sent to the database together.", role=Role.TUNING),
        Option("sink.buffer-flush.interval", OptionKind.DURATION, "1 s", use=Support.NOTICE, why=_FLUSH),
        Option("sink.max-retries", OptionKind.INT, "3", "How often a failed transaction is retried.", role=Role.TUNING),
        Option("sink.parallelism", OptionKind.INT, summary="How many tasks write.", role=Role.TUNING),
    )  # fmt: skip

    def check(self, table: Table) -> list[str]:
        notices = option_rows.check_options(self.name, plain_options(table), self.options)
        dialect(table.options["url"])
        refuse_types("jdbc", tuple((c.name, c.type) for c in table.physical), lambda t: t.is_interval or t.root in _REFUSED_TYPES)
        if table.metadata:
            raise ValidationError("The 'jdbc' connector has no metadata columns.")
        partitioning = [key for key in _PARTITION if key in table.options]
        if partitioning and len(partitioning) < len(_PARTITION):
            raise ValidationError("Either all or none of the following options should be provided:\n" + "\n".join(_PARTITION))
        if partitioning:
            notices.append("Rows outside of the bounds of 'scan.partition.*' are read too, as Flink documents it; its connector leaves them out.")
        low, high = (self.option(table, key) for key in _PARTITION[2:])
        if partitioning and low > high:
            raise ValidationError(f"'{_PARTITION[2]}'='{low}' must not be larger than '{_PARTITION[3]}'='{high}'.")
        if partitioning and table.options[_PARTITION[0]] not in {c.name for c in table.physical}:
            raise ValidationError(f"'{_PARTITION[0]}' names '{table.options[_PARTITION[0]]}', which is not a column of the table.")
        for key in ("lookup.max-retries", "sink.max-retries"):
            if self.option(table, key) < 0:
                raise ValidationError(f"The value of '{key}' option shouldn't be negative, but is {self.option(table, key)}.")
        return notices

    def bounded(self, table: Table) -> bool:
        return True

    def static(self, table: Table) -> bool:
        return True

    def lookup(self, table: Table) -> Lookup:
        old = {new: table.options[key] for key, new in _OLD.items() if key in table.options}
        options = old | dict(table.options)
        # Flink's older options of a cache have one by themselves.
        cached = options.get("lookup.cache", "partial" if {"lookup.cache.max-rows", "lookup.cache.ttl"} <= options.keys() else "none")

        def value(name: str) -> Any:
            return option_rows.value(options, self.options, f"lookup.partial-cache.{name}")

        return Lookup(
            cached=cached.lower() == "partial", max_keys=value("max-rows"), after_write_ms=value("expire-after-write"),
            after_access_ms=value("expire-after-access"), misses=value("cache-missing-key"), retries=self.option(table, "lookup.max-retries"),
        )  # fmt: skip

    def read(self, request: Read) -> SourceFrame:
        table = request.table
        named = dialect(table.options["url"])
        fetched = self.option(table, "scan.fetch-size") or _FETCHED_ROWS
        more = {"fetchsize": str(fetched), "pushDownPredicate": str(self.option(table, "filter.handling.policy") == "always").lower()}
        if "scan.partition.num" in table.options:
            options = ("partitionColumn", "numPartitions", "lowerBound", "upperBound")
            more |= {option: table.options[key] for option, key in zip(options, _PARTITION, strict=True)}
            more["partitionColumn"] = actual_names(table, named, self._load(request.spark, table).columns)[table.options[_PARTITION[0]]]
        frame = self._load(request.spark, table, **more)
        names, types = actual_names(table, named, frame.columns), {f.name: f.dataType for f in frame.schema}
        columns = [_carried(names[c.name], c.name, c.type, types[names[c.name]], request.zone) for c in table.physical]
        return SourceFrame(frame.selectExpr(*columns))

    def _load(self, spark: SparkSession, table: Table, **more: str) -> DataFrame:
        """The database's table as it is. Raises JobFailed."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors.exceptions.captured import AnalysisException

        options = self._connection(spark, table) | more
        try:
            return spark.read.format("jdbc").options(**options).load()
        except (Py4JJavaError, AnalysisException) as error:
            # If there is no connection Spark says so, and the driver says why.
            origin = thrown(error)
            met = origin if isinstance(error, Py4JJavaError) else origin.getCause() or origin
            problem = f"The table '{table.options['table-name']}' of the database can't be read: {met.getMessage()}"
            raise JobFailed(problem, hint=_CHECK_TABLE if _answered(met) else _CHECK_CONNECTION) from error

    def _connection(self, spark: SparkSession, table: Table) -> dict[str, str]:
        """Spark's options for the table's connection; the driver is there afterwards."""
        written = table.options
        named = dialect(written["url"])
        driver = written.get("driver", named.driver)
        provide_driver(spark, driver, named)
        login = {new: written[key] for key, new in (("username", "user"), ("password", "password")) if key in written}
        users = {k.removeprefix("properties."): v for k, v in written.items() if k.startswith("properties.")}
        options = {"url": written["url"], "dbtable": named.table(written["table-name"]), "driver": driver, "preferTimestampNTZ": "true"}
        return {**named.properties, **users, **login, **options}

    def datasets(self, table: Table, project: Path) -> tuple[Dataset, ...]:
        return (Dataset(*dialect(table.options["url"]).dataset(table.options["url"], table.options["table-name"])),)

    def writers(self, spark: SparkSession) -> Writers:
        java = classes(spark).jdbc
        return Writers(java.DatabaseWriter, java.DatabaseStream)

    def how(self, request: Write) -> tuple[Any, ...]:
        table = request.table
        keys = list(table.primary_key.columns) if table.primary_key else []
        together, retries = self.option(table, "sink.buffer-flush.max-rows") or 100, self.option(table, "sink.max-retries")
        return self._connection(request.spark, table), *self._statements(request), keys, together, retries

    def as_written(self, rows: DataFrame, request: Write) -> DataFrame:
        flag = [DELETED] if request.table.primary_key else []
        return rows.selectExpr(*[f"CAST({quote(c.name)} AS {c.type.stored}) AS {quote(c.name)}" for c in request.table.physical], *flag)

    def _statements(self, request: Write) -> tuple[str, str]:
        """The statements that write a row and remove one."""
        table = request.table
        named = dialect(table.options["url"])
        names = actual_names(table, named, self._load(request.spark, table).columns)
        target, columns = table.options["table-name"], [names[c.name] for c in table.physical]
        if table.primary_key is None:
            return named.insert(target, columns), ""
        keys = [names[k] for k in table.primary_key.columns]
        return named.upsert(target, columns, keys), named.delete(target, keys)


_REFUSED_TYPES = ("ARRAY", "MULTISET", "MAP", "ROW", "NULL", "VARIANT")
_WIDER = ("tinyint", "smallint", "int", "bigint")
# What a column of the database may be for a declared type, as Spark calls it.
_KNOWN = {
    "BOOLEAN": ("boolean",),
    "TINYINT": _WIDER[:2],
    "SMALLINT": _WIDER[:2],
    "INT": _WIDER[:3],
    "BIGINT": _WIDER,
    "FLOAT": ("float",),
    "DOUBLE": ("float", "double"),
    "DECIMAL": ("decimal", *_WIDER),
    "CHAR": ("string", "char", "varchar"),
    "VARCHAR": ("string", "char", "varchar"),
    "BINARY": ("binary",),
    "VARBINARY": ("binary",),
    "DATE": ("date",),
    "TIME": ("timestamp_ntz", "timestamp", "time"),
    "TIMESTAMP": ("timestamp_ntz", "timestamp"),
    "TIMESTAMP_LTZ": ("timestamp",),
}


def _answered(error: Any) -> bool:
    """Whether an exception of Java's is the answer of a database that is there."""
    from py4j.protocol import Py4JError

    try:
        state = error.getSQLState()
    except Py4JError:  # it is no SQLException
        return False
    return state is not None and not str(state).startswith(_NO_ANSWER)


def _carried(stored: str, name: str, type_: Type, spark_type: DataType, zone: str) -> str:
    """SQL for a column of the database as the declared one. Raises ValidationError."""
    kind = spark_type.simpleString().partition("(")[0]
    if kind not in _KNOWN[type_.root]:
        raise ValidationError(
            f"Column '{name}' is declared {type_}, and is {spark_type.simpleString().upper()} in the database.",
            hint="Declare it TIMESTAMP." if (type_.root, kind) == ("TIMESTAMP_LTZ", "timestamp_ntz") else None,
        )
    sql = quote(stored)
    if type_.root == "TIMESTAMP" and kind == "timestamp":
        sql = f"from_utc_timestamp({sql}, {spark_string(zone)})"
    if type_.root == "TIME" and kind != "time":
        # Spark's source gives a time of the first day of 1970.
        sql = f"make_time(hour({sql}), minute({sql}), extract(SECOND FROM {sql}))"
    return f"CAST({sql} AS {type_.spark}) AS {quote(name)}"
