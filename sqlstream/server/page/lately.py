"""Values that are made anew once they are too old: however many look at a page, the work is done once."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

K = TypeVar("K")
V = TypeVar("V")


@dataclass
class _Kept(Generic[V]):
    """A value, and until when it is new enough; ``lock`` is held while it is made, ``asked``: how many wait for it, or make it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    asked: int = 0
    until: float = 0.0
    value: V | None = None


class Lately(Generic[K, V]):
    """Values by keys, each made so many ``seconds`` ago at most. That one takes long to make holds up nobody who asks for another."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._kept: dict[K, _Kept[V]] = {}

    def get(self, key: K, make: Callable[[], V]) -> V:
        """That of ``key``, which ``make`` gives anew; errors of it are not kept."""
        with self._lock:
            now = time.monotonic()
            self._kept = {k: kept for k, kept in self._kept.items() if kept.asked or kept.until > now}
            kept = self._kept.setdefault(key, _Kept())
            kept.asked += 1
        try:
            with kept.lock:
                if kept.until <= time.monotonic():
                    kept.value = make()
                    kept.until = time.monotonic() + self._seconds
                return kept.value  # type: ignore[return-value] # it was made
        finally:
            with self._lock:
                kept.asked -= 1
