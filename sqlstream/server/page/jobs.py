"""The jobs of a project as a list: one row each, whatever process runs it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlstream.core.job_names import short_name
from sqlstream.runtime.jobs.control import registry
from sqlstream.runtime.jobs.control.status import Status
from sqlstream.runtime.monitor.why import trouble
from sqlstream.server.kept_jobs import NOT_STARTED
from sqlstream.server.page.lately import Lately

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.core.errors import SqlStreamError
    from sqlstream.runtime.jobs.control.registry import JobRecord
    from sqlstream.runtime.jobs.job import Job
    from sqlstream.runtime.jobs.jobs import Jobs
    from sqlstream.server.server import Server

# What is shown is as old as this at most, however many look.
_SECONDS = 0.8
# Between two micro-batches next to nothing is read: a longer time would be made up.
_SOON_SECONDS = 600


@dataclass(frozen=True)
class State:
    """How a job is, in a word, and the kind of that, which has a colour."""

    word: str
    kind: str


RUNNING, BEHIND, STARTING = State("running", "running"), State("behind", "behind"), State("starting", "still")
STATES = {
    "RUNNING": RUNNING,
    "INITIALIZING": STARTING,
    "RESTARTING": State("restarting", "behind"),
    "FAILED": State("failed", "failing"),
    "SUSPENDED": State("suspended", "failing"),
    "CANCELED": State("stopped", "still"),
    "FINISHED": State("finished", "still"),
}


@dataclass(frozen=True)
class JobRow:
    """A job in the list. Rates are rows a second, ``watermark`` and ``since`` seconds since 1970, ``state_bytes`` bytes; None: not known.
    ``since``: when it was started, of one that does not run when it came to be so.

    ``said``, ``hint``: what is the matter with it, and what to do. ``process``: the one that has it where that is not the server.
    """

    name: str
    state: State
    since: float | None
    rows_in: float | None = None
    rows_out: float | None = None
    lag: int | None = None
    watermark: float | None = None
    state_bytes: int | None = None
    restarts: int | None = None
    said: str | None = None
    hint: str | None = None
    process: str | None = None

    @property
    def short(self) -> str:
        """Its name as it is shown."""
        return short_name(self.name)

    @property
    def runs(self) -> bool:
        """Whether it processes rows."""
        return self.state in (RUNNING, BEHIND)

    @property
    def lag_seconds(self) -> float | None:
        """How long it takes to read what waits, as fast as it reads now; None where it does not read all the time, and nobody can say."""
        seconds = self.lag / self.rows_in if self.lag and self.rows_in else None
        return seconds if seconds is None or self.state is BEHIND or seconds <= _SOON_SECONDS else None


class JobList:
    """The rows of all jobs of a project, those that need a look first."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lately: Lately[None, tuple[JobRow, ...]] = Lately(_SECONDS)

    def rows(self) -> tuple[JobRow, ...]:
        """All of them."""
        return self._lately.get(None, lambda: tuple(sorted(_rows(self._server), key=lambda row: (_ORDER[row.state.kind], row.short, row.name))))


_ORDER = {"failing": 0, "behind": 1, "running": 2, "still": 3}


def _rows(server: Server) -> Iterator[JobRow]:
    own = latest(server.jobs)
    yield from (row_of(job, server) for job in own.values())
    yield from (row_of_record(record, server) for record in registry.records(server.jobs.folders.jobs) if record.name not in own)


def latest(jobs: Jobs) -> dict[str, Job]:
    """The server's jobs by their names: of one name the last. One that another process has continued is not among them."""
    by_name = {job.name: job for job in sorted(jobs, key=lambda job: (job.lives, job.started))}
    return {name: job for name, job in by_name.items() if job.lives or not _elsewhere(job)}


def _elsewhere(job: Job) -> bool:
    """Whether another process has what this one has ended."""
    return job.lock is None and registry.JobRecord(job.folder.parent, job.name, None).is_held()


def row_of(job: Job, server: Server) -> JobRow:
    """That of a job of this process; one that was not started in it is as it was before."""
    if job.held_back:
        folder = job.folder.parent
        return row_of_record(registry.JobRecord(folder, job.name, Status.read(folder)), server)
    metrics = job.metrics
    state = BEHIND if metrics.falls_behind or metrics.silent is not None else STATES[metrics.status]
    problem = trouble(metrics, job.sinks, job.idle_ms)
    row = JobRow(
        job.name, state, job.state_since, state_bytes=metrics.state_bytes, restarts=metrics.restarts,
        said=None if problem is None else problem.text, hint=None if problem is None else problem.hint,
    )  # fmt: skip
    if metrics.status != "RUNNING":
        # What it read and how far it was is not so any more.
        return row
    watermark = None if metrics.watermark is None else metrics.watermark / 1000
    return replace(
        row,
        rows_in=metrics.rows_per_second,
        rows_out=metrics.rows_out_per_second,
        lag=metrics.known_lag,
        watermark=watermark,
    )


def row_of_record(record: JobRecord, server: Server) -> JobRow:
    """That of a job of another process, or of none; one that ``server`` is about to start is starting."""
    figures, status, state = record.figures, record.status, record.state
    if not record.held and record.name in (starting := server.starting) and not record.folder.stays_stopped:
        return replace(_starting(record.name, server.since, starting[record.name]), state_bytes=_written_state(status))
    if is_left(record):
        state = "FAILED"
    known = {name: _number(figures.get(name)) for name in ("rows/s", "lag", "restarts")}
    running, elsewhere = state == "RUNNING", record.holder is not None and record.holder.pid != os.getpid()
    said = figures.get("last error") if state != "CANCELED" else None
    return JobRow(
        record.name, STATES[state], record.state_since, known["rows/s"] if running else None, None,
        known["lag"] if running else None, None, _written_state(status), known["restarts"], said,
        None if status is None or said is None else status.hint, record.process if elsewhere else None,
    )  # fmt: skip


def is_left(record: JobRecord) -> bool:
    """Whether a server could not start it again."""
    return record.status is not None and (record.status.error or "").startswith(NOT_STARTED)


def _starting(name: str, since: float, problem: SqlStreamError | None) -> JobRow:
    """That of a job of a server of before; ``problem`` hindered the last try to start it."""
    if problem is None:
        return JobRow(name, STARTING, since, said="The server has been started, and starts its jobs again, one after the other.")
    return JobRow(name, STARTING, since, said=f"It could not be started yet, and is tried again: {problem.message}", hint=problem.hint)


def _written_state(status: Status | None) -> int | None:
    """The bytes of state that a process has written down last."""
    return None if status is None else _number(status.figures.get("state bytes"))


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None
