"""The script with which another session runs a job of this one. No JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SqlStreamError
from sqlstream.runtime.jobs.script import JobScript
from sqlstream.session import journal
from sqlstream.session.runs.planning import Planning
from sqlstream.session.script import run_script
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session

T = "CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'datagen')"
P = "CREATE TABLE p (a INT) WITH ('connector' = 'print')"
FROM_T = "SELECT a FROM default_catalog.default_database.t"


class Submitting(Planning):
    """Plans jobs, and keeps their scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str | None] = []

    def submit(self, context, statements):
        outcome = super().submit(context, statements)
        script = context.journal.script(context)
        self.scripts.append(None if script is None else script.of("named").replace("SET 'pipeline.name' = 'named'\n;\n", ""))
        return outcome


def scripts(project: Path, *statements: str, options: dict[str, str] | None = None, **more: object) -> list[str]:
    """Those of the jobs of ``statements``, which come one by one. Each plans the same job in a session of its own."""
    session = open_session(project, options=options, given={"table.local-time-zone": "UTC"}, **more)
    found = _run(session, statements)
    for one in found:
        again = open_session(project, given={"table.local-time-zone": "UTC"})
        assert _run(again, [one]) == [one]
    return found


def _run(session: Session, statements) -> list[str]:
    submitting = Submitting()
    session.context.runs = submitting
    for statement in statements:
        for _ in run_script(session.context, statement):
            pass
    return submitting.scripts


def test_declarations_and_options(tmp_path: Path) -> None:
    (found,) = scripts(
        tmp_path, T, "SET 'pipeline.name' = 'it''s';", "SHOW TABLES", "SET 'table.exec.state.ttl' = '1 h'", "RESET 'table.exec.state.ttl'",
        P + ";", "INSERT INTO p SELECT a FROM t -- all", options={"execution.real-time": "false"},
    )  # fmt: skip
    assert found == (f"SET 'execution.real-time' = 'false'\n;\n{T}\n;\n{P}\n;\nINSERT INTO p SELECT a FROM t\n;\n")


def test_each_job_has_what_was_declared_before_it(tmp_path: Path) -> None:
    insert = "INSERT INTO p SELECT a FROM t"
    first, second = scripts(
        tmp_path, T, P, insert, "DROP TABLE t", T.replace("STRING", "BIGINT"), "CREATE TEMPORARY VIEW v AS SELECT a FROM t", insert
    )
    assert first == f"{T}\n;\n{P}\n;\n{insert}\n;\n"
    assert second.split("\n;\n")[:-1] == [T, P, "DROP TABLE t", T.replace("STRING", "BIGINT"), "CREATE TEMPORARY VIEW v AS SELECT a FROM t", insert]


def test_catalogs_and_databases(tmp_path: Path) -> None:
    use = ("CREATE CATALOG c WITH ('type' = 'generic_in_memory')", "USE CATALOG c", "CREATE DATABASE d", "USE d", T, P)
    (found,) = scripts(tmp_path, *use, "INSERT INTO p SELECT a FROM t")
    assert found.split("\n;\n")[:-2] == list(use)


def test_sets(tmp_path: Path) -> None:
    inserts = ("INSERT INTO p SELECT a FROM t", "INSERT INTO p SELECT a + 1 FROM t;")
    at_once = f"EXECUTE STATEMENT SET BEGIN {inserts[0]}; {inserts[1]} END"
    first, second, third = scripts(tmp_path, T, P, "BEGIN STATEMENT SET", *inserts, "END;", at_once, inserts[0])
    assert first.split("\n;\n")[2:-1] == ["BEGIN STATEMENT SET", inserts[0], inserts[1].rstrip(";"), "END"]
    assert second.split("\n;\n")[2:-1] == [at_once]
    assert third.split("\n;\n")[2:-1] == [inserts[0]]


def test_a_table_of_a_query(tmp_path: Path) -> None:
    """To its own job it is one that it makes, to a later one it is there."""
    made = "CREATE TABLE q WITH ('connector' = 'delta', 'table-path' = 'q') AS SELECT a FROM t"
    first, second = scripts(tmp_path, T, P, made, "INSERT INTO p SELECT a FROM q")
    assert first.split("\n;\n")[2:-1] == [made]
    (table, insert) = second.split("\n;\n")[2:-1]
    assert table.startswith("CREATE TABLE `default_catalog`.`default_database`.`q` (") and "SELECT" not in table
    assert insert == "INSERT INTO p SELECT a FROM q"


