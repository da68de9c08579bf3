"""What of a job's folder is deleted as something newer takes its place: generations, and what sinks and batch runs keep for them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from sqlstream.core import storage
from sqlstream.runtime.jobs.folder.generations import DRAINING, FINISHED
from sqlstream.runtime.jobs.folder.versions import VERSION_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlstream.core.storage import Place
    from sqlstream.runtime.jobs.folder.generations import JobFolder

# The latest, which runs, and those before it that can still be looked at. None of them is read: an upgrade, like a savepoint, copies what it needs.
GENERATIONS = 3
# Of so many the version is known: what was run, and when.
HISTORY = 20


def retain(folder: JobFolder, run: str, forget: Callable[[str, str], None]) -> None:
    """Delete what all but the last generations of a job have kept, of which the latest has begun, and then their versions. ``run``: its id in this
    process.

    ``forget`` lets the sink whose checkpoint has the name of its first argument forget what it keeps of the writer with the id of its second.
    Raises OSError, and what ``forget`` raises; what is left is deleted the next time.
    """
    begun = folder.generations()
    for generation in begun[:-GENERATIONS]:
        for sink, writer in writers(generation.folder):
            forget(sink, writer)
        for part in generation.folder.iterdir():
            if part.name not in (VERSION_FILE, FINISHED, DRAINING):
                storage.delete(part)
    kept = {generation.folder for generation in begun[-HISTORY:]}
    for old in [p for p in folder.path.iterdir() if p.name.isdigit() and p not in kept and int(p.name) < int(begun[-1].folder.name)]:
        # One without a version is of layout 1, or was never completed.
        storage.delete(old)
    for inputs in begun[-1].folder.glob("inputs/*") if begun else ():
        # What an earlier run in batch mode read is read anew.
        if re.fullmatch(r"[0-9a-f]{32}", inputs.name) and inputs.name != run:
            storage.delete(inputs)


def writers(generation: Place) -> Iterator[tuple[str, str]]:
    """By what ids the sinks of a generation know its writes, each with the name of the sink's checkpoint."""
    for checkpoint in generation.glob("checkpoint/*"):
        for file in ("metadata", "write.json"):
            if (checkpoint / file).exists():
                found = json.loads((checkpoint / file).read_text())
                yield checkpoint.name, found["id"] if isinstance(found, dict) else found[0]
