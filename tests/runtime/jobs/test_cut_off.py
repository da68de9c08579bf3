"""The statement of a job is interrupted while it waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from sqlstream.core.errors import JobFailed
from sqlstream.runtime.jobs import jobs as jobs_module
from sqlstream.runtime.jobs.job import Job
from sqlstream.runtime.jobs.jobs import Jobs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    return Jobs(tmp_path, lambda: cast("Any", None), print, print, lambda: cast("Any", None))


@pytest.fixture
def job(tmp_path: Path) -> Job:
    job = Job("4f2a", "copies", (), tmp_path / "jobs" / "copies" / "1")
    job.machine.started()
    return job


def test_one_that_does_not_end_is_not_awaited_for_ever(jobs: Jobs, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "_END_SECONDS", 0.01)
    with pytest.raises(JobFailed, match="Job 4f2a has not ended within 0 s: its sink is still writing"):
        jobs.cut_off(job)
    assert job.machine.stopping.is_set()


def test_one_that_has_ended_is_left_alone(jobs: Jobs, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "_END_SECONDS", 0.01)
    job.machine.end(lambda: None)
    jobs.cut_off(job)
    assert not job.machine.stopping.is_set()
