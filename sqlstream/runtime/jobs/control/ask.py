"""What is asked of a job, by its name or id: the same of one of this session, of another, or of another process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.runtime.jobs.control import registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.runtime.jobs.control.requests import Action
    from sqlstream.runtime.jobs.jobs import Jobs


def ask(jobs: Jobs, name: str, action: Action, interrupted: Callable[[], bool]) -> str:
    """What came of ``action``; ``interrupted``: whether nobody waits for it any more. ``jobs`` are those of the session that asks.

    Raises ValidationError where no process has the job, or it can't be done, and what doing it met (JobFailed).
    """
    job = jobs.find(name) if name in jobs else None
    if job is None:
        record = registry.find(jobs.folders.jobs, name)
        job = next((j for j in jobs if j.lives and j.folder.parent == record.path), None)
        if job is None:
            return record.ask(action, interrupted=interrupted)
    return jobs.carry_out(job, action, interrupted)
