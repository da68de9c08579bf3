"""All jobs of a project, of whatever process: read from their folders. No JVM is needed for those of this machine's file systems."""

from __future__ import annotations

import json
import shlex
import shutil
import time
import uuid
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core import storage
from sqlstream.core.counts import counted
from sqlstream.core.errors import JobFailed, ValidationError, did_you_mean
from sqlstream.core.job_names import short_name, short_names
from sqlstream.runtime.jobs.control import requests
from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.runtime.jobs.control.status import Status
from sqlstream.runtime.jobs.folder import locks
from sqlstream.runtime.jobs.folder.generations import FINISHED, Generation, JobFolder, description_of
from sqlstream.runtime.jobs.folder.versions import VERSION_FILE
from sqlstream.runtime.jobs.machine import SAID
from sqlstream.runtime.monitor.figures import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlstream.core.storage import Place
    from sqlstream.runtime.jobs.folder.locks import Owner
    from sqlstream.runtime.jobs.folder.versions import Version

_DROPPED = "dropped-"
_WHY_SECONDS = 60.0
ANEW = "Its statement, submitted again, begins anew, where the options of its sources say."
# A process that lives writes figures more often.
_SILENT_SECONDS = 30.0


@dataclass(frozen=True)
class JobRecord:
    """A job as its folder tells. ``status`` is None where no process has written one down."""

    path: Place
    name: str
    status: Status | None

    @property
    def folder(self) -> JobFolder:
        return JobFolder(self.path, self.name)

    @property
    def id(self) -> str:
        """That of its last run; empty where that is not known."""
        return "" if self.status is None else self.status.id

    @property
    def process_id(self) -> int | None:
        """That of the process that runs it, or ran it last; None where none has written down so."""
        return None if self.status is None else self.status.pid

    @cached_property
    def holder(self) -> Owner | None:
        """The process that had it when this was first asked."""
        return locks.holder(self.path)

    @property
    def held(self) -> bool:
        """Whether a process had it when this was first asked."""
        return self.holder is not None

    def is_held(self) -> bool:
        """Whether a process has it now."""
        return locks.holder(self.path) is not None

    @property
    def since(self) -> float | None:
        """When its last run began, in seconds since 1970."""
        return None if self.status is None else self.status.since

    @property
    def state_since(self) -> float | None:
        """When that began, as far as it is known; of one that does not run, when it came to be so."""
        if self.holder is not None and self.state == "INITIALIZING":
            return self.holder.since
        return None if self.status is None else self.status.since if self.state == "RUNNING" else self.status.written

    @property
    def state(self) -> str:
        """As a JobStatus. INITIALIZING: a process has it, whose queries have not started. SUSPENDED: the process that ran it has ended without
        stopping it, as by kill -9, and none has continued it.
        """
        status = self.status
        if self.holder is not None:
            ours = status is not None and (status.pid, status.host) == (self.holder.pid, self.holder.host)
            return status.status if ours and status is not None and status.lives else "INITIALIZING"
        if status is None:
            return "SUSPENDED" if (last := self.latest) is None or last.is_open else "FINISHED"
        return "SUSPENDED" if status.lives else status.status

    @property
    def finished(self) -> str | None:
        """How it has finished; None where it has not."""
        if self.state != "FINISHED":
            return None
        return "was drained" if self.latest is not None and self.latest.drained else "has finished: it has no more to read"

    @property
    def error(self) -> str | None:
        """What it failed with, or why it does not go on."""
        status = self.status
        if status is None:
            return None
        return f"process {status.pid} on {status.host} has ended without stopping it" if self.state == "SUSPENDED" else status.error

    @property
    def process(self) -> str | None:
        """The process that runs it, and where."""
        return None if self.holder is None else f"{self.holder.pid}@{self.holder.host}"

    @property
    def latest(self) -> Generation | None:
        """The last generation; None where there is none, or the folder can't be read by this release."""
        return self.generations[-1] if self.generations else None

    @cached_property
    def generations(self) -> list[Generation]:
        """All that can be read by this release."""
        try:
            return self.folder.generations()
        except ValidationError:
            return []

    @property
    def version(self) -> Version | None:
        """What it runs, or last ran."""
        return None if self.latest is None else self.latest.version

    def versions(self) -> list[Version]:
        """All that are known, in their order; of one that was begun anew when it last was."""
        return list({g.version.number: g.version for g in self.generations if g.version is not None}.values())

    def size(self) -> int:
        """Bytes on disk."""
        return storage.size(self.path)

    @property
    def progressed(self) -> float | None:
        """When a micro-batch of its last generation was last committed, or it has finished, in seconds since 1970; None where nothing was."""
        if self.latest is None:
            return None
        folder = self.latest.folder
        return max(map(storage.modified, (*folder.glob("checkpoint/*/commits/[0-9]*"), *folder.glob(FINISHED))), default=0.0) or None

    @property
    def figures(self) -> dict[str, str | None]:
        """A row of SHOW JOB METRICS, as the process that runs it, or ran it last, has written it down."""
        status = self.status
        state = self.state
        if status is None or state == "INITIALIZING":
            return {"job": short_name(self.name), "status": state, "job id": self.id or None}
        silent = time.time() - status.written > _SILENT_SECONDS and self.held
        age = f"process {status.pid} has written no figures since {clock(round(status.written * 1000), 'UTC')} UTC" if silent else None
        return {**status.figures, "status": state, "last error": age or self.error}

    def ask(self, action: Action, seconds: float | None = None, interrupted: Callable[[], bool] = lambda: False) -> str:
        """Have the process that runs it do something; what it made. Raises ValidationError where none does, JobFailed where it was not done.

        To start it the process that has stopped it is asked, if it may be there still.
        """
        if action is Action.START:
            if self.is_held():
                again = f"sqlstream jobs restart {shlex.quote(short_name(self.name))} stops it first."
                raise ValidationError(f"Job '{short_name(self.name)}' is running, in process {self.process}.", hint=again)
            if self.finished is not None:
                raise ValidationError(f"Job '{short_name(self.name)}' {self.finished}.", hint=ANEW)
            held = self.has_process
        elif self.is_held():
            held = lambda: self.is_held() or (action is Action.RESTART and self.has_process())
        else:
            raise ValidationError(
                f"Job '{short_name(self.name)}' is not running: {SAID[self.state]}.", hint="Its statement, submitted again, starts it."
            )
        answer = requests.ask(self.path, self.name, action, held, seconds, interrupted)
        if answer.error is not None:
            raise JobFailed(answer.error, hint=answer.hint)
        return answer.result

    def why(self, interrupted: Callable[[], bool] = lambda: False) -> list[tuple[str, str | None]]:
        """Why it emits nothing, or nothing more, each with what to do: as the process says that runs it, else by what is known of its end.

        Raises JobFailed where that process does not answer.
        """
        if self.held and self.state != "INITIALIZING":
            return [(text, hint) for text, hint in json.loads(self.ask(Action.WHY, _WHY_SECONDS, interrupted))]
        # The planner is not needed for all else that is asked of jobs.
        from sqlstream.runtime.monitor.metrics import JobMetrics, LastKnown
        from sqlstream.runtime.monitor.why import reasons

        if self.finished is not None:
            return [(f"The job {self.finished}.{self._counts()}", ANEW)]
        status = self.status
        error, hint = (None, None) if status is None else (status.error, status.hint)
        since, queries = (0.0, ()) if status is None else (status.since, LastKnown.of(status.figures).queries)
        known = JobMetrics(self.id, self.name, self.state, since, queries, error, "UTC", hint)
        return [(reason.text, reason.hint) for reason in reasons(known, (), 0)]

    def _counts(self) -> str:
        """How many rows its last run has read and emitted, as far as that is known."""
        kinds = (("read", "rows in"), ("emitted", "rows out"))
        known = [f"{verb} {counted(int(count), 'row')}" for verb, name in kinds if (count := self.figures.get(name))]
        return f" Its last run {' and '.join(known)}." if known else ""

    def has_process(self) -> bool:
        """Whether the process that ran it last may be there."""
        return self.status is not None and self.status.may_be_asked

    def check_stopped(self) -> None:
        """Raises ValidationError while a process has it."""
        if self.is_held():
            raise ValidationError(
                f"Job '{short_name(self.name)}' is running, in process {self.process}.", hint=f"STOP JOB '{short_name(self.name)}' stops it."
            )

    def drop(self) -> None:
        """Delete its folder: its state, its offsets, its versions. Raises ValidationError where it runs, OSError."""
        with self.folder.lock():
            self._delete()

    def _delete(self) -> None:
        """Nobody finds half of a job, whatever happens meanwhile."""
        if not isinstance(self.path, Path):
            for generation in reversed(self.folder.generations()):
                (generation.folder / VERSION_FILE).unlink(missing_ok=True)
            storage.delete(self.path)
            return
        self.path.rename(self.path.parent.with_name(f"{_DROPPED}{uuid.uuid4().hex}"))
        for folder in self.path.parent.parent.glob(f"{_DROPPED}*"):
            shutil.rmtree(folder, ignore_errors=True)


