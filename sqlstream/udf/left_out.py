"""The rows that functions have left out while a query ran, as their files of dead letters on this machine tell."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class LeftOut:
    """What is written in ``folder`` from now on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before = {file: file.stat().st_size for file in folder.glob("*.jsonl")}

    def told(self, project: Path) -> list[str]:
        """A line for each file with new rows, and each function that failed for some."""
        lines = []
        for file in sorted(self._folder.glob("*.jsonl")):
            with file.open("rb") as text:
                text.seek(self._before.get(file, 0))
                failed = Counter(json.loads(line)["function"] for line in text if line.endswith(b"\n"))
            shown = file.relative_to(project) if file.is_relative_to(project) else file
            lines += [f"{n} row{' was' if n == 1 else 's were'} left out, for which {name} failed: {shown}" for name, n in sorted(failed.items())]
        return lines
