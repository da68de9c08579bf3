"""What a statement answers, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlstream.core.secrets import masked_value
from sqlstream.plan.nodes import Field
from sqlstream.sql.types import STRING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlstream.core.changelog import Change


@dataclass(frozen=True)
class Outcome:
    """Base: what one statement answered. ``statement`` is its text, ``notices`` what the user should know."""

    statement: str = ""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Done(Outcome):
    """A statement without rows succeeded."""


@dataclass(frozen=True)
class Declined(Outcome):
    """The user was asked, and did not agree: nothing was done."""


@dataclass(frozen=True)
class Submitted(Outcome):
    """A job was submitted; ``job_name`` stays its own when it is started again."""

    job_id: str = ""
    job_name: str = ""


@dataclass(frozen=True)
class HeldBack(Outcome):
    """A job that somebody has stopped was not started, as the session was told."""

    job_id: str = ""


@dataclass(frozen=True)
class Completed(Outcome):
    """A job was submitted and has finished (``table.dml-sync``)."""

    job_id: str = ""
    job_name: str = ""


@dataclass(frozen=True)
class Rows(Outcome):
    """All rows at once: SHOW, DESCRIBE, a batch SELECT. ``query`` for the latter: wide cells are cut, the time is shown. ``blank``: an empty
    cell is NULL, of which nothing is shown. ``is_prose``: a single row of a single text, whose lines may end between other words.
    """

    columns: tuple[Field, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    query: bool = False
    blank: bool = False
    is_prose: bool = False


@dataclass(frozen=True)
class Figures(Rows):
    """Rows that change from moment to moment: ``again`` reads them anew."""

    again: Callable[[], tuple[tuple[str | None, ...], ...]] = tuple


@dataclass(frozen=True)
class Advice(Rows):
    """Rows of a subject, a sentence about it, and what to do (or None): in a terminal they are read as text."""


@dataclass(frozen=True)
class Stream(Outcome):
    """Rows as they come: the iterator waits for the next one, and ends with a bounded input or an interrupt. ``stop`` ends it from another thread.
    ``reasons`` says why none has come yet, as far as it is known; the JVM, or a server, is asked.
    """

    columns: tuple[Field, ...] = ()
    changes: Iterator[Change] = field(default_factory=lambda: iter(()))
    stop: Callable[[], None] = lambda: None
    reasons: Callable[[], Sequence[str]] = lambda: ()


@dataclass(frozen=True)
class Text(Outcome):
    """Text to print as it is; ``is_prose``: its lines may end between other words."""

    lines: str = ""
    is_prose: bool = False


@dataclass(frozen=True)
class Cleared(Outcome):
    """CLEAR: the screen is to be cleared."""


@dataclass(frozen=True)
class Exit(Outcome):
    """QUIT: the shell ends."""


def text_columns(headers: Iterable[str]) -> tuple[Field, ...]:
    """Columns of text."""
    return tuple(Field(h, STRING) for h in headers)


def text_rows(headers: Iterable[str], rows: Iterable[tuple[str | None, ...]], **more: object) -> Rows:
    """Rows of text under ``headers``, as SHOW gives."""
    return Rows(columns=text_columns(headers), rows=tuple(rows), **more)  # type: ignore[arg-type]


def masked_rows(headers: Iterable[str], rows: Iterable[Sequence[str | None]], **more: object) -> Rows:
    """The same of what somebody has declared, without the passwords in it."""
    return text_rows(headers, (tuple(None if cell is None else masked_value(cell) for cell in row) for row in rows), **more)
