"""Files that run as code and must stay as they were written: jars, archives of classes. In: a file. Out: whether it is still intact.

A note beside each has its SHA-256, size and times; a file that still has that size and those times is not read again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path


def intact(path: Path, sha256: str | None = None) -> bool:
    """Whether ``path`` has this SHA-256, or, where none is given, the one that it was sealed with."""
    try:
        seen = _seen(path)
        noted, _, when = note(path).read_text(encoding="utf-8").partition(" ") if note(path).exists() else ("", "", "")
        wanted = sha256 or noted
        if not wanted or (noted, when) == (wanted, seen):
            return bool(wanted)
        if _sha256(path) != wanted:
            return False
    except (OSError, UnicodeDecodeError):
        return False
    _write(path, wanted, seen)
    return True


def seal(path: Path) -> None:
    """Note ``path`` as it is now. Raises OSError."""
    seen = _seen(path)
    _write(path, _sha256(path), seen)


def note(path: Path) -> Path:
    """The path of the note about ``path``."""
    return path.with_name(f"{path.name}.sha256")


def remove(path: Path) -> None:
    """Let there be neither ``path`` nor its note."""
    path.unlink(missing_ok=True)
    note(path).unlink(missing_ok=True)


def _seen(path: Path) -> str:
    stat = path.stat()
    # A time of modification can be set; that of the change of the inode can't.
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}"


def _write(path: Path, sha256: str, seen: str) -> None:
    """Best effort: without a note, in a folder that is read only, the file is read again."""
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(prefix=".note-", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(f"{sha256} {seen}")
        Path(name).chmod(0o644)
        Path(name).replace(note(path))


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
