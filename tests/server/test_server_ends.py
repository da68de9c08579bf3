"""The jobs of a server that ends, however: the next one goes on with them, exactly once."""

from __future__ import annotations

import json
import re
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from sqlstream.core.errors import SetupError, SqlStreamError, ValidationError
from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.runtime.jobs.run.runner import JobRunner
from sqlstream.runtime.jobs.script import write
from sqlstream.server.page.jobs import JobList
from tests.server.client import Client, GatewayError
from tests.server.page.browser import Browser
from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.spark]

FILES = "CREATE TEMPORARY TABLE f (id INT) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json'{})"
SERVE = [sys.executable, "-m", "sqlstream", "serve", "--port", "0", "--project"]
FOLLOWED = ", 'source.monitor-interval' = '1 s'"
TABLE = "CREATE TABLE {name} (id INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = '{name}')"
APPENDED = "CREATE TABLE log (id INT) WITH ('connector' = 'delta', 'table-path' = 'log')"


@contextmanager
def served(project: Path, ended_by: signal.Signals) -> Iterator[Client]:
    """A client of a server of its own process, which is ended so."""
    with (project / "server.log").open("a+") as log, subprocess.Popen([*SERVE, str(project)], stdout=log, stderr=log, cwd=project) as process:
        begun = log.tell()

        def address() -> re.Match[str] | None:
            assert process.poll() is None, (project / "server.log").read_text()
            return re.search(r"http://127.0.0.1:\d+", (project / "server.log").read_text()[begun:])

        try:
            yield Client(until(address)[0])
        finally:
            process.send_signal(ended_by)
            process.wait(60)


def states(client: Client) -> dict[str, str]:
    return {job["name"]: job["state"] for job in client.ask("GET", "/jobs/overview").body["jobs"]}


def status_of(project: Path, job: str) -> dict[str, Any]:
    """What is written down of a job."""
    found: dict[str, Any] = json.loads((project / ".sqlstream" / "jobs" / job / "status.json").read_text())
    return found


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_jobs_go_on(tmp_path: Path, ended_by: signal.Signals) -> None:
    """Of a session's own tables, functions and options; one that was stopped stays so until it is started, one that has finished is not run again."""
    for name in ("in", "once"):
        (tmp_path / name).mkdir()
    feed(tmp_path / "once", {"id": 7})
    feed(tmp_path / "in", {"id": 1}, {"id": 2})
    (tmp_path / "sqlstream.toml").write_text('[options]\n"table.local-time-zone" = "UTC"\n')

    def rows(client: Client, table: str) -> list[list[int]]:
        session = client.open(execution__runtime_mode="batch")
        session.run(APPENDED if table == "log" else TABLE.format(name=table))
        found = sorted(session.run(f"SELECT * FROM {table}").rows)
        session.close()
        return found

    with served(tmp_path, ended_by) as client:
        session = client.open(pipeline__name="counting")
        session.run(FILES.format(tmp_path / "in", FOLLOWED))
        session.run("CREATE TEMPORARY VIEW v AS SELECT id, id * 10 AS x FROM f")
        session.run(TABLE.format(name="counted"))
        session.run("INSERT INTO counted SELECT id, COUNT(x) FROM v GROUP BY id")
        session.run("SET 'pipeline.name' = 'it''s logged -- really'")
        session.run(APPENDED)
        session.run("BEGIN STATEMENT SET")
        session.run("INSERT INTO log SELECT id FROM f -- all of them")
        session.run("INSERT INTO log SELECT x FROM v WHERE id > 1")
        session.run("END")
        session.run("SET 'pipeline.name' = 'stopped'")
        session.run(TABLE.format(name="halted"))
        stopped = session.run("INSERT INTO halted SELECT id, COUNT(*) FROM f GROUP BY id").job_id
        other = client.open(pipeline__name="bounded")
        other.run(FILES.format(tmp_path / "once", ""))
        other.run(APPENDED)
        other.fetch(other.begin("INSERT INTO log SELECT id FROM f", executionConfig={"execution.runtime-mode": "batch"}))
        until(lambda: states(client).get("bounded") == "FINISHED")
        until(lambda: rows(client, "counted") == [[1, 1], [2, 1]])
        until(lambda: rows(client, "halted") == [[1, 1], [2, 1]])
        until(lambda: rows(client, "log") == [[1], [2], [7], [20]])
        assert client.ask("PATCH", f"/jobs/{stopped}").status == 202
        failing = client.open(pipeline__name="failing", restart_strategy__type="none")
        failing.run(FILES.format(tmp_path / "in", FOLLOWED))
        failing.run("CREATE TEMPORARY TABLE p (x INT) WITH ('connector' = 'print')")
        failing.run("INSERT INTO p SELECT 1 / (id - id) FROM f")
        until(lambda: states(client)["failing"] == "FAILED")
        kept = list((tmp_path / ".sqlstream" / "served").glob("*.sql"))
        assert len(kept) == 4 and {stat.S_IMODE(file.stat().st_mode) for file in kept} == {0o600}

    stood = status_of(tmp_path, "stopped")
    running = {"counting": "RUNNING", "it's logged -- really": "RUNNING", "stopped": "CANCELED", "bounded": "FINISHED", "failing": "FAILED"}
    counted = [[1, 1], [2, 2], [3, 1]]
    feed(tmp_path / "in", {"id": 2}, {"id": 3})
    with served(tmp_path, signal.SIGTERM) as client:
        until(lambda: states(client) == running, said=lambda: (tmp_path / "server.log").read_text())
        until(lambda: rows(client, "counted") == counted)
        # Each row is there once.
        until(lambda: rows(client, "log") == [[1], [2], [2], [3], [7], [20], [20], [30]], said=lambda: rows(client, "log"))
        assert rows(client, "halted") == [[1, 1], [2, 1]]
        # Since when it has been stopped, and what it had, is known as before.
        stands = status_of(tmp_path, "stopped")
        assert (stands["written"], stands["figures"]) == (stood["written"], stood["figures"]) and stands["pid"] != stood["pid"]
        command = [sys.executable, "-m", "sqlstream", "jobs", "--project", str(tmp_path), "start", "stopped"]
        started = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
        assert started.returncode == 0, started
        until(lambda: rows(client, "halted") == counted)
        # The page says why, as it did before.
        browser = Browser(client.address)
        assert "The job has failed:" in browser.get("/job/failing").text and "Submitted again" in browser.get("/job/failing").text
        # One that has failed waits until it is started, and all that its session had declared is there.
        assert len(status_of(tmp_path, "failing")["failures"]) == 1
        (script,) = (file.read_text() for file in (tmp_path / ".sqlstream" / "served").glob("failing*.sql"))
        assert "CREATE TEMPORARY TABLE p" in script
        subprocess.run([*command[:-1], "failing"], capture_output=True, check=False, timeout=180)
        until(lambda: len(status_of(tmp_path, "failing")["failures"]) == 2)
        assert len({failure["error"] for failure in status_of(tmp_path, "failing")["failures"]}) == 1


