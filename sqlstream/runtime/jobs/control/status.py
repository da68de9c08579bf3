"""What the process that runs a job writes down of it, for other processes: ``status.json`` in the job's folder."""

from __future__ import annotations

import json
import os
import socket
import time
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING

from sqlstream.core import processes, storage
from sqlstream.runtime.jobs.machine import LIVING, Failure
from sqlstream.runtime.monitor.figures import by_column, last_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.core.storage import Place
    from sqlstream.runtime.jobs.job import Job

FILE = "status.json"


@dataclass(frozen=True)
class Status:
    """A job as it was when it was ``written``. Times are in seconds since 1970; ``figures`` are a row of SHOW JOB METRICS by its columns.

    ``failures``: the last ones of all of its runs, the newest one last. ``machine``: see ``core.processes``.
    """

    id: str
    status: str
    since: float
    generation: str
    error: str | None = None
    hint: str | None = None
    mode: str | None = None
    failures: tuple[Failure, ...] = ()
    figures: Mapping[str, str | None] = field(default_factory=dict)
    pid: int = field(default_factory=os.getpid)
    host: str = field(default_factory=socket.gethostname)
    machine: str = ""
    written: float = field(default_factory=time.time)

    @property
    def lives(self) -> bool:
        """Whether the process worked on the job when it wrote this."""
        return self.status in LIVING

    @property
    def may_be_asked(self) -> bool:
        """Whether the process that wrote this may be there still: it is, or it was of another machine."""
        return not self.machine or self.machine != processes.machine() or processes.lives(self.pid)

    @property
    def ours(self) -> bool:
        """Whether this process wrote it."""
        return (self.pid, self.host, self.machine) == (os.getpid(), socket.gethostname(), processes.machine())

    def write(self, folder: Place) -> None:
        """Keep it in the folder of the job. Raises OSError."""
        storage.write(folder / FILE, json.dumps(asdict(self), indent=2) + "\n")

    @classmethod
    def read(cls, folder: Place) -> Status | None:
        """That of the job in this folder; None where there is none, or none that can be read."""
        try:
            found = json.loads((folder / FILE).read_text())
            failures = tuple(Failure(**failure) for failure in found.pop("failures", ()))
            return cls(failures=failures, **{f.name: found[f.name] for f in fields(cls) if f.name in found})
        except (OSError, ValueError, TypeError):
            return None


def status_of(job: Job) -> Status:
    """That of a job of this process, by figures that are known already."""
    metrics, state = job.metrics, job.machine.state
    return Status(
        job.id, metrics.status, job.started, job.folder.name, last_error(metrics), metrics.hint, job.mode, state.failures, by_column(metrics),
        machine=processes.machine(),
    )  # fmt: skip
