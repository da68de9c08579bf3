"""The figures of jobs over the last hour, for charts.

In: the jobs of a process, looked at every five seconds. Out: points, by the name of the job, which it keeps when it is started again.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlstream.runtime.monitor.metrics import JobMetrics

SECONDS = 3600.0
EVERY_SECONDS = 5.0

# What the phases of a micro-batch are called in charts, with those of Spark's that each is made of.
PHASES = {
    "plan": ("queryPlanning",),
    "offsets": ("latestOffset", "getBatch"),
    "process": ("addBatch",),
    "commit": ("walCommit", "commitBatch", "commitOffsets"),
}


class Point(NamedTuple):
    """A job at a moment, in seconds since 1970. Rates are rows a second, ``phases`` milliseconds of its longest micro-batch of that moment, in the
    order of PHASES, where one ended since the point before, ``state`` and ``heap`` bytes. None: not known; of a job that has ended nothing is.
    """

    at: float
    rows_in: float | None
    rows_out: float | None
    lag: int | None
    phases: tuple[int, ...] | None
    state: int | None
    heap: int | None


class History:
    """What ``jobs`` were like in the last hour."""

    def __init__(self, jobs: Callable[[], Iterable[JobMetrics]]) -> None:
        self._jobs = jobs
        self._points: dict[str, deque[Point]] = {}
        # When the last micro-batches had ended that a point has, by the name of the job.
        self._ended: dict[str, int] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="history", daemon=True)

    def begin(self) -> None:
        """Look at them from now on."""
        self._thread.start()

    def close(self) -> None:
        """Look no more."""
        self._over.set()

    def of(self, name: str) -> Sequence[Point]:
        """The points of the job that is called so, the newest last."""
        return tuple(self._points.get(name, ()))

    def look(self, now: float) -> None:
        """Take a point of each job that runs, and forget what is older than an hour."""
        running = {job.name: job for job in self._jobs() if job.status == "RUNNING"}
        for name, job in running.items():
            self._points.setdefault(name, deque()).append(point(job, now, self._ended.get(name, 0)))
            self._ended[name] = max((q.batch_ended for q in job.queries if q.batch_ended is not None), default=self._ended.get(name, 0))
        for name, points in list(self._points.items()):
            # Lines end where the job does.
            if name not in running and points[-1].rows_in is not None:
                points.append(Point(now, None, None, None, None, None, None))
            while points and points[0].at < now - SECONDS:
                points.popleft()
            if not points:
                del self._points[name]
                self._ended.pop(name, None)

    def _run(self) -> None:
        while not self._over.wait(EVERY_SECONDS):
            self.look(time.time())


def point(job: JobMetrics, now: float, before: int = 0) -> Point:
    """What ``job`` is like. ``before``: when, in milliseconds since 1970, the last of its micro-batches ended that a point has already."""
    longest = max((q for q in job.queries if q.phases and (q.batch_ended or 1) > before), key=lambda q: q.batch_ms or 0, default=None)
    phases = None if longest is None else _grouped(dict(longest.phases))
    return Point(now, job.rows_per_second, job.rows_out_per_second, job.lag, phases, job.state_bytes, job.heap)


def _grouped(phases: dict[str, int]) -> tuple[int, ...]:
    return tuple(sum(phases.get(name, 0) for name in names) for names in PHASES.values())
