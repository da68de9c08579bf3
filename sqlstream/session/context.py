"""What the handler of a statement gets: all that one session has to itself, and the statement that runs.

Sessions on one project share its folder (catalog, jobs, functions), and the sessions of a process may share an engine; nothing else.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from sqlstream.core.errors import without_place
from sqlstream.runtime.jobs.job import unlocated
from sqlstream.session.journal import Journal
from sqlstream.sql.masking import masked_message, masked_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping
    from pathlib import Path

    from sqlglot import exp

    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.core.errors import SqlStreamError
    from sqlstream.core.storage import Place
    from sqlstream.plan.planner import Planner
    from sqlstream.runtime.jobs.control.handed_over import InBackground
    from sqlstream.runtime.jobs.job import Locate
    from sqlstream.runtime.jobs.jobs import Jobs
    from sqlstream.runtime.monitor.metrics import JobMetrics
    from sqlstream.session.engine import SessionEngine
    from sqlstream.session.export import LastResult
    from sqlstream.session.files import Files
    from sqlstream.session.runs.base import Runs

# Errors that are shown at once.
MOST_ERRORS = 10
# Puts a question to the user; the second argument tells of an interrupt.
Ask: TypeAlias = "Callable[[str, Callable[[], bool]], bool]"


def shown(error: SqlStreamError) -> str:
    """An error as a line, with its place."""
    said = f"{error.location}: {without_place(error.message)}" if error.location else error.message
    return said + (f" ({error.hint})" if error.hint else "")


class StartsInBackground(Protocol):
    """Starts scripts in the background of this machine."""

    def __call__(self, file: Path, jobs: Place, stop: Callable[[], None], interrupted: Callable[[], bool], /) -> InBackground:
        """Start the script ``file``, whose job gets its folder in ``jobs``, and wait until it has begun or for an interrupt. ``stop`` is called
        when all is ready, so that the script finds its job stopped. Raises ValidationError where the script runs already, JobFailed where it
        ends at once, OSError.
        """


class Interrupted(Exception):
    """The user has interrupted a statement before it began."""


@dataclass
class User:
    """Who reads what a session says. ``ask`` is None for scripts: they are never asked. ``save``: declarations are saved to the project's catalog.
    ``progress`` hears once a second of the jobs that are waited for, and of none when that is over. ``width``: the columns of the terminal.
    ``background`` is None where jobs can't be handed over to it.
    """

    notify: Callable[[str], None]
    progress: Callable[[list[JobMetrics]], None]
    ask: Ask | None
    interactive: bool
    save: bool
    files: Files
    width: Callable[[], int]
    background: StartsInBackground | None = None
    # That the statement that runs is to end; ``leaving``: those that follow as well.
    interrupt: threading.Event = field(default_factory=threading.Event)
    leaving: bool = False

    @property
    def interrupted(self) -> Callable[[], bool]:
        """Whether the statement that runs is to end."""
        return self.interrupt.is_set

    @property
    def asks(self) -> Callable[[str], bool] | None:
        """Puts a question to the user; None for scripts."""
        return None if self.ask is None else self.agrees

    def agrees(self, question: str) -> bool:
        """The user's answer; a script agrees."""
        return self.ask is None or self.ask(question, self.interrupted)


@dataclass(frozen=True)
class Secrets:
    """What parameters and variables have brought into scripts under the name of a secret."""

    known: set[str]

    def masked(self, text: str) -> str:
        """A script or a statement as it may be shown or stored."""
        return masked_text(text, self.known)

    def masked_message(self, message: str, text: str) -> str:
        """What is said of the statement ``text``, as it may be shown."""
        return masked_message(message, text, self.known)


@dataclass(frozen=True)
class RunningStatement:
    """The text of the statement that runs, and what gives its errors their place in the script."""

    text: str = ""
    locate: Locate = unlocated

    def of_text(self, text: str) -> RunningStatement:
        """The same place for what ``text`` says."""
        return replace(self, text=text)


@dataclass
class Context:
    """One session: its user, its catalog and options (the planner's), its jobs, what runs its statements."""

    user: User
    planner: Planner
    engine: SessionEngine
    jobs: Jobs
    runs: Runs
    # The options that RESET goes back to.
    initial: Mapping[str, str]
    # What scripts name as ${NAME}.
    variables: Mapping[str, str]
    secrets: Secrets
    # The script files that run one another, outermost first: each with the name that its errors have.
    files: list[tuple[str, str]] = field(default_factory=list)
    # The file whose statements run, none of those that it runs in turn.
    script: str | None = None
    # The INSERTs since BEGIN STATEMENT SET.
    statement_set: list[exp.Expr] | None = None
    last_result: LastResult | None = None
    statement: RunningStatement = RunningStatement()
    # What is declared, for another session.
    journal: Journal = field(default_factory=lambda: Journal({}))
    # Whether its jobs end with it.
    owns_jobs: bool = True
    # Its scripts come again by themselves: jobs that somebody has stopped stay so.
    keep_stopped: bool = False
    # Its client is one of Flink's, which looks for what it needs in its column.
    flinks_client: bool = False

    @property
    def project(self) -> Path:
        """The project's folder."""
        return self.planner.project

    @property
    def catalog(self) -> CatalogManager:
        """The session's view of the catalog."""
        return self.planner.catalog

    @property
    def options(self) -> MutableMapping[str, str]:
        """The options that are set."""
        return self.planner.options

    def reload_functions(self) -> None:
        """Take over what has changed in the project's modules of functions, and tell the user."""
        lines, errors = self.planner.reload()
        for line in (*lines, *map(shown, errors[:MOST_ERRORS])):
            self.user.notify(line)

    def isolated_copy(self, runs: Runs) -> Context:
        """A session that begins with this one's catalog and options, keeps its changes to itself, and whose statements ``runs`` runs. It writes no
        file, and asks nothing.
        """
        # Else the copy would, and this one not hear of it.
        self.reload_functions()
        user, planner = replace(self.user, save=False, ask=None), self.planner.isolated_copy(dry=True)
        return replace(self, user=user, planner=planner, runs=runs, files=[], statement_set=None, journal=Journal({}), last_result=None)
