"""The newest lines of the server's log about each job, for whoever looks at that job."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core.lines import OfJob

if TYPE_CHECKING:
    from collections.abc import Callable

# So many lines of a job are kept, of so many characters each; of so many jobs, those that were last spoken of.
_LINES, _LENGTH, _JOBS = 300, 2000, 500


@dataclass(frozen=True)
class Line:
    """A line, and when it was said, in seconds since 1970."""

    at: float
    text: str


class JobLog:
    """What is said of jobs on its way to ``tell``."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        # The job that was spoken of last is the last.
        self._lines: dict[str, deque[Line]] = {}

    def __call__(self, line: str) -> None:
        """Tell it, and keep it where it is of a job."""
        if isinstance(line, OfJob):
            with self._lock:
                lines = self._lines.pop(line.job, None) or deque(maxlen=_LINES)
                lines.append(Line(time.time(), line[:_LENGTH]))
                self._lines[line.job] = lines
                if len(self._lines) > _JOBS:
                    del self._lines[next(iter(self._lines))]
        self._tell(line)

    def of(self, job: str) -> tuple[Line, ...]:
        """The newest lines about the job that is called so, the newest last."""
        with self._lock:
            return tuple(self._lines.get(job, ()))
