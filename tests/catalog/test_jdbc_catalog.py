"""The catalog of a database server, on a real PostgreSQL and a real MariaDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sqlstream.catalog.jdbc import Jdbc
from sqlstream.core.errors import SetupError, SqlStreamError
from tests.support.sessions import open_session, rows, run

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session
    from tests.support.mariadb import MariaDb
    from tests.support.postgres import Postgres

pytestmark = pytest.mark.postgres

POSTGRES = """CREATE TABLE public.every (b boolean, s smallint, i integer, l bigint, f real, d double precision, n numeric(10, 2), free numeric, t text,
  c char(3), v varchar(20), x bytea, day date, clock time, ts timestamp(3), at timestamptz, u uuid, j jsonb)"""
ON_POSTGRES = [
    ("b", "BOOLEAN"), ("s", "SMALLINT"), ("i", "INT"), ("l", "BIGINT"), ("f", "FLOAT"), ("d", "DOUBLE"), ("n", "DECIMAL(10, 2)"),
    ("free", "DECIMAL(38, 18)"), ("t", "STRING"), ("c", "CHAR(3)"), ("v", "VARCHAR(20)"), ("x", "BYTES"), ("day", "DATE"), ("clock", "TIME(0)"),
    ("ts", "TIMESTAMP(3)"), ("at", "TIMESTAMP_LTZ(6)"), ("u", "STRING"), ("j", "STRING"),
]  # fmt: skip
MARIADB = """CREATE TABLE `every` (b tinyint(1), y tinyint, yu tinyint unsigned, s smallint, su smallint unsigned, m mediumint, i int, iu int unsigned,
  l bigint, lu bigint unsigned, f float, d double, n decimal(10, 2), c char(3), v varchar(20), t text, x blob, day date, clock time,
  ts datetime(3), at timestamp(6) NULL, e enum('a', 'b'))"""
ON_MARIADB = [
    ("b", "BOOLEAN"), ("y", "TINYINT"), ("yu", "SMALLINT"), ("s", "SMALLINT"), ("su", "INT"), ("m", "INT"), ("i", "INT"), ("iu", "BIGINT"),
    ("l", "BIGINT"), ("lu", "DECIMAL(20, 0)"), ("f", "FLOAT"), ("d", "DOUBLE"), ("n", "DECIMAL(10, 2)"), ("c", "CHAR(3)"), ("v", "VARCHAR(20)"),
    ("t", "STRING"), ("x", "BYTES"), ("day", "DATE"), ("clock", "TIME(0)"), ("ts", "TIMESTAMP(3)"), ("at", "TIMESTAMP_LTZ(6)"), ("e", "STRING"),
]  # fmt: skip


def catalog(url: str, user: str, database: str, monkeypatch: pytest.MonkeyPatch, password: str) -> str:
    monkeypatch.setenv("DATABASE_PASSWORD", password)
    return (
        f"CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = '{url}', 'default-database' = '{database}', 'username' = '{user}',"
        " 'password' = '${env:DATABASE_PASSWORD}');"
    )


@pytest.fixture
def on_postgres(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    given = postgres.options("x")
    postgres.run(
        "DROP TABLE IF EXISTS public.every", POSTGRES, "DROP SCHEMA IF EXISTS more CASCADE", "CREATE SCHEMA more",
        'CREATE TABLE more."Or.der" (b int NOT NULL, "a ü" text, c int[], PRIMARY KEY (b))',
        "DROP TABLE IF EXISTS totals", "CREATE TABLE totals (day date, id int, total bigint, PRIMARY KEY (id, day))",
    )  # fmt: skip
    return catalog(given["url"].rpartition("/")[0], given["username"], "postgres", monkeypatch, given["password"])


@pytest.fixture
def on_mariadb(mariadb: MariaDb, monkeypatch: pytest.MonkeyPatch) -> str:
    from tests.support.mariadb import PASSWORD

    mariadb.run(
        "DROP TABLE IF EXISTS `every`", MARIADB,
        "DROP TABLE IF EXISTS totals", "CREATE TABLE totals (day date, id int, total bigint, PRIMARY KEY (id, day))",
        "DROP TABLE IF EXISTS places", "CREATE TABLE places (p point)",
    )  # fmt: skip
    return catalog(f"jdbc:mysql://127.0.0.1:{mariadb.port}", "app", "shop", monkeypatch, PASSWORD)


def described(session: Session, table: str) -> list[tuple[Any, ...]]:
    return [tuple(row[:2]) for row in rows(session, f"DESCRIBE {table}")]


def test_postgres(tmp_path: Path, on_postgres: str) -> None:
    session = open_session(tmp_path, on_postgres)
    run(session, "USE CATALOG c")
    assert ("postgres",) in [tuple(r) for r in rows(session, "SHOW DATABASES")]
    assert {"public.every", "public.totals", "more.Or.der"} <= {name for (name,) in rows(session, "SHOW TABLES")}
    assert described(session, "`every`") == described(session, "`public.every`") == ON_POSTGRES
    assert rows(session, "DESCRIBE totals") == [
        ("day", "DATE", "FALSE", "PRI(id, day)", "", ""), ("id", "INT", "FALSE", "PRI(id, day)", "", ""),
        ("total", "BIGINT", "TRUE", "", "", ""),
    ]  # fmt: skip
    with pytest.raises(SqlStreamError, match="Column 'c' of '\"more\".\"Or.der\"' has the type ARRAY, which can't be read"):
        run(session, "DESCRIBE `more.Or.der`")
    with pytest.raises(SqlStreamError, match="read-only"):
        run(session, "CREATE TABLE t (a INT)")
    with pytest.raises(SqlStreamError, match="not found"):
        run(session, "SELECT * FROM nowhere")
    shown = str(rows(session, "SHOW CREATE TABLE totals"))
    assert "'password' = '******'" in shown and "s3cret" not in shown


def test_mariadb(tmp_path: Path, on_mariadb: str) -> None:
    session = open_session(tmp_path, on_mariadb)
    run(session, "USE CATALOG c")
    assert [tuple(r) for r in rows(session, "SHOW DATABASES")] == [("shop",)]
    assert {"every", "totals"} <= {name for (name,) in rows(session, "SHOW TABLES")}
    assert described(session, "`every`") == ON_MARIADB
    assert [row[3] for row in rows(session, "DESCRIBE totals")] == ["PRI(id, day)", "PRI(id, day)", ""]
    with pytest.raises(SqlStreamError, match="Column 'p' of 'places' has the type point, which can't be read"):
        run(session, "DESCRIBE places")


@pytest.mark.spark
@pytest.mark.parametrize("server", ["on_postgres", "on_mariadb"])
def test_its_tables_are_read_and_upserted(request: pytest.FixtureRequest, tmp_path: Path, engine: Any, server: str) -> None:
    session = open_session(
        tmp_path, request.getfixturevalue(server), engine=engine, options={"execution.runtime-mode": "batch", "table.dml-sync": "true"}
    )
    run(session, "USE CATALOG c; INSERT INTO totals VALUES (DATE '2026-01-01', 1, 10), (DATE '2026-01-01', 2, 20)")
    run(session, "INSERT INTO totals VALUES (DATE '2026-01-01', 2, 21)")
    assert sorted(rows(session, "SELECT id, total FROM totals")) == [("1", "10"), ("2", "21")]
    assert rows(session, "SELECT * FROM `every`") == []
    session.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"base-url": "jdbc:postgresql://h:1/db"}, "Invalid value for option 'base-url'"),
        ({"base-url": "jdbc:oracle:thin:@h"}, "Invalid value for option 'base-url'"),
    ],
)
def test_a_wrong_address(tmp_path: Path, options: dict[str, str], said: str) -> None:
    with pytest.raises(SqlStreamError, match=said):
        Jdbc().open({"username": "u", "password": "p", **options}, tmp_path)


@pytest.mark.parametrize("kind", ["postgresql", "mysql"])
def test_a_server_that_does_not_answer(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_session(tmp_path)
    with pytest.raises(SetupError, match="Catalog 'c' can't list its databases") as refused:
        run(session, catalog(f"jdbc:{kind}://127.0.0.1:1", "app", "shop", monkeypatch, "pass-word"))
    assert "pass-word" not in refused.value.message
