"""Values that are made anew once they are too old: however many look at a page, the work is done once."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

K = TypeVar("K")
V = TypeVar("V")


class Lately(Generic[K, V]):
    """Values by keys, each made so many ``seconds`` ago at most."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._values: dict[K, tuple[float, V]] = {}

    def get(self, key: K, make: Callable[[], V]) -> V:
        """That of ``key``, which ``make`` gives anew; errors of it are not kept."""
        with self._lock:
            now = time.monotonic()
            self._values = {k: kept for k, kept in self._values.items() if now - kept[0] <= self._seconds}
            if key not in self._values:
                self._values[key] = time.monotonic(), make()
            return self._values[key][1]
