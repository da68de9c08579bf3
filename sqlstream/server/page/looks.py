"""Values that others give, as brokers do, and that may be long in coming: asked for behind the answers, so that no page waits for them for long."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from sqlstream.core.defects import as_defects
from sqlstream.core.errors import SqlStreamError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

K = TypeVar("K")
V = TypeVar("V")

# What nobody has asked for so many seconds is forgotten.
_FORGOTTEN_SECONDS = 60.0
# After so many seconds what has failed is tried again.
_AGAIN_SECONDS = 5.0


@dataclass
class Look(Generic[V]):
    """What was last seen, and why nothing has been seen since. ``at``: when somebody looked, by the monotonic clock; ``running`` is set while
    somebody looks anew.
    """

    value: V | None = None
    problem: SqlStreamError | None = None
    at: float = float("-inf")
    asked: float = 0.0
    running: threading.Event | None = field(default=None, repr=False)


class Looks(Generic[K, V]):
    """Looks at things by their keys."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._lock = threading.Lock()
        self._looks: dict[K, Look[V]] = {}

    def get(self, key: K, make: Callable[[Look[V]], V], *, seconds: float, patience: float, anew: bool = False) -> Look[V]:
        """What is known of ``key``. ``make`` is asked again, behind this answer, where that is more than ``seconds`` old, or has failed; it is
        given the look of before. The first look is awaited for ``patience`` seconds, ``anew``: any.
        """
        now = time.monotonic()
        with self._lock:
            self._looks = {k: one for k, one in self._looks.items() if one.running is not None or now - one.asked < _FORGOTTEN_SECONDS}
            before = self._looks.setdefault(key, Look())
            before.asked = now
            never, failed = before.at == float("-inf"), before.problem is not None
            if before.running is None and (never or now - before.at > (min(seconds, _AGAIN_SECONDS) if failed else seconds)):
                before.running = threading.Event()
                threading.Thread(target=self._run, args=(key, before, make), name="page-look", daemon=True).start()
            running = before.running
        if running is not None and (anew or never):
            running.wait(patience)
        with self._lock:
            return self._looks.get(key, before)

    def _run(self, key: K, before: Look[V], make: Callable[[Look[V]], V]) -> None:
        value, problem = before.value, None
        try:
            with as_defects(self._project):
                value = make(before)
        except SqlStreamError as error:
            problem = error
        with self._lock:
            self._looks[key] = Look(value, problem, time.monotonic(), before.asked)
        assert before.running is not None
        before.running.set()
