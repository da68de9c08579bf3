"""What a full-screen result shows, without a terminal: the rows as changes come, where the user looks, and the lines of a screen.

In: changes, keys, the terminal's size. Out: lines with a style each. ``fullscreen`` puts them on a terminal.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from sqlstream.core.counts import counted
from sqlstream.shell import prose, tableau
from sqlstream.shell.records import record, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlstream.core.changelog import Change
    from sqlstream.sql.types import Type

Row: TypeAlias = "tuple[str | None, ...]"
# A line and its style: "", "title", "head", "selected", "keys".
Line: TypeAlias = tuple[str, str]
# As many of the last changes the changelog shows, as Flink's does.
LOG_ROWS = 1000
# Lines that are not rows: the title, the names, the keys.
_AROUND = 3
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

# A key, its word in the line of keys, and what it does; the most needed first, for a narrow line has no room for all.
KEYS = (
    ("q", "Quit", "Quit; the last rows stay on the terminal"),
    ("n p", "Page", "Next, previous page; also PageDown, PageUp"),
    ("s", "Sort", "Sort by the column in brackets: ascending, descending, as the rows came"),
    ("o", "Open", "Open the underlined row, with all of its text; also Enter"),
    ("?", "Keys", "Show these keys; also h"),
    ("<- ->", "Column", "Choose the column"),
    ("+ -", "Refresh", "Refresh faster, slower"),
    ("l", "Last", "Go to the last page and stay there; also End. Home goes to the first one"),
    ("g", "Go to", "Go to a page: type its number, then Enter"),
    ("r", "Now", "Refresh now"),
    ("up down", "Row", "Choose the row"),
)
REFRESH_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)


class LiveTable:
    """The rows of a result as they are now; where there are more than ``limit``, the oldest are dropped."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rows: dict[int, Row] = {}
        self._numbers: dict[Row, list[int]] = {}
        self._next = 0
        self.changes = 0

    def apply(self, change: Change) -> None:
        self.changes += 1
        if change.kind.removes:
            numbers = self._numbers.get(change.row)
            if numbers:
                del self._rows[numbers.pop()]
                if not numbers:
                    del self._numbers[change.row]
            return
        self._rows[self._next] = change.row
        self._numbers.setdefault(change.row, []).append(self._next)
        self._next += 1
        if len(self._rows) > self._limit:
            number, row = next(iter(self._rows.items()))
            del self._rows[number]
            self._numbers[row].remove(number)
            if not self._numbers[row]:
                del self._numbers[row]

    @property
    def rows(self) -> list[Row]:
        return list(self._rows.values())

    @property
    def count(self) -> str:
        return f"{counted(len(self._rows), 'row')}   {counted(self.changes, 'change')}"


class Log:
    """The last changes of a result, the kind in front."""

    def __init__(self) -> None:
        self._rows: deque[Row] = deque(maxlen=LOG_ROWS)
        self.changes = 0

    def apply(self, change: Change) -> None:
        self.changes += 1
        self._rows.append((change.kind.value, *change.row))

    @property
    def rows(self) -> list[Row]:
        return list(self._rows)

    @property
    def count(self) -> str:
        return f"{counted(len(self._rows), 'row')}   {counted(self.changes, 'change')}"


class Snapshot:
    """Rows that are replaced as a whole, again and again: the latest ones."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def apply(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    @property
    def count(self) -> str:
        return counted(len(self.rows), "row")


@dataclass(frozen=True)
class LiveView:
    """Where the user looks. ``page`` None is the last one, which moves on with the rows; ``typed``: the page to go to, while it is typed."""

    page: int | None = 0
    row: int = 0
    column: int = 0
    sort: int | None = None
    descending: bool = False
    detail: bool = False
    help: bool = False
    typed: str | None = None
    speed: int = 3

    @property
    def covered(self) -> bool:
        """Whether something other than the rows is shown; q goes back to them."""
        return self.detail or self.help

    @property
    def refresh_seconds(self) -> float:
        return REFRESH_SECONDS[self.speed]


def pages(count: int, height: int) -> int:
    """How many pages ``count`` rows have on a screen of ``height`` lines."""
    return max(1, -(-count // page_rows(height)))


def page_rows(height: int) -> int:
    return max(1, height - _AROUND)


def pressed(key: str, view: LiveView, columns: int, count: int, height: int) -> LiveView:
    """The view after a key."""
    last = pages(count, height) - 1
    page = last if view.page is None else min(view.page, last)
    here = min(page_rows(height), count - page * page_rows(height))
    if view.typed is not None:
        if key.isdigit():
            return replace(view, typed=view.typed + key)
        wanted = int(view.typed or 0)
        return replace(view, typed=None, page=max(0, min(wanted - 1, last)) if key == "enter" and wanted else view.page, row=0)
    if view.covered:
        return replace(view, detail=False, help=False) if key in ("o", "enter", "escape", "q", "?", "h") else view
    match key:
        case "n" | "pagedown":
            return replace(view, page=min(page + 1, last), row=0)
        case "p" | "pageup":
            return replace(view, page=max(page - 1, 0), row=0)
        case "l" | "end":
            return replace(view, page=None, row=0)
        case "home":
            return replace(view, page=0, row=0)
        case "g":
            return replace(view, typed="")
        case "down" if view.row + 1 < here:
            return replace(view, row=view.row + 1)
        case "down" if page < last:
            return replace(view, page=page + 1, row=0)
        case "up" if view.row:
            return replace(view, row=view.row - 1)
        case "up" if page:
            return replace(view, page=page - 1, row=page_rows(height) - 1)
        case "left":
            return replace(view, column=max(view.column - 1, 0))
        case "right":
            return replace(view, column=min(view.column + 1, columns - 1))
        case "s" if view.sort == view.column:
            return replace(view, sort=None, descending=False) if view.descending else replace(view, descending=True)
        case "s":
            return replace(view, sort=view.column, descending=False)
        case "o" | "enter":
            return replace(view, detail=count > 0)
        case "?" | "h":
            return replace(view, help=True)
        case "+":
            return replace(view, speed=max(view.speed - 1, 0))
        case "-":
            return replace(view, speed=min(view.speed + 1, len(REFRESH_SECONDS) - 1))
    return view


def ordered(rows: Iterable[Row], view: LiveView) -> list[Row]:
    """``rows`` by the view's column: numbers as numbers, NULL first."""
    if view.sort is None:
        return list(rows)
    column = view.sort
    return sorted(rows, key=lambda row: _sort_key(row[column]), reverse=view.descending)


