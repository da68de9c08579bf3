"""What the patterns of the table of statements expect behind the words that are there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.session.completion.tree import QUERY_WORDS, BracketGroup
from sqlstream.sql.statements.pattern import Brackets, Choice, Part, Reads, Sequenced, Slot, Word
from sqlstream.sql.statements.table import LISTED
from sqlstream.sql.syntax.lexer import Kind, Lexeme

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Expected:
    """What may stand at the cursor: words in upper case, slots without ``<>``. ``query``: where the query begins that the cursor is in."""

    words: list[str]
    slots: list[str]
    query: int | None = None


def expected(statement: BracketGroup, cursor: int) -> Expected:
    """What the patterns expect at place ``cursor`` of a statement, whose words before it are whole."""
    wanted = Expected([], [])
    for form in LISTED:
        for _ in _match(form.parts, statement, 0, cursor, wanted):
            pass
    wanted.words = list(dict.fromkeys(wanted.words))
    return wanted


def _match(part: Part, statement: BracketGroup, at: int, cursor: int, missing: Expected) -> Iterator[int]:
    """The places behind ``part``, which begins at ``at``; what is missing at the cursor goes into ``missing``."""
    match part:
        case Sequenced(parts):
            if not parts:
                yield at
                return
            for end in _match(parts[0], statement, at, cursor, missing):
                yield from _match(Sequenced(parts[1:]), statement, end, cursor, missing)
        case Choice(rows, optional):
            for row in rows:
                yield from _match(row, statement, at, cursor, missing)
            if optional:
                yield at
        case Word(text) if at >= cursor:
            missing.words.append(text)
        case Slot(kind) if at >= cursor:
            missing.slots.append(kind)
        case Brackets() if at >= cursor:
            pass
        case Word() | Brackets():
            if statement.word(at) == (part.text if isinstance(part, Word) else "()"):
                yield at + 1
        case Slot():
            yield from _named(part.reads, statement, at, cursor, missing)


def _named(reads: Reads, statement: BracketGroup, at: int, cursor: int, missing: Expected) -> Iterator[int]:
    """The place behind what a slot names."""
    word = statement.word(at)
    item = statement.items[at]
    kind = item.kind if isinstance(item, Lexeme) else None
    match reads:
        case Reads.QUERY:
            if word in QUERY_WORDS or (isinstance(item, BracketGroup) and item.is_query):
                missing.query = at
        case Reads.NAME | Reads.PATH if kind in (Kind.WORD, Kind.QUOTED):
            at += 1
            while at + 1 < cursor and statement.word(at) == ".":
                at += 2
            yield at
        case Reads.TEXT if kind in (Kind.STRING, Kind.WORD):
            yield at + 1
        case Reads.NUMBER if kind is Kind.NUMBER:
            yield at + 1
