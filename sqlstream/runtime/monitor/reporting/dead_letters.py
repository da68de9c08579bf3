"""How many rows each query has left out and kept, since somebody has begun to count."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class DeadLetters:
    """Counts lines of the files in ``folder`` that are written from now on: what was read before is not read again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = {path: path.stat().st_size for path in folder.glob("*.jsonl")}
        self._counts: Counter[str] = Counter()

    def counts(self) -> Counter[str]:
        """How many there are of each query, by what Spark calls it: its id, or the job group in batch mode."""
        for path in self._folder.glob("*.jsonl"):
            with suppress(OSError), path.open("rb") as file:  # one that has just been deleted, or is somebody else's
                file.seek(self._read.get(path, 0))
                for line in file:
                    if not line.endswith(b"\n"):  # it is being written
                        break
                    self._read[path] = self._read.get(path, 0) + len(line)
                    self._count(line)
        return self._counts

    def _count(self, line: bytes) -> None:
        try:
            query = json.loads(line).get("query")
        except (ValueError, AttributeError):  # not a letter: somebody has edited the file
            return
        if isinstance(query, str):
            self._counts[query] += 1
