"""Progress of the jobs that are waited for: in a terminal one line that stays in place, elsewhere a line each now and then, ever more seldom."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlstream.runtime.monitor.figures import JobProgress
    from sqlstream.shell.screen import Screen

# After so long a line elsewhere, then after twice as long each time, up to so long: a job may run for years.
PLAIN_SECONDS, MOST_SECONDS = 10, 3600


class Progress:
    """Shows figures as they come, about once a second."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._shown = time.monotonic()
        self._wait = PLAIN_SECONDS
        self._states: list[str] = []

    def __call__(self, running: Sequence[JobProgress]) -> None:
        """The jobs that are waited for; none when they have ended."""
        if self._screen.overwrites:
            self._screen.overwrite("   ".join(job.line for job in running))
            return
        if (states := [job.status for job in running]) != self._states:
            self._states, self._wait = states, PLAIN_SECONDS
        if time.monotonic() - self._shown >= self._wait:
            self._shown, self._wait = time.monotonic(), min(2 * self._wait, MOST_SECONDS)
            for job in running:
                self._screen.notify(job.plain)
