"""What would read or run itself is refused, with the circle in words, and nothing has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.session.session import Session
from tests.support.sessions import explained, open_session

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "CREATE TABLE t (i INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1');\n"
VIEWS = f"{TABLE}CREATE VIEW a AS SELECT i FROM t;\nCREATE VIEW b AS SELECT i FROM a;\nCREATE VIEW c AS SELECT i FROM b;\n"
HERE = "`default_catalog`.`default_database`"
A_C_B_A = f"The view {HERE}.`a` would read itself: {HERE}.`a` -> {HERE}.`c` -> {HERE}.`b` -> {HERE}.`a`."


def refusal(session: Session, script: str) -> ValidationError:
    with pytest.raises(ValidationError) as refused:
        list(session.run(script))
    assert refused.value.hint
    return refused.value


def test_alter_view(tmp_path: Path) -> None:
    session = open_session(tmp_path, VIEWS)
    error = refusal(session, "ALTER VIEW a AS\nSELECT i FROM (SELECT i FROM t UNION ALL SELECT i FROM c) AS x")
    assert error.message == A_C_B_A
    assert (error.location.line, error.location.text[error.location.column - 1 :][:1]) == (2, "c")
    assert "would read itself" in refusal(session, "ALTER VIEW a AS SELECT i FROM a").message
    assert "would read itself" in refusal(session, "ALTER VIEW a AS SELECT i FROM t WHERE i IN (SELECT i FROM b)").message
    assert explained(session, "SELECT * FROM c")


def test_rename(tmp_path: Path) -> None:
    session = open_session(
        tmp_path, f"{VIEWS}DROP VIEW a; CREATE VIEW d AS SELECT i FROM t; ALTER VIEW d RENAME TO a; CREATE VIEW e AS SELECT i FROM c; DROP VIEW a"
    )
    assert f"{HERE}.`a` -> {HERE}.`c` -> {HERE}.`b` -> {HERE}.`a`" in refusal(session, "ALTER VIEW e RENAME TO a").message
    assert explained(open_session(tmp_path, f"{VIEWS}ALTER VIEW c RENAME TO d"), "SELECT * FROM d")


def test_create(tmp_path: Path) -> None:
    session = open_session(tmp_path, VIEWS)
    assert f"{HERE}.`t` -> {HERE}.`c`" in refusal(session, "CREATE TEMPORARY VIEW t AS SELECT i FROM c").message
    # A permanent view may read the temporary one of its own name, until that goes.
    list(session.run("CREATE TEMPORARY VIEW v AS SELECT i FROM t; CREATE VIEW v AS SELECT i FROM v"))
    assert explained(session, "SELECT * FROM v")
    list(session.run("DROP TEMPORARY VIEW v"))
    error = refusal(session, "SELECT i\nFROM v")
    assert error.message == f"The view {HERE}.`v` would read itself: {HERE}.`v` -> {HERE}.`v`."
    assert error.location.line == 2


def test_two_files_of_the_catalog(tmp_path: Path) -> None:
    catalog = tmp_path / "catalog"
    catalog.mkdir()
    for name, read in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "t")):
        (catalog / f"{name}.sql").write_text(f"CREATE VIEW {name} AS\nSELECT i FROM {read};")
    (catalog / "t.sql").write_text(TABLE)
    told: list[str] = []
    session = Session(tmp_path, notify=told.append)
    assert any("would read itself" in line and "catalog/c.sql:2:" in line for line in told)
    assert [line.partition(":")[0] for line in told] == ["catalog/c.sql", "catalog/b.sql", "catalog/a.sql"]
    assert explained(session, "SELECT * FROM d")


def test_a_saved_query_that_runs_itself(tmp_path: Path) -> None:
    queries = tmp_path / "queries"
    queries.mkdir()
    (queries / "q1.sql").write_text("SET 'a' = '1';\nEXECUTE QUERY q2;")
    (queries / "q2.sql").write_text("SOURCE 'more.sql';")
    (tmp_path / "more.sql").write_text("EXECUTE QUERY q1;")
    with pytest.raises(ValidationError) as refused:
        list(open_session(tmp_path).run("EXECUTE QUERY q1"))
    assert refused.value.message == "'queries/q1.sql' runs itself: queries/q1.sql -> queries/q2.sql -> more.sql -> queries/q1.sql."
    assert str(refused.value.location) == "more.sql:1:15"
    list(open_session(tmp_path, "CREATE TEMPORARY VIEW x AS SELECT 1 AS i").run("SET 'a' = 'b'"))
