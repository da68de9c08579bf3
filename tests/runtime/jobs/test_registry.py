"""The jobs of a project as their folders tell, and requests to the processes that run them: processes that hold a folder, without Spark."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed, ValidationError
from sqlstream.core.job_names import short_name
from sqlstream.runtime.jobs.control import registry, requests
from sqlstream.runtime.jobs.control.attendant import Attendant
from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.runtime.jobs.control.status import Status, status_of
from sqlstream.runtime.jobs.folder.generations import JobFolder
from sqlstream.runtime.jobs.folder.versions import Version
from sqlstream.runtime.jobs.job import Job
from sqlstream.runtime.jobs.machine import JobMachine, JobStatus, State
from sqlstream.runtime.monitor.metrics import QueryMetrics, StateOperator
from sqlstream.session.results import Rows
from sqlstream.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "Übersicht der Konten"
# Runs the job in the folder of its arguments: answers requests, or never looks at any.
HOLDER = """
import sys, time
from pathlib import Path
from sqlstream.runtime.jobs.control import requests
from sqlstream.runtime.jobs.folder.generations import JobFolder
from sqlstream.runtime.jobs.control.status import Status
folder = JobFolder(Path(sys.argv[1]), sys.argv[2])
lock = folder.lock()
figures = {"job": "konten", "status": "RUNNING", "rows in": "7", "lag": "3", "last error": None, "job id": "0123abcd"}
Status("0123abcd", "RUNNING", time.time(), "1", mode="real time", figures=figures).write(folder.path)
print("held", flush=True)
while True:
    for request in requests.pending(folder.path):
        request.seen()
        if request.action.value == "stop":
            Status("0123abcd", "CANCELED", time.time(), "1").write(folder.path)
            raise SystemExit
        if request.action.value == "stop with savepoint" and not (folder.path / "deaf").exists():
            request.answer(requests.Answer("file:/kept"))
        if request.action.value == "drain":
            request.answer(requests.Answer(error="A row is wrong.", hint="Mend it."))
        if request.action.value == "why":
            request.answer(requests.Answer('[["It waits.", "Wait."], ["It is slow.", null]]'))
    time.sleep(0.05)
"""


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    """The folder of a job that has run one version."""
    folder = JobFolder(tmp_path / ".sqlstream" / "jobs" / "konten", NAME)
    Version(1, "d1", "INSERT INTO t SELECT 1").write(folder.path / "1")
    folder.describe(())
    return folder


@pytest.fixture
def holder(folder: JobFolder) -> Iterator[subprocess.Popen[str]]:
    """A process that runs it."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(folder.path), NAME], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def ask(folder: JobFolder, action: Action, seconds: float | None = None) -> requests.Answer:
    (record,) = registry.records(folder.path.parent)
    return requests.ask(folder.path, NAME, action, record.is_held, seconds)


def left(folder: JobFolder) -> list[str]:
    return [p.name for p in (folder.path / "requests").iterdir()]


def test_states(tmp_path: Path, folder: JobFolder) -> None:
    def state() -> str:
        (record,) = registry.records(tmp_path / ".sqlstream" / "jobs")
        assert record.name == NAME
        return record.state

    assert state() == "SUSPENDED"
    status = Status("42", "RUNNING", 1.0, "1")
    for written, shown in (("RUNNING", "SUSPENDED"), ("RESTARTING", "SUSPENDED"), ("CANCELED", "CANCELED"), ("FAILED", "FAILED")):
        replace(status, status=written).write(folder.path)
        assert state() == shown
    replace(status, status="CANCELED").write(folder.path)
    with folder.lock():
        # The process that has it has not written yet.
        assert state() == "INITIALIZING"
        taken = (folder.path / "lock").stat().st_mtime
        assert registry.find(folder.path.parent, NAME).state_since == taken != Status.read(folder.path).written
        replace(status, status="RUNNING", pid=1).write(folder.path)
        assert state() == "INITIALIZING"
        replace(status, status="RESTARTING").write(folder.path)
        assert state() == "RESTARTING"
    (folder.path / "status.json").write_text("{")
    assert state() == "SUSPENDED"
    (folder.path / "1" / "finished").touch()
    assert state() == "FINISHED"


