"""The kafka connector: Spark's Kafka source and sink, with Flink's options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream import formats
from sqlstream.connectors.base import Write, with_kinds
from sqlstream.connectors.kafka import exactly_once
from sqlstream.connectors.kafka.connector import ENDS, SINK, TOPICS, WRITING, TopicConnector, client_properties
from sqlstream.connectors.kafka.offsets import cluster
from sqlstream.connectors.kafka.records import Layout, encoded, layout
from sqlstream.core import options as option_rows
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.core.options import Option, OptionKind, Support

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.core.changelog import ChangelogMode
    from sqlstream.sql.tables import Table

PARTITIONER = "sink.partitioner"
_STARTUPS = ("group-offsets", "earliest-offset", "latest-offset", "timestamp", "specific-offsets")


class Kafka(TopicConnector):
    """Topics of Kafka."""

    name = "kafka"
    summary = "Topics of Apache Kafka, read from any offset and appended to."
    example = (
        "CREATE TABLE orders (item STRING, price INT, ts TIMESTAMP(3), sent TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,\n"
        "  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)\n"
        "WITH ('connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092',\n"
        "  'scan.startup.mode' = 'earliest-offset', 'format' = 'json');"
    )
    options = (
        *TOPICS,
        Option("properties.auto.offset.reset", OptionKind.ENUM, summary="Where group-offsets starts with nothing committed.",
               values=("earliest", "latest", "none")),
        Option("format", OptionKind.STRING, summary="The value's format; the same as value.format."),
        Option("value.format", OptionKind.STRING, summary="The value's format."),
        Option("key.format", OptionKind.STRING, summary="The key's format."),
        Option("key.fields", OptionKind.LIST, summary="The columns that form the key, separated by ;."),
        Option("key.fields-prefix", OptionKind.STRING, "", "What the names of key columns begin with, beyond the key's own names."),
        Option("value.fields-include", OptionKind.ENUM, "all", "Whether key columns are in the value too.", values=("all", "except_key")),
        Option("scan.startup.mode", OptionKind.ENUM, "group-offsets", "Where reading starts.", values=_STARTUPS),
        Option("scan.startup.specific-offsets", OptionKind.STRING, summary="partition:0,offset:42;partition:1,offset:300"),
        Option("scan.startup.timestamp-millis", OptionKind.LONG, summary="Milliseconds since 1970."),
        Option(PARTITIONER, OptionKind.STRING, "default", "fixed: each task writes into one partition. Else Kafka's own partitioner decides."),
        Option("sink.semantic", use=Support.REFUSED, why="Flink has dropped it too: write 'sink.delivery-guarantee'."),
        *ENDS,
        *WRITING,
    )  # fmt: skip

    def layout(self, table: Table) -> Layout:
        return layout(table, tuple(option_rows.value(table.options, self.options, "key.fields") or ()))

    def startup(self, table: Table) -> str:
        return str(self.option(table, "scan.startup.mode"))

    def check(self, table: Table) -> list[str]:
        notices = super().check(table)
        self.check_offsets(table, "startup", self.startup(table))
        partitioner = self.option(table, PARTITIONER)
        if partitioner == "round-robin" and table.options.get("key.fields"):
            raise ValidationError("Currently 'round-robin' partitioner only works when option 'key.fields' is not specified.")
        if partitioner not in ("default", "fixed", "round-robin"):
            raise NotSupported(
                f"Option '{PARTITIONER}' can't name a class: '{partitioner}'.",
                hint="Set 'properties.partitioner.class' to a Kafka partitioner, whose jar 'spark.jars' names.",
            )
        value = self.layout(table).value
        if table.primary_key is not None and not value.mode.updates:
            raise ValidationError(
                f"The Kafka table '{table.path}' with '{value.name}' format doesn't support defining PRIMARY KEY constraint on the table, "
                "because it can't guarantee the semantic of primary key.",
                hint="'upsert-kafka' has one: a record takes the place of the one before it with its key.",
            )
        return notices

    def source_mode(self, table: Table) -> ChangelogMode:
        return self.layout(table).value.mode

    def sink_modes(self, table: Table) -> tuple[ChangelogMode, ...]:
        return formats.writable_changes(self.layout(table).value)

    def writes_in_real_time(self, table: Table, mode: ChangelogMode, *, in_order: bool) -> bool:
        return not self.is_exactly_once(table)

    def at_least_once(self, request: Write) -> DataStreamWriter:
        return self.records(request.frame, request).writeStream.format(SINK).options(**self.sink_options(request))

    def in_transactions(self, request: Write) -> DataStreamWriter:
        return exactly_once.write_stream(self.records(request.frame, request), self.sink_options(request))

    def records(self, rows: DataFrame, request: Write) -> DataFrame:
        table = request.table
        return encoded(with_kinds(rows), table, self.layout(table), timed=self.is_exactly_once(table), partitions=self._partitions(request))

    def _partitions(self, request: Write) -> int | None:
        """How many the topic has, where each task writes into one of them; None where Kafka's client decides. Raises ValidationError."""
        if self.option(request.table, PARTITIONER) != "fixed":
            return None
        with cluster(request.spark, client_properties(request.table)) as kafka:
            return len(kafka.partitions([self.sink_topic(request.table)], None))
