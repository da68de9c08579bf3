"""Savepoints that are being made: who asks for one gets a number at once, and asks by it what came of it."""

from __future__ import annotations

import threading
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core.defects import as_defects
from sqlstream.core.errors import SqlStreamError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Of so many it is known what came of them.
_MOST = 1_000


@dataclass
class Trigger:
    """One of them: ``result`` is the savepoint's URI, None while it is being made."""

    result: str | None = None
    error: SqlStreamError | None = None

    @property
    def done(self) -> bool:
        return self.result is not None or self.error is not None


class Triggers:
    """Those that were asked for in a project, by their numbers."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._known: OrderedDict[str, Trigger] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, work: Callable[[], str]) -> str:
        """Begin with ``work``, which gives the URI; its number."""
        number, trigger = uuid.uuid4().hex, Trigger()
        with self._lock:
            self._known[number] = trigger
            while len(self._known) > _MOST:
                self._known.popitem(last=False)

        def run() -> None:
            try:
                with as_defects(self._project):
                    trigger.result = work()
            except SqlStreamError as error:
                trigger.error = error

        threading.Thread(target=run, name=f"trigger-{number}", daemon=True).start()
        return number

    def find(self, number: str) -> Trigger:
        """The one of this number. Raises ValidationError."""
        with self._lock:
            found = self._known.get(number)
        if found is None:
            raise ValidationError(f"There is no operation {number}.")
        return found
