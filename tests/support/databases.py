"""What tests of tables in a database do, whichever it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.sql.tables import PrimaryKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlstream.sql.tables import Table
    from tests.support.mariadb import MariaDb
    from tests.support.postgres import Postgres


def fresh_tables(server: Postgres | MariaDb) -> Iterator[Callable[..., None]]:
    """A function that makes a fresh table of a name in the database, with columns and rows; the tables are dropped behind that."""
    made = []

    def make(name: str, columns: str, *rows: str) -> None:
        server.run(f"DROP TABLE IF EXISTS {name}", f"CREATE TABLE {name} ({columns})", *(f"INSERT INTO {name} VALUES {r}" for r in rows))
        made.append(name)

    yield make
    server.run(*(f"DROP TABLE {name}" for name in made))


def keyed(table: Table, *columns: str) -> Table:
    """``table`` with a primary key."""
    return replace(table, primary_key=PrimaryKey(columns))
