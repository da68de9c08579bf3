"""The postgres-cdc connector: the rows of a table of PostgreSQL, and their changes by logical decoding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors.base import Metadata
from sqlstream.connectors.cdc.capture import LOGIN, OTHERS, ChangeCapture, without_effect
from sqlstream.core.options import Option, OptionKind, Role
from sqlstream.formats import changes
from sqlstream.sql.types import STRING, timestamp_ltz

if TYPE_CHECKING:
    from sqlstream.connectors.base import Read
    from sqlstream.sql.tables import Table


class PostgresCdc(ChangeCapture):
    """A table of PostgreSQL, and its changes."""

    name = "postgres-cdc"
    scheme = "postgres"
    summary = "The rows of a table of PostgreSQL, and each change of them, by logical decoding."
    example = (
        "CREATE TABLE shipments (id INT, origin STRING, arrived BOOLEAN, PRIMARY KEY (id) NOT ENFORCED)\n"
        "WITH ('connector' = 'postgres-cdc', 'hostname' = 'localhost', 'username' = 'flink', 'password' = '${env:SHOP_PASSWORD}',\n"
        "  'database-name' = 'shop', 'schema-name' = 'public', 'table-name' = 'shipments', 'slot.name' = 'shipments',\n"
        "  'decoding.plugin.name' = 'pgoutput');"
    )
    options = (
        *LOGIN,
        Option("port", OptionKind.INT, "5432", "The database's port.", role=Role.PLACE),
        Option("database-name", required=True, summary="The database.", role=Role.PLACE),
        Option("schema-name", required=True, summary="The schema, or a regular expression for several.", role=Role.PLACE),
        Option("table-name", required=True, summary="The table, or a regular expression for several with the same columns.", role=Role.PLACE),
        Option("slot.name", required=True, summary="The replication slot, which is made if it is not there: a job has it for itself.",
               role=Role.PLACE),
        Option("decoding.plugin.name", OptionKind.ENUM, "decoderbufs", "The server's plugin that reads its log; pgoutput is in each PostgreSQL.",
               values=("decoderbufs", "pgoutput"), role=Role.TUNING),
        Option("changelog-mode", OptionKind.ENUM, "all", "upsert: changes of rows come without the rows before them, by primary key.",
               values=("all", "upsert")),
        Option("scan.startup.mode", OptionKind.ENUM, "initial",
               "initial: the rows that are there, then changes. committed-offset: changes from where the slot is.",
               values=("initial", "committed-offset")),
        Option("heartbeat.interval.ms", OptionKind.DURATION, "30 s", "How often the slot is moved on, if the table does not change.",
               role=Role.TUNING),
        *without_effect("scan.lsn-commit.checkpoints-num-delay", why="the slot moves on when changes have been written down"),
        *without_effect("scan.include-partitioned-tables.enabled", why="a partitioned table is read as its publication has it"),
        *OTHERS,
    )  # fmt: skip
    metadata = (
        Metadata("database_name", STRING),
        Metadata("schema_name", STRING),
        Metadata("table_name", STRING),
        Metadata("op_ts", timestamp_ltz(3)),
        Metadata("row_kind", STRING),
    )

    def named(self, table: Table) -> tuple[str, ...]:
        return table.options["database-name"], table.options["schema-name"], table.options["table-name"]

    def upserts(self, table: Table) -> bool:
        return bool(self.option(table, "changelog-mode") == "upsert")

    def zone(self, request: Read) -> str:
        return "UTC"

    def why(self, change: str) -> str:
        return changes.no_row_before(change)

    def properties(self, request: Read) -> dict[str, str]:
        table = request.table
        database, schema, name = self.named(table)
        initial = self.option(table, "scan.startup.mode") == "initial"
        return {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "database.dbname": database,
            "schema.include.list": schema,
            "table.include.list": rf"({schema})\.({name})",
            "slot.name": table.options["slot.name"],
            # One of all tables would keep those without a key from being updated, and two jobs would change one of the same name.
            "publication.name": f"{table.options['slot.name']}_publication",
            "publication.autocreate.mode": "filtered",
            "plugin.name": self.option(table, "decoding.plugin.name"),
            "snapshot.mode": "initial" if initial else "no_data",
            "heartbeat.interval.ms": str(self.option(table, "heartbeat.interval.ms")),
            # A slot that another process of the same job had is free in a moment.
            "slot.max.retries": "12",
        }
