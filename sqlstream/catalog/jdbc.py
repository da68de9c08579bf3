"""The catalog of type ``jdbc``: the databases of a PostgreSQL or MySQL server, whose tables are read, written and looked up as they are there.

A definition is a CREATE TABLE of the connector ``jdbc``, made of what the server's ``information_schema`` says. Types are those of Flink's catalog,
but where the connector reads more: json and uuid are STRING, and a ``timestamp`` of MySQL, a moment, is TIMESTAMP_LTZ.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sqlstream.catalog.base import CatalogType, Store
from sqlstream.connectors.jdbc.dialects import dialect
from sqlstream.core.errors import NotSupported, SetupError, ValidationError
from sqlstream.core.options import Option
from sqlstream.sql.quoting import flink_string, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

_BASE_URL = re.compile(r"jdbc:(?P<kind>postgresql|mysql)://(?P<host>\[[^\]]+\]|[^:/?#]+)(:(?P<port>\d+))?/*")
_SECONDS = 10


@dataclass(frozen=True)
class _Column:
    """As ``information_schema`` has it: its type in lower case, that type as it was declared, and what else the type has."""

    name: str
    type: str
    declared: str
    length: int | None
    precision: int | None
    scale: int | None
    fraction: int | None
    nullable: bool


class Jdbc(CatalogType):
    """The tables of a database server."""

    name = "jdbc"
    summary = "The tables of a PostgreSQL or MySQL server, as they are declared there."
    example = (
        "CREATE CATALOG shop WITH ('type' = 'jdbc', 'base-url' = 'jdbc:postgresql://localhost:5432', 'default-database' = 'shop',\n"
        "  'username' = 'analyst', 'password' = '${env:SHOP_PASSWORD}');"
    )
    options = (
        Option("base-url", required=True, summary="The server, without a database: jdbc:postgresql://host:port, or jdbc:mysql://host:port."),
        Option("username", required=True, summary="The user."),
        Option("password", required=True, summary="The user's password."),
    )

    def open(self, options: Mapping[str, str], project: Path) -> Store:
        """Raises ValidationError, SetupError."""
        found = _BASE_URL.fullmatch(options["base-url"].strip())
        if found is None:
            raise ValidationError(
                f"Invalid value for option 'base-url': '{options['base-url'].partition('?')[0]}'.",
                hint="It is jdbc:postgresql://host:port or jdbc:mysql://host:port, without a database and parameters.",
            )
        kind = _Postgres if found["kind"] == "postgresql" else _MySql
        return kind(found, options["username"], options["password"])


class _Server(Store):
    """One. ``package`` is the driver's in Python."""

    package: str

    def __init__(self, address: re.Match[str], user: str, password: str) -> None:
        self._url = address[0].rstrip("/")
        self._dialect = dialect(self._url)
        port = int(address["port"] or self._dialect.port)
        self._at = {"host": address["host"].strip("[]"), "port": port, "user": user, "password": password}
        try:
            self._driver: Any = import_module(self.package)
        except ImportError:
            name = self.package.partition(".")[0]
            raise SetupError(f"The package {name} is missing.", hint="pip install 'sqlstream[jdbc]' has it.") from None

    @abstractmethod
    def _connect(self, database: str | None) -> Any:
        """A connection of Python's database API."""

    @abstractmethod
    def _type(self, column: _Column) -> str | None:
        """A column's type in Flink's SQL; None for one that can't be read."""

    @contextmanager
    def _asking(self, database: str | None = None) -> Iterator[Callable[..., Sequence[Sequence[Any]]]]:
        """A function that gives the rows of a query with its parameters."""
        with closing(self._connect(database)) as connection, closing(connection.cursor()) as cursor:

            def asked(sql: str, *parameters: str) -> Sequence[Sequence[Any]]:
                cursor.execute(sql, parameters)
                rows: Sequence[Sequence[Any]] = cursor.fetchall()
                return rows

            yield asked

    def _definition(self, database: str, table: str, columns: Sequence[_Column], keys: Sequence[str]) -> str:
        """The CREATE TABLE of a ``table``, as the connector calls it. Raises NotSupported."""
        lines = []
        for column in columns:
            type_ = self._type(column)
            if type_ is None:
                raise NotSupported(
                    f"Column '{column.name}' of '{table}' has the type {column.declared}, which can't be read.",
                    hint="Declare the table without it: CREATE TABLE .. WITH ('connector' = 'jdbc', ..).",
                )
            lines.append(f"{quote(column.name)} {type_}{'' if column.nullable else ' NOT NULL'}")
        if keys:
            lines.append(f"PRIMARY KEY ({', '.join(map(quote, keys))}) NOT ENFORCED")
        login = {"username": self._at["user"], "password": self._at["password"]}
        options = {"connector": "jdbc", "url": f"{self._url}/{database}", "table-name": table, **login}
        written = ", ".join(f"{flink_string(k)} = {flink_string(str(v))}" for k, v in options.items())
        return f"CREATE TABLE {quote(table)} ({', '.join(lines)}) WITH ({written})"


