"""Which job a name or id means, and what is asked of it: the same of one of this session, of another, or of another process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.runtime.jobs.control import registry
from sqlstream.runtime.jobs.job import Job

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.runtime.jobs.control.registry import JobRecord
    from sqlstream.runtime.jobs.control.requests import Action
    from sqlstream.runtime.jobs.jobs import Jobs


def find(jobs: Jobs, name: str, *, whole: bool = False) -> Job | JobRecord:
    """The job that is called so, or whose id begins so; unless ``whole``, one with this part of a name, too. Of ``jobs``, those of the session
    that asks, where it is one of them.

    Raises ValidationError where there is none, or several are meant.
    """
    if name in jobs and not registry.is_name(jobs.folders.jobs, name):
        return jobs.find(name)
    record = registry.find(jobs.folders.jobs, name, whole=whole)
    return next((j for j in jobs if j.lives and j.folder.parent == record.path), record)


def ask(jobs: Jobs, name: str, action: Action, interrupted: Callable[[], bool], *, whole: bool = False) -> str:
    """What came of ``action``; ``interrupted``: whether nobody waits for it any more.

    Raises ValidationError where no process has the job, or it can't be done, and what doing it met (JobFailed).
    """
    job = find(jobs, name, whole=whole)
    return jobs.carry_out(job, action, interrupted) if isinstance(job, Job) else job.ask(action, interrupted=interrupted)
