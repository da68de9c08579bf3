"""What of a job's folder is deleted as something newer takes its place: generations, and what sinks and batch runs keep for them."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlstream.runtime.jobs.folder import JobFolder

# The latest, which runs, and those before it that can still be looked at. None of them is read: an upgrade, like a savepoint, copies what it needs.
GENERATIONS = 3
_DELETED = "deleted-"


def retain(folder: JobFolder, run: str, forget: Callable[[str, str], None]) -> None:
    """Delete all but the last generations of a job, of which the latest has begun. ``run``: its id in this process.

    ``forget`` lets the sink whose checkpoint has the name of its first argument forget what it keeps of the writer with the id of its second.
    Raises OSError, and what ``forget`` raises; what is left is deleted the next time.
    """
    begun = folder.generations()
    for generation in begun[:-GENERATIONS]:
        for sink, writer in writers(generation.folder):
            forget(sink, writer)
        # Half of one is none.
        generation.folder.rename(folder.path / f"{_DELETED}{generation.folder.name}")
    for deleted in folder.path.glob(f"{_DELETED}*"):
        shutil.rmtree(deleted)
    for inputs in begun[-1].folder.glob("inputs/*") if begun else ():
        # What an earlier run in batch mode read is read anew.
        if re.fullmatch(r"[0-9a-f]{32}", inputs.name) and inputs.name != run:
            shutil.rmtree(inputs)


def writers(generation: Path) -> Iterator[tuple[str, str]]:
    """By what ids the sinks of a generation know its writes, each with the name of the sink's checkpoint."""
    for checkpoint in generation.glob("checkpoint/*"):
        for file in ("metadata", "write.json"):
            if (checkpoint / file).exists():
                found = json.loads((checkpoint / file).read_text())
                yield checkpoint.name, found["id"] if isinstance(found, dict) else found[0]
