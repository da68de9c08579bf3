"""Windows, and the function that gives them to rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sqlstream.plan.nodes.rows import Unary


class WindowKind(Enum):
    """The window table-valued functions."""

    TUMBLE = "TUMBLE"
    HOP = "HOP"
    CUMULATE = "CUMULATE"
    SESSION = "SESSION"


@dataclass(frozen=True)
class Window:
    """A window specification: milliseconds. ``time`` is the attribute's column.

    ``slide`` is the size for TUMBLE, the step for CUMULATE. For SESSION ``size`` is the gap, and ``keys`` the columns that have sessions of
    their own; None where they are those that the aggregate above groups by.
    """

    kind: WindowKind
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
