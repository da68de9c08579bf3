"""A service of all processes of a run: the first that needs it starts it, the last one stops it."""

from __future__ import annotations

import contextlib
import fcntl
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@contextlib.contextmanager
def shared(folder: Path, start: Callable[[], object], stop: Callable[[], object]) -> Iterator[None]:
    """The service of ``folder`` runs meanwhile. ``start`` is called where no other process has done so."""
    folder.mkdir(exist_ok=True)
    with (folder / "users").open("w") as users, (folder / "turn").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if _alone(users):
            start()
        fcntl.flock(users, fcntl.LOCK_SH)
        fcntl.flock(turn, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(turn, fcntl.LOCK_EX)
            if _alone(users):
                stop()


def _alone(users) -> bool:
    """Whether no other process holds its lock."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
