"""Many sessions on one project, in one process and in several: what one has to itself, and what all of them share."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from sqlstream.catalog import project as project_files
from tests.support.sessions import open_session, run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from sqlstream.session.session import Session

MANY = 12
OF_ONE = """SET 'pipeline.name' = '{n}'; CREATE DATABASE d{n}; USE d{n};
CREATE TEMPORARY TABLE mine (a{n} INT) WITH ('connector' = 'print');
CREATE TABLE t{n} (a INT) WITH ('connector' = 'print');
ALTER TABLE t{n} ADD b INT;
CREATE TABLE gone{n} (a INT) WITH ('connector' = 'print');
DROP TABLE gone{n};
CREATE TABLE default_database.shared (a{n} INT) WITH ('connector' = 'print');
"""
PROCESS = """import sys
from pathlib import Path
from sqlstream.session.session import Session
session = Session(Path(sys.argv[1]), save=True)
print("ready", flush=True)
for outcome in session.run(sys.stdin.read()):
    print(*outcome.notices, sep="\\n")
"""


def names(session: Session, column: int, sql: str) -> list[str | None]:
    return [row[column] for row in run(session, sql)[-1].rows]


def check(project: Path, notices: list[list[str]]) -> None:
    """Every file is whole, none is left over, and exactly one session has saved the table that all of them declare."""
    catalog = project / "catalog"
    files = {p.relative_to(catalog).as_posix() for p in catalog.rglob("*") if p.is_file()}
    assert files == {"shared.sql", *(name for n in range(MANY) for name in (f"d{n}.database.sql", f"d{n}/t{n}.sql"))}
    later = open_session(project)
    for n in range(MANY):
        assert names(later, 0, f"DESCRIBE d{n}.t{n}") == ["a", "b"]
    saved = [n for n, lines in enumerate(notices) if "Saved catalog/shared.sql" in lines]
    (one,) = saved
    assert names(later, 0, "DESCRIBE shared") == [f"a{one}"]
    refused = "Not saved: catalog/shared.sql exists and does not declare"
    assert sum(any(line.startswith(refused) for line in lines) for lines in notices) == MANY - 1


def test_sessions_of_a_process_that_declare_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = project_files._write
    # Others come between the look at what is there and the write.
    monkeypatch.setattr(project_files, "_write", lambda file, text: (time.sleep(0.02), write(file, text)))
    sessions = [open_session(tmp_path, save=True) for _ in range(MANY)]
    with ThreadPoolExecutor(MANY) as pool:
        outcomes = list(pool.map(run, sessions, (OF_ONE.format(n=n) for n in range(MANY))))
    check(tmp_path, [[notice for outcome in several for notice in outcome.notices] for several in outcomes])
    for n, session in enumerate(sessions):
        assert (session.place, session.options["pipeline.name"]) == (f"default_catalog.d{n}", str(n))
        assert names(session, 0, "SHOW TABLES") == ["mine", f"t{n}"]
        assert names(session, 0, "DESCRIBE mine") == [f"a{n}"]


def test_processes_that_declare_at_once(tmp_path: Path) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", PROCESS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(MANY)
    ]
    # Each has loaded the catalog before the first writes it.
    assert [one.stdout.readline() for one in started if one.stdout is not None] == ["ready\n"] * MANY
    for n, one in enumerate(started):
        assert one.stdin is not None
        one.stdin.write(OF_ONE.format(n=n))
        one.stdin.close()
        one.stdin = None
    check(tmp_path, [one.communicate()[0].splitlines() for one in started])