def records(jobs: Place) -> list[JobRecord]:
    """The jobs whose folders are in this one, by name."""
    return sorted(_read(jobs), key=lambda r: (r.name, str(r.path)))


# What may be meant by a text, the surest first: a name, the short name that is shown, the end of a table's path, the beginning of the last run's
# id, a part of a name.
_MEANS: Sequence[Callable[[JobRecord, str], bool]] = (
    lambda job, text: job.name == text,
    lambda job, text: short_name(job.name) == text,
    lambda job, text: job.name.endswith(f".{text}"),
    lambda job, text: job.id.startswith(text),
    lambda job, text: text in job.name,
)


def is_name(jobs: Place, name: str) -> bool:
    """Whether a job is called so, or shown so."""
    return any(means(r, name) for r in records(jobs) for means in _MEANS[:3])


def exists(jobs: Place, name: str, *, whole: bool = False) -> bool:
    """Whether ``find`` would find one, or several."""
    return bool(_matching(records(jobs), name, whole))


def _matching(known: Sequence[JobRecord], name: str, whole: bool) -> list[JobRecord]:
    by_each = ([r for r in known if name and means(r, name)] for means in (_MEANS[:-1] if whole else _MEANS))
    return next(filter(None, by_each), [])


def find(jobs: Place, name: str, *, whole: bool = False) -> JobRecord:
    """The one that ``name`` means; ``whole``: a part of a name is not enough. Raises ValidationError where there is none, or several are meant."""
    known = records(jobs)
    matching = _matching(known, name, whole)
    if len(matching) == 1:
        return matching[0]
    if matching:
        if len({r.name for r in matching}) == len(matching):
            meant, instead = short_names([r.name for r in matching]), "Write more of the name."
        else:
            meant, instead = [r.id or str(r.path) for r in matching], "Write one of these ids, or its beginning."
        raise ValidationError(f"Several jobs are meant by '{name}': {', '.join(meant)}.", hint=instead)
    parts = short_names([r.name for r in _matching(known, name, whole=False)])
    hint = f"The whole name is needed here: {', '.join(parts)}." if parts else did_you_mean(name, short_names([r.name for r in known]))
    hint = hint or "SHOW JOBS, or sqlstream jobs list, lists the jobs of this project."
    raise ValidationError(f"Job {name} does not exist.", hint=hint)


def _read(jobs: Place) -> Iterator[JobRecord]:
    for file in jobs.glob("*/job.json"):
        yield JobRecord(file.parent, str(description_of(file).get("name", file.parent.name)), Status.read(file.parent))
