"""Windows, and the function that assigns them to rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.plan.nodes.rows import Unary

if TYPE_CHECKING:
    from sqlstream.sql.functions.windows import WindowFunction


@dataclass(frozen=True)
class Window:
    """A window specification: milliseconds. ``time`` is the attribute's column.

    ``slide`` is how far windows are apart, which is the size where the function has no length for it; for CUMULATE it is the step. For SESSION
    ``size`` is the gap, and ``keys`` the columns that have sessions of their own; None where they are those that the aggregate above groups by.
    """

    kind: WindowFunction
    time: str
    size: int
    slide: int
    offset: int = 0
    keys: tuple[str, ...] | None = ()


WINDOW_START, WINDOW_END, WINDOW_TIME = WINDOW_COLUMNS = ("window_start", "window_end", "window_time")


@dataclass(frozen=True)
class WindowTvf(Unary):
    """The input's columns and window_start, window_end, window_time: a row for each window that the input row falls into."""

    window: Window
    zone: str
