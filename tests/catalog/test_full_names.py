"""What a view or a computed column names is what it named when it was declared, whatever database is in use when it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import explained, open_session, plans

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session

MODULE = "def here(a: int) -> int:\n    return a\n\n\ndef there(a: int) -> int:\n    return -a\n"
DECLARED = """
CREATE DATABASE other;
CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'datagen');
CREATE TABLE other.t (a INT, c STRING) WITH ('connector' = 'datagen');
CREATE FUNCTION f AS 'm.here' LANGUAGE PYTHON;
CREATE FUNCTION other.f AS 'm.there' LANGUAGE PYTHON;
"""


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "udfs").mkdir()
    (tmp_path / "udfs" / "m.py").write_text(MODULE)
    return open_session(tmp_path, DECLARED, save=True)


QUERIES = (
    "SELECT a FROM t", "WITH t AS (SELECT a FROM t) SELECT a FROM t", "WITH x AS (SELECT a FROM t), t AS (SELECT a FROM x) SELECT a FROM t",
    "SELECT a FROM (SELECT * FROM t) AS s WHERE EXISTS (SELECT 1 FROM t WHERE t.a = s.a)", "SELECT t.a FROM t AS t",
)  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_a_table_stays_that_of_the_database_that_was_in_use(session: Session, query: str) -> None:
    """Also where the view itself stands in another one."""
    list(session.run(f"CREATE VIEW v AS {query}; CREATE VIEW other.v AS {query}; USE other"))
    for view in ("default_database.v", "v"):
        assert "other, t]" not in explained(session, f"SELECT * FROM {view}")
        assert "default_database, t]" in explained(session, f"SELECT * FROM {view}")


def test_a_function_stays_that_of_the_database_that_was_in_use(session: Session) -> None:
    list(session.run("CREATE VIEW v AS SELECT f(a) AS x, UPPER(b) AS y FROM t; CREATE VIEW other.v AS SELECT other.f(a) AS x FROM t WHERE f(a) > 1"))
    before = explained(session, "SELECT * FROM v"), explained(session, "SELECT * FROM other.v")
    list(session.run("USE other"))
    assert before == (explained(session, "SELECT * FROM default_database.v"), explained(session, "SELECT * FROM v"))


def test_a_computed_column_keeps_its_function(session: Session) -> None:
    list(session.run("CREATE TABLE c (a INT, d AS f(a)) WITH ('connector' = 'datagen'); ALTER TABLE c ADD e AS f(a) + 1; USE other"))
    assert explained(session, "SELECT d, e FROM default_database.c")
    (shown,) = session.run("SHOW CREATE TABLE default_database.c")
    assert "`d` AS `default_catalog`.`default_database`.`f`(`a`)" in str(shown.rows[0][0])


def test_saved_views_mean_the_same_in_the_next_session(session: Session, tmp_path: Path) -> None:
    queries = [*QUERIES, "SELECT f(a) AS x FROM t"]
    for i, query in enumerate(queries):
        list(session.run(f"CREATE VIEW v{i} AS {query}; CREATE VIEW other.v{i} AS {query}"))
    later = open_session(tmp_path, "USE other", notify=pytest.fail)
    for i in range(len(queries)):
        for view in (f"default_database.v{i}", f"other.v{i}"):
            assert plans(later, f"SELECT * FROM {view}") == plans(session, f"SELECT * FROM {view}")
