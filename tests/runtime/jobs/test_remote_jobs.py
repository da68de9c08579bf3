"""Jobs that keep what they go on with on HDFS and in S3: everything that is done with a job, from one process and from several, and kill -9."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.torture.tables import DeltaTable
from sqlstream.core.errors import ValidationError
from sqlstream.session.session import Session
from tests.support.edited import COUNT, TABLES, Project
from tests.support.processes import children, ensure_runs
from tests.support.sessions import submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]
FILTERED = "INSERT INTO counted SELECT item, COUNT(*) FROM bids WHERE price > 2 GROUP BY item;"
# Runs the client as if it were on another machine, with short leases.
ELSEWHERE = """
import sys
from sqlstream.core import processes
from sqlstream.runtime.jobs.folder import locks
processes.machine = lambda: sys.argv[1]
locks.LEASE_SECONDS, locks.RENEW_SECONDS, locks._VALID_SECONDS = 6.0, 1.0, 2.0
from sqlstream.cli.main import main
raise SystemExit(main(sys.argv[2:]))
"""


@pytest.fixture
def directory(remote_folder: str) -> str:
    return f"{remote_folder}/kept ü"


@pytest.fixture
def project(tmp_path: Path, engine, directory: str) -> Iterator[Project]:
    made = Project(tmp_path, engine)
    list(made.session.run(f"SET 'execution.checkpointing.dir' = '{directory}';"))
    yield made
    made.session.close()


def rows(session: Session, sql: str) -> list[dict[str, str | None]]:
    outcome = list(session.run(sql))[-1]
    return [dict(zip([c.name for c in outcome.columns], row, strict=True)) for row in outcome.rows]


def goes_on(project: Project, tmp_path: Path) -> None:
    """A job of the project that has stopped goes on; nothing of it is on this machine."""
    assert project.rows("SHOW JOBS;") == []
    project.feed("bids", (1, "a", 1), (2, "b", 5))
    project.run(COUNT)
    assert project.rows("SELECT * FROM counted;") == [("a", "1"), ("b", "1")]
    project.feed("bids", (3, "a", 1))
    project.run(COUNT)
    assert any("continues where it stopped" in line for line in project.said)
    assert project.rows("SELECT * FROM counted;") == [("a", "2"), ("b", "1")]
    assert not (tmp_path / ".sqlstream" / "jobs").exists()


@pytest.mark.parametrize("remote_folder", ["hdfs"], indirect=True)
def test_a_job_goes_on(project: Project, tmp_path: Path) -> None:
    goes_on(project, tmp_path)
    # A savepoint is there, too.
    project.feed("bids", (4, "b", 5))
    job = submit(project.session, COUNT)
    ((path,),) = project.rows(f"STOP JOB '{job.id}' WITH SAVEPOINT;")
    (shown,) = rows(project.session, "SHOW SAVEPOINTS;")
    assert (shown["savepoint path"], shown["status"]) == (path, "COMPLETED")


# It takes half a minute on HDFS, two on S3 as it is here.
@pytest.mark.slow
def test_the_life_of_a_job(project: Project, directory: str, tmp_path: Path) -> None:
    goes_on(project, tmp_path)
    # A changed one is judged, and goes on with its state.
    with pytest.raises(ValidationError, match="has changed"):
        project.run(FILTERED)
    assert "last-state" in project.rows(f"EXPLAIN UPGRADE {FILTERED}")[0][0]
    project.set("last-state")
    project.feed("bids", (4, "a", 5))
    project.run(FILTERED)
    assert project.rows("SELECT * FROM counted;") == [("a", "3"), ("b", "1")]
    # A savepoint, with which it begins anew after it is dropped.
    stopped = submit(project.session, FILTERED)
    ((path,),) = project.rows(f"STOP JOB '{stopped.id}' WITH SAVEPOINT;")
    assert path is not None and path.startswith(f"{directory}/savepoints/job-")
    (shown,) = rows(project.session, "SHOW SAVEPOINTS;")
    assert (shown["savepoint path"], shown["status"]) == (path, "COMPLETED")
    # Its state is a table there too, with the columns that are declared.
    (declared,) = (value for key, value in project.rows(f"DESCRIBE SAVEPOINT '{path}';") if key is not None and key.endswith(": table"))
    assert declared is not None and path in declared
    list(project.session.run(declared))
    assert sorted(project.rows("SELECT * FROM state;")) == [("a", "3"), ("b", "1")]
    with pytest.raises(ValidationError, match="keeps no 'itme'"):
        project.rows(f"{declared.replace('`item`', '`itme`').replace('TABLE state', 'TABLE wrong')} SELECT * FROM wrong;")
    other = Session(tmp_path, options={"execution.checkpointing.dir": directory}, notify=print, engine=project.session.context.engine.given)
    (job,) = rows(other, "SHOW JOBS EXTENDED;")
    assert (job["job name"], job["status"], job["version"]) == ("job", "CANCELED", "2") and job["size"] != "0 B"
    (described,) = ([r for r in list(other.run("DESCRIBE JOB 'job';"))[-1].rows if r[0] == "checkpoint"],)
    assert described == [("checkpoint", f"{directory}/jobs/job/2/checkpoint")]
    list(other.run("DROP JOB 'job';"))
    assert rows(other, "SHOW JOBS;") == []
    list(project.session.run(f"SET 'execution.state-recovery.path' = '{path}';"))
    project.feed("bids", (5, "a", 7))
    project.run(FILTERED)
    assert project.rows("SELECT * FROM counted;") == [("a", "4"), ("b", "1")]
    list(project.session.run("RESET 'execution.state-recovery.path';"))
    list(project.session.run(f"DROP SAVEPOINT '{path}';"))
    assert project.rows("SHOW SAVEPOINTS;") == []


def test_two_at_once_are_refused(project: Project, tmp_path: Path, directory: str) -> None:
    project.feed("bids", (1, "a", 1))
    job = submit(project.session, COUNT)
    other = Session(tmp_path, options={**project.session.options}, notify=print, engine=project.session.context.engine.given)
    list(other.run(TABLES))
    with pytest.raises(ValidationError, match=f"Job 'job' is already running, in process {os.getpid()} on"):
        list(other.run(COUNT))
    with pytest.raises(ValidationError, match="is running, in process"):
        list(other.run("DROP JOB 'job';"))
    # What another process asks for is done.
    list(other.run("STOP JOB 'job';"))
    assert job.done.wait(60) and job.status.value == "CANCELED"


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_a_driver_that_is_killed_and_one_that_comes_back(tmp_path: Path, hdfs_folder: str) -> None:
    """Its lease ends, another driver goes on; when it wakes up it writes nothing any more."""
    for name in ("bids", "asks"):
        (tmp_path / name).mkdir()
    project = Project.__new__(Project)
    project.path = tmp_path
    (tmp_path / "job.sql").write_text(f"{TABLES}\n{COUNT}")
    options = {"table.local-time-zone": "UTC", "pipeline.name": "job"}
    (tmp_path / "sqlstream.toml").write_text(f'[options]\n"execution.checkpointing.dir" = "{hdfs_folder}"\n')
    flags = [argument for key, value in options.items() for argument in ("-D", f"{key}={value}")]

    def start(machine: str) -> subprocess.Popen[bytes]:
        with (tmp_path / f"{machine}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", ELSEWHERE, machine, "--project", str(tmp_path), "-f", str(tmp_path / "job.sql"), *flags],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip

    table = DeltaTable(tmp_path / "counted")

    def reached(expected: dict[str, int], log: str, driver: subprocess.Popen[bytes]) -> None:
        said = tmp_path / f"{log}.log"
        until(
            lambda: dict(table.rows().elements()) == expected, 400, every=0.5, meanwhile=lambda: ensure_runs(driver, said),
            said=lambda: (table.rows(), said.read_text()[-4000:]),
        )  # fmt: skip

    project.feed("bids", (1, "a", 1), (2, "b", 5))
    first = start("one")
    try:
        reached({"a": 1, "b": 1}, "one", first)
        # All of its processes stand still, its JVM too, which has a session of its own.
        stopped = [first.pid, *(child for child, _ in children(first.pid))]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        project.feed("bids", (3, "a", 1))
        second = start("two")
        try:
            reached({"a": 2, "b": 1}, "two", second)
            assert "continues where it stopped" in (tmp_path / "two.log").read_text()
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
            assert first.wait(60) == 1
            said = (tmp_path / "one.log").read_text()
            assert re.search(r"Job 'job' is run by process \d+ on \S+ now", said), said
            project.feed("bids", (4, "a", 1), (5, "b", 1))
            reached({"a": 3, "b": 2}, "two", second)
        finally:
            os.kill(second.pid, signal.SIGKILL)
            second.wait()
        # Of the machine of the killed one: it need not wait.
        project.feed("bids", (6, "c", 1))
        third = start("two")
        try:
            reached({"a": 3, "b": 2, "c": 1}, "two", third)
            third.terminate()
            assert third.wait(60) == 143
            command = [sys.executable, "-m", "sqlstream", "jobs", "--project", str(tmp_path), "list", "--json"]
            listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert (job := json.loads(listed))["job name"] == "job" and (job["status"], job["version"], job["process"]) == ("CANCELED", 1, None)
        finally:
            third.kill()
            third.wait()
    finally:
        first.kill()
        first.wait()
