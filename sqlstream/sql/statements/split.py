"""A script as statements: split at ``;`` outside strings, identifiers, comments and statement sets.

In: text. Out: pieces with their places. Works on text that is not complete yet, as a prompt has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlstream.core.errors import SyntaxProblem, did_you_mean
from sqlstream.sql.statements.table import BARE, BEFORE_SET, SET_BEGINS, SET_STARTS
from sqlstream.sql.syntax.lexer import Kind, Lexeme, lexemes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What `--var` gives a value.
VARIABLE = re.compile(r"\$\{(\w+)\}")
# Words that can stand before the statements of a set.
_MOST_LEADING = 12


@dataclass(frozen=True)
class StatementText:
    """One statement: its text without the ``;``, that text's offset in the script, whether the ``;`` was there; its lexemes without comments, which
    have their places in the script.
    """

    text: str
    start: int
    terminated: bool
    lexemes: tuple[Lexeme, ...] = field(default=(), compare=False, repr=False)


def split(script: str) -> list[StatementText]:
    """The statements of ``script``; pieces that are empty or hold only comments are left out."""
    return list(_statements(script))


def _statements(script: str) -> Iterator[StatementText]:
    start, last = -1, 0
    # The first words of a statement: of each one in a statement set, too.
    words: list[str] = []
    own: list[Lexeme] = []
    leading, in_set, in_hint = True, False, False
    for lexeme in lexemes(script, open_ends=True):
        kind, text, begin = lexeme
        if kind is Kind.COMMENT:
            if text.startswith("/*") and lexeme.is_open:
                # What follows it is of no statement: to parse this one says so.
                start, last = (begin if start < 0 else start), lexeme.end
                own.append(lexeme)
            continue
        if kind is Kind.SIGN:
            in_hint = text == "/*+" or (in_hint and text != "*/")
            if text == ";" and not in_hint:
                if in_set and words != ["END"]:
                    words = []
                    own.append(lexeme)
                    continue
                if start >= 0:
                    yield StatementText(script[start:last], start, True, tuple(own))
                start, words, own, leading, in_set = -1, [], [], True, False
                continue
        if start < 0:
            start = begin
        last = begin + len(text)
        own.append(lexeme)
        if leading or in_set:
            words.append(text.upper() if kind is Kind.WORD else "")
        if leading:
            in_set = tuple(words[-len(SET_BEGINS) :]) == SET_BEGINS
            leading = not in_set and len(words) < _MOST_LEADING and _may_lead(words)
            if in_set:
                words = []
    if start >= 0:
        # A ``;`` behind the last statement of a set that has no end is not part of it.
        yield StatementText(script[start:last].rstrip(), start, False, tuple(x for x in own if x.start < last))


def _may_lead(words: list[str]) -> bool:
    """Whether STATEMENT SET BEGIN may still come: ``EXPLAIN a, b`` and ``COMPILE PLAN 'file' FOR`` go before it."""
    return words[0] in SET_STARTS and (words[-1] in BEFORE_SET or not words[-1])


def is_complete(text: str) -> bool:
    """Whether the shell should run ``text``: it is empty, ends with ``;``, begins with a backslash, or is a bare client command."""
    if text.lstrip().startswith("\\"):  # a command of the shell: one line
        return True
    pieces = split(text)
    if not pieces:  # comments alone
        return not any(lexeme.is_open for lexeme in lexemes(text, open_ends=True))
    if all(p.terminated for p in pieces):
        return True
    return len(pieces) == 1 and next(lexemes(pieces[0].text)).upper in BARE


def last_command(text: str) -> str | None:
    """The last line of ``text``, where it is a command of the shell behind a statement that has no end yet; None where it is none."""
    before, _, line = text.rpartition("\n")
    if not line.lstrip().startswith("\\") or not before.strip() or before.lstrip().startswith("\\"):
        return None
    return None if any(lexeme.is_open for lexeme in lexemes(before, open_ends=True)) else line


def statement_at(script: str, offset: int) -> StatementText | None:
    """The statement that stands at ``offset``, or before it; the first one where none does."""
    pieces = split(script)
    return next((p for p in reversed(pieces) if p.start <= offset), pieces[0] if pieces else None)


def substitute(text: str, variables: Mapping[str, str], *, strict: bool = False) -> str:
    """``text`` with each ``${NAME}`` outside comments replaced; ``${env:NAME}`` stays.

    An unknown name stays too in strings and quoted names; elsewhere, or where ``strict``, it raises SyntaxProblem.
    """

    if "${" not in text:
        return text

    def value(match: re.Match[str], offset: int, quoted: bool) -> str:
        if match[1] in variables:
            return variables[match[1]]
        if strict or not quoted:
            raise SyntaxProblem(
                f"The variable {match[0]} has no value.",
                at=offset + match.start(),
                hint=did_you_mean(match[1], variables) or f"Pass it with --var {match[1]}=..",
            )
        return match[0]

    def replaced(start: int, end: int, *, quoted: bool) -> str:
        return VARIABLE.sub(lambda m: value(m, start, quoted), text[start:end])

    parts = []
    at = 0
    for kind, written, start in lexemes(text, open_ends=True):
        if kind in (Kind.COMMENT, Kind.STRING, Kind.QUOTED):
            end = start + len(written)
            parts += [replaced(at, start, quoted=False), written if kind is Kind.COMMENT else replaced(start, end, quoted=True)]
            at = end
    return "".join([*parts, replaced(at, len(text), quoted=False)])


def placeholders(text: str) -> Iterator[tuple[str, int, int]]:
    """The ``:name`` of ``text`` outside of strings and comments, and not behind a name: what it is called, and where it begins and ends."""
    colon = -1
    for lexeme in lexemes(text, open_ends=True):
        if lexeme.kind is Kind.WORD and colon >= 0 and colon == lexeme.start - 1:
            yield lexeme.text, colon, lexeme.end
        before = text[max(0, lexeme.start - 1) : lexeme.start]
        colon = lexeme.start if lexeme.text == ":" and before not in (":", "\\") and not before.isidentifier() else -1
