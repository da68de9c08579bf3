"""A row over several lines, a column on each: how a row is read that has no room beside others.

In: names, types as far as they are known, cells, a width. Out: lines, none of them wider unless a word is that must not be torn.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from sqlstream.shell import tableau
from sqlstream.shell.nested import unfolded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlstream.shell.tableau import Cells
    from sqlstream.sql.types import Type

# The least room of a cell beside the name of its column.
_ROOM = 10


def record(names: Sequence[str], types: Sequence[Type | None], row: Cells, width: int, *, tears: bool = False) -> Iterator[str]:
    """The lines of a row: long cells continue below, and rows, arrays, maps and JSON are shown part by part. ``tears``: also words, that no line is
    wider.
    """
    names = [tableau.escaped(name) for name in names]
    pad = min(max(map(tableau.display_width, names)), max(1, width - _ROOM - 3))
    room = max(_ROOM, width - pad - 3)
    for name, type_, cell in zip(names, types or [None] * len(names), row, strict=True):
        parts = [w for part in unfolded(tableau.text(cell), type_, room) for w in (wrapped if tears else at_words)(tableau.escaped(part), room)]
        yield from (f"{tableau.fitted(name if i == 0 else '', pad)} : {part}".rstrip() for i, part in enumerate(parts))


def records(names: Sequence[str], types: Sequence[Type | None], rows: Iterable[Cells], width: int, *, blank: bool = False) -> Iterator[str]:
    """Each row below a line with its number; ``blank``: without its empty cells."""
    types = types or [None] * len(names)
    for number, row in enumerate(rows, 1):
        shown = [i for i, cell in enumerate(row) if cell or not blank]
        yield from titled(f"row {number}", [names[i] for i in shown], [types[i] for i in shown], [row[i] for i in shown], width)


def titled(title: str, names: Sequence[str], types: Sequence[Type | None], row: Cells, width: int) -> Iterator[str]:
    """A row below a line with its title."""
    yield f"-[ {title} ]".ljust(min(width, 60), "-")
    yield from record(names, types, row, width)


def wrapped(line: str, width: int) -> list[str]:
    """A line in parts, at words where it can be, each indented as the line is."""
    return [piece for part in _parts(line, width, tears=True) for piece in _within(part, width)]


def is_whole(word: str) -> bool:
    """Whether a word is no longer one when it is torn, as a path is: scripts of wide characters put nothing between words."""
    return tableau.display_width(word) == len(word)


def at_words(line: str, width: int) -> Iterator[str]:
    """A line in parts of whole words, each indented as the line is: one is wider where its only word is."""
    for part in _parts(line, width, tears=False):
        yield from [part] if is_whole(part) else _within(part, width)


def _parts(line: str, width: int, *, tears: bool) -> list[str]:
    inset = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line, width, subsequent_indent=inset, break_long_words=tears, break_on_hyphens=False) or [""]


def _within(part: str, width: int) -> Iterator[str]:
    """``part`` in pieces of at most ``width`` columns: wide characters take two."""
    while tableau.display_width(part) > width:
        end = next(i for i in range(1, len(part) + 1) if i == len(part) or tableau.display_width(part[: i + 1]) > width)
        yield part[:end]
        part = part[end:]
    yield part
