"""The error tree.

    SqlStreamError
    ├── SyntaxProblem      S1  the text is not Flink SQL
    ├── ValidationError    S2  a name, type, option or query shape is wrong
    ├── NotSupported       S3  valid in Flink, refused here, with what to write instead
    ├── SetupError         S4  the machine lacks something (Java, a jar, a broker)
    ├── JobFailed          S5  a running job met bad data or lost a service
    └── Defect             S9  sqlstream itself went wrong

An error is raised low, with ``at`` = the place it is about: a sqlglot expression or token, or a character offset in the
statement's text. The session, which alone knows the script, turns that into file, line and caret.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlstream.core.secrets import masked_value, places, starred

if TYPE_CHECKING:
    from collections.abc import Iterable


# So much of a name, a number or another text without spaces is shown, of one that may be a path, of a whole message, of a line of a script.
_LONGEST_WORD, _LONGEST_PATH, _LONGEST_MESSAGE, _LONGEST_LINE = 220, 1_000, 10_000, 300
_LONG_WORD = re.compile(rf"[^\s/]{{{_LONGEST_WORD + 1},}}|\S{{{_LONGEST_PATH + 1},}}")


def shortened(text: str) -> str:
    """``text`` with what is too long in it cut: nobody reads a name of a thousand letters."""
    cut = _LONG_WORD.sub(lambda word: f"{word[0][:_LONGEST_WORD]} ...", text)
    return cut if len(cut) <= _LONGEST_MESSAGE else f"{cut[:_LONGEST_MESSAGE]} ..."


class SqlStreamError(Exception):
    """Base of all errors that users read.

    ``message`` is in the words of SQL, ``hint`` says what to do, ``at`` is the place in the statement (see module). Passwords in them are masked.
    """

    code = "S0"
    # Whether what is behind it may be over after a while, so that a job that fails with it is started again.
    heals = False

    def __init__(self, message: str, *, at: Any = None, hint: str | None = None) -> None:
        self.message = shortened(masked_value(message))
        super().__init__(self.message)
        self.hint = None if hint is None else shortened(masked_value(hint))
        self.at = at
        self.location: Location | None = None
        # The key of the option that it is about.
        self.option: str | None = None

    def __str__(self) -> str:
        return self.message

    @property
    def offset(self) -> int | None:
        """Character offset of the error in the statement's text; None where the error is about no place."""
        return offset_of(self.at)

    @property
    def details(self) -> list[str]:
        """Where it is, and what to do: the lines that follow the message."""
        return [*self.place(), *self.advice]

    def place(self, width: int | None = None) -> list[str]:
        """Where it is, and the clause that it is about, in ``width`` columns where that is given."""
        if self.location is None:
            return []
        shown = self.location.caret(_LONGEST_LINE if width is None else width - 2)
        return [f" --> {self.location}", *(f"  {text}" for text in shown.split("\n"))]

    @property
    def advice(self) -> list[str]:
        """What to do."""
        return f"hint: {self.hint}".splitlines() if self.hint else []

    def located(self, script: str, name: str | None, start: int) -> SqlStreamError:
        """This error with its place in ``script``, where the statement's text begins at offset ``start``."""
        if self.location is None:
            begin, end = start + (self.offset or 0), start + (self.offset or 0) + length_of(self.at)
            # The parenthesis that closes a call has no place in its tree.
            while script[end : end + 1] == ")" and script.count("(", begin, end) > script.count(")", begin, end):
                end += 1
            self.location = Location.of(script, name, begin, end - begin)
        return self


class SyntaxProblem(SqlStreamError):
    """The text is not Flink SQL."""

    code = "S1"


class ValidationError(SqlStreamError):
    """A name, type, option or query shape is wrong."""

    code = "S2"


class Declined(ValidationError):
    """The user was asked, and did not agree: the statement does nothing, and has not failed."""


class AlreadyThere(ValidationError):
    """What is to be made exists: the statement may have run before."""

    def __init__(self, message: str, *, at: Any = None) -> None:
        super().__init__(message, at=at, hint="CREATE .. IF NOT EXISTS keeps what is there, ALTER changes it, DROP removes it.")


class NotSupported(SqlStreamError):
    """Valid in Flink, refused here; the hint says what to write instead, always."""

    code = "S3"

    def __init__(self, message: str, *, hint: str, at: Any = None) -> None:
        super().__init__(message, at=at, hint=hint)


class SetupError(SqlStreamError):
    """The machine lacks something that is needed."""

    code = "S4"
    heals = True


