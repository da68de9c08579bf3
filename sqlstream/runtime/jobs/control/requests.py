"""What other processes ask of the one that runs a job: files in ``requests`` of the job's folder, a request each, and its answer.

The process that runs the job looks for them every half second. Who asks takes both away; a request that was not answered is withdrawn, so that
it is never carried out later.
"""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import asdict, dataclass
from enum import Enum
from typing import TYPE_CHECKING

from sqlstream.core import storage
from sqlstream.core.errors import JobFailed
from sqlstream.core.job_names import short_name
from sqlstream.runtime.jobs.control.status import Status
from sqlstream.runtime.jobs.machine import SAID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlstream.core.storage import Place

_FOLDER = "requests"
_LOOK_SECONDS = 0.1
# So soon a process that lives has seen a request, also where it is just about to start the job's queries.
SEEN_SECONDS = 30.0
# An answer comes so long after the lock is free, at most.
_AFTER_SECONDS = 5.0
_AGAIN = "Submitted again, the same statement continues from its checkpoint."
_GOES_ON = "SHOW JOBS says how it goes on."


class Action(Enum):
    """What may be asked for."""

    STOP = "stop"
    STOP_WITH_SAVEPOINT = "stop with savepoint"
    DRAIN = "drain"
    DRAIN_WITH_SAVEPOINT = "drain with savepoint"
    SAVEPOINT = "savepoint"
    START = "start"
    RESTART = "restart"
    WHY = "why"

    @classmethod
    def stop(cls, *, savepoint: bool, drain: bool) -> Action:
        """To stop, as STOP JOB says how."""
        if savepoint:
            return cls.DRAIN_WITH_SAVEPOINT if drain else cls.STOP_WITH_SAVEPOINT
        return cls.DRAIN if drain else cls.STOP

    @property
    def saves(self) -> bool:
        """Whether it makes a savepoint."""
        return self in (Action.STOP_WITH_SAVEPOINT, Action.DRAIN_WITH_SAVEPOINT, Action.SAVEPOINT)

    @property
    def drains(self) -> bool:
        """Whether what has arrived is processed first, and every open window closed."""
        return self in (Action.DRAIN, Action.DRAIN_WITH_SAVEPOINT)


@dataclass(frozen=True)
class Answer:
    """``result``: what came of it; ``error`` and ``hint``: why it was not done."""

    result: str = ""
    error: str | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Request:
    """A request that waits for its answer."""

    action: Action
    file: Place

    def seen(self) -> None:
        """Say that it is being carried out."""
        self.file.with_suffix(".seen").touch()

    def answer(self, answer: Answer) -> None:
        """Answer it, unless it was withdrawn."""
        if self.file.exists():
            storage.write(self.file.with_suffix(".answer"), json.dumps(asdict(answer)))


def pending(folder: Place) -> Iterator[Request]:
    """The requests to the job in ``folder`` that nobody has seen."""
    files: list[Place] = list((folder / _FOLDER).glob("*.request"))
    for file in sorted(files, key=str):
        if not file.with_suffix(".seen").exists():
            try:
                asked = file.read_text()
            except OSError:  # withdrawn
                continue
            if (action := next((a for a in Action if a.value == asked), None)) is not None:
                yield Request(action, file)
            else:
                _answer_unknown(file, asked)


def _answer_unknown(file: Place, asked: str) -> None:
    """Say that nothing was done, to a process of a later release."""
    hint = "The release that runs it does not know this: stop the job, and start it with the release that asks."
    storage.write(file.with_suffix(".answer"), json.dumps(asdict(Answer(error=f"The job can't be asked for '{asked}'.", hint=hint))))


def forget(folder: Place) -> None:
    """Take away what was asked of an earlier process."""
    for file in (folder / _FOLDER).glob("*"):
        file.unlink(missing_ok=True)


def ask(
    folder: Place, name: str, action: Action, held: Callable[[], bool], seconds: float | None = None, interrupted: Callable[[], bool] = lambda: False
) -> Answer:
    """Ask the process that runs the job ``name`` in ``folder`` and wait, so many seconds if they are said, for its answer.

    ``held`` says whether a process has the job, or has stopped it and would start it. Raises JobFailed where none does, or it does not answer.
    """
    status = Status.read(folder)
    process = f"process {status.pid} on {status.host}" if status is not None else "its process"
    file = folder / _FOLDER / f"{uuid.uuid4().hex}.request"
    began = time.monotonic()
    free: float | None = None
    try:
        storage.write(file, action.value)
        while True:
            if (answered := file.with_suffix(".answer")).exists():
                return Answer(**json.loads(answered.read_text()))
            now = time.monotonic()
            seen = file.with_suffix(".seen").exists()
            if held():
                free = None
            elif free is None:
                free = now
            elif now - free > (_AFTER_SECONDS if seen else 0):
                return _ended(folder, name, action, process)
            if not seen and now - began > SEEN_SECONDS:
                raise JobFailed(f"Job '{short_name(name)}' does not answer: {process} has not seen the request for {SEEN_SECONDS:.0f} s.",
                                hint="Is it paused, or is its machine? Nothing was done.")  # fmt: skip
            if seconds is not None and now - began > seconds:
                at_it = "no process has the job now" if not held() else f"{process} is still at it"
                raise JobFailed(f"Job '{short_name(name)}' has not answered within {seconds:g} s: {at_it}.", hint=_GOES_ON)
            if interrupted():
                raise JobFailed(f"Nobody waits for the answer of job '{short_name(name)}' any more.", hint=_GOES_ON)
            time.sleep(_LOOK_SECONDS)
    except FileNotFoundError:
        raise JobFailed(f"Job '{short_name(name)}' was dropped meanwhile.") from None
    finally:
        for suffix in (".request", ".seen", ".answer"):
            file.with_suffix(suffix).unlink(missing_ok=True)


def _ended(folder: Place, name: str, action: Action, process: str) -> Answer:
    """The answer where the process has let go of the job without one."""
    status = Status.read(folder)
    if action is Action.STOP and status is not None and not status.lives:
        return Answer()
    if status is not None and not status.lives:
        raise JobFailed(f"Job '{short_name(name)}' does not run any more: {SAID[status.status]}.", hint=status.error)
    raise JobFailed(f"Job '{short_name(name)}' does not run any more: {process} has ended.", hint=_AGAIN)