def test_the_last_failures_of_all_runs_are_kept(folder: JobFolder) -> None:
    job = Job("0123abcd", NAME, (), folder.path / "1")
    for number in range(25):
        job.machine.note(f"No. {number}", float(number))
    status_of(job).write(folder.path)
    read = Status.read(folder.path)
    assert read is not None and read == replace(read, failures=job.machine.state.failures)
    assert [(f.at, f.error) for f in read.failures] == [(float(n), f"No. {n}") for n in range(5, 25)]


def test_why_of_a_job_that_was_drained(tmp_path: Path, folder: JobFolder) -> None:
    Status("42ab", "FINISHED", 1.0, "1", figures={"rows in": "1234", "rows out": "1"}).write(folder.path)
    for mark in ("draining", "finished"):
        (folder.path / "1" / mark).touch()
    (why,) = registry.find(tmp_path / ".sqlstream" / "jobs", NAME).why()
    assert why == ("The job was drained. Its last run read 1,234 rows and emitted 1 row.", registry.ANEW)


@pytest.mark.parametrize(
    ("state", "reason", "hint"),
    [
        (
            "FAILED",
            "The job has failed: A row is wrong.",
            "Mend it. Submitted again (on the page: Upgrade), the same statement continues from its checkpoint, with its tables as they are declared then.",
        ),
        (
            "CANCELED",
            "The job was stopped.",
            "Submitted again (on the page: Upgrade), the same statement continues from its checkpoint, with its tables as they are declared then. sqlstream jobs start NAME, or Start on the page, starts it as it was.",
        ),
        (
            "RUNNING",
            "The process that ran the job has ended without stopping it.",
            "Submitted again (on the page: Upgrade), the same statement continues from its checkpoint, with its tables as they are declared then.",
        ),
    ],
)
def test_why_a_job_that_has_ended_gives_nothing(tmp_path: Path, folder: JobFolder, state: str, reason: str, hint: str) -> None:
    Status("42ab", state, 1.0, "1", "A row is wrong.", "Mend it.").write(folder.path)
    assert registry.find(tmp_path / ".sqlstream" / "jobs", NAME).why() == [(reason, hint)]
    (outcome,) = Session(tmp_path).run(f"EXPLAIN JOB '{NAME}'")
    assert isinstance(outcome, Rows)
    assert outcome.rows[0][1:] == (reason, hint)
    # Of all that run there is none.
    with pytest.raises(ValidationError, match="No job runs") as none:
        list(Session(tmp_path).run("EXPLAIN JOB"))
    assert "EXPLAIN JOB '" in str(none.value.hint)


def test_how_much_a_job_did_that_has_finished(tmp_path: Path, folder: JobFolder) -> None:
    jobs = tmp_path / ".sqlstream" / "jobs"
    for figures, said in (
        ({"rows in": "900", "rows out": "79"}, " Its last run read 900 rows and emitted 79 rows."),
        ({"rows in": "900", "rows out": None}, " Its last run read 900 rows."),
        ({}, ""),
    ):
        Status("42ab", "FINISHED", 1.0, "1", figures=figures).write(folder.path)
        assert registry.find(jobs, NAME).why() == [(f"The job has finished: it has no more to read.{said}", registry.ANEW)]


@pytest.mark.parametrize("sinks", [1, 2])
def test_the_figures_of_the_run_before_stay_known(folder: JobFolder, sinks: int) -> None:
    figures = {"rows in": "900", "rows out": "79", "state rows": "5", "state bytes": "8400"}
    job = Job("b", NAME, (None,) * sinks, folder.path / "1", before=Status("a", "FAILED", 1.0, "1", figures=figures))  # type: ignore[arg-type]
    metrics = job.metrics
    assert (metrics.rows_in, metrics.rows_out) == (0, 0), "of this run, which has begun"
    assert (metrics.state_rows, metrics.state_bytes) == (5, 8400)
    job.machine.refuse(JobFailed("It can't begin."))
    metrics = job.metrics
    assert (metrics.rows_in, metrics.rows_out) == ((900, 79) if sinks == 1 else (0, None)), "each query's share is not known"
    assert status_of(job).figures["state bytes"] == "8400"
    # What it did itself counts.
    seen = QueryMetrics(at=7, ended_rows=3, batches=1, rows_out=2, states=(StateOperator("aggregate", 1, 100),))
    job.watches[0] = SimpleNamespace(metrics=seen)  # type: ignore[assignment]
    assert (job.metrics.rows_in, job.metrics.state_bytes) == (3, 100)
    # Another generation may have begun without that state.
    job = replace(job, folder=folder.path / "2", watches={})
    assert job.metrics.state_bytes is None


