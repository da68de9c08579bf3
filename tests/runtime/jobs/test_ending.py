"""Jobs whose Spark is about to die, or has."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed
from sqlstream.runtime.jobs.job import Job
from sqlstream.runtime.jobs.run import runner
from sqlstream.runtime.jobs.run.runner import JobRunner

if TYPE_CHECKING:
    from pathlib import Path


class Dying:
    """A job whose queries are ended after some tries: Spark answers with an error until it is gone."""

    def __init__(self, tries: int, *, heals: bool = True) -> None:
        self.tries, self.heals = tries, heals
        self.machine = SimpleNamespace(stopping=threading.Event())
        self.asked = 0

    def end_queries(self) -> None:
        self.asked += 1
        if self.asked <= self.tries:
            raise OSError("Java heap space")

    def problem(self, error: BaseException) -> JobFailed:
        return JobFailed(str(error), heals=self.heals)


def ending(job: Dying) -> JobRunner:
    made = JobRunner.__new__(JobRunner)
    made._job, made._streams = job, SimpleNamespace(end_watches=lambda: None)  # type: ignore[assignment]
    return made


def test_queries_are_ended_as_often_as_it_takes() -> None:
    """Else a job would have failed for good for the death of Spark, which heals."""
    job = Dying(3)
    ending(job)._end_queries()
    assert job.asked == 4


def test_but_not_for_ever_nor_for_what_does_not_heal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_ENDING_SECONDS", 0.3)
    with pytest.raises(OSError, match="heap"):
        ending(Dying(10**6))._end_queries()
    job = Dying(10**6, heals=False)
    with pytest.raises(OSError, match="heap"):
        ending(job)._end_queries()
    assert job.asked == 1
    stopped = Dying(10**6)
    stopped.machine.stopping.set()
    with pytest.raises(OSError, match="heap"):
        ending(stopped)._end_queries()


def test_what_spark_called_the_queries_is_known_when_it_is_gone(tmp_path: Path) -> None:
    """Metrics of all jobs would be gone with one whose Spark has died."""

    class Gone:
        @property
        def id(self) -> str:
            raise ConnectionRefusedError

    job = Job("1", "job", (), tmp_path, queries=[Gone()], query_ids={"x"})  # type: ignore[list-item]
    assert job.runs == {"x"}
