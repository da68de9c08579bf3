"""A folder as it was at a moment, from which several tests go on."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Kept:
    """What ``folder`` has now. It comes back in its own place, for a checkpoint names files by theirs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._copy = folder.with_name(f"{folder.name}_kept")
        shutil.copytree(folder, self._copy)

    def put_back(self) -> None:
        """Make the folder what it was."""
        shutil.rmtree(self._folder)
        shutil.copytree(self._copy, self._folder)