class _Postgres(_Server):
    """A table is ``schema.table``; one of the schema ``public`` is also known without it."""

    package = "pg8000.dbapi"

    def _connect(self, database: str | None) -> Any:
        return self._driver.connect(**self._at, database=database or "postgres", timeout=_SECONDS)

    def databases(self) -> list[str]:
        with self._asking() as asked:
            return [name for (name,) in asked("SELECT datname FROM pg_database WHERE NOT datistemplate AND datallowconn ORDER BY datname")]

    def tables(self, database: str) -> list[str]:
        with self._asking(database) as asked:
            return [f"{schema}.{name}" for schema, name in asked(_POSTGRES_TABLES)]

    def read(self, database: str, name: str) -> str | None:
        schema, point, table = name.partition(".")
        if not point:
            schema, table = "public", name
        with self._asking(database) as asked:
            found = asked(_POSTGRES_COLUMNS, schema, table)
            keys = [key for (key,) in asked(_POSTGRES_KEYS, schema, table)]
        if not found:
            return None
        # The connector takes SQL for the name of a table of PostgreSQL's.
        plain = all(re.fullmatch("[a-z_][a-z0-9_]*", part) for part in (schema, table))
        written = f"{schema}.{table}" if plain else ".".join(map(self._dialect.quote, (schema, table)))
        return self._definition(database, written, [_Column(*row) for row in found], keys)

    def _type(self, column: _Column) -> str | None:
        write = _POSTGRES_TYPES.get(column.type)
        return None if write is None else write(column)


class _MySql(_Server):
    """MySQL, or MariaDB."""

    package = "pymysql"

    def _connect(self, database: str | None) -> Any:
        return self._driver.connect(**self._at, database=database, connect_timeout=_SECONDS, read_timeout=_SECONDS, charset="utf8mb4")

    def databases(self) -> list[str]:
        with self._asking() as asked:
            found = asked("SELECT schema_name FROM information_schema.schemata ORDER BY schema_name")
        return [name for (name,) in found if name not in _MYSQLS_OWN]

    def tables(self, database: str) -> list[str]:
        with self._asking() as asked:
            return [name for (name,) in asked("SELECT table_name FROM information_schema.tables WHERE table_schema = %s ORDER BY 1", database)]

    def read(self, database: str, name: str) -> str | None:
        with self._asking() as asked:
            found = asked(_MYSQL_COLUMNS, database, name)
            keys = [key for (key,) in asked(_MYSQL_KEYS, database, name)]
        return self._definition(database, name, [_Column(*row) for row in found], keys) if found else None

    def _type(self, column: _Column) -> str | None:
        unsigned = "unsigned" in column.declared
        if column.declared.startswith("tinyint(1)") and not unsigned:
            return "BOOLEAN"
        if column.type == "bit":
            return "BOOLEAN" if column.precision == 1 else None
        if unsigned and column.type in _MYSQL_UNSIGNED:
            return _MYSQL_UNSIGNED[column.type]
        write = _MYSQL_TYPES.get(column.type)
        return None if write is None else write(column)


