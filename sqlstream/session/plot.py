"""A chart in characters. In: the changes of a result. Out: lines of text.

A number over the end of its window, or the first time there is, or the row's place; a mark for each series. Of a result that changes it shows
the rows that are left.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from sqlstream.core.changelog import RowKind
from sqlstream.core.errors import ValidationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlstream.core.changelog import Change
    from sqlstream.plan.nodes import Field

MARKS = "*o+x#@%&"
HEIGHT = 14
LEAST_WIDTH = 30
_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE")
_TIMES = ("TIMESTAMP", "TIMESTAMP_LTZ", "DATE", "TIME")
_KEYS = ("STRING", "VARCHAR", "CHAR", "BOOLEAN")
_ID = re.compile(r"(^|_)(id|ID|no|nr|key)$|[a-z]Id$")
Row = tuple[str | None, ...]


def chart(columns: Sequence[Field], changes: Iterable[Change], column: str | None, by: str | None, width: int) -> list[str]:
    """The chart of ``column`` (the first number that is no key), a series for each value of ``by`` (the first text). Raises ValidationError."""
    y = _column(columns, column, _NUMBERS, "numeric column")
    x = next((i for i, c in enumerate(columns) if c.name == "window_end"), next((i for i, c in enumerate(columns) if c.type.root in _TIMES), None))
    if by is not None:
        key: int | None = _column(columns, by, (), "column")
    else:
        key = next((i for i, c in enumerate(columns) if c.type.root in _KEYS), None)
    points: dict[str, list[tuple[str, float]]] = {}
    for place, row in enumerate(remaining(changes)):
        value = row[y]
        over = f"row {place + 1}" if x is None else row[x]
        if value is not None and over is not None:
            points.setdefault("" if key is None else row[key] or "<NULL>", []).append((over, float(value)))
    if not points:
        raise ValidationError(f"The column '{columns[y].name}' has no values to plot.")
    drawn = [p for series in points.values() for p in series]
    xs = list(dict.fromkeys(p[0] for p in drawn)) if x is None else sorted({p[0] for p in drawn})
    title = columns[y].name + ("" if x is None else f" over {columns[x].name}") + ("" if key is None else f" by {columns[key].name}")
    return [title, *_grid(points, xs, width), *(_legend(points, width) if key is not None else [])]


def remaining(changes: Iterable[Change]) -> list[Row]:
    """The rows that remain after all changes."""
    left: Counter[Row] = Counter()
    for change in changes:
        left[change.row] += -1 if change.kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE) else 1
    return [row for row, count in left.items() for _ in range(count)]


def _column(columns: Sequence[Field], name: str | None, types: tuple[str, ...], what: str) -> int:
    fitting = [i for i, c in enumerate(columns) if not types or c.type.root in types]
    if name is None:
        if not fitting:
            raise ValidationError(f"The last result has no {what}.")
        # A key is the first column as a rule, or its name says so.
        return next((i for i in fitting if i > 0 and not _ID.search(columns[i].name)), fitting[0])
    for i in fitting:
        if columns[i].name == name:
            return i
    known = [columns[i].name for i in fitting]
    raise ValidationError(f"The last result has no {what} '{name}'.", hint=did_you_mean(name, known) or f"It has: {', '.join(known)}.")


def _grid(points: dict[str, list[tuple[str, float]]], xs: list[str], width: int) -> list[str]:
    values = [value for series in points.values() for _, value in series]
    low, high = min(*values, 0.0), max(values)
    if low == high:
        high = low + 1
    labels = [_number(low + (high - low) * (HEIGHT - 1 - i) / (HEIGHT - 1)) for i in range(HEIGHT)]
    margin = max(map(len, labels))
    wide = max(LEAST_WIDTH, width) - margin - 2
    place = {x: 0 if len(xs) == 1 else round(i * (wide - 1) / (len(xs) - 1)) for i, x in enumerate(xs)}
    cells = [[" "] * wide for _ in range(HEIGHT)]
    for mark, series in zip(_marks(len(points)), points.values(), strict=True):
        for x, value in series:
            cells[HEIGHT - 1 - round((value - low) / (high - low) * (HEIGHT - 1))][place[x]] = mark
    lines = [f"{label:>{margin}} |{''.join(row).rstrip()}" for label, row in zip(labels, cells, strict=True)]
    first, last = xs[0], xs[-1]
    gap = wide - len(first) - len(last)
    ends = first if len(xs) == 1 else first + " " * gap + last if gap > 0 else f"{first} .. {last}"
    return [*lines, " " * margin + " +" + "-" * wide, " " * (margin + 2) + ends]


def _legend(points: dict[str, list[tuple[str, float]]], width: int) -> list[str]:
    lines, line = [], ""
    for mark, name in zip(_marks(len(points)), points, strict=True):
        entry = f"{mark} {name}"
        if line and len(line) + len(entry) + 2 > width:
            lines.append(line)
            line = ""
        line += ("  " if line else "") + entry
    return [*lines, line]


def _marks(count: int) -> str:
    return (MARKS * (count // len(MARKS) + 1))[:count]


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.3g}"
