"""Tables as text, laid out as Flink's SQL client lays them out.

In: names, rows of cells (None is NULL), widths. Out: lines. Widths count as Flink counts them: UTF-16 code
units, one more for a wide character. So an emoji counts 3, and one that is cut in the middle leaves a ``?``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from sqlstream.core.counts import of_several

NULL = "<NULL>"
CUT = "..."
Cells = Sequence[str | None]
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# A line break parts the lines of a text, and a CR ends those of CSV.
_OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]|\r(?!\\Z)")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def text(cell: str | None) -> str:
    return NULL if cell is None else cell


def escaped(cell: str) -> str:
    """``cell`` on one line: control characters as ``\\n`` or ``\\u001b``, which a terminal would obey. Flink's client prints them as they are."""
    return _CONTROL.sub(_named, cell)


def harmless(lines: str) -> str:
    """``lines`` as ``escaped``, except for what separates them."""
    return _OBEYED.sub(_named, lines)


def _named(control: re.Match[str]) -> str:
    return _SHORT.get(control[0], f"\\u{ord(control[0]):04x}")


def escaped_row(row: Cells) -> tuple[str | None, ...]:
    return tuple(None if c is None else escaped(c) for c in row)


def display_width(cell: str) -> int:
    return len(cell) if cell.isascii() else sum(map(sum, map(_units, cell)))


def fitted(cell: str, width: int) -> str:
    """``cell`` in ``width`` columns: aligned to the right, or cut."""
    return " " * (width - display_width(cell)) + cut(cell, width)


def cut(cell: str, width: int) -> str:
    """``cell``, or its beginning where it is wider."""
    return cell if display_width(cell) <= width else _start(cell, width - len(CUT)) + CUT


def line(cells: Iterable[str | None], widths: Sequence[int]) -> str:
    return "|" + "".join(f" {fitted(text(c), w)} |" for c, w in zip(cells, widths, strict=True))


def border(widths: Iterable[int]) -> str:
    return "+" + "".join("-" * (w + 2) + "+" for w in widths)


def head(names: Cells, widths: Sequence[int]) -> Iterator[str]:
    """The three lines above the rows."""
    yield border(widths)
    yield line(names, widths)
    yield border(widths)


def content_widths(names: Sequence[str], rows: Iterable[Cells], limit: int | None = None) -> list[int]:
    """For each column the width of its widest cell, ``limit`` at most. Of a name its UTF-16 length counts."""
    widths = [len(name.encode("utf-16-le")) // 2 for name in names]
    for row in rows:
        widths = [max(w, display_width(text(c))) for w, c in zip(widths, row, strict=True)]
    return widths if limit is None else [min(w, limit) for w in widths]


def table(names: Sequence[str], rows: Sequence[Cells], limit: int | None = None) -> Iterator[str]:
    """A whole table without its row count; nothing if there are no rows."""
    if rows:
        widths = content_widths(names, rows, limit)
        yield from head(names, widths)
        yield from (line(row, widths) for row in rows)
        yield border(widths)


def in_set(count: int) -> str:
    """The line below a table."""
    return "Empty set" if count == 0 else f"{count} {of_several(count, 'row')} in set"


def received(count: int, *, terminated: bool) -> str:
    """The line below a streamed table."""
    total = f"received a total of {count} {'rows' if count > 1 else 'row'}"
    return f"Query terminated, {total}" if terminated else total.capitalize()


def _units(char: str) -> tuple[int, ...]:
    """The widths of a character's UTF-16 code units."""
    first = 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return (first, 1) if ord(char) > 0xFFFF else (first,)


def _start(cell: str, width: int) -> str:
    """The start of ``cell`` that fits, padded to ``width`` on the left."""
    kept, used = "", 0
    for char in cell:
        for i, unit in enumerate(_units(char)):
            if used + unit > width:
                # Half a surrogate pair: Java counts it as one column and writes it as '?'.
                half = "?" * i
                return " " * (width - display_width(kept + half)) + kept + half
            used += unit
        kept += char
    return kept