def test_a_job_is_found_by_name_and_by_the_beginning_of_its_id(tmp_path: Path, folder: JobFolder) -> None:
    Status("42ab", "CANCELED", 1.0, "1").write(folder.path)
    assert registry.find(tmp_path / ".sqlstream" / "jobs", NAME).path == registry.find(tmp_path / ".sqlstream" / "jobs", "42").path == folder.path
    for unknown in ("", "43", "Übersicht über"):
        with pytest.raises(ValidationError, match="does not exist"):
            registry.find(tmp_path / ".sqlstream" / "jobs", unknown)


def job_called(project: Path, name: str, id_: str) -> None:
    """A job that was stopped."""
    jobs = project / ".sqlstream" / "jobs"
    folder = JobFolder(jobs / f"{len(list(jobs.glob('*')))}", name)
    folder.path.mkdir(parents=True)
    (folder.path / "job.json").write_text(json.dumps({"name": name}))
    Status(id_, "CANCELED", 1.0, "1").write(folder.path)


def test_a_job_is_found_by_its_short_name_and_by_a_part_that_it_alone_has(tmp_path: Path) -> None:
    jobs, start = tmp_path / ".sqlstream" / "jobs", "insert-into_default_catalog."
    for name, id_ in ((f"{start}d.per_minute", "1a"), (f"{start}d.abcd", "2a"), ("bad", "3a"), ("other", "bad1"), (f"{start}e.abcd", "abcd")):
        job_called(tmp_path, name, id_)

    def found(name: str, *, whole: bool = False) -> str:
        return registry.find(jobs, name, whole=whole).id

    assert (found("per_minute"), found("minute"), found("bad"), found("bad1"), found("e.ab")) == ("1a", "1a", "3a", "bad1", "abcd")
    with pytest.raises(ValidationError, match="Several jobs are meant by 'abcd': d.abcd, e.abcd"):
        found("abcd")
    assert found("d.abcd", whole=True) == "2a" and found("e.abcd") == "abcd"
    assert found("per_minute", whole=True) == "1a"
    for text, hint in (("per_minut", "The whole name is needed here: per_minute."), ("per_mnute", "Did you mean 'per_minute'?")):
        with pytest.raises(ValidationError, match="does not exist") as caught:
            found(text, whole=True)
        assert caught.value.hint == hint
    assert short_name(f"{start}d.o.x,default_catalog.d.y") == "o.x,y"
    session = Session(tmp_path)
    (listed,) = session.run("SHOW JOBS")
    assert isinstance(listed, Rows)
    assert sorted(row[0] or "" for row in listed.rows) == ["bad", "d.abcd", "e.abcd", "other", "per_minute"]
    assert [c.name for c in listed.columns] == ["job name", "status", "rows/s", "lag", "restarts", "since"]
    assert {row[1:5] for row in listed.rows} == {("CANCELED", None, None, None)}
    assert all((row[5] or "") > "2026" for row in listed.rows), "since when it was stopped"
    # A statement that loses something, or that nobody is asked about, takes no part of a name.
    for statement in ("DROP JOB 'minute'", "STOP JOB 'minute'", "ALTER JOB 'minute' SET OFFSETS ('t' = 'latest')"):
        with pytest.raises(ValidationError, match="Job minute does not exist"):
            list(session.run(statement))
    list(session.run("DROP JOB IF EXISTS 'minute'; DROP JOB 'per_minute'"))
    assert not registry.exists(jobs, "per_minute") and registry.exists(jobs, "oth")


def test_a_folder_of_a_newer_release_is_listed(tmp_path: Path, folder: JobFolder) -> None:
    (folder.path / "1" / "version.json").write_text("{}")
    Status("42ab", "FAILED", 1.0, "1", "Why").write(folder.path)
    (record,) = registry.records(tmp_path / ".sqlstream" / "jobs")
    assert (record.state, record.error, record.version, record.versions()) == ("FAILED", "Why", None, [])


