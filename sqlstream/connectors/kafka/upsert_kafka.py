"""The upsert-kafka connector: topics in which each record stands for the row of its key, and a record without a value removes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors.kafka import exactly_once
from sqlstream.connectors.kafka.connector import ENDS, SINK, TOPICS, WRITING, TopicConnector, client_properties
from sqlstream.connectors.kafka.records import Layout, encoded, layout
from sqlstream.connectors.upserts import DELETED, are_upserts, each_change, upserts
from sqlstream.core.changelog import ChangelogMode
from sqlstream.core.errors import ValidationError
from sqlstream.core.java import classes
from sqlstream.core.options import Option, OptionKind, Support

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.connectors.base import Write
    from sqlstream.sql.tables import Table

_FLUSH = "a micro-batch writes one record a key"


class UpsertKafka(TopicConnector):
    """Topics of Kafka that hold the latest row of each key."""

    name = "upsert-kafka"
    takes_back = True
    summary = "Topics of Apache Kafka as tables by primary key: a record replaces the row of its key, one without a value removes it."
    example = (
        "CREATE TABLE totals (item STRING, total BIGINT, PRIMARY KEY (item) NOT ENFORCED)\n"
        "WITH ('connector' = 'upsert-kafka', 'topic' = 'totals', 'properties.bootstrap.servers' = 'localhost:9092',\n"
        "  'key.format' = 'json', 'value.format' = 'json');"
    )
    options = (
        *TOPICS,
        Option("key.format", OptionKind.STRING, summary="The key's format."),
        Option("value.format", OptionKind.STRING, summary="The value's format."),
        Option("key.fields-prefix", OptionKind.STRING, "", "What the names of key columns begin with, beyond the key's own names."),
        Option("value.fields-include", OptionKind.ENUM, "all", "Whether key columns are in the value too.", values=("all", "except_key")),
        *ENDS,
        Option("sink.buffer-flush.max-rows", OptionKind.INT, "0", use=Support.NOTICE, why=_FLUSH),
        Option("sink.buffer-flush.interval", OptionKind.DURATION, "0", use=Support.NOTICE, why=_FLUSH),
        *WRITING,
    )

    def layout(self, table: Table) -> Layout:
        for part in ("key", "value"):
            if f"{part}.format" not in table.options:
                raise ValidationError(f"Could not find required scan format '{part}.format'.")
        if table.primary_key is None:
            raise ValidationError(
                "'upsert-kafka' tables require to define a PRIMARY KEY constraint. The PRIMARY KEY specifies which columns should be read "
                "from or write to the Kafka message key. The PRIMARY KEY also defines records in the 'upsert-kafka' table should update or "
                "delete on which keys.",
                hint="Add PRIMARY KEY (column) NOT ENFORCED.",
            )
        record_layout = layout(table, table.primary_key.columns, upserts=True)
        assert record_layout.key is not None
        for part, format_ in (("key", record_layout.key), ("value", record_layout.value)):
            if format_.mode.updates:
                raise ValidationError(
                    f"'upsert-kafka' connector doesn't support '{format_.name}' as {part} format, because '{format_.name}' is not in "
                    "insert-only mode."
                )
        return record_layout

    def startup(self, table: Table) -> str:
        return "earliest-offset"

    def source_mode(self, table: Table) -> ChangelogMode:
        return ChangelogMode.UPSERT_DELETE

    def sink_modes(self, table: Table) -> tuple[ChangelogMode, ...]:
        return tuple(ChangelogMode)

    def writes_in_real_time(self, table: Table, mode: ChangelogMode, *, in_order: bool) -> bool:
        return not self.is_exactly_once(table) and (in_order or not mode.updates)

    def in_transactions(self, request: Write) -> DataStreamWriter:
        options = self.sink_options(request)
        if are_upserts(request):
            return exactly_once.write_stream(self.records(request.frame, request), options)

        def write(batch: DataFrame, number: int) -> None:
            exactly_once.write_micro_batch(self.records(batch, request), options, number)

        return request.in_batches(write)

    def at_least_once(self, request: Write) -> DataStreamWriter:
        options = self.sink_options(request)
        if request.real_time or are_upserts(request):
            # Spark writes these itself, without asking Python at each micro-batch.
            rows = each_change(request.frame, request)
            changes = encoded(rows, request.table, self.layout(request.table), removed=DELETED, marked=request.marked)
            return changes.writeStream.format(SINK).options(**options)

        def write(batch: DataFrame, _: int) -> None:
            self.records(batch, request).write.format(SINK).options(**options).save()

        return request.in_batches(write)

    def take_back(self, request: Write, committed: Mapping[str, int], since: float) -> int:
        client, topic = client_properties(request.table), self.sink_topic(request.table)
        return int(classes(request.spark).kafka.Uncommitted.takeBack(client, topic, int(since * 1000), dict(committed)))

    def landed(self, request: Write, query: str, batch: int) -> bool | None:
        # What is written again takes the place of what it was.
        return super().landed(request, query, batch) or False

    def records(self, rows: DataFrame, request: Write) -> DataFrame:
        timed = self.is_exactly_once(request.table)
        return encoded(upserts(rows, request), request.table, self.layout(request.table), removed=DELETED, timed=timed)

    def sink_options(self, request: Write) -> dict[str, str]:
        table = request.table
        if bool(self.option(table, "sink.buffer-flush.max-rows")) != bool(self.option(table, "sink.buffer-flush.interval")):
            raise ValidationError(
                "'sink.buffer-flush.max-rows' and 'sink.buffer-flush.interval' must be set to be greater than zero together to enable sink "
                "buffer flushing."
            )
        return super().sink_options(request)
