"""Patterns of statements: text as the table of statements has it to parts, which parser, writer, completion and HELP walk.

A pattern is made of words, ``<slots>`` for what is named, ``<(..)>`` for anything in brackets, ``[..]`` for what may be left out and ``(a | b)``
for a choice. ``argument:`` before a part says which argument of the node it is: what a slot names, the words of a choice, True for a word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PART = re.compile(r"(?P<argument>[a-z_]+:)|<(?P<brackets>\(.*?\))>|<(?P<slot>\w+)>|(?P<sign>[\[\](|)])|(?P<word>\w+|=)")


class Reads(Enum):
    """What stands in a slot."""

    NAME = "a name"
    PATH = "a name of one to three parts"
    TEXT = "a string"
    NUMBER = "a whole number"
    QUERY = "a query"
    EXPRESSION = "an expression"


# The kinds of slots: how HELP writes one, and what stands there.
SLOTS: dict[str, tuple[str, Reads]] = {
    "table": ("table", Reads.PATH),
    "view": ("view", Reads.PATH),
    "relation": ("table", Reads.PATH),
    "database": ("database", Reads.PATH),
    "catalog": ("catalog", Reads.PATH),
    "function": ("function", Reads.PATH),
    "new": ("name", Reads.PATH),
    "column": ("column", Reads.NAME),
    "result_column": ("column", Reads.NAME),
    "saved_query": ("query", Reads.NAME),
    "topic": ("topic", Reads.NAME),
    "catalog_type": ("type", Reads.NAME),
    "connector": ("connector", Reads.NAME),
    "format": ("format", Reads.NAME),
    "text": ("'text'", Reads.TEXT),
    "job": ("'id'", Reads.TEXT),
    "savepoint": ("'path'", Reads.TEXT),
    "setting": ("'key'", Reads.TEXT),
    "value": ("'value'", Reads.TEXT),
    "file": ("'file'", Reads.TEXT),
    "stream": ("'topic'", Reads.TEXT),
    "number": ("n", Reads.NUMBER),
    "query": ("query", Reads.QUERY),
    "expression": ("expression", Reads.EXPRESSION),
}


@dataclass(frozen=True)
class Word:
    """A word of the grammar."""

    text: str
    argument: str = ""


@dataclass(frozen=True)
class Slot:
    """What is named: one of SLOTS."""

    kind: str
    argument: str = ""

    @property
    def shown(self) -> str:
        return SLOTS[self.kind][0]

    @property
    def reads(self) -> Reads:
        return SLOTS[self.kind][1]


@dataclass(frozen=True)
class Brackets:
    """Brackets, and what HELP writes for what is in them."""

    shown: str


@dataclass(frozen=True)
class Sequenced:
    """Parts that follow one another."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Choice:
    """One of several rows."""

    rows: tuple[Sequenced, ...]
    optional: bool = False
    argument: str = ""

    @property
    def phrases(self) -> tuple[str, ...]:
        """The rows of a choice between words."""
        return tuple(" ".join(p.text for p in row.parts if isinstance(p, Word)) for row in self.rows)


Part = Word | Slot | Brackets | Sequenced | Choice


@cache
def pattern(text: str) -> Sequenced:
    """The parts of a pattern."""
    signs = list(_PART.finditer(text))
    (row,) = _rows(signs)
    assert not signs, text
    return row


def _rows(signs: list[re.Match[str]]) -> tuple[Sequenced, ...]:
    """The rows up to the bracket that closes, or to the end; they are taken from ``signs``."""
    rows: list[list[Part]] = [[]]
    argument = ""
    while signs and signs[0]["sign"] not in ("]", ")"):
        part = signs.pop(0)
        match part.lastgroup:
            case "argument":
                argument = part[0][:-1]
                continue
            case "sign" if part[0] == "|":
                rows.append([])
            case "sign":
                rows[-1].append(Choice(_rows(signs), part[0] == "[", argument))
                signs.pop(0)
            case "slot":
                rows[-1].append(Slot(part["slot"], argument))
            case "brackets":
                rows[-1].append(Brackets(part["brackets"]))
            case _:
                rows[-1].append(Word(part[0], argument))
        argument = ""
    return tuple(Sequenced(tuple(row)) for row in rows)


def words(part: Part) -> Iterator[str]:
    """All words of a part."""
    match part:
        case Word(text):
            yield text
        case Sequenced(parts) | Choice(parts):
            for inner in parts:
                yield from words(inner)


def arguments(part: Part) -> Iterator[str]:
    """The arguments of the node that a part says."""
    if not isinstance(part, Sequenced | Brackets) and part.argument:
        yield part.argument
    if isinstance(part, Sequenced | Choice):
        for inner in part.parts if isinstance(part, Sequenced) else part.rows:
            yield from arguments(inner)


def leads(row: Sequenced) -> tuple[tuple[str, ...], ...]:
    """The words that a statement can begin with, up to its first slot or bracket."""
    return tuple(dict.fromkeys(lead for lead, _ in _leads(row.parts)))


def _leads(parts: Sequence[Part]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Words that ``parts`` begin with, and whether that is all of them."""
    if not parts:
        yield (), True
        return
    first: list[tuple[tuple[str, ...], bool]]
    match parts[0]:
        case Word(text):
            first = [((text,), True)]
        case Sequenced(inner):
            first = list(_leads(inner))
        case Choice(rows, optional):
            first = [lead for row in rows for lead in _leads(row.parts)] + [((), True)] * optional
        case _:
            first = [((), False)]
    for head, whole in first:
        if not whole:
            yield head, False
            continue
        for more, all_ in _leads(parts[1:]):
            yield head + more, all_


def shown(part: Part) -> str:
    """A part as HELP writes it."""
    match part:
        case Word(text):
            return text
        case Slot() | Brackets():
            return part.shown
        case Sequenced(parts):
            return " ".join(map(_grouped, parts)) if len(parts) > 1 else shown(parts[0])
        case Choice(rows, optional):
            inner = " | ".join(map(shown, rows))
            return f"[{inner}]" if optional else inner


def _grouped(part: Part) -> str:
    """A part among others: a choice between more than one has brackets."""
    return f"({shown(part)})" if isinstance(part, Choice) and not part.optional and len(part.rows) > 1 else shown(part)