def test_show_jobs_has_those_of_other_processes(tmp_path: Path, folder: JobFolder, holder: subprocess.Popen[str]) -> None:
    session = Session(tmp_path)
    (shown,) = session.run("SHOW JOBS EXTENDED")
    assert isinstance(shown, Rows)
    ((id_, name, status, _, _, _, error, process, *_),) = shown.rows
    assert (id_, name, status, error) == ("0123abcd", NAME, "RUNNING", None)
    assert str(process).startswith(f"{holder.pid}@")
    list(session.run(f"STOP JOB '{NAME}'"))
    assert holder.wait(10) == 0
    with pytest.raises(ValidationError, match="is not running: it was stopped"):
        list(session.run("STOP JOB '0123'"))


def shown(session: Session, statement: str) -> dict[str, str | None]:
    (outcome,) = session.run(statement)
    assert isinstance(outcome, Rows)
    if statement.startswith("SHOW"):
        (row,) = outcome.rows
        return dict(zip((c.name for c in outcome.columns), row, strict=True))
    return {str(name): value for name, value in outcome.rows}


def test_what_a_job_of_another_process_does(tmp_path: Path, folder: JobFolder, holder: subprocess.Popen[str]) -> None:
    session = Session(tmp_path)
    commits = folder.path / "1" / "checkpoint" / "0_t" / "commits"
    (commits / "3").mkdir(parents=True)
    os.utime(commits / "3", (1e9, 1e9))
    (listed, metrics, described) = (shown(session, s) for s in ("SHOW JOBS EXTENDED", "SHOW JOB METRICS", f"DESCRIBE JOB EXTENDED '{NAME}'"))
    assert (listed["version"], listed["last progress"]) == ("1", "2001-09-09T01:46:40") and listed["size"]
    assert (metrics["job"], metrics["status"], metrics["rows in"], metrics["lag"], metrics["job id"]) == (NAME, "RUNNING", "7", "3", "0123abcd")
    assert (described["status"], described["rows read"], described["lag"]) == ("RUNNING", "7", "3")
    assert described["mode"] == "real time"
    assert described["process"] == listed["process"] and described["checkpoint"] == str(commits.parents[1])
    assert described["last progress"] == listed["last progress"] and "INSERT INTO t SELECT 1" in described.values()
    assert shown(session, "DESCRIBE JOB '0123'")["job name"] == NAME
    for statement in (f"EXPLAIN JOB '{NAME}'", "EXPLAIN JOB '0123'", "EXPLAIN JOB"):
        (why,) = session.run(statement)
        assert isinstance(why, Rows)
        assert [row[1:] for row in why.rows] == [("It waits.", "Wait."), ("It is slow.", None)]
    # It is paused, or its machine is.
    written = Status.read(folder.path)
    assert written is not None
    replace(written, written=time.time() - 100).write(folder.path)
    assert "has written no figures since" in str(shown(session, "SHOW JOB METRICS")["last error"])
    # Another process has it by now.
    replace(written, pid=1).write(folder.path)
    assert (shown(session, "SHOW JOB METRICS")["status"], shown(session, "SHOW JOB METRICS")["rows in"]) == ("INITIALIZING", None)
    written.write(folder.path)
    holder.kill()
    holder.wait()
    (metrics_,) = session.run("SHOW JOB METRICS")
    assert isinstance(metrics_, Rows) and metrics_.rows == ()
    described = shown(session, f"DESCRIBE JOB '{NAME}'")
    assert described["status"] == "SUSPENDED" and "has ended without stopping it" in str(described["last error"]) and "process" not in described


def test_no_jobs(tmp_path: Path) -> None:
    assert registry.records(tmp_path / ".sqlstream" / "jobs") == []


def test_looking_keeps_nobody_out(folder: JobFolder) -> None:
    (record,) = registry.records(folder.path.parent)
    folder.lock().close()
    looking = subprocess.Popen(
        [sys.executable, "-c", "import fcntl, sys, time; fcntl.flock(f := open(sys.argv[1]), fcntl.LOCK_SH); print(flush=True); time.sleep(0.05)",
         str(folder.path / "lock")], stdout=subprocess.PIPE,
    )  # fmt: skip
    assert looking.stdout is not None
    looking.stdout.readline()
    with folder.lock():
        assert record.is_held()
    looking.wait()
    looking.stdout.close()


def test_a_request_is_answered_and_leaves_nothing(folder: JobFolder, holder: subprocess.Popen[str]) -> None:
    began = time.monotonic()
    assert ask(folder, Action.STOP_WITH_SAVEPOINT).result == "file:/kept"
    assert time.monotonic() - began < 20
    assert ask(folder, Action.DRAIN) == requests.Answer(error="A row is wrong.", hint="Mend it.")
    assert left(folder) == []


