"""Errors that check tells: all of a statement's, each at its place, and all that a session refuses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlstream.cli import check
from sqlstream.core.errors import SqlStreamError
from sqlstream.lint.scripts import script_findings
from sqlstream.session.checker import Checker
from sqlstream.session.runs.on_spark import OnSpark
from sqlstream.session.runs.previewing import Previewing
from sqlstream.session.session import Session
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome

ROOT = Path(__file__).parents[2]
DECLARATIONS = """
CREATE TABLE clicks (who STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'datagen');
CREATE TABLE counts (who STRING, n INT) WITH ('connector' = 'print');
"""
# <> stands before each place that is told.
SEVERAL = (
    "SELECT <>nope, n, <>also, UPPER(<>third) FROM clicks WHERE <>fourth > 1 AND n > 0 AND <>fifth < 2",
    "SELECT n, <>nope FROM (SELECT n, <>gone FROM clicks)",
    "SELECT CASE WHEN n > 0 THEN <>nope END FROM clicks WHERE <>nosuch(n) = 1",
    "INSERT INTO counts SELECT <>nope, n FROM clicks WHERE <>also IS NULL",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO counts SELECT <>a, n FROM clicks; INSERT INTO <>nowhere SELECT n FROM clicks; INSERT INTO counts SELECT who, <>b FROM clicks; END",
    "EXPLAIN SELECT <>a, <>b FROM clicks",
    "CREATE VIEW v AS SELECT <>a AS x, <>b AS y FROM clicks; SELECT n FROM clicks",
    "BEGIN STATEMENT SET; <>SELECT 1; INSERT INTO counts SELECT who, <>a FROM clicks; <>DROP TABLE counts; END; SELECT <>b FROM clicks",
    "SELECT window_start, <>a, COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) WHERE <>b = 1 GROUP BY window_start, window_end",
    "CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'datagen', <>'rows-per-secnd' = '1', <>'number-of-rows' = 'x', <>'nosuch' = '1'); SELECT * FROM t; SELECT a FROM t",
    "CREATE TEMPORARY TABLE t (a INT) WITH (<>'connector' = 'kafak'); SELECT a FROM t",
    "CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', <>'format' = 'jsn')",
    "CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', 'format' = 'json', <>'scan.startup.mode' = 'x')",
    "SELECT n FROM clicks WHERE <>who = NULL AND <>nope = 1",
    "SELECT n FROM clicks ORDER BY (SELECT <>nope FROM clicks)",
    "CREATE TABLE t (a <>INTT) WITH ('connector' = 'print'); INSERT INTO t SELECT n FROM clicks; CREATE VIEW v AS SELECT a FROM t; SELECT b, a FROM v, clicks",
    "CREATE TABLE t (a INT) WITH ('connector' = 'datagen', <>'nosuch' = '1'); CREATE VIEW v AS SELECT a, <>b AS c FROM t; SELECT c, <>d FROM v",
    "CREATE TABLE t (a INT, <>a INT) WITH ('connector' = 'print'); INSERT INTO t SELECT n FROM clicks; SELECT a FROM t; DESCRIBE t",
    "SELECT n FROM clicks /*+ OPTIONS('rows-per-second' = '1', <>'nosuch' = '1') */",
)
REFUSED = (
    "CREATE FUNCTION f AS 'nosuch.f' LANGUAGE PYTHON", "CREATE TEMPORARY FUNCTION f AS 'com.example.F'", "CREATE FUNCTION f AS 'com.example.F' LANGUAGE JAVA",
    "ALTER FUNCTION nosuch AS 'a.b' LANGUAGE PYTHON", "SOURCE 'nosuch.sql'", "EXECUTE QUERY nosuch", "EXECUTE QUERY q (nosuch => 1)", "EXECUTE QUERY q", "END",
    "BEGIN STATEMENT SET; SELECT 1", "SHOW TABLES FROM nosuch", "SHOW CREATE TABLE nosuch", "DESCRIBE nosuch", "DESCRIBE FUNCTION nosuch", "DROP TABLE nosuch",
    "DROP FUNCTION nosuch", "ALTER TABLE nosuch ADD a INT", "ALTER DATABASE nosuch SET ('a' = 'b')", "ALTER CATALOG nosuch COMMENT 'x'", "USE nosuch", "USE CATALOG nosuch",
    "HELP FUNCTION nosuch", "SET 'execution.runtime-mode' = 'x'", "SET 'table.local-time-zone' = 'x'", "PLOT", "EXPORT LAST TO 'x.csv'", "CALL p()", "SOURCE 'wrong.sql'",
    "CREATE DATABASE d WITH ('a' = 'b'); CREATE DATABASE d", "CREATE CATALOG c WITH ('type' = 'x')", "SELECT nosuch(n) FROM clicks", "INSERT INTO counts SELECT n FROM clicks",
)  # fmt: skip
ACCEPTED = (
    "SELECT n FROM clicks; PLOT n; EXPORT LAST TO 'x.csv'", "DESCRIBE JOB 'abc'", "EXPLAIN JOB 'abc'; STOP JOB 'abc'; DETACH JOB 'abc'; QUIT; SHOW JOBS", "PEEK 'topic'; INFER TABLE FROM 'topic'",
    "SOURCE 'right.sql'; SELECT a FROM t", "EXECUTE QUERY q (least => 1)", "BEGIN STATEMENT SET; INSERT INTO counts SELECT who, n FROM clicks; END; SHOW TABLES",
    "CREATE FUNCTION f AS 'mine.f' LANGUAGE PYTHON; SELECT f(n) FROM clicks", "HELP TUMBLE; CLEAR; SHOW QUERIES; SET; RESET",
)  # fmt: skip


@pytest.fixture
def session(tmp_path):
    for folder in ("queries", "udfs"):
        (tmp_path / folder).mkdir()
    (tmp_path / "queries" / "q.sql").write_text("-- Which?\n-- :least INT\nSELECT n FROM clicks WHERE n > :least;\n")
    (tmp_path / "udfs" / "mine.py").write_text("from sqlstream.udf import udf\n\n\n@udf\ndef f(a: int) -> int:\n    return a\n")
    (tmp_path / "right.sql").write_text(
        "CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'print');\nCREATE TEMPORARY VIEW v AS SELECT n AS a FROM clicks;\n".replace(
            "'print'", "'datagen'"
        )
    )
    (tmp_path / "wrong.sql").write_text("SELECT n FROM clicks;\nSELECT nope FROM clicks;\n")
    return open_session(tmp_path, DECLARATIONS, notify=print)


def checked(session, script):
    return script_findings(script, "a.sql", Checker(session))


@pytest.mark.parametrize("script", SEVERAL)
def test_all_errors_of_a_statement_are_told_where_they_are(session, script):
    pieces = script.split("<>")
    places = [len("".join(pieces[:i])) + 1 for i in range(1, len(pieces))]
    found = checked(session, "".join(pieces))
    assert [f.column for f in found if f.code != "L005"] == places, "\n".join(map(str, found))
    assert all("\n" not in str(f) for f in found)


class NothingSelected(OnSpark):
    """A SELECT would start Spark."""

    def select(self, context: Context, query: exp.Expr) -> Outcome:
        return Previewing().select(context, query)


@pytest.mark.parametrize("script", REFUSED)
def test_what_a_session_refuses_is_found(session, script):
    assert any(f.error for f in checked(session, script))
    other = Session(session.project, options=session.options, notify=print)
    list(other.run(DECLARATIONS))
    other.context.runs = NothingSelected()
    with pytest.raises(SqlStreamError):
        list(other.run(script))


@pytest.mark.parametrize("script", ACCEPTED)
def test_what_needs_a_session_that_runs_is_no_error(session, script):
    assert [str(f) for f in checked(session, script) if f.error] == []


def test_an_error_in_another_file_is_told_there(session):
    (found,) = [f for f in checked(session, "SELECT n FROM clicks;\nSOURCE 'wrong.sql';") if f.error]
    assert (found.file, found.line, found.column) == ("wrong.sql", 2, 8)


def test_nothing_that_is_checked_is_learnt(session):
    script = (
        "CREATE TABLE x (a INT) WITH ('connector' = 'datagen'); SET 'table.exec.state.ttl' = '1 d'; USE CATALOG default_catalog; BEGIN STATEMENT SET;"
    )
    for _ in range(2):
        assert [f for f in checked(session, script) if f.error] == []
    assert "table.exec.state.ttl" not in session.options
    (tables,) = session.run("SHOW TABLES")
    assert tables.rows == (("clicks",), ("counts",))


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (
            "'connector' = 'kafka', 'topic' = '${env:T_X}', 'properties.bootstrap.servers' = '${env:B_X}', 'format' = 'json', 'properties.group.id' = 'g'",
            0,
        ),
        ("'connector' = 'jdbc', 'url' = '${env:U_X}', 'table-name' = 't', 'password' = '${env:P_X}', 'sink.max-retries' = '${env:R_X}'", 0),
        ("'connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/${env:U_X}', 'table-name' = 't', 'lookup.cache' = '${env:C_X}'", 0),
        ("'connector' = 'filesystem', 'path' = '${env:D_X}/x', 'format' = 'json', 'nosuch' = '${env:N_X}'", 1),
        ("'connector' = 'datagen', 'rows-per-second' = '${env:R_X}', 'number-of-rows' = '${env:R_X}'", 0),
    ],
)
def test_no_variable_of_the_environment_has_to_be_set(session, options, count):
    script = f"CREATE TEMPORARY TABLE t (a INT, b STRING) WITH ({options});\nSELECT nope FROM t;\nSELECT a FROM t WHERE b = NULL;"
    found = checked(session, script)
    assert [(f.line, f.code) for f in found if f.line > 1] == [(2, "S2"), (3, "L008")] if not count else True
    assert sum(f.line == 1 for f in found) == count, "\n".join(map(str, found))


def test_the_example_bank_is_checked_without_its_environment(monkeypatch):
    monkeypatch.delenv("KAFKA_BOOTSTRAP", raising=False)
    bank = Session(ROOT, options={}, notify=print)
    assert [str(f) for f in check.findings(bank, check.project_files(ROOT))] == []
    for file in sorted((ROOT / "queries").glob("*.sql")):
        text = file.read_text()
        wrong = re.sub(r"^(.*?)SELECT\s", r"\1SELECT nosuch, ", text, count=1, flags=re.M)
        assert wrong != text
        found = script_findings(check.SavedQuery(file.stem, file, wrong).sample("1")[0], file.name, Checker(bank))
        assert [f.message for f in found if "nosuch" in f.message], file
