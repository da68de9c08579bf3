"""What an editor asks about its text: what is wrong with it, which statement the cursor is in, what would become of its jobs, help, to save it.
Nothing of the text runs, and the session learns nothing of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.catalog import show
from sqlstream.core.errors import SqlStreamError, ValidationError, without_place
from sqlstream.runtime.jobs.control import registry
from sqlstream.session import queries
from sqlstream.session.checker import query_findings
from sqlstream.session.help import text as help_text
from sqlstream.session.queries import SavedQuery
from sqlstream.session.runs.previewing import Previewing
from sqlstream.session.script import run_script
from sqlstream.sql.statements.split import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlstream.lint.scripts import Finding
    from sqlstream.runtime.jobs.begin.placement import Preview
    from sqlstream.session.session import Session


@dataclass(frozen=True)
class JobVerdict:
    """What would become of a job that is submitted now: ``lines`` say it in a terminal, else ``said``, ``parts``, ``outcome`` and ``then``, as of
    ``Preview``. ``running``: what the job is called that runs already, and has to be
    stopped before. ``loses``: it could not go on with all that is kept. ``refused``: its submission would be, for that.
    """

    lines: Sequence[str]
    said: Sequence[str]
    parts: Sequence[Sequence[str]]
    outcome: str | None
    then: Sequence[str]
    running: str | None
    loses: bool
    refused: bool

    @classmethod
    def of(cls, seen: Preview, running: str | None) -> JobVerdict:
        """That of what was seen."""
        return cls(seen.lines, seen.said, seen.parts, seen.outcome, seen.then, running, seen.loses, seen.refused)


def findings(session: Session, text: str) -> list[Finding]:
    """What is to be said about a script, in the session's catalog and with its options. It may have parameters: it may be a saved query. What is
    there already is no mistake: a statement that has run stays in the editor.
    """
    return [f for f in query_findings(SavedQuery("", session.project, text), "", session) if not f.there]


def statement_at(text: str, cursor: int) -> tuple[int, int] | None:
    """Where the statement begins and ends that the cursor is in, or behind; None where there is none."""
    places = [(one.start, one.start + len(one.text)) for one in split(text)]
    return next((place for place in reversed(places) if place[0] <= cursor), places[0] if places else None)


@dataclass(frozen=True)
class Verdicts:
    """On the jobs that a script submits; of a script that is wrong, those before the ``mistake``."""

    verdicts: Sequence[JobVerdict]
    mistake: str | None


def verdicts(session: Session, text: str) -> Verdicts:
    """What would become of the jobs that a script submits."""
    previewing, mistake = Previewing(), None
    try:
        for _ in run_script(session.context.isolated_copy(previewing), text, None):
            pass
    except SqlStreamError as error:
        at = error.location
        mistake = error.message if at is None else f"{at.line}:{at.column} {without_place(error.message)}"
    if not previewing.seen:
        return Verdicts((), mistake)
    running = {record.path: record.name for record in registry.records(session.jobs.folders.jobs) if record.is_held()}
    return Verdicts([JobVerdict.of(seen, running.get(seen.folder)) for seen in previewing.seen], mistake)


def help_about(session: Session, about: str) -> str:
    """What HELP says, or else the columns of the table or view that is called so. Raises ValidationError."""
    try:
        return help_text(about, session.planner.functions().rows())
    except ValidationError:
        if (columns := _columns(session, tuple(part.strip("` ") for part in about.split(".")))) is None:
            raise
        return columns


def _columns(session: Session, parts: tuple[str, ...]) -> str | None:
    """Those of a table or a view; None where there is none of this name, or nothing is known of it."""
    catalog = session.context.catalog
    try:
        item = catalog.described(parts)
        schema = session.planner.schema(item)
    except SqlStreamError:
        return None
    lines = [f"{name}  {type_}" for name, type_, *_ in show.describe(item, schema).rows]
    return "\n".join([".".join(parts), *(f"    {line}" for line in lines)])


def save(session: Session, name: str, question: str, text: str, *, overwrite: bool) -> str:
    """Save a text as a query of the project; its file. Raises ValidationError."""
    return queries.save(session.project, name, question, text, overwrite=overwrite)
