"""Progress of the jobs that are waited for: in a terminal one line that stays in place, elsewhere a line now and then."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sqlstream.runtime.monitor.figures import plain_progress, progress_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlstream.runtime.monitor.metrics import JobMetrics
    from sqlstream.shell.screen import Screen

PLAIN_SECONDS = 10


class Progress:
    """Shows figures as they come, about once a second."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._shown = time.monotonic()

    def __call__(self, running: Sequence[JobMetrics]) -> None:
        """The jobs that are waited for; none when they have ended."""
        if self._screen.overwrites:
            self._screen.overwrite("   ".join(map(progress_line, running)))
        elif time.monotonic() - self._shown >= PLAIN_SECONDS:
            self._shown = time.monotonic()
            for job in running:
                self._screen.notify(plain_progress(job))
