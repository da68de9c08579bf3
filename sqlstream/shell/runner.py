"""Runs text in a session and prints what comes of it: the one way in for the prompt, for files and for ``-e``."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core.defects import defect
from sqlstream.core.errors import SqlStreamError
from sqlstream.session.backslash import expanded
from sqlstream.session.results import Exit
from sqlstream.shell.foreground import Ending
from sqlstream.shell.views import show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlstream.session.results import Outcome
    from sqlstream.shell.screen import Screen, Script
    from sqlstream.shell.session import ShellSession


@dataclass
class Runner:
    """A session and the screen it prints on. ``echo``: show each statement before its answer, as in a terminal."""

    session: ShellSession
    screen: Screen
    echo: bool = False
    _interrupted: threading.Event = field(default_factory=threading.Event)
    _failed: threading.Event = field(default_factory=threading.Event)
    _leaving: threading.Event = field(default_factory=threading.Event)
    _reported: list[BaseException] = field(default_factory=list)
    _reporting: threading.Lock = field(default_factory=threading.Lock)

    def end_with_failed_job(self) -> None:
        """From now on a job that fails is reported at once and ends what is running: the run has failed."""
        self.session.on_failure(self._job_failed)

    def run(self, script: Script) -> Ending:
        """Run every statement of ``script`` up to the first error, which is printed."""
        return self._guarded(lambda: self._run(self.session.run(expanded(script.text), script.name)))

    def initialize(self, script: Script) -> Ending:
        """Run an init file: nothing but declarations and settings, printing nothing but errors."""
        return self._guarded(lambda: self._initialize(script))

    def wait(self) -> Ending:
        """Wait for the jobs that are still running, for they live in this process."""
        ending = self._guarded(self.session.wait)
        # A job that has failed for good has been started again before that.
        return Ending.FAILED if ending is Ending.HINDERED else ending

    def interrupt(self) -> None:
        """From another thread: end the running statement, or ``wait``; those after it are not started."""
        self._interrupted.set()
        self.session.interrupt()

    def leave(self) -> None:
        """From another thread: the process ends. What is running is cut off without a message."""
        self._leaving.set()
        self._interrupted.set()

    def _guarded(self, work: Callable[[], Ending | None]) -> Ending:
        self._interrupted.clear()
        try:
            ending = work() or Ending.DONE
            if self._failed.is_set():
                return Ending.FAILED
            return Ending.INTERRUPTED if ending is Ending.DONE and self._interrupted.is_set() else ending
        except BrokenPipeError:
            raise
        except Exception as error:
            if self._interrupted.is_set() and not isinstance(error, SqlStreamError):
                return Ending.INTERRUPTED  # what a cancelled call to Spark raises says no more
            if self._failed.is_set():
                return Ending.FAILED  # it is what the failed job has cut off
            told = error if isinstance(error, SqlStreamError) else defect(error, self.session.project)
            self._tell(told)
            return Ending.HINDERED if told.heals else Ending.FAILED

    def _job_failed(self, error: SqlStreamError) -> None:
        self._failed.set()
        self._tell(error)
        self.session.interrupt(for_good=True)

    def _tell(self, error: BaseException) -> None:
        """Show an error once: waiting for a job raises it, too."""
        with self._reporting:
            if error not in self._reported and not self._leaving.is_set():
                self._reported.append(error)
                self.screen.error(error, verbose=self.session.options.get("sql-client.verbose", "").lower() == "true")

    @property
    def _over(self) -> bool:
        return self._interrupted.is_set() or self._failed.is_set()

    def _run(self, outcomes: Iterator[Outcome]) -> Ending:
        while not self._over:
            started = time.monotonic()
            outcome = next(outcomes, None)
            if outcome is None:
                break
            if self._interrupted.is_set():
                self.session.interrupt()  # the first one came before there was anything to end
            if self.echo:
                self.screen.echo(outcome.statement)
            show(outcome, self.screen, self.session.options, started, lambda: self._over, self.session.interrupt)
            if self.echo:
                self.screen.notify()
            if isinstance(outcome, Exit):
                return Ending.EXIT
        return Ending.DONE

    def _initialize(self, script: Script) -> None:
        for outcome in self.session.initialize(script.text, script.name):
            self.screen.notices(outcome.notices)


def open_runner(open_session: Callable[[], ShellSession], screen: Screen, init: Script | None, *, echo: bool) -> Runner | Ending:
    """A runner for a new session in which ``init`` was run; how that ended after an error, which is printed."""
    try:
        runner = Runner(open_session(), screen, echo)
    except Exception as error:
        told = error if isinstance(error, SqlStreamError) else defect(error, Path.cwd())
        screen.error(told)
        return Ending.HINDERED if told.heals else Ending.FAILED
    if init and (ending := runner.initialize(init)) is not Ending.DONE:
        runner.session.close()
        return ending
    return runner
