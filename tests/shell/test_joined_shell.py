"""A shell in a project whose server runs: real processes, a real terminal."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

FOLLOWED = "'connector' = 'filesystem', 'path' = '{}', 'format' = 'json', 'source.monitor-interval' = '1 s'"
DELTA = "CREATE TABLE {name} (id INT) WITH ('connector' = 'delta', 'table-path' = '{name}')"


@pytest.mark.spark
def test_it_joins_by_itself_and_its_jobs_go_on(tmux, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    feed(tmp_path / "in", {"id": 1}, {"id": 2})
    sqlstream = [sys.executable, "-m", "sqlstream"]

    def run(*arguments: str) -> str:
        done = subprocess.run([*sqlstream, *arguments, "--project", str(tmp_path)], capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    with (
        (tmp_path / "server.log").open("w") as log,
        subprocess.Popen([*sqlstream, "serve", "--port", "0", "--project", str(tmp_path)], stdout=log, stderr=log) as server,
    ):
        try:
            until(lambda: "is served at" in (tmp_path / "server.log").read_text())
            one = tmux(*sqlstream, "--project", str(tmp_path), "-hist", str(tmp_path / "history"), columns=140)
            one.wait_for("This is a session of the server at http://127.0.0.1:")
            one.wait_for("0 jobs running")
            one.type(f"CREATE TABLE f (id INT) WITH ({FOLLOWED.format(tmp_path / 'in')}); {DELTA.format(name='copied')};")
            one.keys("Enter")
            one.wait_for("Saved catalog/copied.sql")
            one.type("SELECT id, COUNT(*) AS n FROM f GROUP BY id;")
            one.keys("Enter")
            one.wait_for("2 rows   2 changes")
            feed(tmp_path / "in", {"id": 1})
            one.wait_for("2 rows   4 changes")
            one.keys("q")
            one.wait_for("2 rows in set")
            one.type("SET 'pipeline.name' = 'copying'; INSERT INTO copied SELECT id FROM f;")
            one.keys("Enter")
            one.wait_for("Job ID:")
            one.wait_for("1 job running")
            one.type("QUIT;")
            one.keys("Enter")
            one.wait_for("1 job goes on at the server: copying.")
            assert "copying" in run("jobs", "list") and "RUNNING" in run("jobs", "list")
            # A script is submitted to the server, too.
            (tmp_path / "second.sql").write_text(
                f"{DELTA.format(name='more')};\nSET 'pipeline.name' = 'second';\nINSERT INTO more SELECT id FROM f;\n"
            )
            assert "Job ID:" in run("jobs", "start", str(tmp_path / "second.sql"), "--detach")
            assert not list((tmp_path / ".sqlstream").glob("background/*"))
            until(lambda: run("jobs", "list").count("RUNNING") == 2)
            again = [*sqlstream, "jobs", "start", str(tmp_path / "second.sql"), "--detach", "--project", str(tmp_path)]
            twice = subprocess.run(again, capture_output=True, text=True, timeout=60, check=False)
            assert twice.returncode == 1 and "second.sql' runs at the project's server already: second." in twice.stderr
            run("jobs", "stop", str(tmp_path / "second.sql"))
            another = tmux(*sqlstream, "--project", str(tmp_path), "-hist", str(tmp_path / "history"), columns=140)
            another.wait_for("1 job running")
            server.send_signal(signal.SIGKILL)
            server.wait(60)
            another.wait_for("the server does not answer")
            another.type("SHOW TABLES;")
            another.keys("Enter")
            another.wait_for("does not answer any more.")
            another.type("QUIT;")
            another.keys("Enter")
            another.wait_for("Exiting sqlstream...")
        finally:
            server.kill()
