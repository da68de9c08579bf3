"""Locks of files that processes hold for as long as they live, and that others look at."""

from __future__ import annotations

import fcntl
import time
from typing import IO, TYPE_CHECKING

from sqlstream.core import private

if TYPE_CHECKING:
    from pathlib import Path


def hold(path: Path) -> IO[str] | None:
    """Hold the lock of a file until it is closed, by all processes that have it; None where another has it. Raises OSError."""
    lock: IO[str] = private.open_file(private.folder(path.parent) / path.name, "a")
    for _ in range(2):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            # Who only looks has it for a moment.
            time.sleep(0.1)
    lock.close()
    return None


def is_held(path: Path) -> bool:
    """Whether a process holds it. Raises OSError where it is there, and can't be looked at."""
    try:
        with path.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
