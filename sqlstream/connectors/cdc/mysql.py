"""The mysql-cdc connector: the rows of a table of MySQL or MariaDB, and their changes from the binary log."""

from __future__ import annotations

import random
import socket
from typing import TYPE_CHECKING

from sqlstream.connectors.base import Metadata
from sqlstream.connectors.cdc.capture import LOGIN, OTHERS, ChangeCapture, without_effect
from sqlstream.core import options as option_rows
from sqlstream.core.errors import JobFailed
from sqlstream.core.options import Option, OptionKind, Role, Support
from sqlstream.sql.types import STRING, timestamp_ltz

if TYPE_CHECKING:
    from sqlstream.connectors.base import Read
    from sqlstream.sql.tables import Table

# Flink CDC takes a number of these where none is given.
_IDS = range(5400, 6400)
_CLASSES = {False: "io.debezium.connector.mysql.MySqlConnector", True: "io.debezium.connector.mariadb.MariaDbConnector"}
_CHECK = "Check 'hostname' and 'port', and that the database runs."


class MysqlCdc(ChangeCapture):
    """A table of MySQL or MariaDB, and its changes."""

    name = "mysql-cdc"
    scheme = "mysql"
    summary = "The rows of a table of MySQL or MariaDB, and each change of them, from the binary log."
    example = (
        "CREATE TABLE orders (id INT, customer STRING, price DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED)\n"
        "WITH ('connector' = 'mysql-cdc', 'hostname' = 'localhost', 'username' = 'flink', 'password' = '${env:SHOP_PASSWORD}',\n"
        "  'database-name' = 'shop', 'table-name' = 'orders');"
    )
    options = (
        *LOGIN,
        Option("port", OptionKind.INT, "3306", "The database's port.", role=Role.PLACE),
        Option("database-name", required=True, summary="The database, or a regular expression for several.", role=Role.PLACE),
        Option("table-name", required=True, summary="The table, or a regular expression for several with the same columns.", role=Role.PLACE),
        Option("server-id", summary="A number that no other client of the server's log has, 5400; of a range, 5400-5404, the first is taken.",
               role=Role.TUNING),
        Option("server-time-zone", summary="The zone in which a TIMESTAMP of the database is a TIMESTAMP; by default that of the session."),
        Option("scan.startup.mode", OptionKind.ENUM, "initial", "initial: the rows that are there, then changes. latest-offset: changes from now on.",
               values=("initial", "latest-offset")),
        Option("heartbeat.interval", OptionKind.DURATION, "30 s", "How often it is noted how far the log is read, if the table does not change.",
               role=Role.TUNING),
        *(Option(f"scan.startup.{key}", use=Support.REFUSED, why="Start with 'initial' or 'latest-offset'.")
          for key in ("specific-offset.*", "timestamp-millis")),
        *without_effect("scan.newly-added-table.enabled", why="tables that match later are read from then on"),
        *without_effect("debezium.min.row.count.to.stream.result"),
        *without_effect("use.legacy.json.format", why="it is of Flink CDC's own pipelines"),
        *without_effect("scan.parse.online.schema.changes.enabled", why="it is of Flink CDC's own pipelines"),
        *OTHERS,
    )  # fmt: skip
    metadata = (
        Metadata("database_name", STRING),
        Metadata("table_name", STRING),
        Metadata("op_ts", timestamp_ltz(3)),
        Metadata("row_kind", STRING),
    )

    def check(self, table: Table) -> list[str]:
        notices = super().check(table)
        first = table.options.get("server-id", "1").partition("-")[0].strip()
        if not first.isdecimal() or not 0 < int(first) < 1 << 32:
            raise option_rows.wrong_option("server-id", "The value of 'server-id' has to be a number, 5400, or a range, 5400-5404.")
        return notices

    def named(self, table: Table) -> tuple[str, ...]:
        return table.options["database-name"], table.options["table-name"]

    def zone(self, request: Read) -> str:
        return request.table.options.get("server-time-zone", request.zone)

    def properties(self, request: Read) -> dict[str, str]:
        table = request.table
        database, name = self.named(table)
        number = table.options.get("server-id", str(random.choice(_IDS))).partition("-")[0].strip()  # no secret
        initial = self.option(table, "scan.startup.mode") == "initial"
        return {
            "connector.class": _CLASSES[_is_mariadb(table.options["hostname"], self.option(table, "port"))],
            "database.server.id": number,
            "database.include.list": database,
            "table.include.list": rf"({database})\.({name})",
            "snapshot.mode": "initial" if initial else "no_data",
            "heartbeat.interval.ms": str(self.option(table, "heartbeat.interval")),
            "connect.timeout.ms": str(self.option(table, "connect.timeout")),
            # A connection that is lost is made again after so long.
            "connect.keep.alive.interval.ms": "5000",
            "include.schema.changes": "false",
            "schema.history.internal.store.only.captured.tables.ddl": "true",
            "bigint.unsigned.handling.mode": "precise",
        }


def _is_mariadb(host: str, port: int) -> bool:
    """Whether the server says that it is MariaDB, in what it sends to who connects. Raises JobFailed."""
    try:
        with socket.create_connection((host, port), timeout=10) as connection:
            greeting = connection.recv(256)
    except OSError as error:
        raise JobFailed(f"The database at {host}:{port} can't be reached: {error.strerror or error}.", hint=_CHECK) from error
    return b"MariaDB" in greeting