def _sort_key(cell: str | None) -> tuple[int, float, str]:
    if cell is None:
        return (0, 0.0, "")
    return (1, float(cell), "") if _NUMBER.fullmatch(cell.strip()) else (2, 0.0, cell)


def screen(
    names: Sequence[str],
    rows: Sequence[Row],
    view: LiveView,
    size: tuple[int, int],
    title: str,
    limit: int,
    types: Sequence[Type | None] = (),
    said: Sequence[str] = (),
) -> list[Line]:
    """The lines of a screen of ``size`` (columns, rows); ``rows`` are in order. ``limit``: the widest a column gets; ``types`` as far as known;
    ``said``: what is to be read in the place of the rows that there are not, or above them.
    """
    width, height = size
    if view.help:
        keys = prose.within(width, [f"{key:>8}  {what}" for key, _, what in KEYS])
        return _filled([("title", _fit("Keys", width)), *(("", _fit(line, width)) for line in keys)], size, "q Back")
    if view.detail and rows:
        return _detail(names, types, _selected(rows, view, height), size)
    last = pages(len(rows), height) - 1
    page = last if view.page is None else min(view.page, last)
    shown = [tableau.escaped_row(row) for row in rows[page * page_rows(height) : (page + 1) * page_rows(height)]]
    heads = [tableau.escaped(name) + ("" if view.sort != i else " v" if view.descending else " ^") for i, name in enumerate(names)]
    widths = tableau.content_widths(heads, shown, limit)
    first = _first_column(widths, view.column, width)
    end = _end_of_columns(widths, first, width)
    of = f"   columns {first + 1} to {end} of {len(names)}" if end - first < len(names) else ""
    lines: list[Line] = [("title", _fit(f"{title}   page {page + 1} of {last + 1}{of}", width))]
    lines += [("", _fit(part, width)) for line in said for part in wrapped(tableau.escaped(line), width)]
    marked = [f"[{h}]" if i == view.column and tableau.display_width(h) + 2 <= widths[i] else h for i, h in enumerate(heads)]
    lines.append(("head", _fit(_cells(marked[first:end], widths[first:end]), width)))
    for i, row in enumerate(shown):
        lines.append(("selected" if i == min(view.row, len(shown) - 1) else "", _fit(_cells(row[first:end], widths[first:end]), width)))
    return _filled(lines, size, f"Go to page: {view.typed}_" if view.typed is not None else _key_line(width))


def _filled(lines: Sequence[Line], size: tuple[int, int], keys: str) -> list[Line]:
    """As many lines as the screen has, with the keys below them."""
    width, height = size
    kept = [*lines[: height - 1]]
    return [*kept, *[("", "")] * (height - 1 - len(kept)), ("keys", _fit(keys, width))]


def _key_line(width: int) -> str:
    """The keys that fit, the most useful ones first."""
    words = [f"{key} {word}" for key, word, _ in KEYS]
    while len(words) > 1 and len("   ".join(words)) > width:
        words.pop()
    return "   ".join(words)


def _selected(rows: Sequence[Row], view: LiveView, height: int) -> Row:
    last = pages(len(rows), height) - 1
    page = last if view.page is None else min(view.page, last)
    return rows[min(page * page_rows(height) + view.row, len(rows) - 1)]


def _detail(names: Sequence[str], types: Sequence[Type | None], row: Row, size: tuple[int, int]) -> list[Line]:
    """A row, one column per line."""
    width, _ = size
    return _filled([("title", _fit("Row", width)), *(("", line) for line in record(names, types, row, width, tears=True))], size, "o Back")


def _first_column(widths: Sequence[int], wanted: int, width: int) -> int:
    """The first column to show so that the wanted one is on the screen."""
    first = 0
    while first < wanted and sum(w + 3 for w in widths[first : wanted + 1]) > width:
        first += 1
    return first


def _end_of_columns(widths: Sequence[int], first: int, width: int) -> int:
    """Behind the last column that has room on the screen as a whole, if the ``first`` has."""
    end = first + 1
    while end < len(widths) and sum(w + 2 for w in widths[first : end + 1]) - 2 <= width:
        end += 1
    return end


def _cells(cells: Iterable[str | None], widths: Sequence[int]) -> str:
    return "  ".join(tableau.fitted(tableau.text(c), w) for c, w in zip(cells, widths, strict=True))


def _fit(line: str, width: int) -> str:
    """A line of exactly this many columns."""
    shown, used = "", 0
    for char in line:
        wide = tableau.display_width(char)
        if used + wide > width:
            break
        shown += char
        used += wide
    return shown + " " * (width - used)
