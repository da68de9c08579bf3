"""Runs text in a session and prints what comes of it: the one way in for the prompt, for files and for ``-e``."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlstream.commands import expanded
from sqlstream.errors import NotSupported, SqlStreamError
from sqlstream.results import Exit
from sqlstream.shell.foreground import Ending
from sqlstream.shell.views import show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlstream.results import Outcome
    from sqlstream.session import Session
    from sqlstream.shell.screen import Screen, Script

# What an init file may hold, by first word.
INIT_STATEMENTS = ("ADD", "ALTER", "CREATE", "DROP", "LOAD", "REMOVE", "RESET", "SET", "UNLOAD", "USE")


@dataclass
class Runner:
    """A session and the screen it prints on. ``echo``: show each statement before its answer, as in a terminal."""

    session: Session
    screen: Screen
    echo: bool = False
    _interrupted: threading.Event = field(default_factory=threading.Event)

    def run(self, script: Script) -> Ending:
        """Run every statement of ``script`` up to the first error, which is printed."""
        return self._guarded(lambda: self._run(self.session.run(expanded(script.text), script.name)))

    def initialize(self, script: Script) -> Ending:
        """Run an init file: nothing but declarations and settings, printing nothing but errors."""
        return self._guarded(lambda: self._initialize(script))

    def wait(self) -> Ending:
        """Wait for the jobs that still run, for they live in this process."""
        return self._guarded(lambda: self.session.wait())

    def interrupt(self) -> None:
        """From another thread: end the statement that runs; those behind it are not begun."""
        self._interrupted.set()
        self.session.interrupt()

    def stop(self) -> None:
        """From another thread: end ``wait`` by stopping the jobs."""
        self._interrupted.set()
        self.session.close()

    def _guarded(self, work: Callable[[], Ending | None]) -> Ending:
        self._interrupted.clear()
        try:
            ending = work() or Ending.DONE
            return Ending.INTERRUPTED if ending is Ending.DONE and self._interrupted.is_set() else ending
        except BrokenPipeError:
            raise
        except Exception as error:
            if self._interrupted.is_set() and not isinstance(error, SqlStreamError):
                return Ending.INTERRUPTED  # what a cancelled call to Spark raises says no more
            self.screen.error(error, verbose=self.session.options.get("sql-client.verbose", "").lower() == "true")
            return Ending.FAILED

    def _run(self, outcomes: Iterator[Outcome]) -> Ending:
        while not self._interrupted.is_set():
            started = time.monotonic()
            outcome = next(outcomes, None)
            if outcome is None:
                break
            if self._interrupted.is_set():
                self.session.interrupt()  # the first one came before there was anything to end
            if self.echo:
                self.screen.echo(outcome.statement)
            show(outcome, self.screen, self.session.options, started, self._interrupted.is_set, self.session.interrupt)
            if self.echo:
                self.screen.notify()
            if isinstance(outcome, Exit):
                return Ending.EXIT
        return Ending.DONE

    def _initialize(self, script: Script) -> None:
        from sqlstream.sql.masking import masked_text
        from sqlstream.sql.statements import split

        for statement in split(script.text):
            word = statement.text.split(None, 1)[0].upper()
            if word not in INIT_STATEMENTS:
                raise NotSupported(
                    f"An init file holds declarations and settings only, not {word}.",
                    hint="Put the statement into the script that -f runs.",
                ).located(masked_text(script.text), script.name, statement.start)
        for outcome in self.session.run(script.text, script.name):
            self.screen.notices(outcome.notices)


def open_runner(
    open_session: Callable[[], Session], screen: Screen, init: Script | None, *, echo: bool
) -> Runner | None:
    """A runner for a new session in which ``init`` was run; None after an error, which is printed."""
    try:
        runner = Runner(open_session(), screen, echo)
    except Exception as error:
        screen.error(error)
        return None
    if init and runner.initialize(init) is not Ending.DONE:
        runner.session.close()
        return None
    return runner
