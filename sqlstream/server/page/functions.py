"""The functions of the project in Python, as the text of their modules says: none of it is run. A module that is edited is read anew."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core.errors import SqlStreamError
from sqlstream.core.secrets import places, starred
from sqlstream.server.answers import NotThere
from sqlstream.session.help import text as help_text
from sqlstream.udf.declarations.functions import PythonFunction

if TYPE_CHECKING:
    from sqlstream.server.server import Server
    from sqlstream.session.session import Session

# So many characters of a module are shown.
_MOST_SOURCE = 100_000


@dataclass(frozen=True)
class FunctionEntry:
    """A function in the list. ``group``: SCALAR, TABLE, AGGREGATE or TABLE_AGGREGATE; ``place``: the file and the line that declare it."""

    name: str
    group: str
    summary: str
    place: str


@dataclass(frozen=True)
class FunctionShown:
    """A function: what HELP says of it, and the module that declares it; None where that can't be read."""

    name: str
    place: str
    help: str
    source: str | None


def listed(session: Session) -> tuple[FunctionEntry, ...]:
    """Those that are right, by name; what is wrong with others is among the errors of the session."""
    usable = {one.found.identifier: one for one in session.planner.functions().rows() if isinstance(one, PythonFunction)}
    return tuple(
        FunctionEntry(name, usable[one.identifier].group, usable[one.identifier].summary, one.place)
        for name, one in sorted(session.planner.modules.functions.items())
        if one.identifier in usable
    )


def shown(server: Server, name: str) -> FunctionShown:
    """A function. Raises NotThere."""
    with closing(server.looking_session(lambda line: None)) as session:
        found = session.planner.modules.functions.get(name.lower())
        if found is None:
            hint = next((f"A module can't be loaded: {e.message}" for e in session.planner.modules.errors), "SHOW USER FUNCTIONS lists them.")
            raise NotThere(f"There is no function '{name[:100]}' in udfs/.", hint=hint)
        try:
            said = help_text(f"FUNCTION {name.lower()}", session.planner.functions().rows())
        except SqlStreamError as error:
            said = error.message
        return FunctionShown(name.lower(), found.place, said, _source(found.declared.file))


def _source(file: str) -> str | None:
    try:
        text = Path(file).read_text("utf-8")[:_MOST_SOURCE]
    except (OSError, UnicodeDecodeError):
        return None
    return starred(text, places(text))
