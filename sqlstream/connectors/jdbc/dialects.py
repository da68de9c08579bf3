"""The databases behind JDBC, as data: the URLs by which one is recognized, its driver, and its SQL where databases differ."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote

from sqlstream.connectors.added_jars import provide
from sqlstream.core.errors import NotSupported, SetupError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import SparkSession

    from sqlstream.sql.tables import Table


@dataclass(frozen=True)
class Dialect:
    """One database. ``prefix`` is how its addresses begin, ``driver`` the driver's class, ``jars`` the set of jars.lock that has it.

    ``mark`` stands around a name. ``folded``: what an unquoted name is to the database. ``quotes_tables``: whether a table's name is one
    name, and no SQL. ``replacing`` gives, for quoted key columns and quoted other columns, what stands behind an INSERT that replaces rows.
    ``properties`` are those of a connection. ``namespace``: what OpenLineage calls such a database; ``port`` is that of an address that names none;
    ``schema`` that of a table that names none, and the parameter of the address that says another one; None where a database has no schemas.
    """

    name: str
    prefix: str
    driver: str
    mark: str
    folded: Callable[[str], str]
    quotes_tables: bool
    replacing: Callable[[list[str], list[str]], str]
    namespace: str
    port: int
    schema: tuple[str, str] | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    jars: str | None = None

    def quote(self, name: str) -> str:
        return self.mark + name.replace(self.mark, self.mark * 2) + self.mark

    def table(self, name: str) -> str:
        """The table's name as SQL."""
        return self.quote(name) if self.quotes_tables else name

    def dataset(self, url: str, table: str) -> tuple[str, str]:
        """The namespace and the name that OpenLineage has for a table of the database at ``url``."""
        address, _, parameters = url.removeprefix(self.prefix).partition("?")
        hosts, _, database = address.removeprefix("//").partition("/") if address.startswith("//") else ("", "", address)
        # Of several hosts the first; nothing of who logs in.
        host = hosts.rpartition("@")[2].split(",")[0] or "localhost"
        host = host if re.search(r":\d+$", host) else f"{host}:{self.port}"
        names = [name.strip(self.mark) for name in table.split(".")]
        if self.schema is not None and len(names) == 1:
            default, parameter = self.schema
            names = [parse_qs(parameters).get(parameter, [default])[0].split(",")[0], *names]
        return f"{self.namespace}://{host}", ".".join([unquote(database), *names])

    def insert(self, table: str, columns: list[str]) -> str:
        """The statement that adds a row."""
        return f"INSERT INTO {self.table(table)} ({', '.join(map(self.quote, columns))}) VALUES ({', '.join('?' * len(columns))})"

    def upsert(self, table: str, columns: list[str], keys: list[str]) -> str:
        """The statement that adds a row, or replaces that of its key."""
        others = [self.quote(c) for c in columns if c not in keys]
        return f"{self.insert(table, columns)} {self.replacing([self.quote(k) for k in keys], others)}"

    def delete(self, table: str, keys: list[str]) -> str:
        """The statement that removes the row of a key."""
        return f"DELETE FROM {self.table(table)} WHERE {' AND '.join(f'{self.quote(k)} = ?' for k in keys)}"


def _on_conflict(keys: list[str], others: list[str]) -> str:
    action = f"UPDATE SET {', '.join(f'{c} = EXCLUDED.{c}' for c in others)}" if others else "NOTHING"
    return f"ON CONFLICT ({', '.join(keys)}) DO {action}"


def _on_duplicate_key(keys: list[str], others: list[str]) -> str:
    return f"ON DUPLICATE KEY UPDATE {', '.join(f'{c} = VALUES({c})' for c in others or keys)}"


DIALECTS = (
    # A text that comes without a type takes that of its column: uuid, json and enum are read as text, and so written.
    Dialect("PostgreSQL", "jdbc:postgresql:", "org.postgresql.Driver", '"', str.lower, False, _on_conflict,
            "postgres", 5432, ("public", "currentSchema"), {"stringtype": "unspecified", "reWriteBatchedInserts": "true"}, "postgresql"),
    Dialect("MySQL", "jdbc:mysql:", "com.mysql.cj.jdbc.Driver", "`", str, True, _on_duplicate_key,
            "mysql", 3306, None, {"rewriteBatchedStatements": "true", "useCursorFetch": "true"}, "mysql"),
)  # fmt: skip
# Databases that Flink's connector knows and this one does not.
_OTHERS = ("oracle", "sqlserver", "db2", "derby", "h2", "trino", "oceanbase", "dm", "crate")


def dialect(url: str) -> Dialect:
    """The database of an address. Raises ValidationError, NotSupported."""
    known = next((d for d in DIALECTS if url.startswith(d.prefix)), None)
    if known is not None:
        return known
    names = " and ".join(d.name for d in DIALECTS)
    if url.startswith(tuple(f"jdbc:{name}:" for name in _OTHERS)):
        raise NotSupported(f"The database of '{url.split(':')[1]}' is not supported by 'jdbc'.", hint=f"{names} are.")
    raise ValidationError(f"There is no dialect for the url '{url.partition('?')[0]}'.", hint=f"{names} are known.")


def provide_driver(spark: SparkSession, driver: str, named: Dialect) -> None:
    """Load the driver into a session that lacks it, fetching its jar, and make it visible to this thread. Raises SetupError."""
    if not provide(spark, driver, named.jars if driver == named.driver else None):
        raise SetupError(f"The driver {driver} of {named.name} is missing.", hint="Pass its jar at the start: sqlstream --jar DRIVER.jar")


def actual_names(table: Table, named: Dialect, in_database: list[str]) -> dict[str, str]:
    """The name in the database of each of the table's columns. Raises ValidationError."""
    actual = {}
    for column in table.physical:
        name = next((n for n in (column.name, named.folded(column.name)) if n in in_database), None)
        if name is None:
            raise ValidationError(
                f"Column '{column.name}' of table '{table.path}' is not in the database's table '{table.options['table-name']}'.",
                hint=f"It has: {', '.join(in_database)}.",
            )
        actual[column.name] = name
    return actual