def _sized(root: str) -> Callable[[_Column], str]:
    return lambda column: f"{root}({column.length})" if column.length else "STRING"


def _fraction(root: str, usual: int) -> Callable[[_Column], str]:
    return lambda column: f"{root}({usual if column.fraction is None else column.fraction})"


def _always(type_: str) -> Callable[[_Column], str]:
    return lambda _: type_


def _decimal(column: _Column) -> str:
    # A numeric of PostgreSQL without a precision has as many digits as are written.
    return "DECIMAL(38, 18)" if column.precision is None else f"DECIMAL({min(column.precision, 38)}, {column.scale or 0})"


_POSTGRES_TYPES: Mapping[str, Callable[[_Column], str]] = {
    "boolean": _always("BOOLEAN"), "smallint": _always("SMALLINT"), "integer": _always("INT"), "bigint": _always("BIGINT"),
    "real": _always("FLOAT"), "double precision": _always("DOUBLE"), "numeric": _decimal, "text": _always("STRING"), "bytea": _always("BYTES"),
    "character": _sized("CHAR"), "character varying": _sized("VARCHAR"), "date": _always("DATE"), "time without time zone": _always("TIME(0)"),
    "timestamp without time zone": _fraction("TIMESTAMP", 6), "timestamp with time zone": _fraction("TIMESTAMP_LTZ", 6),
    "uuid": _always("STRING"), "json": _always("STRING"), "jsonb": _always("STRING"),
}  # fmt: skip
_MYSQL_TYPES: Mapping[str, Callable[[_Column], str]] = {
    "tinyint": _always("TINYINT"), "smallint": _always("SMALLINT"), "mediumint": _always("INT"), "int": _always("INT"), "bigint": _always("BIGINT"),
    "float": _always("FLOAT"), "double": _always("DOUBLE"), "decimal": _decimal, "char": _sized("CHAR"), "varchar": _sized("VARCHAR"),
    "date": _always("DATE"), "time": _always("TIME(0)"), "datetime": _fraction("TIMESTAMP", 0), "timestamp": _fraction("TIMESTAMP_LTZ", 0),
    **dict.fromkeys(("tinytext", "text", "mediumtext", "longtext", "json", "enum", "set"), _always("STRING")),
    **dict.fromkeys(("tinyblob", "blob", "mediumblob", "longblob", "binary", "varbinary"), _always("BYTES")),
}  # fmt: skip
_MYSQL_UNSIGNED = {"tinyint": "SMALLINT", "smallint": "INT", "mediumint": "INT", "int": "BIGINT", "bigint": "DECIMAL(20, 0)"}
_MYSQLS_OWN = ("information_schema", "mysql", "performance_schema", "sys")
_POSTGRES_TABLES = """
SELECT table_schema, table_name FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema') AND table_schema NOT LIKE 'pg\\_%%'
ORDER BY 1, 2"""
_COLUMNS = "character_maximum_length, numeric_precision, numeric_scale, datetime_precision, is_nullable = 'YES'"
_POSTGRES_COLUMNS = f"""
SELECT column_name, data_type, data_type, {_COLUMNS} FROM information_schema.columns
WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position"""
_MYSQL_COLUMNS = f"""
SELECT column_name, lower(data_type), lower(column_type), {_COLUMNS} FROM information_schema.columns
WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position"""
_POSTGRES_KEYS = """
SELECT a.attname FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
WHERE i.indisprimary AND n.nspname = %s AND c.relname = %s ORDER BY array_position(i.indkey::int2[], a.attnum)"""
_MYSQL_KEYS = """
SELECT column_name FROM information_schema.key_column_usage
WHERE constraint_name = 'PRIMARY' AND table_schema = %s AND table_name = %s ORDER BY ordinal_position"""