def test_a_process_that_stops_as_asked_may_end_before_it_answers(folder: JobFolder, holder: subprocess.Popen[str]) -> None:
    assert ask(folder, Action.STOP).error is None
    assert left(folder) == []


def test_the_dead_are_told_from_the_paused(folder: JobFolder, holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "SEEN_SECONDS", 1.0)
    holder.send_signal(signal.SIGSTOP)
    with pytest.raises(JobFailed, match=f"process {holder.pid} on .* has not seen the request") as paused:
        ask(folder, Action.STOP)
    assert "paused" in (paused.value.hint or "")
    # It does not stop when it wakes up.
    assert left(folder) == []
    holder.send_signal(signal.SIGCONT)
    assert ask(folder, Action.STOP_WITH_SAVEPOINT).result
    holder.kill()
    holder.wait()
    with pytest.raises(JobFailed, match=f"process {holder.pid} on .* has ended"):
        ask(folder, Action.STOP)


def test_a_job_that_ended_before_it_saw_what_was_asked(folder: JobFolder) -> None:
    Status("0123abcd", "FAILED", 1.0, "1", "A row is wrong.").write(folder.path)
    with pytest.raises(JobFailed, match="does not run any more: it has failed") as ended:
        requests.ask(folder.path, NAME, Action.DRAIN, lambda: False)
    assert ended.value.hint == "A row is wrong."
    assert requests.ask(folder.path, NAME, Action.STOP, lambda: False) == requests.Answer()
    assert left(folder) == []


def test_requests_are_seen_again_after_a_full_disk(folder: JobFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, full = requests.Request.seen, [OSError(28, "No space left on device")]

    def failing(request: requests.Request) -> None:
        if full:
            raise full.pop()
        seen(request)

    monkeypatch.setattr(requests.Request, "seen", failing)
    attendant = Attendant(lambda job, action: f"{action.value} done")
    job = Job("0123abcd", NAME, (), folder.path / "1")
    attendant.attend(job)
    try:
        assert requests.ask(folder.path, NAME, Action.SAVEPOINT, lambda: True).result == "savepoint done"
    finally:
        attendant.leave(job)
    assert not full


def test_a_job_that_ends_before_it_is_attended_leaves_its_status_and_no_thread(folder: JobFolder) -> None:
    attendant = Attendant(lambda job, action: "")
    job = Job("0123abcd", NAME, (), folder.path / "1", machine=JobMachine(State(JobStatus.FINISHED)))
    attendant.leave(job)
    # By now its folder may be another process's, whose requests are not this one's.
    attendant.attend(job)
    (folder.path / "requests").mkdir()
    (folder.path / "requests" / "1.request").write_text("stop")
    assert (attendant._thread, attendant._jobs, attendant._left) == (None, {}, set())
    written = Status.read(folder.path)
    assert written is not None and written.status == "FINISHED"
    assert [r.action for r in requests.pending(folder.path)] == [Action.STOP]


def test_waiting_has_an_end(folder: JobFolder, holder: subprocess.Popen[str]) -> None:
    (folder.path / "deaf").touch()
    with pytest.raises(JobFailed, match="has not answered within 0.5 s"):
        ask(folder, Action.STOP_WITH_SAVEPOINT, 0.5)


def test_what_was_asked_of_an_earlier_process_is_forgotten(folder: JobFolder) -> None:
    (folder.path / "requests").mkdir()
    (folder.path / "requests" / "1.request").write_text("stop")
    assert [r.action for r in requests.pending(folder.path)] == [Action.STOP]
    requests.forget(folder.path)
    assert list(requests.pending(folder.path)) == []


def test_a_job_that_runs_is_not_dropped(tmp_path: Path, folder: JobFolder, holder: subprocess.Popen[str]) -> None:
    (record,) = registry.records(tmp_path / ".sqlstream" / "jobs")
    with pytest.raises(ValidationError, match=f"is running, in process {holder.pid}@"):
        record.check_stopped()
    with pytest.raises(ValidationError, match="already running"):
        record.drop()
    holder.kill()
    holder.wait()
    record.drop()
    assert registry.records(tmp_path / ".sqlstream" / "jobs") == []
    assert [p.name for p in (tmp_path / ".sqlstream").iterdir()] == ["jobs"]
    # One who had opened its lock gets that of a new folder.
    folder.lock().close()
    assert folder.path.exists()
