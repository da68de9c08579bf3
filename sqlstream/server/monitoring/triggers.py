"""Savepoints that are being made: who asks for one gets a number at once, and asks by it what came of it."""

from __future__ import annotations

import threading
import uuid
from collections import OrderedDict
from typing import TYPE_CHECKING

from sqlstream.server.answers import NotThere
from sqlstream.server.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Of so many it is known what came of them.
_MOST = 1_000


class Triggers:
    """Those that were asked for in a project, by their numbers."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._known: OrderedDict[str, Work] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, work: Callable[[], str]) -> str:
        """Begin with ``work``, which gives the URI; its number."""
        number = uuid.uuid4().hex
        with self._lock:
            self._known[number] = Work(self._project, work, f"trigger-{number}")
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        return number

    def find(self, number: str) -> Work:
        """The one of this number. Raises NotThere."""
        with self._lock:
            found = self._known.get(number)
        if found is None:
            raise NotThere(f"There is no operation {number}.")
        return found
