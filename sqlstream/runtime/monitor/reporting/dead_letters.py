"""How many rows each query has left out and kept, since somebody has begun to count."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sqlstream.udf.declarations.left_out import letters

if TYPE_CHECKING:
    from pathlib import Path


class DeadLetters:
    """Counts the dead letters in ``folder`` that are written from now on: what was read before is not read again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = {path: path.stat().st_size for path in folder.glob("*.jsonl")}
        self._counts: Counter[str] = Counter()

    def counts(self) -> Counter[str]:
        """How many there are of each query, by what Spark calls it: its id, or the job group in batch mode."""
        for path in self._folder.glob("*.jsonl"):
            for letter, end in letters(path, self._read.get(path, 0)):
                self._read[path] = end
                if isinstance(query := letter.get("query"), str):
                    self._counts[query] += 1
        return self._counts
