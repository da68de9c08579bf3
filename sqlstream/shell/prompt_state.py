"""What the prompt knows about the session while the user types: nothing before it is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.enums import EditingMode

from sqlstream.core import settings
from sqlstream.core.settings import EDIT_MODE, STATUS_BAR

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from prompt_toolkit.application import Application
    from prompt_toolkit.document import Document

    from sqlstream.session.completion import Context
    from sqlstream.session.session import Session
    from sqlstream.shell.runner import Runner


class PromptState:
    """The session at a prompt. ``kept``: the text that stays in the prompt when only one of its statements was run."""

    def __init__(self) -> None:
        self.opening: Future[Runner] | None = None
        self.kept: Document | None = None
        self._context: Context | None = None
        self._reported: set[str] = set()

    @property
    def session(self) -> Session | None:
        opening = self.opening
        return opening.result().session if opening and opening.done() and not opening.exception() else None

    @property
    def context(self) -> Context | None:
        """The snapshot of this prompt."""
        if self._context is None and (session := self.session):
            self._context = session.completion()
        return self._context

    def option(self, key: str) -> str:
        """The value of an option of the session, or its default."""
        session = self.session
        return str(settings.read(session.options if session else {}, key))

    def toolbar(self) -> Callable[[], str] | None:
        """What is below the prompt."""
        session = self.session
        return self._status if settings.read(session.options if session else {}, STATUS_BAR) else None

    def _status(self) -> str:
        """The status bar: what is known about the session, without asking anybody."""
        session = self.session
        if session is None:
            return " starting"
        from sqlstream.runtime.monitor.figures import status_line

        mode = f"{self.option('execution.runtime-mode')}, {self.option('sql-client.execution.result-mode')}"
        return " " + status_line(session.place, mode, [j.metrics for j in session.jobs])

    def failures(self) -> list[str]:
        """A line for each job that has failed since this was asked. Where INSERT waits for its job, its own error reports it."""
        session = self.session
        failed = [(j, j.error) for j in session.jobs if j.error and j.id not in self._reported] if session else []
        self._reported.update(job.id for job, _ in failed)
        if session is None or not failed or settings.read(session.options, "table.dml-sync"):
            return []
        from sqlstream.runtime.monitor.figures import short_name
        from sqlstream.shell.tableau import escaped

        shown = [(job.id[:8], short_name(job.name), escaped(error.message.partition("\n")[0])) for job, error in failed]
        return [f"Job {start} ({name}) has failed: {message.rstrip('.')}. \\why {start} says more." for start, name, message in shown]

    def prompted(self) -> Document | None:
        """A new prompt: what it begins with."""
        self._context = None
        kept, self.kept = self.kept, None
        return kept

    def apply(self, app: Application[str]) -> None:
        """Give the prompt the keys and colours that the session's options name."""
        app.editing_mode = EditingMode.VI if self.option(EDIT_MODE) == "vi" else EditingMode.EMACS
        app.invalidate()

    def change_mode(self, app: Application[str]) -> None:
        """Change between emacs and vi keys."""
        if session := self.session:
            session.options[EDIT_MODE] = "emacs" if self.option(EDIT_MODE) == "vi" else "vi"
            self.apply(app)
