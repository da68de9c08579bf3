"""A name means one job, whoever asks; what is asked in words of another release is answered."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from sqlstream.core import storage
from sqlstream.core.errors import JobFailed, ValidationError
from sqlstream.runtime.jobs.control import requests
from sqlstream.runtime.jobs.control.ask import ask, find
from sqlstream.runtime.jobs.control.registry import JobRecord
from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.runtime.jobs.job import Job

if TYPE_CHECKING:
    from pathlib import Path


class Own(list):  # type: ignore[type-arg]
    """The jobs of a session, of whose folders it knows."""

    def __init__(self, folder: Path, *jobs: Job) -> None:
        super().__init__(jobs)
        self.folders = SimpleNamespace(jobs=folder)
        self.asked: list[tuple[str, Action]] = []

    def __contains__(self, name: object) -> bool:
        return any(job.id.startswith(str(name)) for job in self)

    def find(self, name: str) -> Job:
        return next(job for job in self if job.id.startswith(name))

    def carry_out(self, job: Job, action: Action, interrupted: Any) -> str:
        self.asked.append((job.name, action))
        return "done"


def made(folder: Path, name: str, run: str) -> Job:
    home = folder / name
    storage.write(home / "job.json", json.dumps({"layout": 3, "name": name}))
    return Job(run, name, (), home / "1")


def test_a_name_goes_before_the_beginning_of_an_id(tmp_path: Path) -> None:
    first, second = made(tmp_path, "other", "abc0"), made(tmp_path, "abc", "def0")
    jobs = cast("Any", Own(tmp_path, first, second))
    assert find(jobs, "abc") is second
    assert find(jobs, "abc0") is first and find(jobs, "def") is second and find(jobs, "other") is first
    assert ask(jobs, "abc", Action.STOP, lambda: False) == "done" and jobs.asked == [("abc", Action.STOP)]


def test_one_of_another_process(tmp_path: Path) -> None:
    made(tmp_path, "theirs", "abc0")
    jobs = cast("Any", Own(tmp_path))
    assert isinstance(find(jobs, "theirs"), JobRecord)
    with pytest.raises(ValidationError, match="Job 'theirs' is not running"):
        ask(jobs, "theirs", Action.STOP, lambda: False)
    with pytest.raises(ValidationError, match="Job nosuch does not exist"):
        find(jobs, "nosuch")


def test_what_another_release_asks_for_is_answered(tmp_path: Path) -> None:
    asked = tmp_path / "requests" / "x.request"
    storage.write(asked, "dance")
    storage.write(tmp_path / "requests" / "y.request", "why")
    assert [request.action for request in requests.pending(tmp_path)] == [Action.WHY]
    answer = json.loads(asked.with_suffix(".answer").read_text())
    assert answer["error"] == "The job can't be asked for 'dance'." and "release" in answer["hint"]


def test_one_that_is_dropped_meanwhile(tmp_path: Path) -> None:
    def held() -> bool:
        raise FileNotFoundError(tmp_path)

    with pytest.raises(JobFailed, match="Job 'x' was dropped meanwhile"):
        requests.ask(tmp_path / "x", "x", Action.STOP, held)
