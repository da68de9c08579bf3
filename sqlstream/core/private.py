"""Files and folders that only their owner can read: statements, rows, Spark's logs. It runs in Spark's workers too.

What exists already keeps its mode.
"""

from __future__ import annotations

import contextlib
import os
from functools import partial
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_opener = partial(os.open, mode=0o600)


def folder(path: Path) -> Path:
    """``path``, made where it is missing, and those above it that are. Raises OSError."""
    for missing in reversed([p for p in (path, *path.parents) if not p.exists()]):
        # Another process may have been faster.
        with contextlib.suppress(FileExistsError):
            missing.mkdir(mode=0o700)
    return path


def others_may_read(path: Path) -> bool:
    """Whether others than its owner may do anything with the file ``path``. Raises OSError."""
    return bool(path.stat().st_mode & 0o077)


def open_file(path: Path, mode: str, encoding: str | None = None) -> IO[Any]:
    """The file ``path``. Raises OSError."""
    return open(path, mode, encoding=encoding, opener=_opener)


def write_file(path: Path, text: str) -> None:
    """Write ``text`` to the file ``path``. Raises OSError."""
    with open_file(path, "w", encoding="utf-8") as file:
        file.write(text)
