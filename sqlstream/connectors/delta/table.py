"""The delta connector: Delta tables by path.

A Delta table is read as of now unless ``mode`` says otherwise. It is created, empty, by the first use of its declaration, as by a CREATE TABLE in
Flink. A TIMESTAMP is stored as TIMESTAMP_NTZ (``Type.stored``). One with a PRIMARY KEY is updated by it.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING, Any

from sqlstream.connectors.base import Metadata, Read, SourceFrame, Write, plain_options
from sqlstream.connectors.delta import merge as delta_merge
from sqlstream.connectors.files.folder import Folder
from sqlstream.connectors.in_order import task_sorted
from sqlstream.connectors.lake import Lake, added, differences, last_of_each_key, spark_type, stored
from sqlstream.connectors.paths import resolve
from sqlstream.core import options as option_rows
from sqlstream.core.changelog import KIND, ChangelogMode, RowKind
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.core.java import activate
from sqlstream.core.options import Option, OptionKind, Role, Support
from sqlstream.sql.quoting import quote, spark_string
from sqlstream.sql.types import BIGINT, timestamp_ltz

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.sql.tables import Table

_STARTS = ("startingVersion", "startingTimestamp")
_STREAMING = (*_STARTS, "ignoreDeletes", "ignoreChanges", "skipChangeCommits")
_BATCH_ONLY = ("versionAsOf", "timestampAsOf")
_KINDS = [
    f"WHEN '{change}' THEN {kind.spark}" for change, kind in zip(("insert", "update_preimage", "update_postimage", "delete"), RowKind, strict=True)
]
_FEED = "delta.enableChangeDataFeed"
# By it a column is found in the files by another name, and its own may have any character; without it, none of these.
_NAMED, _ODD = "delta.columnMapping.mode", frozenset(" ,;{}()\n\t=")
# So long may the first commit of a table take that another process has begun to make.
_MADE_WITHIN_S = 15


class Delta(Lake):
    """A Delta table."""

    name = "delta"
    summary = "Delta tables: read as of now, as a stream of rows or of changes; appended to, or updated by primary key, exactly once."
    example = (
        "CREATE TABLE totals (item STRING, total BIGINT, PRIMARY KEY (item) NOT ENFORCED)\nWITH ('connector' = 'delta', 'table-path' = 'totals');"
    )
    library = "Delta"
    bounded_by = "'mode' = 'batch'"
    metadata = (Metadata("_commit_version", BIGINT), Metadata("_commit_timestamp", timestamp_ltz(3)))
    path_option = "table-path"
    # Spark takes a thousand of its files at a time.
    reads_in_parts = True
    options = (
        Option("table-path", OptionKind.STRING, required=True, summary="The folder; relative to the warehouse, or a URI.", role=Role.PLACE),
        Option("mode", OptionKind.ENUM, "batch", "batch reads the table as it is, streaming continues with new rows, changes with all changes.",
               values=("batch", "streaming", "changes"), role=Role.PLACE),
        Option("versionAsOf", OptionKind.LONG, summary="Read this version."),
        Option("timestampAsOf", OptionKind.STRING, summary="Read the version of this time."),
        Option("startingVersion", OptionKind.STRING, summary="Stream from this version on; 'latest' is from now on."),
        Option("startingTimestamp", OptionKind.STRING, summary="Stream from this time on."),
        Option("ignoreDeletes", OptionKind.BOOLEAN, "false", "Continue when whole partitions have been deleted."),
        Option("ignoreChanges", OptionKind.BOOLEAN, "false", "Continue when rows have changed; unchanged rows of the same file are read again."),
        Option("skipChangeCommits", OptionKind.BOOLEAN, "false", "Continue past commits that update or delete rows, without any of what they wrote."),
        Option("updateCheckIntervalMillis", OptionKind.LONG, use=Support.NOTICE, why="the job's trigger says how often it looks for changes"),
        Option("updateCheckDelayMillis", OptionKind.LONG, use=Support.NOTICE, why="the job's trigger says how often it looks for changes"),
        Option("sink.parallelism", OptionKind.INT, use=Support.NOTICE, why="each task of the query writes on its own"),
        Option("delta.*", OptionKind.STRING, summary="A property of the Delta table."),
    )  # fmt: skip

    def places(self, table: Table, *, written: bool = False) -> tuple[str, ...]:
        # Within a version, offsets of new rows and those of changes count other files.
        read = {k: v for k, v in table.options.items() if not written or k != "mode"}
        return super().places(replace(table, options=read))

    def check(self, table: Table) -> list[str]:
        notices = option_rows.check_options(self.name, plain_options(table), self.options)
        self.check_columns(table)
        known = [m.key for m in self.metadata_keys(table)]
        for column in table.metadata:
            if column.key not in known:
                hint = "With 'mode' = 'changes' there are " + " and ".join(m.key for m in self.metadata) + "."
                raise ValidationError(f"Invalid metadata key '{column.key}' in column '{column.name}' of table '{table.path}'.", hint=hint)
            if not column.virtual:
                raise ValidationError(f"The metadata column '{column.name}' of '{table.path}' can only be read: declare it VIRTUAL.")
        keys = table.primary_key.columns if table.primary_key else ()
        if maps := [c.name for c in table.physical if c.name in keys and c.type.root in ("MAP", "MULTISET")]:
            raise NotSupported(
                f"A map is not supported in a PRIMARY KEY ('{maps[0]}'): Spark can't compare maps.",
                hint="Take a column of another type, as one of its values, into the key.",
            )
        options, streaming = table.options, _mode(table) != "batch"
        for wrong, mode in ((_BATCH_ONLY, "batch"), (_STARTS, "streaming")):
            if (mode == "batch") == streaming and (foreign := next((k for k in wrong if k in options), None)):
                raise ValidationError(f"Option '{foreign}' belongs to 'mode' = '{mode}'.", hint=f"Add 'mode' = '{mode}'.")
        for one, other in (_BATCH_ONLY, _STARTS):
            if one in options and other in options:
                raise ValidationError(f"Options '{one}' and '{other}' are mutually exclusive.")
        if table.primary_key and _mode(table) == "streaming":
            notices.append("'mode' = 'streaming' fails when a row is updated or deleted; 'mode' = 'changes' reads such changes.")
        return notices

    def as_of(self, table: Table, moment: datetime) -> Table:
        return replace(table, options={**table.options, "timestampAsOf": f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}"})

    def metadata_keys(self, table: Table) -> tuple[Metadata, ...]:
        return self.metadata if _mode(table) == "changes" else ()

    def source_mode(self, table: Table) -> ChangelogMode:
        return ChangelogMode.RETRACT_DELETE if _mode(table) == "changes" else ChangelogMode.APPEND

    def bounded(self, table: Table) -> bool:
        return _mode(table) == "batch"

    def read(self, request: Read) -> SourceFrame:
        from pyspark.sql import functions as F

        table = request.table
        path = _ensure(request.spark, table, request.project)
        reader: Any = request.spark.read.format("delta")
        keys: tuple[str, ...] = _BATCH_ONLY
        if request.streaming:
            reader, keys = request.spark.readStream.name(request.name).format("delta"), _STREAMING
        for key in keys:
            if key in table.options:
                reader = reader.option(key, table.options[key])
        cells = {c.name: f"CAST({quote(c.name)} AS {c.type.spark})" for c in table.physical}
        if _mode(table) == "changes":
            _require_feed(request.spark, path)
            # The table's rows come first, as inserts, unless a start is set.
            frame = _in_order(reader.option("readChangeFeed", "true").load(path), table)
            cells |= {c.name: f"CAST({c.key} AS {c.type.spark})" for c in table.metadata}
            cells[KIND] = f"CASE _change_type {' '.join(_KINDS)} END"
        else:
            frame = _as_of(request, reader, path)
        return SourceFrame(frame.select(*[F.expr(sql).alias(name) for name, sql in cells.items()]))

    def write_stream(self, request: Write) -> DataStreamWriter:
        path = _ensure(request.spark, request.table, request.project)
        request = self.without_nulls(request, _required(request.spark, path))
        if request.table.primary_key:
            return delta_merge.merge_stream(request, path)
        return stored(request.frame, request.table).writeStream.format("delta").option("path", path)

    def add_columns(self, request: Write, names: Sequence[str]) -> None:
        from delta.tables import DeltaTable

        spark, table = request.spark, request.table
        path = resolve(table.options["table-path"], request.project)
        if not DeltaTable.isDeltaTable(spark, path):
            return
        lacking = added(table, names, DeltaTable.forPath(spark, path).toDF().columns, f"the Delta table at '{path}'")
        _compare(spark, table, path, lacking={c.name for c in lacking})
        if lacking:
            spark.sql(f"ALTER TABLE delta.{quote(path)} ADD COLUMNS ({', '.join(f'{quote(c.name)} {c.type.stored}' for c in lacking)})")

    def is_there(self, request: Write) -> bool:
        return Folder(request.spark, resolve(request.table.options["table-path"], request.project)).exists("_delta_log")

    def identity(self, request: Write) -> str | None:
        jvm: Any = request.spark._jvm
        path = resolve(request.table.options["table-path"], request.project)
        # As of what was read or written here last: it costs no look at the files.
        known = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(request.spark._jsparkSession, path).unsafeVolatileSnapshot()
        return str(known.metadata().id()) if known.version() >= 0 else None

    def landed(self, request: Write, query: str, batch: int) -> bool | None:
        path = resolve(request.table.options["table-path"], request.project)
        last = _snapshot(request.spark, path).transactions().get(query)
        return bool(last.isDefined()) and int(last.get()) >= batch

    def write_batch(self, request: Write) -> None:
        table = request.table
        path = _ensure(request.spark, table, request.project)
        request = self.without_nulls(request, _required(request.spark, path))
        if table.primary_key and not request.overwrite:
            delta_merge.merge_batch(request, path)
            return
        rows = last_of_each_key(request.frame, request) if table.primary_key else stored(request.frame, table)
        writer = rows.write.format("delta").mode("overwrite" if request.overwrite else "append")
        if request.version is not None:
            writer = writer.option("txnAppId", request.version[0]).option("txnVersion", str(request.version[1]))
        if request.overwrite and table.partition_keys:
            types = {c.name: c.type for c in table.physical}
            if request.partition:
                equal = (f"{quote(k)} <=> CAST({spark_string(v)} AS {types[k].stored})" for k, v in request.partition.items())
                writer = writer.option("replaceWhere", " AND ".join(equal))
            else:
                writer = writer.option("partitionOverwriteMode", "dynamic")
        writer.save(path)


def _mode(table: Table) -> str:
    return str(option_rows.value(table.options, Delta.options, "mode"))


def _require_feed(spark: SparkSession, path: str) -> None:
    """Raises ValidationError where the Delta table keeps no change data feed."""
    from delta.tables import DeltaTable

    ((properties,),) = DeltaTable.forPath(spark, path).detail().select("properties").collect()
    if properties.get(_FEED) != "true":
        raise ValidationError(
            f"The Delta table at '{path}' keeps no change data feed, so its changes can't be read.",
            hint=f"In Spark, ALTER TABLE delta.{quote(path)} SET TBLPROPERTIES ('{_FEED}' = 'true') makes it keep one from then on; "
            f"a table that a job makes has it where '{_FEED}' = 'true' is declared.",
        )


def _in_order(feed: DataFrame, table: Table) -> DataFrame:
    """``feed``, as Spark reads it file by file, in the order of the commits: by primary key, where there is one, else in one task."""
    together = feed.repartition(*map(quote, table.primary_key.columns)) if table.primary_key else feed.repartition(1)
    return task_sorted(together, "_commit_version * 2 + IF(_change_type IN ('insert', 'update_postimage'), 1, 0)")


def _required(spark: SparkSession, path: str) -> set[str]:
    """The columns of the Delta table that take no NULL."""
    fields = json.loads(_snapshot(spark, path).metadata().schema().json())["fields"]
    return {f["name"] for f in fields if not f["nullable"]}


def _as_of(request: Read, reader: Any, path: str) -> DataFrame:
    """The rows of the Delta table: those of the time that is asked for, also where nothing was committed since. Delta refuses such a time."""
    from pyspark.errors import AnalysisException

    try:
        frame: DataFrame = reader.load(path)
    except AnalysisException as error:
        if error.getCondition() != "DELTA_TIMESTAMP_GREATER_THAN_COMMIT":
            raise
        spark = request.spark
        text = spark_string(request.table.options["timestampAsOf"])
        ((micros, is_past),) = spark.sql(f"SELECT unix_micros(t), t <= now() FROM (SELECT CAST({text} AS TIMESTAMP) AS t)").collect()
        if not is_past:
            raise
        jvm: Any = spark._jvm
        history = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path).history()
        # The last commit may be given, one whose files are gone may not, and no earlier time is the first one's.
        last = history.getActiveCommitAtTime(jvm.java.sql.Timestamp(micros // 1000), jvm.scala.Option.empty(), True, True, False)
        frame = spark.read.format("delta").option("versionAsOf", str(last.version())).load(path)
    return frame


def _ensure(spark: SparkSession, table: Table, project: Path) -> str:
    """The path of the Delta table, made where it is not there. Raises ValidationError where it is another than declared."""
    from delta.tables import DeltaTable
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    path = resolve(table.options["table-path"], project)
    identifier = f"delta.{quote(path)}"
    if not DeltaTable.isDeltaTable(spark, path):
        columns = ", ".join(f"{quote(c.name)} {c.type.stored}{'' if c.type.nullable else ' NOT NULL'}" for c in table.physical)
        partitioned = f" PARTITIONED BY ({', '.join(quote(k) for k in table.partition_keys)})" if table.partition_keys else ""
        # A MERGE then marks the rows that it replaces, and doesn't rewrite their files.
        properties = {"delta.enableDeletionVectors": "true"} if table.primary_key else {}
        properties |= {_FEED: "true"} if _mode(table) == "changes" else {}
        properties |= {k: v for k, v in table.options.items() if k.startswith("delta.")}
        rows = ", ".join(f"{spark_string(k)} = {spark_string(v)}" for k, v in properties.items())
        try:
            spark.sql(f"CREATE TABLE IF NOT EXISTS {identifier} ({columns}) USING delta{partitioned}" + (f" TBLPROPERTIES ({rows})" if rows else ""))
            return path
        except (Py4JJavaError, PySparkException) as error:
            if isinstance(error, PySparkException) and error.getCondition() == "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES":
                odd = next((f"Column '{c.name}'" for c in table.physical if set(c.name) & _ODD), "A field of a row")
                raise ValidationError(
                    f"{odd} of '{table.path.name}' can't be called so in a Delta table: no spaces, tabs, line ends or ,;{{}}()= there.",
                    hint=f"'{_NAMED}' = 'name' in WITH lets it have any name; older readers of Delta can't read such a table.",
                ) from None
            if not _made_meanwhile(spark, path):
                raise
    _compare(spark, table, path)
    return path


def _made_meanwhile(spark: SparkSession, path: str) -> bool:
    """Whether another process has made the table, or does so now: the folder of its log comes before what is in it."""
    end = time.monotonic() + (_MADE_WITHIN_S if Folder(spark, path).exists("_delta_log") else 0)
    # Delta's own isDeltaTable goes by what its log was when it was last read.
    while _snapshot(spark, path).version() < 0:
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def _snapshot(spark: SparkSession, path: str) -> Any:
    """Delta's snapshot of the table as it is now; its version is -1 where there is none. What is in it is read when it is asked for."""
    activate(spark)
    jvm: Any = spark._jvm
    return jvm.org.apache.spark.sql.delta.DeltaLog.forTableWithSnapshot(spark._jsparkSession, path)._2()


def _compare(spark: SparkSession, table: Table, path: str, lacking: Collection[str] = ()) -> None:
    """Raise ValidationError where the Delta table is another than declared; columns that are ``lacking`` are about to be added."""
    from delta.tables import DeltaTable

    delta = DeltaTable.forPath(spark, path)
    actual = {f.name: f.dataType.simpleString() for f in delta.toDF().schema.fields}
    declared = {c.name: spark_type(c.type.stored) for c in table.physical}
    others = differences(declared, actual, lacking, same=lambda there, here: _either_timestamp(there) == _either_timestamp(here))
    if others:
        raise ValidationError(f"The Delta table at '{path}' is not as '{table.path.name}' declares it: {'; '.join(others)}.",
                              hint="Declare the table as it is, or choose another 'table-path'.")  # fmt: skip
    partitions = list(delta.detail().select("partitionColumns").collect()[0][0])
    if table.partition_keys and partitions != list(table.partition_keys):
        raise ValidationError(f"The Delta table at '{path}' is partitioned by ({', '.join(partitions)}), and '{table.path.name}' by "
                              f"({', '.join(table.partition_keys)}).")  # fmt: skip


def _either_timestamp(type_: str) -> str:
    return type_.replace("timestamp_ntz", "timestamp")
