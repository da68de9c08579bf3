"""A script as statements: split at ``;`` outside strings, identifiers, comments and statement sets.

In: text. Out: pieces with their places. Works on text that is not complete yet, as a prompt has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core.errors import SyntaxProblem, did_you_mean
from sqlstream.sql.syntax.statement_table import BARE, BEFORE_SET, SET_STARTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What is open at the end of the text reaches to the end. ``//`` behind a colon is part of an address.
_PART = re.compile(
    r"""
      (?P<comment> --[^\n]* | (?<!:)(?<!:/)//[^\n]* | /\*(?!\+).*?(?:\*/|\Z) )
    | (?P<text> (?<![\w$])[eE]'(?:[^'\\]|\\.|'')*(?:'|\Z) | '(?:[^']|'')*(?:'|\Z) | `(?:[^`]|``)*(?:`|\Z)
              | /\*\+.*?(?:\*/|\Z) )
    | (?P<end> ; )
    | (?P<word> [^\W\d][\w$]* )
    | (?P<other> \S )
    """,
    re.S | re.X,
)
_CLIENT_COMMAND = re.compile(rf"(?:{'|'.join(sorted(BARE))})\b[^;]*\Z", re.I)
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class StatementText:
    """One statement: its text without the ``;``, that text's offset in the script, whether the ``;`` was there."""

    text: str
    start: int
    terminated: bool


def split(script: str) -> list[StatementText]:
    """The statements of ``script``; pieces that are empty or hold only comments are left out."""
    return list(_statements(script))


def _statements(script: str) -> Iterator[StatementText]:
    start, last = -1, 0
    words: list[str] = []
    leading, in_set = True, False
    for part in _PART.finditer(script):
        if part.lastgroup == "comment":
            continue
        if part.lastgroup == "end":
            if in_set and words != ["END"]:
                words = []
                continue
            if start >= 0:
                yield StatementText(script[start:last], start, True)
            start, words, leading, in_set = -1, [], True, False
            continue
        if start < 0:
            start = part.start()
        last = part.end()
        words.append(part[0].upper() if part.lastgroup == "word" else "")
        if leading:
            in_set = words[-3:] == ["STATEMENT", "SET", "BEGIN"]
            leading = not in_set and (len(words) < 12 and _may_lead(words))
            if in_set:
                words = []
    if start >= 0:
        yield StatementText(script[start:last].rstrip(), start, False)


def _may_lead(words: list[str]) -> bool:
    """Whether STATEMENT SET BEGIN may still come: ``EXPLAIN a, b`` and ``COMPILE PLAN 'file' FOR`` go before it."""
    return words[0] in SET_STARTS and (words[-1] in BEFORE_SET or not words[-1])


def is_complete(text: str) -> bool:
    """Whether the shell should run ``text``: it is empty, ends with ``;``, begins with a backslash, or is a bare client command."""
    if text.lstrip().startswith("\\"):  # a command of the shell: one line
        return True
    pieces = split(text)
    if not pieces:
        parts = list(_PART.finditer(text))
        return not parts or not parts[-1][0].startswith("/*") or parts[-1][0].endswith("*/")
    if all(p.terminated for p in pieces):
        return True
    return len(pieces) == 1 and _CLIENT_COMMAND.fullmatch(pieces[0].text) is not None


def statement_at(script: str, offset: int) -> StatementText | None:
    """The statement that stands at ``offset``, or before it; the first one where none does."""
    pieces = split(script)
    return next((p for p in reversed(pieces) if p.start <= offset), pieces[0] if pieces else None)


def substitute(text: str, variables: Mapping[str, str], *, strict: bool = False) -> str:
    """``text`` with each ``${NAME}`` outside comments replaced; ``${env:NAME}`` stays.

    An unknown name stays too in strings and quoted names; elsewhere, or where ``strict``, it raises SyntaxProblem.
    """

    def value(match: re.Match[str], offset: int, quoted: bool) -> str:
        if match[1] in variables:
            return variables[match[1]]
        if strict or not quoted:
            raise SyntaxProblem(
                f"The variable {match[0]} has no value.",
                at=offset + match.start(),
                hint=did_you_mean(match[1], variables) or f"Give it one with --var {match[1]}=..",
            )
        return match[0]

    def replaced(start: int, end: int, *, quoted: bool) -> str:
        return _VARIABLE.sub(lambda m: value(m, start, quoted), text[start:end])

    parts = []
    at = 0
    for part in _PART.finditer(text):
        if part.lastgroup in ("comment", "text"):
            parts.append(replaced(at, part.start(), quoted=False))
            parts.append(part[0] if part.lastgroup == "comment" else replaced(part.start(), part.end(), quoted=True))
            at = part.end()
    return "".join([*parts, replaced(at, len(text), quoted=False)])


def placeholders(text: str) -> Iterator[tuple[str, int, int]]:
    """The ``:name`` of ``text`` outside of strings and comments: the name, and where it begins and ends."""
    colon = -1
    for part in _PART.finditer(text):
        if part.lastgroup == "word" and colon == part.start() - 1 and colon >= 0:
            yield part[0], colon, part.end()
        colon = part.start() if part[0] == ":" and (part.start() == 0 or text[part.start() - 1] not in ":\\") else -1
