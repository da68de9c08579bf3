"""Table functions of the user's, in Python: declared, called in FROM, refused."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SqlStreamError, ValidationError
from tests.support.sessions import catch_up, open_session, submit

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session

MODULE = """
import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from separators import SEPARATOR


class Word(NamedTuple):
    word: str | None
    length: int


def words(text: str | None, least: int) -> Iterator[Word]:
    for word in (text or "").split(SEPARATOR):
        if len(word) >= least:
            yield Word(word.upper() or None, len(word))


def times(n: int) -> list[int]:
    return list(range(n)) if n is not None else None


def kinds(i: int, f: float, b: bool, d: Decimal, y: bytes, a: datetime.date) -> Iterator[tuple[int, float, bool, Decimal, bytes, datetime.date]]:
    yield i + 1, f + 1, not b, d + 1, y + b"!", a + datetime.timedelta(1)


def shout(text: str) -> str:
    return text + "!"


def loose(text):
    yield text
"""

DECLARATIONS = """
CREATE TABLE lines (id INT, line STRING)
WITH ('connector' = 'filesystem', 'path' = '{path}/lines', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, word STRING, n BIGINT) WITH ('connector' = 'print');
CREATE TEMPORARY SYSTEM FUNCTION words AS 'splitting.words' LANGUAGE PYTHON;
CREATE FUNCTION Times AS 'splitting.times' LANGUAGE PYTHON;
CREATE TEMPORARY FUNCTION kinds AS 'splitting.kinds' LANGUAGE PYTHON;
"""
EACH = "INSERT INTO answers SELECT id, word, length FROM lines LEFT JOIN LATERAL TABLE(Words(line, 2)) ON TRUE;"


@pytest.fixture
def project(tmp_path: Path, monkeypatch) -> Path:
    (tmp_path / "udfs").mkdir()
    (tmp_path / "lines").mkdir()
    (tmp_path / "udfs" / "splitting.py").write_text(MODULE)
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "separators.py").write_text("SEPARATOR = ' '\n")
    monkeypatch.syspath_prepend(str(installed))
    return tmp_path


def client(project: Path, engine=None, emit=print) -> Session:
    made = open_session(project, engine=engine, emit=emit)
    list(
        made.run(
            DECLARATIONS.format(path=project)
            .replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")
            .replace("FUNCTION Times", "FUNCTION IF NOT EXISTS Times")
        )
    )
    return made


def test_plan(project: Path) -> None:
    session = client(project)
    for sql, wanted in {
        EACH: "Correlate(invocation=[WORDS(line, 2)], select=[word, length], joinType=[LEFT]",
        "SELECT w FROM lines, LATERAL TABLE(words(line, 1)) AS t (w, n) WHERE n > 1": "joinType=[INNER]",
        "SELECT f0 FROM lines CROSS JOIN LATERAL TABLE(times(id))": "invocation=[TIMES(CAST(id AS BIGINT))], select=[f0]",
        "SELECT id, i.f0 FROM lines JOIN LATERAL TABLE(times(id)) AS i ON i.f0 > 1": "Calc(where=[(f0 > 1)]",
        "SELECT * FROM TABLE(times(3))": "TIMES(3)",
    }.items():
        (outcome,) = session.run(f"EXPLAIN {sql.rstrip(';')}")
        assert wanted in outcome.rows[0][0]


@pytest.mark.parametrize(
    ("sql", "problem", "error"),
    [
        ("SELECT * FROM lines, LATERAL TABLE(nope(line))", "No match found for function signature nope", ValidationError),
        ("SELECT * FROM lines, LATERAL TABLE(words(line))", "Invalid number of arguments", ValidationError),
        ("SELECT * FROM lines, LATERAL TABLE(words(id, id))", "Cannot apply 'WORDS'", ValidationError),
        ("SELECT * FROM lines, LATERAL TABLE(times(id)) AS t (a, b)", "List of column aliases must have same degree as table", ValidationError),
        ("SELECT * FROM lines RIGHT JOIN LATERAL TABLE(times(id)) ON TRUE", "Unknown join type RIGHT", ValidationError),
        ("CREATE FUNCTION f AS 'splitting.loose' LANGUAGE PYTHON", "The function 'splitting.loose': its columns have no types", ValidationError),
        ("CREATE FUNCTION f AS 'splitting.none' LANGUAGE PYTHON", "does not exist", ValidationError),
        ("CREATE FUNCTION f AS 'missing_module.f' LANGUAGE PYTHON", "cannot be imported", ValidationError),
        ("CREATE FUNCTION f AS 'com.example.F'", "No jar has the class 'com.example.F'", ValidationError),
    ],
)
def test_refused(project: Path, sql: str, problem: str, error: type[SqlStreamError]) -> None:
    session = client(project)
    with pytest.raises(error, match=problem.replace("(", r"\(")):
        list(session.run(sql if sql.startswith("CREATE") else f"EXPLAIN {sql}"))


@pytest.mark.spark
def test_rows(project: Path, engine) -> None:
    emitted: list[str] = []
    session = client(project, engine, emitted.append)

    def run(*lines: str) -> list[str]:
        (project / "lines" / f"{len(lines[0])}.json").write_text("".join(f"{line}\n" for line in lines))
        job = submit(session, EACH)
        catch_up(job)
        session.jobs.stop(job.id)
        found = sorted(emitted)
        emitted.clear()
        return found

    assert run('{"id": 1, "line": "ab c čas"}', '{"id": 2, "line": null}') == ["+I[1, AB, 2]", "+I[1, ČAS, 3]", "+I[2, null, null]"]
    # The job goes on where it was.
    assert run('{"id": 3, "line": "čtyři"}') == ["+I[3, ČTYŘI, 5]"]
    list(session.run("SET 'execution.runtime-mode' = 'batch'"))
    (outcome,) = session.run(
        "SELECT x.*, n.f0 FROM (VALUES (2, CAST(1.5 AS DOUBLE), TRUE, CAST(2.5 AS DECIMAL(3, 1)), X'61', DATE '2024-02-28')) AS v (i, f, b, d, y, a) "
        "CROSS JOIN LATERAL TABLE(kinds(i, f, b, d, y, a)) AS x LEFT JOIN LATERAL TABLE(times(CAST(NULL AS INT))) AS n ON TRUE"
    )
    ((i, f, b, d, y, a, n),) = outcome.rows
    assert (i, f, b, Decimal(d), y, a, n) == ("3", "2.5", "FALSE", Decimal("3.5"), "x'6121'", str(datetime.date(2024, 2, 29)), None)
    session.close()
