"""Advice as text: what is said of each subject, wrapped to the terminal's width, and below it what to do."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from sqlstream.shell import tableau

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlstream.session.results import Advice

_INDENT, _HINT_INDENT = "  ", "    "


def lines(advice: Advice, width: int) -> Iterator[str]:
    """The subject once, then its sentences."""
    above = None
    for subject, sentence, hint in advice.rows:
        if subject != above:
            yield tableau.escaped(tableau.text(subject))
            above = subject
        yield from _wrapped(tableau.text(sentence), width, _INDENT)
        if hint is not None:
            yield from _wrapped(hint, width, _HINT_INDENT)


def _wrapped(text: str, width: int, indent: str) -> Iterable[str]:
    for line in text.splitlines():
        yield from textwrap.wrap(
            tableau.escaped(line), width, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
