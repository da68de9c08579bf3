"""What the table of statements is made of, and a statement read and written by nothing but its pattern."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlstream.sql.statements.pattern import Brackets, Choice, Part, Reads, Sequenced, Slot, Word, arguments, leads, pattern, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot.generator import Generator

    from sqlstream.sql.statements.short_form import ShortForm
    from sqlstream.sql.syntax.statement_parser import StatementParser


class Needs(Enum):
    """What a statement asks of the session that runs it. A script that is checked without running has only what it declares."""

    NOTHING = "nothing"
    RUN = "its jobs, brokers or its user"
    RESULT = "the rows of its last SELECT"


@dataclass(frozen=True)
class StatementForm:
    """A form of a statement: how it is written, the node that it becomes, what it does.

    ``parse`` begins behind the first word, ``write`` is a row of a sqlglot generator: for what a pattern can't say. ``syntax``: what HELP shows in
    the place of the pattern. ``bare``: the prompt runs it without its semicolon. ``init``: an init file may hold it. ``short``: the shell's
    backslash command for it.
    """

    pattern: str
    node: type[exp.Expr]
    summary: str = ""
    parse: Callable[[StatementParser], exp.Expr] | None = None
    write: Callable[[Generator, Any], str] | None = None
    syntax: str = ""
    bare: bool = False
    init: bool = False
    needs: Needs = Needs.NOTHING
    short: ShortForm | None = None

    @cached_property
    def parts(self) -> Sequenced:
        return pattern(self.pattern)

    @cached_property
    def leads(self) -> tuple[tuple[str, ...], ...]:
        """The words that it can begin with."""
        return leads(self.parts)

    @property
    def shown(self) -> str:
        """The form as HELP writes it."""
        return self.syntax or shown(self.parts)


@dataclass(frozen=True)
class FormGroup:
    """Forms that belong together, under a title of HELP."""

    title: str
    forms: tuple[StatementForm, ...]


@dataclass(frozen=True)
class Refused:
    """A statement of Flink's that is refused by its first words."""

    pattern: str
    reason: str
    hint: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        return leads(pattern(self.pattern))[0]


# --- reading ----------------------------------------------------------------------------------------------------------


def read(form: StatementForm, cursor: StatementParser) -> exp.Expr:
    """The node of the statement that begins at ``cursor``. Raises SyntaxProblem."""
    values: dict[str, Any] = {}
    _read(form.parts, cursor, values)
    return form.node(**values)


def _read(part: Part, cursor: StatementParser, values: dict[str, Any]) -> None:
    match part:
        case Sequenced(parts):
            for inner in parts:
                _read(inner, cursor, values)
        case Word(text, argument):
            cursor.expect(text)
            if argument:
                values[argument] = True
        case Slot(_, argument):
            values[argument] = _value(part, cursor)
        case Choice(rows, optional, argument) if argument:
            words = cursor.one_of(*part.phrases)
            if not words and not optional:
                cursor.unexpected(cursor.token, listed(part.phrases))
            values[argument] = words
        case Choice(rows, optional):
            row = next((r for r in rows if any(_is_at(first, cursor) for first in _firsts(r.parts))), None)
            if row is not None:
                _read(row, cursor, values)
            elif not optional:
                cursor.unexpected(cursor.token, listed([shown(r) for r in rows]))


def _value(slot: Slot, cursor: StatementParser) -> Any:
    match slot.reads:
        case Reads.NAME:
            return cursor.name()
        case Reads.PATH:
            return cursor.path()
        case Reads.TEXT:
            return cursor.string()
        case Reads.NUMBER:
            return cursor.integer()
        case Reads.QUERY:
            return cursor.query()
        case Reads.EXPRESSION:
            return cursor.expression()


def _firsts(parts: tuple[Part, ...]) -> list[Part]:
    """The words and slots that may come first."""
    firsts: list[Part] = []
    for part in parts:
        match part:
            case Choice(rows, optional):
                firsts += [first for row in rows for first in _firsts(row.parts)]
                if not optional:
                    return firsts
            case _:
                return [*firsts, part]
    return firsts


def _is_at(part: Part, cursor: StatementParser) -> bool:
    match part:
        case Word(text):
            return cursor.at(text)
        case Slot():
            return cursor.at_string() if part.reads is Reads.TEXT else part.reads is not Reads.NUMBER and cursor.at_name()
    return False


def listed(words: list[str] | tuple[str, ...]) -> str:
    """``A, B or C``."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


# --- writing ----------------------------------------------------------------------------------------------------------


def written(forms: list[StatementForm]) -> Callable[[Generator, Any], str]:
    """The row of a generator for a node of these ``forms``, of which the first that fits is taken."""

    def text(self: Generator, node: exp.Expr) -> str:
        return next(sql for form in forms if (sql := _written(form.parts, self, node)) is not None)

    return text


def _written(part: Part, generator: Generator, node: exp.Expr) -> str | None:
    """``part`` with the arguments of ``node``; None where it has not all that it needs."""
    match part:
        case Sequenced(parts):
            texts = [_written(p, generator, node) for p in parts]
            return None if None in texts else " ".join(filter(None, texts))
        case Word(text, argument):
            return text if not argument or node.args.get(argument) else None
        case Slot(_, argument):
            value = node.args.get(argument)
            return generator.sql(value) if isinstance(value, exp.Expr) else None if value is None else str(value)
        case Brackets():
            return None
        case Choice(_, optional, argument) if argument:
            value = node.args.get(argument)
            return value if value in part.phrases else "" if optional and value is None else None
        case Choice(rows, optional):
            # What says an argument goes first; what says none is left out where it may be.
            saying = [r for r in rows if any(arguments(r))]
            silent = [] if optional else [r for r in rows if r not in saying]
            sides = (_written(r, generator, node) for r in (*saying, *silent))
            return next((t for t in sides if t is not None), "" if optional else None)
