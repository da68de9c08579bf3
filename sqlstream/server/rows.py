"""Rows on their way to a client."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from sqlstream.core.changelog import Change

# So many rows wait for the client at most, and are given at once; fewer where they have more than so many characters and bytes together.
MOST_ROWS = 5_000
MOST_LENGTH = 32_000_000


class WaitingRows:
    """Those that wait for a client. ``changed`` guards them, and is told when some have come or gone, or that is over."""

    def __init__(self, changed: threading.Condition, *, complete: bool = False) -> None:
        self._changed = changed
        self._rows: deque[Change] = deque()
        self._length = 0
        # Whether no more will come.
        self.complete = complete

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, row: Change, is_ended: Callable[[], bool]) -> bool:
        """Add one when there is room, unless ``is_ended``: nobody will take it; whether none waited before."""
        length = _length(row.row)
        with self._changed:
            # One that is longer than all may be waits alone.
            while self._rows and self._is_full(length) and not is_ended():
                self._changed.wait()
            first = not self._rows
            if not is_ended():
                self._rows.append(row)
                self._length += length
                self._changed.notify_all()
            return first

    def _is_full(self, more: int) -> bool:
        return len(self._rows) >= MOST_ROWS or self._length + more > MOST_LENGTH

    def take(self) -> tuple[Change, ...]:
        """All that wait now."""
        with self._changed:
            taken = tuple(self._rows)
            self._rows.clear()
            self._length = 0
            self._changed.notify_all()
            return taken


def _length(value: object) -> int:
    """About how much of the memory a value has: its characters and bytes, and some for each part."""
    match value:
        case str() | bytes() | bytearray():
            return len(value)
        case dict():
            return sum(_length(k) + _length(v) for k, v in value.items()) + 16
        case tuple() | list():
            return sum(map(_length, value)) + 16
    return 16
