"""The iceberg connector: tables of one of Iceberg's catalogs.

A table is created, empty, by the first use of its declaration, with its database, as by Iceberg's connector for Flink. It is read as it is, or, with
``streaming``, the rows of its new snapshots are.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.connectors.base import Dataset, Read, SourceFrame, Write, once, plain_options
from sqlstream.connectors.iceberg import options as rows
from sqlstream.connectors.iceberg import snapshots, write
from sqlstream.connectors.iceberg.catalog import catalog_type, opened, refusals, where
from sqlstream.connectors.lake import Lake
from sqlstream.connectors.paths import file_names, one_spelling
from sqlstream.core import options as option_rows
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import Any

    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.connectors.iceberg.catalog import Iceberg as Opened
    from sqlstream.sql.tables import Table


class Iceberg(Lake):
    """An Iceberg table."""

    name = "iceberg"
    summary = "Iceberg tables: read as of now or as a stream of new rows; appended to, or updated by primary key, exactly once."
    example = (
        "CREATE TABLE totals (item STRING, total BIGINT, PRIMARY KEY (item) NOT ENFORCED)\n"
        "WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', 'catalog-type' = 'hadoop', 'warehouse' = 'lake', 'catalog-database' = 'shop');"
    )
    library = "Iceberg"
    bounded_by = f"'{rows.STREAMING}' = 'false'"
    options = rows.OPTIONS

    def places(self, table: Table, *, written: bool = False) -> tuple[str, ...]:
        namespace, name = where(table)
        warehouse = table.options.get("warehouse", "")
        warehouse = one_spelling(warehouse) if catalog_type(table) == "hadoop" else warehouse
        said = {"catalog-database": ".".join(namespace), "catalog-table": name, "warehouse": warehouse}
        # Within a table, offsets of its snapshots are of a stream alone.
        kept = {k: v for k, v in table.options.items() if not written or k != rows.STREAMING}
        return super().places(replace(table, options={**kept, **said}))

    def datasets(self, table: Table, project: Path) -> tuple[Dataset, ...]:
        namespace, name = where(table)
        warehouse = table.options.get("warehouse", "")
        if catalog_type(table) == "hadoop":
            return (Dataset(*file_names("/".join((warehouse.rstrip("/"), *namespace, name)), project)),)
        return (Dataset(table.options.get("uri", self.name), ".".join((*namespace, name))),)

    def check(self, table: Table) -> list[str]:
        notices = option_rows.check_options(self.name, plain_options(table), self.options)
        self.check_columns(table)
        if table.metadata:
            raise ValidationError(f"Invalid metadata key '{table.metadata[0].key}' in column '{table.metadata[0].name}' of table '{table.path}'.",
                                  hint="Tables of Iceberg have no metadata.")  # fmt: skip
        keys = table.primary_key.columns if table.primary_key else ()
        if odd := [c for c in table.physical if c.name in keys and c.type.root in ("MAP", "MULTISET", "ARRAY", "ROW", "FLOAT", "DOUBLE")]:
            raise NotSupported(
                f"A PRIMARY KEY of an Iceberg table can't have a column of type {odd[0].type} ('{odd[0].name}').",
                hint="Take a column of another type into the key, as STRING or DECIMAL.",
            )
        if catalog_type(table) == "hadoop" and "warehouse" not in table.options:
            raise ValidationError("A catalog of type 'hadoop' needs the option 'warehouse': the folder of its tables.")
        if catalog_type(table) in ("hive", "rest") and "uri" not in table.options:
            raise ValidationError(f"A catalog of type '{catalog_type(table)}' needs the option 'uri'.",
                                  hint="For tables in a folder write 'catalog-type' = 'hadoop', and the folder as 'warehouse'.")  # fmt: skip
        return [*notices, *self._check_read(table)]

    def _check_read(self, table: Table) -> list[str]:
        """Check where a read begins and ends; returns notices."""
        options, streaming = table.options, self.option(table, rows.STREAMING)
        for key in rows.BATCH_ONLY if streaming else rows.STREAMING_ONLY:
            if key in options:
                kind = "'streaming' = 'false'" if streaming else "'streaming' = 'true'"
                raise option_rows.wrong_option(key, f"Option '{key}' belongs to {kind}.", None, f"Add {kind}, or leave out '{key}'.")
        whole = [key for key in ("snapshot-id", "as-of-timestamp", "tag", "branch", "start-snapshot-id") if key in options]
        if not streaming and len(whole) > 1:
            raise ValidationError(f"Options '{whole[0]}' and '{whole[1]}' are mutually exclusive.")
        asks = {"incremental_from_snapshot_id": "start-snapshot-id", "incremental_from_snapshot_timestamp": "start-snapshot-timestamp"}
        wanted = asks.get(self.option(table, rows.STRATEGY))
        if streaming and wanted and wanted not in options:
            raise ValidationError(f"'{rows.STRATEGY}' = '{self.option(table, rows.STRATEGY)}' needs the option '{wanted}'.")
        idle = [(key, strategy) for strategy, key in asks.items() if streaming and key in options and wanted != key]
        return [f"Option '{key}' of 'iceberg' has no effect, as in Flink, without '{rows.STRATEGY}' = '{strategy}'." for key, strategy in idle]

    def as_of(self, table: Table, moment: datetime) -> Table:
        return replace(table, options={**table.options, "as-of-timestamp": str(math.floor(moment.timestamp() * 1000))})

    def bounded(self, table: Table) -> bool:
        return not self.option(table, rows.STREAMING)

    def read(self, request: Read) -> SourceFrame:
        from pyspark.sql import functions as F

        table = request.table
        iceberg = opened(request.spark, table, request.project)
        loaded = iceberg.made(written=False)
        if request.streaming:
            first = once(request, "start", lambda: str(snapshots.start(table, loaded) or ""))
            reader: Any = request.spark.readStream.name(request.name)
            # As Flink's: changes and removals of rows are passed over.
            settings = {"streaming-skip-overwrite-snapshots": "true", "streaming-skip-delete-snapshots": "true"}
            settings |= {"stream-from-timestamp": first} if first else {}
            name = iceberg.given(loaded, f"streamed by {request.name}", table.options.get("branch"))
        else:
            reader = request.spark.read
            settings = {k: table.options[k] for k in ("start-snapshot-id", "end-snapshot-id") if k in table.options}
            name = iceberg.given(loaded, f"read by {request.name}", snapshots.at(request.spark, table, loaded))
        for key, value in settings.items():
            reader = reader.option(key, value)
        cells = (F.expr(f"CAST({quote(c.name)} AS {c.type.spark})").alias(c.name) for c in table.physical)
        with refusals(table):
            return SourceFrame(reader.table(name).select(*cells))

    def write_stream(self, request: Write) -> DataStreamWriter:
        iceberg, request = self._to_write(request)
        return write.write_stream(request, iceberg)

    def write_batch(self, request: Write) -> None:
        iceberg, request = self._to_write(request)
        write.write_batch(request, iceberg)

    def _to_write(self, request: Write) -> tuple[Opened, Write]:
        """The table, made where it is not there, and ``request`` whose rows fail where the table refuses a NULL: its own error shows no row."""
        table = request.table
        iceberg = opened(request.spark, table, request.project)
        loaded = iceberg.made(written=True)
        branch = table.options.get("branch")
        if branch is not None and loaded.refs().get(branch) is None:
            with refusals(table):
                loaded.manageSnapshots().createBranch(branch).commit()
        return iceberg, self.without_nulls(request, iceberg.required(loaded))

    def add_columns(self, request: Write, names: Sequence[str]) -> None:
        opened(request.spark, request.table, request.project).add_columns(names)

    def is_there(self, request: Write) -> bool:
        return opened(request.spark, request.table, request.project).found() is not None

    def identity(self, request: Write) -> str | None:
        found = opened(request.spark, request.table, request.project).found()
        return None if found is None else str(found.uuid())

    def landed(self, request: Write, query: str, batch: int) -> bool | None:
        return write.landed(request, opened(request.spark, request.table, request.project), query, batch)