def test_what_the_project_has_is_not_declared_again(tmp_path: Path) -> None:
    (found,) = scripts(tmp_path, T, P, "CREATE TEMPORARY VIEW v AS SELECT a FROM t", "INSERT INTO p SELECT a FROM v", save=True)
    assert found.split("\n;\n")[:-1] == ["CREATE TEMPORARY VIEW v AS SELECT a FROM t", "INSERT INTO p SELECT a FROM v"]


S = "CREATE TABLE s (a INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 'n', 'password' = 'hunter2', 'username' = 'u')"
INTO_P = "INSERT INTO p SELECT a FROM {}"


@pytest.mark.parametrize(
    ("statements", "declared"),
    [
        ((S, INTO_P.format("s")), (S,)),
        ((S, "CREATE VIEW v AS SELECT a FROM s", "CREATE VIEW w AS SELECT a FROM v", INTO_P.format("w")), None),
        (("CREATE TEMPORARY VIEW s AS SELECT a FROM t", "CREATE VIEW v AS SELECT a FROM s", INTO_P.format("v")), None),
        ((S, "ALTER TABLE s SET ('password' = '${env:PASSWORD}')", INTO_P.format("s")), None),
        ((S, "ALTER TABLE s RENAME TO r", "DROP TABLE r", INTO_P.format("t")), None),
        (("CREATE VIEW v AS SELECT a FROM t", "ALTER VIEW v AS SELECT a + 1 AS a FROM t", INTO_P.format("v")), ()),
        (("CREATE TABLE u LIKE t", "ALTER TABLE u RENAME TO v", "DROP TABLE v", INTO_P.format("t")), ()),
        (
            ("CREATE CATALOG c WITH ('type' = 'generic_in_memory')", "CREATE DATABASE c.d", f"CREATE VIEW c.d.v AS {FROM_T}", INTO_P.format("c.d.v")),
            (),
        ),
    ],
)
def test_what_no_file_of_the_project_has_is_declared(tmp_path: Path, statements: tuple[str, ...], declared: tuple[str, ...] | None) -> None:
    """A secret keeps a table out of them, and so what reads that; what was declared once is changed and dropped as it was."""
    (found,) = scripts(tmp_path, T, P, *statements, save=True)
    assert found.split("\n;\n")[:-2] == list(statements[:-1] if declared is None else declared)


def test_a_script_names_the_job_that_it_is_of() -> None:
    made = JobScript(("SET 'pipeline.name' = 'copy';",), ("BEGIN STATEMENT SET;", "INSERT INTO p SELECT 1", "END;"))
    expected = ["SET 'pipeline.name' = 'copy'", "SET 'pipeline.name' = 'copy-2'", "BEGIN STATEMENT SET", "INSERT INTO p SELECT 1", "END", ""]
    assert made.of("copy-2").split("\n;\n") == expected


def test_a_session_that_has_declared_too_much_has_no_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_MOST", 150)
    session = open_session(tmp_path)
    found = _run(session, [T, P, "INSERT INTO p SELECT a FROM t", T.replace("TABLE t", "TABLE u"), "INSERT INTO p SELECT a FROM u"])
    assert found[0] is not None and found[1] is None


def test_what_fails_is_not_declared(tmp_path: Path) -> None:
    session = open_session(tmp_path)
    submitting = Submitting()
    session.context.runs = submitting
    for statement in (T, P, T, "CREATE TABLE x (a INT) WITH ('connector' = 'none')", "BEGIN STATEMENT SET", "INSERT INTO p SELECT z FROM t", "END"):
        try:
            for _ in run_script(session.context, statement):
                pass
        except SqlStreamError:
            continue
    for _ in run_script(session.context, "INSERT INTO p SELECT a FROM t"):
        pass
    assert submitting.scripts[-1] is not None
    assert [s for s in submitting.scripts[-1].split("\n;\n") if not s.startswith("SET")][:-1] == [
        T,
        P,
        "CREATE TABLE x (a INT) WITH ('connector' = 'none')",
        "INSERT INTO p SELECT a FROM t",
    ]
