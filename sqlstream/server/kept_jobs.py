"""The jobs that a server has, as scripts that submit them: the next server goes on with them, however this one has ended.

A script holds what the session of its client had declared and set, secrets among it: nobody but the owner can read it.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING

from sqlstream.core import file_locks
from sqlstream.core.errors import SetupError
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.runtime.jobs.control.registry import JobRecord
from sqlstream.runtime.jobs.control.status import Status
from sqlstream.runtime.jobs.machine import JobStatus
from sqlstream.runtime.jobs.script import name_in, script_of, write
from sqlstream.session.joined import place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlstream.core.storage import Place
    from sqlstream.runtime.jobs.job import Job

# How the reason begins for which a job stands still though nobody has stopped it.
NOT_STARTED = "It was not started again: "


@dataclass(frozen=True)
class KeptJob:
    """A job that a server of before had; ``folder`` is what its own is called."""

    file: Path
    name: str
    folder: str

    @property
    def of(self) -> str | None:
        """The file of the script that it is of, if it is of one. Raises OSError."""
        return script_of(self.script())

    def script(self) -> str:
        """What submits it. Raises OSError."""
        return self.file.read_text("utf-8")

    def record(self, jobs: Place) -> JobRecord | None:
        """It as its folder tells, in that of all, ``jobs``; None where there is nothing to go on with: it has finished, or was dropped."""
        path = jobs / self.folder
        record = JobRecord(path, self.name, Status.read(path)) if path.exists() else None
        return None if record is None or record.state == JobStatus.FINISHED.value else record

    def note(self, jobs: Place, error: str, hint: str) -> None:
        """Write into its folder, in that of all, why it does not run."""
        path = jobs / self.folder
        if (status := Status.read(path)) is not None:
            with suppress(OSError):
                replace(status, error=f"{NOT_STARTED}{error}", hint=hint).write(path)

    def forget(self) -> None:
        """It is not started again."""
        self.file.unlink(missing_ok=True)


class KeptJobs:
    """Those of the project in a folder."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._folder = ProjectFolder(project).served
        self._lock = threading.Lock()
        self._held: IO[str] | None = None

    def hold(self) -> None:
        """From now on they are this process's. Raises SetupError where another process has them."""
        path = self._folder / "lock"
        if (lock := file_locks.hold(path)) is None:
            raise SetupError(f"Process {path.read_text('utf-8').strip()} serves this project already.", hint="A project has one server at a time.")
        place.forget(self._project)
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        self._held = lock

    def let_go(self) -> None:
        """The next server may have them."""
        if self._held is not None:
            place.forget(self._project)
            self._held.close()

    def keep(self, job: Job, script: str | None) -> Callable[[], None]:
        """``job`` begins, which ``script`` submits; one without is not started again. What undoes that. Raises OSError."""
        file = self._file(job)
        with self._lock:
            before = file.read_text("utf-8") if file.exists() else None
            self._write(file, job.name, script)

        def undo() -> None:
            with self._lock, suppress(OSError):
                self._write(file, job.name, None if before is None else before.partition("\n")[2])

        return undo

    @staticmethod
    def _write(file: Path, name: str, script: str | None) -> None:
        if script is None:
            file.unlink(missing_ok=True)
        else:
            write(file, name, script)

    def ended(self, job: Job) -> None:
        """``job`` has ended: one that was stopped, or has failed, may be started again."""
        if job.status is JobStatus.FINISHED:
            # The next server sees that it has ended.
            with self._lock, suppress(OSError):
                self._file(job).unlink(missing_ok=True)

    def going_on(self, jobs: Place) -> Iterator[KeptJob]:
        """Those that the next server starts again, or keeps stopped: one that has failed waits until somebody starts it, and one with which there
        is nothing to go on is forgotten. Raises OSError.
        """
        for job in self.jobs():
            record = job.record(jobs)
            if record is None:
                job.forget()
            elif record.state != JobStatus.FAILED.value:
                yield job

    def jobs(self) -> list[KeptJob]:
        """All of them, in the order in which they began. Raises OSError."""
        return list(map(_kept, sorted(self._folder.glob("[!.]*.sql"), key=lambda file: file.stat().st_mtime_ns)))

    def find(self, folder: str) -> KeptJob | None:
        """The one whose folder is called so. Raises OSError."""
        file = self._file_of(folder)
        return _kept(file) if file.is_file() else None

    def _file(self, job: Job) -> Path:
        return self._file_of(job.folder.parent.name)

    def _file_of(self, folder: str) -> Path:
        return self._folder / f"{folder}.sql"


def _kept(file: Path) -> KeptJob:
    return KeptJob(file, name_in(file), file.name.removesuffix(".sql"))
