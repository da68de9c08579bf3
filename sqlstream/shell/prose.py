"""Sentences in a terminal: their lines end between words. Messages, HELP, and advice, of which each subject is there once and below it what to do."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from sqlstream.shell import tableau

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlstream.session.results import Advice

_INDENT, _HINT_INDENT = "  ", "    "
# A word or more, and behind a gap of its own what they mean.
_SECOND_COLUMN = re.compile(r" *\S+(?: \S+)*? {2,}(?=\S)")


def advice(given: Advice, width: int) -> Iterator[str]:
    """The subject once, then its sentences."""
    above = None
    for subject, sentence, hint in given.rows:
        if subject != above:
            yield tableau.escaped(tableau.text(subject))
            above = subject
        yield from _indented(tableau.text(sentence), width, _INDENT)
        if hint is not None:
            yield from _indented(hint, width, _HINT_INDENT)


def _indented(text: str, width: int, indent: str) -> Iterable[str]:
    for line in text.splitlines():
        yield from wrapped(indent + tableau.escaped(line), width)


def within(width: int | None, lines: Iterable[str]) -> list[str]:
    """``lines`` as a terminal of ``width`` columns has room for them; as they are where it is none."""
    return [*lines] if width is None else [part for line in lines for part in wrapped(line, width)]


def wrapped(line: str, width: int) -> list[str]:
    """``line`` in lines of at most ``width`` columns, unless a word is longer. Those below are indented as it is, or to its second column."""
    if tableau.display_width(line) <= width:
        return [line]
    column = _SECOND_COLUMN.match(line)
    indent = column.end() if column is not None and column.end() <= width // 2 else len(line) - len(line.lstrip(" "))
    return textwrap.wrap(
        line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False, expand_tabs=False, replace_whitespace=False
    )