class JobFailed(SqlStreamError):
    """A running job met bad data or lost a service. ``job`` is its name, where it has one. What was lost may come back; bad data does not change."""

    job: str | None = None

    code = "S5"

    def __init__(self, message: str, *, at: Any = None, hint: str | None = None, heals: bool = True) -> None:
        super().__init__(message, at=at, hint=hint)
        self.heals = heals


DISK_IS_FULL, FREE_SPACE = "The disk is full", "Free some space, then submit the statement again: the job continues."


def disk_is_full(where: object = None) -> JobFailed:
    """The error where there is no space for what is written to ``where``, a path."""
    return JobFailed(DISK_IS_FULL + (f": {where}." if where else "."), hint=FREE_SPACE)


class Defect(SqlStreamError):
    """sqlstream itself went wrong; the hint names the file with the trace."""

    code = "S9"


@dataclass(frozen=True)
class Location:
    """A place in a script: 1-based line and column, the text of that line, and how long the clause is that it is about."""

    file: str | None
    line: int
    column: int
    text: str
    length: int = 1

    @classmethod
    def of(cls, script: str, file: str | None, offset: int, length: int = 1) -> Location:
        """The place of the ``length`` characters at ``offset`` of ``script``."""
        offset = max(0, min(offset, len(script)))
        begin = script.rfind("\n", 0, offset) + 1
        end = script.find("\n", offset)
        line = script[begin : len(script) if end < 0 else end]
        return cls(file, script.count("\n", 0, offset) + 1, offset - begin + 1, starred(line, places(line)), length)

    def __str__(self) -> str:
        return f"{self.file or 'line'}:{self.line}:{self.column}" if self.file else f"line {self.line}:{self.column}"

    def caret(self, width: int = _LONGEST_LINE) -> str:
        """The line, or of one wider than ``width`` what is around the clause, with carets below the clause, as far as it is there."""
        text, column = self.text, self.column - 1
        if columns(text.expandtabs()) > width:
            # What is before the clause has a third of the width, or as much more as the clause leaves.
            begin = max(0, min(column - width // 3, len(text) - width))
            text, column = text[begin : begin + width].replace("\t", " "), column - begin
            while columns(text) > width:
                text = text[:-1]
        pad = "".join("\t" if c == "\t" else " " * columns(c) for c in text[:column])
        return f"{text}\n{pad}{'^' * max(1, columns(text[column : column + self.length].rstrip()))}"


def columns(text: str) -> int:
    """How wide ``text`` is in a terminal, without tabs."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def offset_of(at: Any) -> int | None:
    """Character offset of a sqlglot expression, a token or a plain offset; the leftmost one found in an expression's tree."""
    if at is None or isinstance(at, int):
        return at
    start = getattr(at, "start", None)
    if isinstance(start, int):
        return start
    if hasattr(at, "walk"):
        starts = [e.meta["start"] for e in at.walk() if "start" in e.meta]
        return min(starts) if starts else None
    return None


def length_of(at: Any) -> int:
    """How many characters the clause ``at`` has, from the one at its offset to the end of the last of its tree; 1 where that is not known."""
    if at is None or isinstance(at, int):
        return 1
    if isinstance(getattr(at, "start", None), int):
        return max(1, int(at.end) - int(at.start) + 1)
    if hasattr(at, "walk"):
        ends = [e.meta["end"] for e in at.walk() if "end" in e.meta]
        return max(1, max(ends) - (offset_of(at) or 0) + 1) if ends else 1
    return 1


# As Flink's parser has it, which counts from the beginning of the statement.
_PLACE = re.compile(r" at line \d+, column \d+")


def without_place(message: str) -> str:
    """``message`` where its place in the script stands before it: without that in the statement."""
    return _PLACE.sub("", message)


# So many letters of a word say which one is meant.
_BEGINNING = 3


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The one of ``words`` that was most likely meant by ``word``: spelled alike, or else the shortest that begins so; None where there is none."""
    by_lower = {w.lower(): w for w in words}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    begun = sorted((w for w in by_lower if w.startswith(word.lower())), key=len) if len(word) >= _BEGINNING else []
    return by_lower[(close or begun)[0]] if close or begun else None


def did_you_mean(word: str, words: Iterable[str], lists: str | None = None) -> str | None:
    """A hint that names the nearest of ``words``. Where none is close, the statement that ``lists`` them, if there is one, else None."""
    near = nearest(word, words)
    if near:
        return f"Did you mean '{near}'?"
    return None if lists is None else listed_by(lists)


def listed_by(statement: str) -> str:
    """A hint that names the statement which lists the names that there are."""
    return f"{statement} lists what there is."
