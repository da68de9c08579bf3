"""DETACH JOB and QUIT hand jobs over to the background: what is asked, written and refused. No JVM; nothing is started."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed, SqlStreamError, ValidationError
from sqlstream.core.job_names import short_name
from sqlstream.runtime.jobs.control.handed_over import InBackground
from sqlstream.runtime.jobs.folder.generations import JobFolder
from sqlstream.runtime.jobs.job import Job
from sqlstream.runtime.jobs.script import JobScript
from sqlstream.session.results import Exit
from tests.support.sessions import open_session, rows, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sqlstream.core.storage import Place
    from sqlstream.session.session import Session

SCRIPT = JobScript(("SET 'a' = 'b'",), ("INSERT INTO x SELECT 1",))


class RunningJob(Job):
    """One of no query, which runs until it is stopped."""

    lives = True  # type: ignore[assignment]


class Shell:
    """A session whose user gives these ``answers``, with jobs; what is started in the background is written down."""

    def __init__(self, project: Path, answers: list[bool] | None, *, background: bool = True) -> None:
        self.project, self.answers = project, answers
        self.asked: list[str] = []
        self.said: list[str] = []
        self.started: list[Path] = []
        self.error: Exception | None = None
        self.session: Session = open_session(
            project, ask=self._ask if answers is not None else None, notify=self.said.append, background=self._start if background else None
        )
        self.session.jobs.stop = self._stop  # type: ignore[method-assign, assignment]
        self.stopped: list[tuple[str, bool]] = []

    def _ask(self, question: str, _: object) -> bool:
        self.asked.append(question)
        assert self.answers is not None
        return self.answers.pop(0)

    def _start(self, file: Path, jobs: Place, stop: Callable[[], None], interrupted: Callable[[], bool]) -> InBackground:
        assert jobs == self.session.jobs.folders.jobs
        stop()
        if self.error is not None:
            raise self.error
        self.started.append(file)
        return InBackground(file.with_suffix(".log"), begun=True)

    def _stop(self, job_id: str, *, stays: bool = True) -> None:
        self.session.jobs.find(job_id).lives = False  # type: ignore[misc]
        self.stopped.append((job_id, stays))

    def job(self, name: str, *, script: JobScript | None = SCRIPT, streaming: bool = True) -> Job:
        folder = JobFolder(self.session.jobs.folders.jobs / name.replace(" ", "_"), name)
        folder.path.mkdir(parents=True)
        folder.describe(())
        job = RunningJob(f"id-{name}", name, (), folder.path / "1", streaming=streaming)
        self.session.jobs._jobs[job.id] = job
        self.session.jobs._submissions[job.id] = SimpleNamespace(script=script)  # type: ignore[assignment]
        return job


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Shell]:
    monkeypatch.chdir(tmp_path)
    return lambda *answers, **more: Shell(tmp_path, list(answers), **more)


def test_a_job_goes_into_the_background(shell: Callable[..., Shell]) -> None:
    one = shell()
    one.job("my job")
    file = one.project / ".sqlstream" / "detached" / "my_job.sql"
    assert rows(one.session, "DETACH JOB 'my job'") == [("my job", str(file.with_suffix(".log")), "sqlstream jobs stop 'my job'")]
    assert (one.started, one.stopped, one.asked) == ([file], [("id-my job", False)], [])
    assert (file.read_text(), file.stat().st_mode & 0o777) == (
        "-- my job\nSET 'a' = 'b'\n;\nSET 'pipeline.name' = 'my job'\n;\nINSERT INTO x SELECT 1\n;\n",
        0o600,
    )
    assert list(one.session.jobs) == []
    with pytest.raises(ValidationError, match="Job 'my job' is not running: its process has ended without stopping it"):
        run(one.session, "DETACH JOB 'my job'")
    one.job("other")
    run(one.session, "DETACH JOB 'id-o'")
    assert len(one.started) == 2


def test_elsewhere_the_command_names_the_project(shell: Callable[..., Shell], tmp_path_factory: pytest.TempPathFactory) -> None:
    one = shell()
    one.job("a")
    os.chdir(tmp_path_factory.mktemp("elsewhere"))
    ((_, _, stops),) = rows(one.session, "DETACH JOB 'a'")
    assert stops == f"sqlstream jobs stop a --project {one.project}"


def test_what_can_not_be_handed_over_runs_on(shell: Callable[..., Shell]) -> None:
    one = shell()
    bounded, long = one.job("bounded", streaming=False), one.job("long", script=None)
    for job, why in ((bounded, "in batch mode it keeps no state"), (long, "the session has declared more than a script may hold")):
        with pytest.raises(ValidationError, match=f"Job '{short_name(job.name)}' can't be handed over: {why}"):
            run(one.session, f"DETACH JOB '{job.name}'")
    served = Shell(one.project, None, background=False)
    served.job("served")
    with pytest.raises(ValidationError, match="this session starts no process in the background"):
        run(served.session, "DETACH JOB 'served'")
    (one.project / ".sqlstream" / "detached").write_text("no folder")
    kept = one.job("kept")
    with pytest.raises(JobFailed, match="Job 'kept' was not handed over, and runs on"):
        run(one.session, "DETACH JOB 'kept'")
    assert (kept.lives, one.stopped) == (True, [])


def test_one_of_another_process(shell: Callable[..., Shell]) -> None:
    one = shell()
    folder = JobFolder(one.session.jobs.folders.jobs / "a", "a")
    folder.path.mkdir(parents=True)
    folder.describe(())
    with folder.lock(), pytest.raises(ValidationError, match="Job 'a' does not run in this process, but in") as refused:
        run(one.session, "DETACH JOB 'a'")
    assert refused.value.hint == "It goes on when this process ends."


@pytest.mark.parametrize("error", [JobFailed("'x' has ended with exit code 1.", hint="Why."), OSError(2, "No such file or directory")])
def test_one_that_does_not_start_says_how_to_go_on(shell: Callable[..., Shell], error: Exception) -> None:
    one = shell()
    one.job("a")
    one.error = error
    with pytest.raises(JobFailed, match="Job 'a' was stopped, and does not run in the background: ") as failed:
        run(one.session, "DETACH JOB 'a'")
    assert failed.value.hint is not None
    assert failed.value.hint.endswith("its statement resumes it here, and sqlstream jobs start a --detach in the background.")
    assert failed.value.hint.startswith("Why. " if isinstance(error, JobFailed) else "Its state is kept")


def test_one_that_ends_meanwhile(shell: Callable[..., Shell], monkeypatch: pytest.MonkeyPatch) -> None:
    one = shell()
    one.job("a")

    def stop(job_id: str, *, stays: bool) -> None:
        raise ValidationError("Job id-a is not running: it has finished.")

    monkeypatch.setattr(one.session.jobs, "stop", stop)
    with pytest.raises(ValidationError, match="^Job id-a is not running: it has finished.$"):
        run(one.session, "DETACH JOB 'a'")
    assert one.started == []


HAND_OVER = "2 jobs are running: a, b.\nHand them over to the background, and quit?"
LEAVE = "2 jobs are running and stop with the shell: a, b.\nTheir state is kept: submitted again, the same statements continue from there. Quit?"


@pytest.mark.parametrize(
    ("answers", "asked", "leaves", "started"),
    [([True], [HAND_OVER], True, 2), ([False, True], [HAND_OVER, LEAVE], True, 0), ([False, False], [HAND_OVER, LEAVE], False, 0)],
)
def test_quit_offers_it_first(shell: Callable[..., Shell], answers: list[bool], asked: list[str], leaves: bool, started: int) -> None:
    one = shell(*answers)
    for name in ("a", "b"):
        one.job(name)
    (outcome,) = run(one.session, "QUIT")
    assert (one.asked, isinstance(outcome, Exit), len(one.started), len(one.said)) == (asked, leaves, started, started)
    assert leaves or outcome.notices == ("Nothing was done.",)


def test_quit_asks_of_the_rest_whether_they_stop(shell: Callable[..., Shell]) -> None:
    one = shell(True, False)
    one.job("a")
    one.job("b", streaming=False)
    (outcome,) = run(one.session, "QUIT")
    assert one.asked == [
        "1 job is running: a.\nHand it over to the background, and quit?",
        "1 job is running and stops with the shell: b.\nIts state is kept: submitted again, the same statement continues from there. Quit?",
    ]
    assert (len(one.started), outcome.notices) == (1, ("Nothing was done.",))


def test_quit_stays_where_a_job_does_not_start(shell: Callable[..., Shell]) -> None:
    one = shell(True)
    one.job("a")
    one.error = OSError(28, "No space left on device")
    with pytest.raises(SqlStreamError, match="does not run in the background: No space left on device"):
        run(one.session, "QUIT")


def test_a_script_quits_unasked(tmp_path: Path) -> None:
    one = Shell(tmp_path, None)
    one.job("a")
    assert isinstance(run(one.session, "QUIT")[0], Exit)
    assert (one.started, one.stopped) == ([], [])


def test_without_a_background_quit_asks_as_ever(shell: Callable[..., Shell]) -> None:
    one = shell(True, background=False)
    one.job("a")
    run(one.session, "QUIT")
    assert [question.partition(":")[0] for question in one.asked] == ["1 job is running and stops with the shell"]


def test_a_dropped_job_leaves_no_script(shell: Callable[..., Shell]) -> None:
    one = shell()
    one.job("a")
    run(one.session, "DETACH JOB 'a'")
    one.answers = [True]
    run(one.session, "DROP JOB 'a'")
    assert list((one.project / ".sqlstream" / "detached").iterdir()) == []
