"""An init file only declares and sets: what it may hold is known before anything of it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import NotSupported, SyntaxProblem
from sqlstream.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    one = Session(tmp_path, variables={"word": "true", "statement": "SELECT"})
    yield one
    one.close()


@pytest.mark.parametrize(
    "statement",
    [
        "SET'table.local-time-zone'='UTC'",
        "SET 'table.local-time-zone' = 'UTC'; RESET",
        "/* why */ CREATE TEMPORARY VIEW ones AS SELECT 1",
        "CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'print')",
        "USE default_database",
        "SET 'sql-client.verbose' = '${word}'",
        "DROP TABLE IF EXISTS absent",
        "-- nothing",
    ],
)
def test_it_holds_what_declares_and_sets(session: Session, statement: str) -> None:
    list(session.initialize(f"{statement};"))


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1",
        "${statement} 1",
        "/* why */ SHOW TABLES",
        "INSERT INTO t VALUES (1)",
        "CREATE TABLE made WITH ('connector' = 'print') AS SELECT 1",
        "CREATE OR REPLACE TABLE made WITH ('connector' = 'print') AS SELECT 1",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES (1); END",
        "DROP JOB 'x'",
        "STOP JOB 'x'",
        "DETACH JOB 'x'",
        "ALTER JOB 'x' SET OFFSETS ('t' = 'earliest')",
        "QUIT",
    ],
)
def test_it_holds_nothing_else(session: Session, statement: str) -> None:
    with pytest.raises(NotSupported, match="An init file may hold only declarations and settings") as raised:
        list(session.initialize(f"SET 'sql-client.verbose' = 'true';\n{statement};", "init.sql"))
    assert str(raised.value.location).startswith("init.sql:2")
    assert "sql-client.verbose" not in session.options


def test_a_mistake_is_found_before_anything_runs(session: Session) -> None:
    with pytest.raises(SyntaxProblem) as raised:
        list(session.initialize("SET 'sql-client.verbose' = 'true';\nCREAT TABLE t (a INT);", "init.sql"))
    assert str(raised.value.location) == "init.sql:2:1"
    assert "sql-client.verbose" not in session.options