def test_a_job_that_can_not_go_on_is_told_of(tmp_path: Path) -> None:
    """Its table has gone meanwhile. When it is there again, the job is started in the server that runs."""
    served_folder, alerts, catalog = tmp_path / ".sqlstream" / "served", tmp_path / "alerts", tmp_path / "catalog"
    (tmp_path / "sqlstream.toml").write_text(f'[options]\n"alert.to" = "tee -a \'{alerts}\'"\n')
    catalog.mkdir()
    table = catalog / "numbers.sql"
    table.write_text("CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1');\n")
    write(served_folder / "dropped.sql", "dropped", "INSERT INTO nowhere SELECT 1\n;\n")

    def log() -> str:
        return (tmp_path / "server.log").read_text()

    def jobs(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sqlstream", "jobs", "--project", str(tmp_path), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)

    with served(tmp_path, signal.SIGTERM) as client:
        session = client.open(pipeline__name="a")
        session.run("CREATE TEMPORARY TABLE nothing (n INT) WITH ('connector' = 'blackhole')")
        session.run("INSERT INTO nothing SELECT n FROM numbers")
        until(lambda: states(client) == {"a": "RUNNING"}, said=log)
    assert log().rstrip().endswith("The server ends. Jobs stop with their state, and resume with the next server: a.")
    (listed,) = map(json.loads, jobs("list", "--json").stdout.splitlines())
    assert (listed["status"], listed["last error"]) == ("CANCELED", "its server has ended, and starts it again when it is started")
    table.rename(tmp_path / "aside")
    with served(tmp_path, signal.SIGTERM) as client:
        until(alerts.exists, said=log)
        second = subprocess.run([*SERVE, str(tmp_path)], capture_output=True, text=True, check=False, timeout=60)
        assert second.returncode == 1 and "serves this project already" in second.stderr
        problem = "Object 'numbers' not found"
        assert (
            "[ERROR] Job 'a' of this server was not started again. sqlstream jobs start a tries it once more; -D KEY=VALUE behind it sets an option."
            in log()
        )
        assert problem in log()
        (alert,) = map(json.loads, alerts.read_text().splitlines())
        assert (alert["event"], alert["job"], problem in alert["error"]) == ("failed", "a", True)
        assert "It was not started again: " in jobs("list", "--extended").stdout
        refused = jobs("start", "a")
        assert refused.returncode == 1 and problem in refused.stderr, refused
        (tmp_path / "aside").rename(table)
        assert (started := jobs("start", "a")).returncode == 0, started
        until(lambda: states(client) == {"a": "RUNNING"}, said=log)
        assert sorted(file.name for file in served_folder.glob("*.sql")) == ["a.sql"]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("problem", [SetupError("Spark died."), ValidationError("The table is another.")])
def test_a_job_that_did_not_begin(on_spark: Client, files: Path, monkeypatch: pytest.MonkeyPatch, problem: Exception) -> None:
    """Nothing is kept of one that is new; one that has run before stays what it was, and can be started, unless that can't help."""
    kept = on_spark.server.project / ".sqlstream" / "served"
    session = on_spark.open(pipeline__name="j")
    session.run(FILES.format(files, FOLLOWED))
    session.run("CREATE TABLE p (id INT) WITH ('connector' = 'print')")

    def fails(self: JobRunner, *, resumed: bool) -> None:
        raise problem

    with monkeypatch.context() as patched:
        patched.setattr(JobRunner, "start", fails)
        with pytest.raises(GatewayError):
            session.run("INSERT INTO p SELECT id FROM f")
        assert not list(kept.glob("*.sql")) and not list(on_spark.server.jobs)
    job_id = session.run("INSERT INTO p SELECT id FROM f").job_id
    (script,) = (file.read_text() for file in kept.glob("*.sql"))
    assert job_id is not None
    on_spark.server.jobs.stop(job_id)
    with monkeypatch.context() as patched:
        patched.setattr(JobRunner, "start", fails)
        with pytest.raises(SqlStreamError, match=str(problem)):
            on_spark.server.ask("j", Action.START)
        with pytest.raises(GatewayError):
            session.run("INSERT INTO p SELECT id FROM f")
    if problem.heals:
        assert [file.read_text() for file in kept.glob("*.sql")] == [script]
        assert [row.state.word for row in JobList(on_spark.server).rows()] == ["stopped"]
        on_spark.server.ask("j", Action.START)
        until(lambda: [job.status.value for job in on_spark.server.jobs] == ["RUNNING"])
