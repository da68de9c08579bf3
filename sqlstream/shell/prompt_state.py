"""What the prompt knows about the session while the user types: nothing before it is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.application import get_app
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.utils import get_cwidth

from sqlstream.core import settings
from sqlstream.core.settings import EDIT_MODE, STATUS_BAR

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from prompt_toolkit.application import Application
    from prompt_toolkit.document import Document

    from sqlstream.session.completion import Suggestion
    from sqlstream.shell.runner import Runner
    from sqlstream.shell.session import ShellSession


def fitted(status: str, width: int) -> str:
    """A status bar in ``width`` columns: left out is first how queries run, then the catalog, then what stands last."""
    place, *rest = status.split(" | ")
    database = place.rpartition(".")[2]
    for parts in ([place, *rest], [place, *rest[1:]], *([database, *rest[1:end]] for end in range(len(rest), 0, -1))):
        if get_cwidth(shown := " | ".join(parts)) <= width:
            return shown
    return database


class PromptState:
    """The session at a prompt. ``kept``: the text that stays in the prompt when only one of its statements was run."""

    def __init__(self) -> None:
        self.opening: Future[Runner] | None = None
        self.kept: Document | None = None
        self._suggester: Callable[[str, int], Sequence[Suggestion]] | None = None
        self._reported: set[str] = set()

    @property
    def session(self) -> ShellSession | None:
        opening = self.opening
        return opening.result().session if opening and opening.done() and not opening.exception() else None

    @property
    def suggester(self) -> Callable[[str, int], Sequence[Suggestion]] | None:
        """Completion, as things are at this prompt."""
        if self._suggester is None and (session := self.session):
            self._suggester = session.suggester()
        return self._suggester

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
        return " starting" if session is None else f" {fitted(session.standing().status, get_app().output.get_size().columns - 1)}"

    def failures(self) -> list[str]:
        """A line for each job that has failed since this was asked. Where INSERT waits for its job, its own error reports it."""
        session = self.session
        failed = [job for job in session.standing().failed if job.id not in self._reported] if session else []
        self._reported.update(job.id for job in failed)
        if session is None or not failed or settings.read(session.options, "table.dml-sync"):
            return []
        from sqlstream.shell.tableau import escaped

        shown = [(job.name, escaped(job.message)) for job in failed]
        return [f"Job '{name}' has failed: {message.rstrip('.')}. \\why {name} says more." for name, message in shown]

    def prompted(self) -> Document | None:
        """A new prompt: what it begins with."""
        self._suggester = None
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
