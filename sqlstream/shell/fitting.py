"""Rows on a terminal, whatever its width: as a table where that has room, with cells over several lines or below their row where it is narrow, else
each by itself.

In: names, types, rows, the width. Out: lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.shell import tableau
from sqlstream.shell.nested import is_json
from sqlstream.shell.records import at_words, is_whole, records, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlstream.shell.tableau import Cells
    from sqlstream.sql.types import Type

# A column whose words are longer is made no narrower, and no column is made narrower than the least.
_LONG_WORD, _LEAST = 20, 8
# Of a query's rows a column of texts is made no narrower, and one of another type not at all.
_LEAST_TEXT = 12
_BOUNDED = frozenset(("TINYINT", "SMALLINT", "INT", "BIGINT", "BOOLEAN", "DATE", "DECIMAL", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "FLOAT", "DOUBLE"))
# Before a cell that stands below its row.
_NOTE = "  - "
_PAIR = 2


def lines(
    names: Sequence[str], types: Sequence[Type | None], rows: Sequence[Cells], width: int, limit: int | None = None, *, blank: bool = False
) -> Iterator[str]:
    """``limit``: the widest that a cell may be in a table, which cuts it. ``blank``: an empty cell says nothing: a row by itself is without."""
    if limit is None and not fits(tableau.content_widths(names, rows), width):
        names, types, rows = _without_empty_columns(names, types, rows)
    flat = not any("\n" in (cell or "") for row in rows for cell in row)
    content = tableau.content_widths(names, rows, limit)
    if flat and fits(content, width):
        yield from tableau.table(names, rows, limit)
    elif len(rows) == len(names) == 1:
        # A statement, a plan: somebody may copy it.
        yield from tableau.text(rows[0][0]).split("\n")
    elif flat and limit is not None and (widths := shrunk(content, least_widths(content, tableau.content_widths(names, ()), types), width)):
        yield from tableau.head(names, widths)
        for row in rows:
            yield from cut_row(row, widths, [limit] * len(names))
        yield tableau.border(widths)
    elif limit is None and (tables := [*_narrow_tables(names, rows, width)]):
        yield from min(tables, key=len)
    else:
        yield from records(names, types, rows, width, blank=blank)


def _without_empty_columns(
    names: Sequence[str], types: Sequence[Type | None], rows: Sequence[Cells]
) -> tuple[Sequence[str], Sequence[Type | None], Sequence[Cells]]:
    """What a narrow screen need not show: columns of an answer in which no row has anything. One stays."""
    kept = [i for i in range(len(names)) if any(row[i] for row in rows)] or [0]
    return [names[i] for i in kept], [types[i] for i in kept] if types else types, [tuple(row[i] for i in kept) for row in rows]


def fits(widths: Iterable[int], width: int) -> bool:
    """Whether a table of columns so wide has room."""
    return sum(w + 3 for w in widths) + 1 <= width


def shrunk(widths: Sequence[int], least: Sequence[int], width: int) -> list[int] | None:
    """Widths of columns with which a table fits, the widest ones made narrower, each at most to its ``least``; None where there are none."""
    made = list(widths)
    while not fits(made, width):
        spare = [i for i in range(len(made)) if made[i] > least[i]]
        if not spare:
            return None
        made[max(spare, key=lambda i: made[i])] -= 1
    return made


def least_widths(widths: Sequence[int], floors: Sequence[int], types: Sequence[Type | None]) -> list[int]:
    """How narrow columns so wide can be made, none narrower than its name (``floors``)."""
    known = [type_ is not None and type_.root in _BOUNDED for type_ in types or [None] * len(widths)]
    return [w if of_type else min(w, max(floor, _LEAST_TEXT)) for w, floor, of_type in zip(widths, floors, known, strict=True)]


def cut_row(row: Cells, widths: Sequence[int], limits: Sequence[int]) -> Iterator[str]:
    """The lines of a row in columns so wide: a cell goes on below, and is cut at its limit."""
    if widths == limits:
        yield tableau.line(row, widths)
        return
    cells = [tableau.cut(tableau.text(cell), limit) for cell, limit in zip(row, limits, strict=True)]
    if all(tableau.display_width(cell) <= width for cell, width in zip(cells, widths, strict=True)):
        yield tableau.line(cells, widths)
    else:
        yield from _wrapped_row(cells, widths)


def _narrowed(names: Sequence[str], rows: Sequence[Cells], width: int) -> list[int] | None:
    """Widths of columns with which the table fits, the widest ones made narrower; None where there are none."""
    parts = [[part for row in [names, *rows] for part in tableau.text(row[i]).split("\n")] for i in range(len(names))]
    widths = [max(map(tableau.display_width, column)) for column in parts]
    least = [
        min(w, max(_LEAST, *(min(_LONG_WORD, tableau.display_width(word)) for part in column for word in part.split() or [""])))
        for w, column in zip(widths, parts, strict=True)
    ]
    # A column is never wider than the screen, however long its texts are: few steps make it narrower.
    found = shrunk([max(narrowest, min(w, width)) for w, narrowest in zip(widths, least, strict=True)], least, width)
    if found is None:
        return None
    # Words are no parts of JSON.
    torn = any(tableau.display_width(tableau.text(c)) > w and is_json(tableau.text(c)) for row in rows for c, w in zip(row, found, strict=True))
    return None if torn else found


def _narrow_tables(names: Sequence[str], rows: Sequence[Cells], width: int) -> Iterator[list[str]]:
    """The tables that have room: with all columns, and with more and more of those that few rows have below their rows."""
    filled = [sum(1 for row in rows if row[i]) for i in range(len(names))]
    sparse = sorted((i for i in range(1, len(names)) if 3 * filled[i] <= len(rows)), key=lambda i: filled[i])
    for count in range(len(sparse) + 1):
        beside = [i for i in range(len(names)) if i not in sparse[:count]]
        shown: list[Cells] = [[row[i] for i in beside] for row in rows]
        titles = [names[i] for i in beside]
        widths = _narrowed(titles, shown, width)
        # A path that is torn can't be copied: it stands below its row, too, which leaves the others more room.
        while widths is not None and (whole := _without_torn(shown, widths)) != shown:
            # A column of which nothing stays needs no room at all.
            kept = [at for at in range(len(beside)) if at == 0 or any(cells[at] for cells in whole)]
            beside, titles = [beside[at] for at in kept], [titles[at] for at in kept]
            shown = [[cells[at] for at in kept] for cells in whole]
            widths = _narrowed(titles, shown, width)
        if widths is not None:
            yield [*_table(names, rows, beside, shown, widths, width)]


def _without_torn(rows: Sequence[Cells], widths: Sequence[int]) -> list[Cells]:
    """``rows``, empty where a cell has a word that is wider than its column; the first one of a row stays."""

    def is_torn(cell: str | None, width: int) -> bool:
        return any(is_whole(word) and len(word) > width for word in (cell or "").split())

    return [["" if i and is_torn(cell, width) else cell for i, (cell, width) in enumerate(zip(row, widths, strict=True))] for row in rows]


def _table(
    names: Sequence[str], rows: Sequence[Cells], beside: Sequence[int], shown: Sequence[Cells], widths: Sequence[int], width: int
) -> Iterator[str]:
    """A table of the columns ``beside`` each other, in which ``shown`` stands; the other cells of ``rows`` are below their row, with their names.
    Text begins at the left where it goes on below.
    """
    yield tableau.border(widths)
    yield from _wrapped_row([names[i] for i in beside], widths)
    yield tableau.border(widths)
    for row, cells in zip(rows, shown, strict=True):
        yield from _wrapped_row(cells, widths)
        above = dict(zip(beside, cells, strict=True))
        for i, cell in enumerate(row):
            if cell and not above.get(i):
                several = "\n" if "\n" in cell else ""
                # Of two columns the first one is the name.
                said = (cell if len(names) == _PAIR else f"{names[i]}: {several}{cell}").split("\n")
                parts = (part for text in said for part in at_words(tableau.escaped(text), width - len(_NOTE)))
                for count, part in enumerate(parts):
                    # A path that has no room behind that begins its line: what a terminal breaks is copied in one piece.
                    room = len(_NOTE) + tableau.display_width(part) <= width
                    yield (_NOTE if count == 0 else " " * len(_NOTE)) + part if room else part
    yield tableau.border(widths)


def _wrapped_row(row: Cells, widths: Sequence[int]) -> Iterator[str]:
    cells = [
        [line for part in tableau.text(cell).split("\n") for line in wrapped(tableau.escaped(part), width)]
        for cell, width in zip(row, widths, strict=True)
    ]
    for i in range(max(map(len, cells))):
        here = [cell[i] if i < len(cell) else "" for cell in cells]
        shown = [
            text + " " * (width - tableau.display_width(text)) if len(cell) > 1 else tableau.fitted(text, width)
            for text, cell, width in zip(here, cells, widths, strict=True)
        ]
        yield "|" + "".join(f" {text} |" for text in shown)
