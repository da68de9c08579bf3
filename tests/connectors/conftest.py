"""Tables, reads and writes for the tests of connectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.connectors import find_connector
from sqlstream.connectors.base import Read, Write
from sqlstream.core.changelog import ChangelogMode
from sqlstream.sql.tables import MetadataColumn, ObjectPath, PhysicalColumn, Table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def table(columns, options, *, name: str = "t", partition_keys=(), metadata=()) -> Table:
    """A table; ``columns`` and ``metadata`` are (name, type) and (name, type, key) tuples."""
    physical = tuple(PhysicalColumn(n, t) for n, t in columns)
    return Table(
        ObjectPath("default_catalog", "default_database", name),
        (*physical, *(MetadataColumn(*m) for m in metadata)),
        options,
        partition_keys=tuple(partition_keys),
    )


class Runner:
    """Reads and writes tables in a project folder."""

    def __init__(self, spark, project: Path) -> None:
        self.spark = spark
        self.project = project
        self.lines: list[str] = []
        self._runs = 0

    def source(self, table: Table, *, streaming: bool = False, splits: bool = False):
        request = Read(self.spark, table, streaming, splits, "source", "UTC", self.project, self.project / "state")
        return find_connector(table.connector).read(request)

    def frame(self, table: Table, *, streaming: bool = False):
        return self.source(table, streaming=streaming).frame

    def rows(self, table: Table, *columns: str) -> list[tuple]:
        frame = self.frame(table)
        return [tuple(row) for row in (frame.selectExpr(*columns) if columns else frame).collect()]

    def streamed(self, table: Table, *, splits: bool = False, checkpoint: str | None = None) -> list[tuple]:
        """All rows of a streaming read up to now; ``splits``: with the split of each as a last column, where there are several."""
        frame = self.source(table, streaming=True, splits=splits).frame
        out: list[tuple] = []

        def take(batch, _):
            out.extend(tuple(row) for row in batch.collect())

        self._runs += 1
        folder = self.project / (checkpoint or f"checkpoint-{self._runs}")
        query = frame.writeStream.foreachBatch(take).option("checkpointLocation", str(folder)).trigger(availableNow=True)
        query.start().awaitTermination()
        return out

    def write(self, table: Table, frame, *, mode=ChangelogMode.APPEND, keys=(), partition=None, overwrite=False, version=None):
        return Write(
            self.spark, table, frame, mode, tuple(keys), "sink", "UTC", self.project, self.lines.append,
            partition=partition or {}, overwrite=overwrite, version=version,
        )  # fmt: skip

    def insert(self, table: Table, frame, **more) -> None:
        find_connector(table.connector).write_batch(self.write(table, frame, **more))

    def stream(self, table: Table, frame, checkpoint: str = "sink", **more) -> None:
        """Write a streaming frame until its input is used up."""
        writer = find_connector(table.connector).write_stream(self.write(table, frame, **more))
        writer = writer.option("checkpointLocation", str(self.project / checkpoint)).trigger(availableNow=True)
        writer.start().awaitTermination()


@pytest.fixture
def run(spark, tmp_path: Path) -> Runner:
    return Runner(spark, tmp_path)


@pytest.fixture
def make_table() -> Callable[..., Table]:
    return table


@pytest.fixture
def texts():
    """A function: all rows of a frame, each cell as text, bytes in hex."""

    def rows(frame) -> list[tuple[str | None, ...]]:
        cells = [f"lower(hex(`{f.name}`))" if f.dataType.typeName() == "binary" else f"CAST(`{f.name}` AS STRING)" for f in frame.schema]
        return [tuple(row) for row in frame.selectExpr(*cells).collect()]

    return rows
