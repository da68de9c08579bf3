"""Archives whose bytes depend on nothing but what is in them: names in order, no times, no owners."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# 1980-01-01: no zip file knows an earlier time.
_TIME = 315532800


@dataclass(frozen=True)
class Entry:
    """A file of an archive: its name there, and its text or the file that it is."""

    name: str
    content: bytes | Path
    executable: bool = False

    @staticmethod
    def of(name: str, path: Path) -> Entry:
        """The file ``path``, links followed."""
        return Entry(name, path, executable=bool(path.stat().st_mode & 0o100))


def compressed(path: Path, entries: Iterable[Entry]) -> str:
    """Write ``entries`` to ``path``, a tar.gz; the SHA-256 of it."""
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as packed:
        _write(packed, entries)
    with path.open("rb") as written:
        return hashlib.file_digest(written, "sha256").hexdigest()


def plain(path: Path, entries: Iterable[Entry]) -> None:
    """Write ``entries`` to ``path``, a tar; it is whole when it has its name."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as raw:
            _write(raw, entries)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _write(out: Any, entries: Iterable[Entry]) -> None:
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for entry in sorted(entries, key=lambda e: e.name):
            info = tarfile.TarInfo(entry.name)
            info.mtime = _TIME
            info.mode = 0o755 if entry.executable else 0o644
            if isinstance(entry.content, bytes):
                info.size = len(entry.content)
                tar.addfile(info, io.BytesIO(entry.content))
            else:
                with entry.content.open("rb") as file:
                    info.size = entry.content.stat().st_size
                    tar.addfile(info, file)
