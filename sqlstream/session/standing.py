"""How a session stands, for the prompt: values, which another process can have, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core import settings
from sqlstream.core.job_names import short_name
from sqlstream.runtime.monitor.figures import status_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.runtime.jobs.jobs import Jobs


@dataclass(frozen=True)
class FailedJob:
    """A job that has failed for good, by its id, and the first line of why."""

    id: str
    name: str
    message: str


@dataclass(frozen=True)
class Standing:
    """``status``: the text of the status bar; ``failed``: the jobs that have failed."""

    status: str = ""
    failed: tuple[FailedJob, ...] = ()


def standing(place: str, options: Mapping[str, str], jobs: Jobs) -> Standing:
    """That of a session at ``place``, its current catalog and database. It asks nobody."""
    mode = f"{settings.read(options, 'execution.runtime-mode')}, {settings.read(options, 'sql-client.execution.result-mode')}"
    known = jobs.latest()
    failed = tuple(FailedJob(j.id, short_name(j.name), j.error.message.partition("\n")[0]) for j in known if j.error)
    return Standing(status_line(place, mode, [j.metrics for j in known]), failed)
