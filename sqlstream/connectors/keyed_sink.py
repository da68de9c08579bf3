"""Sinks that operators of our own write: rows are added or, with a PRIMARY KEY, written and removed by it.

Written by key, a micro-batch has the same result however often that is repeated.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlstream.connectors.base import Connector, Write
from sqlstream.connectors.upserts import each_change, upserts
from sqlstream.core.changelog import ChangelogMode
from sqlstream.core.errors import ValidationError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.sql.tables import Table


# How many tasks write.
_PARALLELISM = "sink.parallelism"


class Writers(NamedTuple):
    """Classes of Java: ``batch`` has ``write(frame, ..)``, ``stream`` gives the id of a RowSink's targets by ``begin(schema, ..)``."""

    batch: Any
    stream: Any


class KeyedSink(Connector):
    """Base of such. _PARALLELISM is among its options."""

    is_sink = True

    @abstractmethod
    def writers(self, spark: SparkSession) -> Writers:
        """What writes."""

    @abstractmethod
    def how(self, request: Write) -> tuple[Any, ...]:
        """What they are told besides the rows. Raises SqlStreamError."""

    @abstractmethod
    def as_written(self, rows: DataFrame, request: Write) -> DataFrame:
        """``rows``, the table's columns and, where it has a PRIMARY KEY, DELETED, as the writers take them."""

    def sink_modes(self, table: Table) -> tuple[ChangelogMode, ...]:
        return tuple(ChangelogMode) if table.primary_key else (ChangelogMode.APPEND,)

    def writes_in_real_time(self, table: Table, mode: ChangelogMode, *, in_order: bool) -> bool:
        return (in_order or not mode.updates) and not self.option(table, _PARALLELISM)

    def landed(self, request: Write, query: str, batch: int) -> bool | None:
        # What is written again takes the place of what it was.
        return False if request.table.primary_key else None

    def write_stream(self, request: Write) -> DataStreamWriter:
        how = self.how(request)
        if request.real_time:
            rows = self.as_written(each_change(request.frame, request) if request.table.primary_key else request.frame, request)
            return request.row_by_row(rows, self.writers(request.spark).stream.begin(rows._jdf.schema(), *how))
        return request.in_batches(lambda batch, _: self._put(request, batch, how))

    def write_batch(self, request: Write) -> None:
        if request.overwrite:
            raise ValidationError(f"INSERT OVERWRITE requires that the underlying DynamicTableSink of table '{request.table.path}' "
                                  "implements the SupportsOverwrite interface.")  # fmt: skip
        self._put(request, request.frame, self.how(request))

    def _put(self, request: Write, batch: DataFrame, how: tuple[Any, ...]) -> None:
        rows = self.as_written(upserts(batch, request) if request.table.primary_key else batch, request)
        if tasks := self.option(request.table, _PARALLELISM):
            rows = rows.repartition(tasks)
        self.writers(request.spark).batch.write(rows._jdf, *how)
