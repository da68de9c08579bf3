"""Windows, and the columns of rows that are in one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.sql.functions.windows import WindowFunction

WINDOW_START, WINDOW_END, WINDOW_TIME = WINDOW_COLUMNS = ("window_start", "window_end", "window_time")


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


@dataclass(frozen=True)
class Windowing:
    """The window of a node's rows. ``columns`` maps each window column to its role: window_start, window_end or window_time.

    ``attached``: an operator below emits rows as their windows close. ``times`` are the columns with the time that assigned a row to its window:
    they are no longer time attributes, but Flink still takes them for one in deduplication.
    """

    window: Window
    zone: str
    columns: Mapping[str, str]
    attached: bool
    times: frozenset[str] = frozenset()

    def column(self, role: str) -> str | None:
        """The first column that is ``role``."""
        return next((name for name, r in self.columns.items() if r == role), None)

    def closing(self) -> str | None:
        """A column whose order is that in which windows close."""
        # Of sessions one may begin before another and close after it.
        start = None if self.window.kind.merges else self.column(WINDOW_START)
        return self.column(WINDOW_END) or self.column(WINDOW_TIME) or start

    def passed(self, sources: Mapping[str, str]) -> Windowing | None:
        """That of rows whose columns are, by name, these of the rows' columns; None where the window columns are not among them."""
        window_columns = {name: self.columns[source] for name, source in sources.items() if source in self.columns}
        times = frozenset(name for name, source in sources.items() if source in self.times)
        return replace(self, columns=window_columns, times=times) if window_columns else None
