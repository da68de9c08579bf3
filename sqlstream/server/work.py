"""What is done behind an answer, in a thread: who has asked for it looks later how far it is."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from sqlstream.core.defects import as_defects
from sqlstream.core.errors import SqlStreamError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Work:
    """Something that is done, from now on: what it has made, or the ``error`` that it has met, is known when it is ``done``. ``begun`` and ``ended``
    are seconds since 1970.
    """

    def __init__(self, project: Path, do: Callable[[], str], name: str) -> None:
        self.begun = time.time()
        self.ended: float | None = None
        self.result: str | None = None
        self.error: SqlStreamError | None = None
        threading.Thread(target=self._run, args=(project, do), name=name, daemon=True).start()

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self.ended is not None

    def _run(self, project: Path, do: Callable[[], str]) -> None:
        try:
            with as_defects(project):
                self.result = do()
        except SqlStreamError as error:
            self.error = error
        self.ended = time.time()
