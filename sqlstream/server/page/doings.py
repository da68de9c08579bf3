"""What somebody has asked of a job from a page: it is done behind the answer, and every page of the job shows how far it is."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.server.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# What came of it is shown for so long.
_SHOWN_SECONDS = 300.0


@dataclass(frozen=True)
class Verb:
    """How an action is called: on its button, while it is done, and when it is. ``means`` says what it does."""

    button: str
    doing: str
    done: str
    means: str


VERBS = {
    Action.STOP: Verb(
        "Stop", "Stopping", "Stopped", "It ends after the running micro-batch. Start resumes with its state and offsets."
    ),
    Action.STOP_WITH_SAVEPOINT: Verb(
        "Stop with savepoint", "Stopping with a savepoint", "Stopped with a savepoint",
        "It ends after the micro-batch that runs, and a copy of all that it keeps is made, with which it or another job can begin.",
    ),
    Action.DRAIN: Verb(
        "Drain", "Draining", "Drained",
        "What has arrived up to now is processed and every open window closed, before their time; then it ends for good.",
    ),
    Action.SAVEPOINT: Verb("Savepoint", "Making a savepoint", "The savepoint was made", "A copy of all that it keeps is made. It runs on."),
    Action.RESTART: Verb("Restart", "Restarting", "Restarted", "It ends after the micro-batch that runs, and begins again where it was."),
    Action.START: Verb(
        "Start", "Starting", "Started", "It resumes with its state, its offsets, and its tables as they were. Upgrade uses them as they are now."
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Doing:
    """What was asked of a job."""

    action: Action
    work: Work

    @property
    def since(self) -> float:
        """When it was done, else when it was asked, in seconds since 1970."""
        return self.work.begun if self.work.ended is None else self.work.ended

    @property
    def took(self) -> float | None:
        """How many seconds it took, when it is done."""
        return None if self.work.ended is None else self.work.ended - self.work.begun

    @property
    def made(self) -> str | None:
        """Where the savepoint is that was made."""
        return self.work.result if self.action in (Action.STOP_WITH_SAVEPOINT, Action.SAVEPOINT, Action.DRAIN) else None

    @property
    def text(self) -> str:
        """It in words."""
        verb = VERBS[self.action]
        if self.work.error is not None:
            return f"{verb.button} failed: {self.work.error.message}"
        return verb.done if self.work.done else f"{verb.doing} ..."


class Doings:
    """The last thing that was asked of each job."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._lock = threading.Lock()
        self._last: dict[str, Doing] = {}

    def begin(self, job: str, action: Action, do: Callable[[], str]) -> None:
        """Begin to ``do`` it, unless something is being done with the job already."""
        with self._lock:
            before = self._last.get(job)
            if before is None or before.work.done:
                self._last[job] = Doing(action, Work(self._project, do, f"page-{action.name}"))

    def of(self, job: str, begun: float | None, failed: float | None) -> Doing | None:
        """What is being done with a job, or was done lately, unless it has ``failed`` since, or has ``begun`` to run since. Both are moments, in
        seconds since 1970; None: it has not, or does not run.
        """
        with self._lock:
            last = self._last.get(job)
            if last is None or not last.work.done:
                return last
            # What could not be done may be what the job has failed with.
            after = (begun, failed if last.work.error is None else None)
            if time.time() - last.since > _SHOWN_SECONDS or any(moment is not None and moment > last.since for moment in after):
                del self._last[job]
                return None
            return last
