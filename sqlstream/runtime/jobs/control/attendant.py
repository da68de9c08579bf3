"""A thread that keeps other processes informed of the jobs of this one, and carries out what they ask for."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core.errors import SqlStreamError
from sqlstream.runtime.jobs.control import requests
from sqlstream.runtime.jobs.control.requests import Action, Answer
from sqlstream.runtime.jobs.control.status import Status, status_of
from sqlstream.runtime.jobs.machine import LIVING, JobStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlstream.core.storage import Place
    from sqlstream.runtime.jobs.control.requests import Request
    from sqlstream.runtime.jobs.job import Job

_LOOK_SECONDS = 0.5
_LOOK_FAR_SECONDS = 2.0
_WRITE_SECONDS = 5.0
_ANSWER_SECONDS = 60.0
_log = logging.getLogger(__name__)


class Attendant:
    """Attends the jobs of a session while they run. ``carry_out`` does what is asked of one; what it returns is the answer."""

    def __init__(self, carry_out: Callable[[Job, Action], str]) -> None:
        self._carry_out = carry_out
        self._jobs: dict[str, Job] = {}
        # Those that were stopped, or have failed, by their folders: they can be started again.
        self._stopped: dict[Place, Job] = {}
        # Ids of jobs that have ended before anybody attended them.
        self._left: set[str] = set()
        self._looked: dict[str, float] = {}
        self._written: dict[str, tuple[float, str]] = {}
        # Why that of a job could not be.
        self._unwritten: dict[str, str] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._answering: list[threading.Thread] = []

    def attend(self, job: Job) -> None:
        """From now on ``job``, which has begun, and may have ended."""
        with self._lock:
            if job.id in self._left:
                self._left.remove(job.id)
                return
            self._stopped.pop(job.folder.parent, None)
            self._jobs[job.id] = job
            self._begin_to_look()
        self._write(job)

    def leave(self, job: Job) -> None:
        """It has ended; its folder is still this process's. One that did not finish can be started when somebody asks for it."""
        self._write(job, last=True)
        self._await_start(job)

    def keep_back(self, job: Job, before: Status | None) -> None:
        """It is not started, until somebody asks for it; its folder is this process's. What it was ``before``, and since when, stays known."""
        now = status_of(job)
        self._write_status(job, now if before is None else replace(now, written=before.written, figures=before.figures))
        self._await_start(job)

    def _await_start(self, job: Job) -> None:
        with self._lock:
            if not self._closed and job.status is not JobStatus.FINISHED:
                self._stopped[job.folder.parent] = job
                self._begin_to_look()

    def forget(self, folder: Place) -> None:
        """The job in ``folder`` is no more."""
        with self._lock:
            self._stopped.pop(folder, None)

    def close(self) -> None:
        """Start nothing any more, and wait for the answers to what was asked for."""
        with self._lock:
            self._closed = True
            self._stopped.clear()
        for thread in self._answering:
            thread.join(_ANSWER_SECONDS)

    def _begin_to_look(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="job-attendant", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._lock:
                attended, stopped = list(self._jobs.values()), list(self._stopped.values())
                if not attended and not stopped:
                    self._thread = None
                    return
            for job in attended:
                if job.lock is not None and job.lock.lost:
                    continue
                self._look(job, stopped=False)
                at, status = self._written.get(job.id, (0.0, ""))
                if job.status.value != status or time.monotonic() - at > _WRITE_SECONDS:
                    self._write(job)
            for job in stopped:
                self._look(job, stopped=True)
            time.sleep(_LOOK_SECONDS)

    def _look(self, job: Job, *, stopped: bool) -> None:
        """Begin to do what is asked of a job; of one that was ``stopped`` to start it, where no other process has run it since."""
        try:
            for request in self._pending(job):
                if (request.action is Action.START) is stopped and not (stopped and _run_elsewhere(job)):
                    self._begin(job, request)
        except OSError as error:
            # As where the disk is full: it is looked for again.
            _log.warning("requests to job %s not answered: %s", job.name, error)

    def _pending(self, job: Job) -> Iterator[Request]:
        """What is asked of it; another file system is looked at less often."""
        folder, now = job.folder.parent, time.monotonic()
        if not isinstance(folder, Path):
            if now - self._looked.get(job.id, 0.0) < _LOOK_FAR_SECONDS:
                return
            self._looked[job.id] = now
        yield from requests.pending(folder)

    def _begin(self, job: Job, request: Request) -> None:
        request.seen()
        thread = threading.Thread(target=self._answer, args=(job, request), name=f"request-{job.id[:8]}", daemon=True)
        self._answering = [*(t for t in self._answering if t.is_alive()), thread]
        thread.start()

    def _answer(self, job: Job, request: Request) -> None:
        try:
            answer = Answer(self._carry_out(job, request.action))
        except SqlStreamError as error:
            answer = Answer(error=error.message, hint=error.hint)
        except Exception as error:  # who asks waits for an answer
            _log.exception("a request failed")
            answer = Answer(error=f"{type(error).__name__}: {error}")
        with suppress(OSError):
            request.answer(answer)

    def _write(self, job: Job, *, last: bool = False) -> None:
        with self._lock:
            if job.id not in self._jobs and not last:
                return
            if last:
                if self._jobs.pop(job.id, None) is None:
                    self._left.add(job.id)
            elif job.status.value not in LIVING:
                # What it ended with is written when its folder is let go of.
                return
            self._written[job.id] = time.monotonic(), job.status.value
            self._write_status(job, status_of(job))
            if last:
                self._written.pop(job.id, None)
                self._unwritten.pop(job.id, None)
                self._looked.pop(job.id, None)

    def _write_status(self, job: Job, status: Status) -> None:
        try:
            if job.lock is None or not job.lock.lost:
                status.write(job.folder.parent)
            self._unwritten.pop(job.id, None)
        except OSError as error:
            # A disk that is full is so for a while.
            if self._unwritten.get(job.id) != str(error):
                self._unwritten[job.id] = str(error)
                _log.warning("status of job %s not written: %s", job.name, error)


def _run_elsewhere(job: Job) -> bool:
    """Whether another process has run the job since this one, as far as is known."""
    status = Status.read(job.folder.parent)
    return status is None or not status.ours
