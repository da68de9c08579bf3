"""A connector of tests: a sink whose rows are in this process, by the project and the table's name.

It takes the changes that a Delta table takes, and folds them as one does: the plans are those of Delta tables, without their price. It knows nothing
of micro-batches that it has already: a test that is about these needs a Delta table.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from sqlstream.connectors import CONNECTORS
from sqlstream.connectors.base import Connector, Write
from sqlstream.connectors.print import java_text
from sqlstream.connectors.upserts import DELETED, upserts
from sqlstream.core.changelog import ChangelogMode
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.sql.tables import Table

Row = tuple[str | None, ...]
Tables = dict[tuple["Path", str], Counter[Row]]


class Memory(Connector):
    """A sink for looking at what is there in the end: each row with how often it is there."""

    name = "memory"
    summary = "Keeps rows in this process."
    example = "CREATE TABLE seen (item STRING, total BIGINT) WITH ('connector' = 'memory');"
    is_sink = True

    def __init__(self) -> None:
        self.tables: Tables = defaultdict(Counter)

    def check(self, table: Table) -> list[str]:
        return []

    def sink_modes(self, table: Table) -> tuple[ChangelogMode, ...]:
        return tuple(ChangelogMode) if table.primary_key else super().sink_modes(table)

    def write_stream(self, request: Write) -> DataStreamWriter:
        return request.frame.writeStream.foreachBatch(lambda batch, _: self._write(batch, request))

    def landed(self, request: Write, query: str, batch: int) -> bool | None:
        return False

    def _write(self, batch: DataFrame, request: Write) -> None:
        rows = self.tables[request.project, request.table.path.name]
        columns = request.table.persisted
        texts = [f"{java_text(quote(c.name), c.type)} AS {quote(c.name)}" for c in columns]
        if request.table.primary_key is None:
            rows.update(tuple(row) for row in batch.selectExpr(*texts).collect())
            return
        key = [i for i, c in enumerate(columns) if c.name in request.table.primary_key.columns]
        for *cells, deleted in upserts(batch, request).selectExpr(*texts, DELETED).collect():
            for row in [row for row in rows if all(row[i] == cells[i] for i in key)]:
                del rows[row]
            if not deleted:
                rows[tuple(cells)] = 1

    def rows(self, project: Path, table: str) -> list[Row]:
        """The rows of a table, sorted; those with NULL first."""
        return sorted(self.tables[project.resolve(), table].elements(), key=in_order)

    def of(self, project: Path) -> dict[str, Counter[Row]]:
        """The tables of a project as they are."""
        return {name: Counter(rows) for (path, name), rows in self.tables.items() if path == project.resolve()}

    def set(self, project: Path, tables: dict[str, Counter[Row]]) -> None:
        """Give the project these tables in place of its own."""
        for name in self.of(project):
            del self.tables[project.resolve(), name]
        self.tables.update({(project.resolve(), name): Counter(rows) for name, rows in tables.items()})


def in_order(row: Row) -> list[tuple[bool, str | None]]:
    """A key by which rows are sorted, those with NULL first."""
    return [(cell is not None, cell) for cell in row]


def known(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """The connector, which sessions know until the test ends."""
    memory = Memory()
    monkeypatch.setattr(CONNECTORS, "builtin", (*CONNECTORS.builtin, memory))
    return memory
