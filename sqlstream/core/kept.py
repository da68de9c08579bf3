"""What is kept up to a bound: logs that are put aside as they grow, files and folders of which the newest stay."""

from __future__ import annotations

import errno
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from sqlstream.core import private

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LOG_BYTES, LOGS = 10_000_000, 3
# Of errors: a disk, or what a user may have of it, is full.
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def rotate(log: Path, size: int = LOG_BYTES, count: int = LOGS) -> None:
    """Put a log that is larger than ``size`` aside, keeping ``count`` of them in all. Its writer, which appends to it, goes on. Raises OSError."""
    if log.stat().st_size <= size:
        return
    older = [log.with_name(f"{log.name}.{n}") for n in range(1, count)]
    copied = log.with_name(f"{log.name}.part")
    try:
        with private.open_file(copied, "wb") as copy, log.open("r+b") as file:
            while part := file.read(1 << 20):
                copy.write(part)
            copy.flush()
            for newer, old in zip(reversed(older[:-1]), reversed(older[1:]), strict=True):
                if newer.exists():
                    newer.replace(old)
            copied.replace(older[0])
            file.truncate(0)
    finally:
        # There where the disk is full.
        copied.unlink(missing_ok=True)


def keep_newest(paths: Iterable[Path], count: int) -> None:
    """Delete all of these files and folders but the ``count`` that were changed last; one that can't be deleted stays."""
    found = []
    for path in paths:
        # Another process may delete them, too.
        with suppress(FileNotFoundError):
            found.append((path.stat().st_mtime_ns, path))
    for _, path in sorted(found, reverse=True)[count:]:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()
