"""Tar files, unpacked so that nothing is written outside of a folder: Python's own filter is there from 3.11.4 on, and Debian 12 has 3.11.2."""

from __future__ import annotations

import copy
import os
import tarfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FILTERS = hasattr(tarfile, "tar_filter")


def unpack(tar: tarfile.TarFile, folder: Path) -> None:
    """``tar`` in ``folder``. Links may lead out of it, and nothing is written there. Raises TarError for what would be, OSError."""
    if _FILTERS:
        tar.extractall(folder, filter="tar")
        return
    folder.mkdir(parents=True, exist_ok=True)
    inside = os.path.realpath(folder)
    for member in tar:
        own = copy.copy(member)
        own.name, own.mode = member.name.lstrip("/"), member.mode & 0o755
        place = os.path.realpath(f"{inside}/{own.name}")
        if os.path.commonpath([place, inside]) != inside:
            raise tarfile.TarError(f"'{member.name}' would be extracted to '{place}', which is outside the destination")
        tar.extract(own, folder)
