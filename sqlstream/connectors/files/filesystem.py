"""The filesystem connector: folders of files of text, parquet and orc, partitioned as ``k=v`` where the table says so.

Records of other formats are lines; Spark reads and writes them as text, and the formats turn them into columns.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlstream import formats
from sqlstream.connectors.base import DEAD_LETTERS, Connector, Metadata, Read, SourceFrame, Write, plain_options, with_kinds
from sqlstream.connectors.files.batches import landed, write_batch
from sqlstream.connectors.files.folder import Folder
from sqlstream.connectors.files.partition_commit import PartitionCommit, PartitionTime
from sqlstream.connectors.in_order import arrival, task_sorted
from sqlstream.connectors.paths import resolve
from sqlstream.core import options as option_rows
from sqlstream.core.changelog import KIND, ChangelogMode
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.core.hidden import hidden
from sqlstream.core.options import Option, OptionKind, Role, Support
from sqlstream.core.zones import is_zone
from sqlstream.formats.base import Encoded, Fields, Format
from sqlstream.sql.quoting import quote, spark_string
from sqlstream.sql.types import BIGINT, STRING, timestamp_ltz

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.sql.tables import Table

_ROLLING = "every micro-batch of the job writes its own files"
_COMPACTION = "small files stay as they are"
_PROCESS_TIME = "By process time a partition is committed with each batch; 'sink.partition-commit.trigger' = 'partition-time' takes a delay."
_NO_CLASS = "The time of a partition is read from its values: 'partition.time-extractor.timestamp-pattern'."
_LINE, _FILE, _OWN, _VALUE = hidden("line"), hidden("file"), hidden("own_"), hidden("value_")
_PLACE, _ARRIVAL = hidden("place"), hidden("arrival")
# Metadata key to its SQL over Spark's _metadata; a path is without scheme, as Flink gives it.
_PATH = f"url_decode(regexp_replace({_FILE}.file_path, '^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?', ''))"
_MODIFIED = f"{_FILE}.file_modification_time"
_METADATA = {
    "file.path": _PATH,
    "file.name": f"{_FILE}.file_name",
    "file.size": f"{_FILE}.file_size",
    "file.modification-time": _MODIFIED,
}


class Filesystem(Connector):
    """Files in a folder."""

    name = "filesystem"
    summary = "Folders of files: parquet, orc, lines of text."
    example = (
        "CREATE TABLE bids (item STRING, price DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)\n"
        "WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json', 'source.monitor-interval' = '1 s');"
    )
    is_source = True
    bounded_by = "leave out 'source.monitor-interval'"
    is_sink = True
    can_be_looked_up = True
    path_option = "path"
    metadata = (
        Metadata("file.path", STRING),
        Metadata("file.name", STRING),
        Metadata("file.size", BIGINT),
        Metadata("file.modification-time", timestamp_ltz(3)),
    )
    options = (
        Option("path", OptionKind.STRING, required=True, summary="The folder, or a file; relative to the warehouse, or a URI.", role=Role.PLACE),
        Option("format", OptionKind.STRING, required=True, summary="The files' format."),
        Option("partition.default-name", OptionKind.STRING, "__DEFAULT_PARTITION__", "The partition of NULL."),
        Option("source.monitor-interval", OptionKind.DURATION, summary="Look for new files at this interval, without end.", role=Role.TUNING),
        Option("source.path.regex-pattern", OptionKind.STRING, summary="Only files whose whole path matches are read."),
        DEAD_LETTERS,
        Option("source.report-statistics", OptionKind.STRING, use=Support.NOTICE, why="Spark finds statistics by itself"),
        Option("sink.rolling-policy.file-size", OptionKind.MEMORY, "128mb", use=Support.NOTICE, why=_ROLLING),
        Option("sink.rolling-policy.rollover-interval", OptionKind.DURATION, "30 min", use=Support.NOTICE, why=_ROLLING),
        Option("sink.rolling-policy.check-interval", OptionKind.DURATION, "1 min", use=Support.NOTICE, why=_ROLLING),
        Option("sink.rolling-policy.inactivity-interval", OptionKind.DURATION, "30 min", use=Support.NOTICE, why=_ROLLING),
        Option("auto-compaction", OptionKind.BOOLEAN, "false", use=Support.NOTICE, why=_COMPACTION, unmet=("true",)),
        Option("compaction.file-size", OptionKind.MEMORY, use=Support.NOTICE, why=_COMPACTION),
        Option("compaction.parallelism", OptionKind.INT, use=Support.NOTICE, why=_COMPACTION),
        Option("sink.partition-commit.trigger", OptionKind.ENUM, "process-time", "When to commit them.", values=("process-time", "partition-time")),
        Option("sink.partition-commit.delay", OptionKind.DURATION, "0 s", "How long after a partition's time the watermark must be past it."),
        Option("sink.partition-commit.watermark-time-zone", OptionKind.STRING, "UTC", "The zone of partitions' times if rowtime is a TIMESTAMP_LTZ."),
        Option("sink.partition-commit.policy.kind", OptionKind.STRING, summary="success-file leaves an empty file in the partition."),
        Option("sink.partition-commit.policy.class", use=Support.REFUSED, why="'success-file' is the only policy."),
        Option("sink.partition-commit.policy.class.parameters", use=Support.REFUSED, why="'success-file' is the only policy."),
        Option("sink.partition-commit.success-file.name", OptionKind.STRING, "_SUCCESS", "The name of the empty file."),
        Option("partition.time-extractor.kind", OptionKind.ENUM, "default", "How a partition's time is found.", values=("default",)),
        Option("partition.time-extractor.class", use=Support.REFUSED, why=_NO_CLASS),
        Option("partition.time-extractor.timestamp-pattern", OptionKind.STRING, summary="A partition's time, $key is a value: '$dt $hour:00:00'."),
        Option("partition.time-extractor.timestamp-formatter", OptionKind.STRING, summary="How it is written, for Java: 'yyyyMMdd HH'."),
        Option("sink.shuffle-by-partition.enable", OptionKind.BOOLEAN, "false", "One task a partition, and so fewer files."),
        Option("sink.parallelism", OptionKind.INT, summary="How many tasks write, and so how many files.", role=Role.TUNING),
        Option("scan.parallelism", OptionKind.INT, use=Support.NOTICE, why="Spark splits files by their size"),
    )  # fmt: skip

    def check(self, table: Table) -> list[str]:
        format_ = formats.find_format(table.options["format"]) if "format" in table.options else None
        rows = self.options + (formats.table_options(format_, files=format_.files) if format_ else ())
        notices = option_rows.check_options(self.name, plain_options(table), rows)
        assert format_ is not None
        if not (format_.files or format_.in_lines):
            raise NotSupported(
                f"Format '{format_.name}' is for records of Kafka: a line of a file can't hold one.",
                hint="Files have 'avro', 'json', 'csv', 'parquet', 'orc' or 'raw'.",
            )
        known = {c.name for c in table.physical}
        for key in table.partition_keys:
            if key not in known:
                raise ValidationError(f"Partition column '{key}' not defined in the table schema.")
        options = formats.own_options(format_, table.options)
        format_.check(_fields(table), options)
        if format_.files:
            format_.file_source(_fields(table), options)
        notices += format_.notices(_fields(table), options)
        by_time = self.option(table, "sink.partition-commit.trigger") == "partition-time"
        if not by_time and self.option(table, "sink.partition-commit.delay"):
            raise NotSupported("Option 'sink.partition-commit.delay' must be 0 s.", hint=_PROCESS_TIME)
        if by_time and "sink.partition-commit.policy.kind" not in table.options:
            notices.append("Without the option 'sink.partition-commit.policy.kind' no partition is committed.")
        zone = self.option(table, "sink.partition-commit.watermark-time-zone")
        if not is_zone(zone):
            raise ValidationError(f"Invalid value for option 'sink.partition-commit.watermark-time-zone': '{zone}' is not a time zone.")
        if table.options.get("sink.partition-commit.policy.kind", "success-file") != "success-file":
            raise NotSupported(
                "Option 'sink.partition-commit.policy.kind' can only be 'success-file'.",
                hint="Other systems see a partition when its _SUCCESS file is there; a table of 'delta' commits by itself.",
            )
        for column in table.metadata:
            if column.key not in _METADATA:
                raise ValidationError(
                    f"Invalid metadata key '{column.key}' in column '{column.name}' of table '{table.path}'. The connector "
                    "supports the following metadata keys for reading:\n" + "\n".join(_METADATA)
                )
        pattern = table.options.get("source.path.regex-pattern")
        try:
            re.compile(pattern or "")
        except re.error as e:
            raise ValidationError(f"Invalid value for option 'source.path.regex-pattern': {e}.") from None
        return notices

    def awaits_watermark(self, table: Table) -> bool:
        commits = bool(table.partition_keys) and "sink.partition-commit.policy.kind" in table.options
        return commits and self.option(table, "sink.partition-commit.trigger") == "partition-time"

    def bounded(self, table: Table) -> bool:
        return "source.monitor-interval" not in table.options

    def static(self, table: Table) -> bool:
        return self.bounded(table) and not self.source_mode(table).updates

    def source_mode(self, table: Table) -> ChangelogMode:
        return formats.find_format(table.options["format"]).mode

    def sink_modes(self, table: Table) -> tuple[ChangelogMode, ...]:
        return formats.writable_changes(formats.find_format(table.options["format"]))

    def read(self, request: Read) -> SourceFrame:
        table = request.table
        format_ = formats.find_format(table.options["format"])
        path = resolve(table.options["path"], request.project)
        if not Folder(request.spark, path).exists():
            raise ValidationError(
                f"The path '{path}' of table '{table.path}' does not exist.",
                hint="A relative 'path' starts at 'table.warehouse', or at the project's folder. An INSERT into the table makes it.",
            )
        reader: Any = request.spark.read
        if request.streaming:
            # Without maxFileAge Spark would leave out files that are a week older than the newest.
            reader = request.spark.readStream.name(request.name).option("maxFileAge", "36500d")
        return SourceFrame(self._columns(self._records(reader, format_, path, table), format_, request))

    def _records(self, reader: Any, format_: Format, path: str, table: Table) -> DataFrame:
        """The files' own columns or lines, and the partition columns as strings."""
        parts = [f"{quote(k)} STRING" for k in table.partition_keys]
        if not parts:
            reader = reader.option("recursiveFileLookup", "true")
        if format_.files:
            own = [f"{quote(n)} {format_.file_type(t)}" for n, t in _fields(table)]
            source, settings = format_.file_source(_fields(table), formats.own_options(format_, table.options))
            frame: DataFrame = reader.schema(", ".join(own + parts)).format(source).options(**settings).load(path)
        else:
            reader = reader.option("lineSep", "\n")
            frame = reader.schema(", ".join([f"{_LINE} STRING", *parts])).format("text").load(path)
        pattern = table.options.get("source.path.regex-pattern")
        if pattern is None and format_.files and not table.metadata:
            return frame
        # Whatever the table's own columns are called.
        frame = frame.withColumn(_FILE, frame.metadataColumn("_metadata"))
        return frame if pattern is None else frame.where(f"{_PATH} RLIKE {spark_string(f'^(?:{pattern})$')}")

    def _columns(self, frame: DataFrame, format_: Format, request: Read) -> DataFrame:
        from pyspark.sql import functions as F

        table = request.table
        default = spark_string(self.option(table, "partition.default-name"))
        types = {c.name: c.type for c in table.physical}
        fields = _fields(table)
        columns = {
            **{c.name: F.expr(f"CAST({_METADATA[c.key]} AS {c.type.spark})") for c in table.metadata},
            **{k: F.expr(f"CAST(nullif({quote(k)}, {default}) AS {types[k].spark})") for k in table.partition_keys},
        }
        if format_.files:
            columns |= {n: F.expr(format_.from_file(quote(n), t)) for n, t in fields}
            out = frame.select(*[columns[n].alias(n) for n in _names(table)])
        else:
            # A line ends at \n; the \r of \r\n is not part of it.
            line = f"if(endswith({_LINE}, '\\r'), left({_LINE}, length({_LINE}) - 1), {_LINE})"
            records = frame.select(
                F.expr(line).alias(_LINE),
                F.col(f"{_FILE}.file_path").alias(_FILE),
                F.expr(f"struct({_MODIFIED}, {_FILE}.file_path, {_FILE}.file_block_start)").alias(_PLACE),
                *[c.alias(_OWN + n) for n, c in columns.items()],
            )
            encoded = Encoded(records, _LINE, f"concat('file ', {_FILE})", lines=True, unread=request.unread)
            decoded = format_.decode(encoded, fields, formats.own_options(format_, table.options))
            kinds = [KIND] if format_.mode.carries_kinds else []
            decoded = decoded.toDF(*records.columns, *[_VALUE + n for n, _ in fields], *kinds)
            if kinds:
                # A row is retracted after it was added: Spark reads the files of a micro-batch at once, and large ones before small ones.
                decoded = task_sorted(decoded.withColumn(_ARRIVAL, arrival(decoded)).repartition(1), f"struct({_PLACE}, {_ARRIVAL})")
            out = decoded.select(*[F.col(quote((_OWN if n in columns else _VALUE) + n)).alias(n) for n in _names(table)], *kinds)
        return out

    def write_stream(self, request: Write) -> DataStreamWriter:
        shaped = self._shaped(request)
        spark = request.spark

        def write(batch: DataFrame, number: int) -> None:
            # The checkpoint's own id: a new checkpoint begins again at batch 0.
            writer = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
            self._put(spark, request, batch, writer or request.name, number)

        return request.in_batches(write, shaped)

    def landed(self, request: Write, query: str, batch: int) -> bool | None:
        folder = Folder(request.spark, resolve(request.table.options["path"], request.project))
        return landed(folder, query, batch, commit=self._commit(request, ends=False))

    def forget(self, request: Write, writer: str) -> None:
        Folder(request.spark, resolve(request.table.options["path"], request.project)).delete(".sqlstream", writer)

    def write_batch(self, request: Write) -> None:
        import uuid

        writer, number = request.version or (f"{request.name}-{uuid.uuid4().hex[:12]}", 0)
        self._put(request.spark, request, self._shaped(request), re.sub(r"[^\w.-]", "_", writer), number, ends=True)
        if request.version is None:
            self.forget(request, writer)

    def _shaped(self, request: Write) -> DataFrame:
        """What Spark writes: lines or stored columns, and the partition columns as strings."""
        from pyspark.sql import functions as F

        table = request.table
        if table.metadata and any(not c.virtual for c in table.metadata):
            raise ValidationError("The 'filesystem' connector can't write metadata columns.", hint="Declare them VIRTUAL.")
        format_ = formats.find_format(table.options["format"])
        fields = _fields(table)
        default = spark_string(self.option(table, "partition.default-name"))
        parts = [F.expr(f"coalesce(nullif(CAST({quote(k)} AS STRING), ''), {default})").alias(k) for k in table.partition_keys]
        options = formats.own_options(format_, table.options)
        if format_.files:
            own = [F.expr(format_.to_file(quote(n), t, options)).alias(n) for n, t in fields]
        else:
            own = [format_.encode(fields, options, lines=True).cast("STRING").alias(_LINE)]
        frame = with_kinds(request.frame).select(*own, *parts)
        parallelism = self.option(table, "sink.parallelism")
        if parts and self.option(table, "sink.shuffle-by-partition.enable"):
            keys = [F.col(quote(k)) for k in table.partition_keys]
            return frame.repartition(parallelism, *keys) if parallelism else frame.repartition(*keys)
        return frame.coalesce(parallelism) if parallelism else frame

    def _put(self, spark: Any, request: Write, frame: DataFrame, writer: str, number: int, *, ends: bool = False) -> None:
        table = request.table
        format_ = formats.find_format(table.options["format"])
        options = formats.own_options(format_, table.options)
        folder = Folder(spark, resolve(table.options["path"], request.project))

        def stage(path: str) -> None:
            out = frame.write.partitionBy(*table.partition_keys) if table.partition_keys else frame.write
            source, settings = format_.file_source(_fields(table), options) if format_.files else ("text", {})
            out.format(source).options(**settings).mode("overwrite").save(path)

        replace = None
        if request.overwrite:
            static = [f"{k}={v}" for k in table.partition_keys if (v := request.partition.get(k)) is not None]
            leading = len(static) == len(table.partition_keys)
            replace = "*" if not table.partition_keys else "/".join(static) if static and leading else "partitions"
        write_batch(folder, writer, number, stage, replace=replace, commit=self._commit(request, ends=ends))

    def _commit(self, request: Write, *, ends: bool) -> PartitionCommit | None:
        """How partitions are committed; ``ends``: the input has ended, so all of them are complete."""
        table = request.table
        if not table.partition_keys or "sink.partition-commit.policy.kind" not in table.options:
            return None
        success = self.option(table, "sink.partition-commit.success-file.name")
        if ends or self.option(table, "sink.partition-commit.trigger") == "process-time":
            return PartitionCommit(success)
        time = PartitionTime(
            table.partition_keys,
            table.options.get("partition.time-extractor.timestamp-pattern"),
            table.options.get("partition.time-extractor.timestamp-formatter"),
            self.option(table, "sink.partition-commit.watermark-time-zone"),
            self.option(table, "sink.partition-commit.delay"),
        )
        return PartitionCommit(success, time, request.watermark)


def _fields(table: Table) -> Fields:
    """The columns that are in the files."""
    return tuple((c.name, c.type) for c in table.physical if c.name not in table.partition_keys)


def _names(table: Table) -> list[str]:
    """Physical and metadata columns, in the table's order."""
    wanted = {c.name for c in table.physical} | {c.name for c in table.metadata}
    return [c.name for c in table.columns if c.name in wanted]
