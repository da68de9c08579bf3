"""The blackhole connector: takes every row and keeps none; everything above it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors.base import Connector, Write, plain_options
from sqlstream.core import options
from sqlstream.core.changelog import ChangelogMode

if TYPE_CHECKING:
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.sql.tables import Table


class Blackhole(Connector):
    """A sink for measuring and trying."""

    name = "blackhole"
    summary = "Discards every row."
    example = "CREATE TABLE nothing (item STRING, price INT) WITH ('connector' = 'blackhole');"
    is_sink = True
    takes_any_change = True

    def check(self, table: Table) -> list[str]:
        return options.check_options(self.name, plain_options(table), self.options)

    def sink_modes(self, table: Table) -> tuple[ChangelogMode, ...]:
        return tuple(ChangelogMode)

    def write_stream(self, request: Write) -> DataStreamWriter:
        return request.frame.writeStream.format("noop")

    def landed(self, request: Write, query: str, batch: int) -> bool | None:
        return False

    def write_batch(self, request: Write) -> None:
        request.frame.write.format("noop").mode("overwrite").save()
