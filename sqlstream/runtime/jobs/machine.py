"""The states of a job: a table of what moves it from one to another, and the one place, behind a lock, where that happens.

A job is asked from several threads at once: by the session, by other processes, by its own, which runs it.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from sqlstream.runtime.jobs.restarts import Restarts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlstream.core.errors import SqlStreamError

# So many failures of a job are kept.
_FAILURES = 20


class JobStatus(Enum):
    """A job's state, as SHOW JOBS prints it."""

    RUNNING = "RUNNING"
    RESTARTING = "RESTARTING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"


SAID: Mapping[str, str] = {
    "RUNNING": "it is running",
    "RESTARTING": "it has failed, and is started again",
    "FINISHED": "it has finished",
    "FAILED": "it has failed",
    "CANCELED": "it was stopped",
    "INITIALIZING": "it is starting",
    "SUSPENDED": "its process has ended without stopping it",
}
"""What sentences say of each state, those too that a job has which no process runs (see ``JobRecord.state``)."""


class Event(Enum):
    """What happens to a job."""

    HELD_BACK = "its script came again, and it stays stopped"
    REFUSED = "it may not begin"
    RETRIED = "it has failed, and is to be started again"
    STARTED = "its queries run"
    FINISHED = "all of its input is processed"
    GIVEN_UP = "it has failed, and is not started again"
    STOPPED = "somebody has stopped it"


# By state, what can happen then, and the state after it. Where a job has ended nothing can: started again it is another.
TRANSITIONS: Mapping[JobStatus, Mapping[Event, JobStatus]] = {
    JobStatus.RUNNING: {
        Event.HELD_BACK: JobStatus.CANCELED,
        Event.REFUSED: JobStatus.FAILED,
        Event.RETRIED: JobStatus.RESTARTING,
        Event.STARTED: JobStatus.RUNNING,
        Event.FINISHED: JobStatus.FINISHED,
        Event.GIVEN_UP: JobStatus.FAILED,
        Event.STOPPED: JobStatus.CANCELED,
    },
    JobStatus.RESTARTING: {
        Event.RETRIED: JobStatus.RESTARTING,
        Event.STARTED: JobStatus.RUNNING,
        Event.GIVEN_UP: JobStatus.FAILED,
        Event.STOPPED: JobStatus.CANCELED,
    },
    JobStatus.FINISHED: {},
    JobStatus.FAILED: {},
    JobStatus.CANCELED: {},
}


# The states in which a process works on the job.
LIVING = tuple(status.value for status, events in TRANSITIONS.items() if events)


@dataclass(frozen=True)
class Failure:
    """Why a job ended, or was started again, and when, in seconds since 1970."""

    at: float
    error: str


@dataclass(frozen=True)
class State:
    """A job at a moment. ``error`` is what it has failed with for good; ``failure`` the latest error after which it was, or is to be, started again.
    ``failures``: the last ones of all of its runs. ``held_back``: it was stopped by somebody, and its script has come again by itself.
    ``since``: when its status became what it is, in seconds since 1970.
    """

    status: JobStatus = JobStatus.RUNNING
    since: float = field(default_factory=time.time)
    error: SqlStreamError | None = None
    failure: SqlStreamError | None = None
    failures: tuple[Failure, ...] = ()
    restarts: Restarts = field(default_factory=Restarts)
    held_back: bool = False

    @property
    def lives(self) -> bool:
        """Whether the job runs, or will again by itself."""
        return bool(TRANSITIONS[self.status])


class JobMachine:
    """A job's state, and what is asked of it. ``stopping`` and ``draining`` are set when it is to end, ``done`` when it has.

    ``heard`` hears what happens to it, in order, and the state after it; it must not wait for anything.
    """

    def __init__(self, state: State | None = None) -> None:
        self._state = State() if state is None else state
        self._lock = threading.RLock()
        self._readers = 0
        # It writes down that it has finished.
        self._finishing = False
        self.stopping = threading.Event()
        self.draining = threading.Event()
        self.done = threading.Event()
        self.heard: Callable[[Event, State], None] = lambda event, state: None

    @property
    def state(self) -> State:
        """How it is now, all of it of one moment."""
        return self._state

    def _happens(self, event: Event, **facts: Any) -> State:
        after = TRANSITIONS[self._state.status].get(event)
        if after is None:
            raise RuntimeError(f"A job that is {self._state.status.value} can't be told that {event.value}.")
        since = self._state.since if after is self._state.status else time.time()
        before, self._state = self._state, replace(self._state, status=after, since=since, **facts)
        self.heard(event, self._state)
        return before

    def note(self, error: str, at: float | None = None) -> None:
        """Keep that it has failed, or its process has ended."""
        with self._lock:
            failures = (*self._state.failures, Failure(time.time() if at is None else at, error))
            self._state = replace(self._state, failures=failures[-_FAILURES:])

    def continues(self, failures: tuple[Failure, ...]) -> None:
        """It is the next run of a job that has failed so before."""
        with self._lock:
            self._state = replace(self._state, failures=failures)

    # --- what is asked of it ------------------------------------------------------------------------------------------

    def ask(self, *, drain: bool = False) -> bool:
        """That it ends, at once or after a ``drain``; whether it has not ended already, or is about to: else nothing is asked."""
        with self._lock:
            may = self._state.lives and not self._finishing
            if may:
                (self.draining if drain else self.stopping).set()
            return may

    # --- what happens to it -------------------------------------------------------------------------------------------

    def hold_back(self, *, finished: bool = False) -> None:
        """It stays stopped, until somebody starts it; one that has ``finished`` stays so."""
        with self._lock:
            self._happens(Event.FINISHED if finished else Event.HELD_BACK, held_back=True)

    def refuse(self, error: SqlStreamError) -> None:
        """It may not begin so."""
        with self._lock:
            self._happens(Event.REFUSED, error=error)

    def retry(self, failure: SqlStreamError, restarts: Restarts) -> None:
        """It has failed, and is started again when ``restarts`` says."""
        with self._lock:
            self._happens(Event.RETRIED, failure=failure, restarts=restarts)
            self.note(failure.message)

    def started(self) -> bool:
        """Its queries run; whether they do so again, after a failure."""
        with self._lock:
            return self._happens(Event.STARTED).status is JobStatus.RESTARTING

    def end(self, finish: Callable[[], None]) -> None:
        """Nothing of it runs any more: it was stopped, or else has finished, which ``finish`` writes down first. Raises what that does."""
        with self._lock:
            if self.stopping.is_set():
                self._happens(Event.STOPPED)
                return
            self._finishing = True
        try:
            # On a file system that is far this takes its time, or does not come back.
            finish()
        finally:
            self._finishing = False
        with self._lock:
            self._happens(Event.FINISHED)

    def fail(self, error: SqlStreamError) -> None:
        """The same after an error, which says nothing where it was stopped: what runs is cut off then."""
        with self._lock:
            if self.stopping.is_set():
                self._happens(Event.STOPPED)
            else:
                self._happens(Event.GIVEN_UP, error=error)
                self.note(error.message)

    # --- its folder ---------------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Its folder is read meanwhile, and stays this process's, also where the job ends."""
        with self._lock:
            self._readers += 1
        try:
            yield
        finally:
            with self._lock:
                self._readers -= 1

    def unread(self, let_go: Callable[[], None]) -> None:
        """Call ``let_go``, of its folder, unless somebody reads it: whoever does so last calls this again."""
        with self._lock:
            if not self._readers:
                let_go()
