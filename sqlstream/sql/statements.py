"""A script as statements: split at ``;`` outside strings, identifiers and comments. In: text. Out: pieces with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlstream.errors import SyntaxProblem, did_you_mean

# A string, an identifier, a comment: nothing in them ends a statement. A hint is a comment to this purpose.
_SKIPPED = re.compile(r"'(?:[^']|'')*'|`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/", re.S)
_OPEN = re.compile(r"'(?:[^']|'')*\Z|`(?:[^`]|``)*\Z|/\*(?:(?!\*/).)*\Z", re.S)
_COMMENT = re.compile(r"--[^\n]*(?:\n|\Z)|/\*(?!\+).*?\*/", re.S)
_SET_BEGIN = re.compile(r"(?:EXECUTE|EXPLAIN\b.*?|COMPILE\b.*?)\s+STATEMENT\s+SET\s+BEGIN\b", re.I | re.S)
_SET_END = re.compile(r"END\b", re.I)
_CLIENT_COMMAND = re.compile(r"(?:QUIT|EXIT|HELP|CLEAR)\b[^;]*\Z", re.I)
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class Statement:
    """One statement: its text without the ``;``, the offset of that text in the script, and whether the ``;`` was there."""

    text: str
    start: int
    terminated: bool


def split(script: str) -> list[Statement]:
    """The statements of ``script``; pieces that are empty or hold only comments are left out."""
    return list(_statements(script))


def _statements(script: str) -> Iterator[Statement]:
    begin = 0
    in_set = False
    for end in [*_ends(script), len(script)]:
        code_start = _code_start(script, begin)
        if code_start >= end:
            begin = end + 1 if not in_set else begin
            continue
        code = script[code_start:end]
        if not in_set and _SET_BEGIN.match(code):
            in_set = True
        if in_set and end < len(script):
            last = script.rfind(";", code_start, end)
            piece = _code_start(script, max(last + 1, code_start))
            if not (last > code_start and _SET_END.fullmatch(script[piece:end].strip())):
                continue
        yield Statement(code.rstrip(), code_start, end < len(script))
        begin, in_set = end + 1, False


def _ends(script: str) -> Iterator[int]:
    """Offsets of the ``;`` that end statements."""
    at = 0
    for skipped in _SKIPPED.finditer(script):
        yield from (at + m.start() for m in re.finditer(";", script[at : skipped.start()]))
        at = skipped.end()
    tail = script[at:]
    open_part = _OPEN.search(tail)
    closed = tail[: open_part.start()] if open_part else tail
    yield from (at + m.start() for m in re.finditer(";", closed))


def _code_start(script: str, at: int) -> int:
    """The first offset from ``at`` on that is neither white space nor in a comment."""
    while True:
        while at < len(script) and script[at].isspace():
            at += 1
        comment = _COMMENT.match(script, at)
        if comment is None:
            return at
        at = comment.end()


def is_complete(text: str) -> bool:
    """Whether the shell should run ``text``: it is empty, ends with ``;``, or is a bare client command."""
    pieces = split(text)
    if not pieces:
        return _OPEN.search(_SKIPPED.sub("", text)) is None
    return all(p.terminated for p in pieces) or (len(pieces) == 1 and _CLIENT_COMMAND.fullmatch(pieces[0].text) is not None)


def substitute(text: str, variables: Mapping[str, str], *, strict: bool = False) -> str:
    """``text`` with each ``${NAME}`` outside comments replaced; ``${env:NAME}`` stays.

    An unknown name stays too, or raises SyntaxProblem where ``strict``.
    """

    def value(match: re.Match[str]) -> str:
        if match[1] in variables:
            return variables[match[1]]
        if strict:
            raise SyntaxProblem(f"The variable {match[0]} has no value.", at=match.start(), hint=did_you_mean(match[1], variables))
        return match[0]

    parts = []
    at = 0
    for comment in re.finditer(_SKIPPED, text):
        if comment[0].startswith(("--", "/*")):
            parts += [_VARIABLE.sub(value, text[at : comment.start()]), comment[0]]
            at = comment.end()
    return "".join([*parts, _VARIABLE.sub(value, text[at:])])
