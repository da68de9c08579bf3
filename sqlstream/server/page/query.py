"""The view of queries: what its editor begins with, and the saved queries of the project. What it runs goes over the websocket of joined shells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from sqlstream.core.errors import ValidationError
from sqlstream.core.release import release
from sqlstream.core.secrets import MASK, masked_option
from sqlstream.runtime.jobs.control import registry
from sqlstream.server.answers import NotThere
from sqlstream.session.completion import words
from sqlstream.session.joined import PROTOCOL
from sqlstream.session.needed import needed
from sqlstream.session.queries import SavedQuery, saved_queries
from sqlstream.sql import functions
from sqlstream.sql.masking import masked_text
from sqlstream.sql.quoting import flink_string

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlstream.server.server import Server

# What an address may hold: letters of a text, and bytes that they are there. Servers refuse addresses that are much longer.
LONGEST_TEXT = 10_000
_LONGEST_ADDRESS = 30_000


@dataclass(frozen=True)
class QueryShown:
    """What the view has: ``text`` is what the editor begins with; ``chosen``: the saved query, whose file it is, ``job``: the job that it is of.
    ``masked``: a secret of the job's session was left out of the text.
    """

    saved: Sequence[SavedQuery]
    text: str = ""
    chosen: SavedQuery | None = None
    job: str | None = None
    masked: bool = False
    protocol: int = PROTOCOL
    release: str = release()

    @property
    def parameters(self) -> list[tuple[str, str, str, str]]:
        """Those of the saved query: name, type, default without secrets, what it is."""
        found = () if self.chosen is None else self.chosen.parameters
        return [(p.name, p.type, "" if p.default is None else masked_option(p.name, p.default), p.summary) for p in found]

    @property
    def required(self) -> set[str]:
        """The parameters that have no default."""
        return set() if self.chosen is None else {p.name for p in self.chosen.parameters if p.default is None}

    @property
    def keywords(self) -> str:
        """The words of SQL, with spaces between them."""
        return _keywords()

    @property
    def functions(self) -> str:
        """The names of built-in functions."""
        return _functions()


@cache
def _keywords() -> str:
    return " ".join(sorted(words.keywords()))


@cache
def _functions() -> str:
    return " ".join(sorted({row.name.split()[0].upper() for _, rows in functions.GROUPS for row in rows} | set(words.BARE)))


def address_of(sql: str) -> str | None:
    """The address of an editor that begins with a text, which nothing runs; None where it is too long for one."""
    address = f"/query?sql={quote(sql, safe='')}"
    return address if len(sql) <= LONGEST_TEXT and len(address) <= _LONGEST_ADDRESS else None


def shown(server: Server, saved: str | None, job: str | None, sql: str | None = None, savepoint: str | None = None) -> QueryShown:
    """The view of the query ``saved``, of the statement of a ``job``, which a ``savepoint`` is to begin, or of any text ``sql``. Raises NotThere,
    ValidationError.
    """
    queries = saved_queries(server.project)
    if saved is not None:
        chosen = next((query for query in queries if query.name == saved), None)
        if chosen is None:
            raise NotThere(f"There is no saved query '{saved[:100]}'.", hint="SHOW QUERIES lists them.")
        return QueryShown(queries, chosen.text, chosen)
    if job is not None:
        try:
            record = registry.find(server.jobs.folders.jobs, job)
        except ValidationError as error:
            raise NotThere(error.message, hint=error.hint) from error
        script = server.script_of(record)
        if script is not None:
            script = needed(script)
        else:
            sql = "" if record.version is None else record.version.sql.rstrip().removesuffix(";") + ";\n"
            script = f"SET 'pipeline.name' = {flink_string(record.name)};\n{sql}"
        if savepoint is not None:
            script = f"SET 'execution.state-recovery.path' = {flink_string(savepoint)};\n{script}"
        return QueryShown(queries, masked_text(script), job=record.name, masked=masked_text(script) != script)
    if sql is not None:
        if len(sql) > LONGEST_TEXT:
            raise ValidationError(
                f"The text has {len(sql):,} characters, and an address may hold {LONGEST_TEXT:,}.", hint="Open /query, and paste the text there."
            )
        return QueryShown(queries, sql, masked=MASK in sql)
    return QueryShown(queries)
