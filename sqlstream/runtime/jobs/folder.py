"""A job's folder: which process has it, which generation runs, what stopped there; and files that are written completely or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from typing import IO, TYPE_CHECKING

from sqlstream.core import private
from sqlstream.core.errors import ValidationError
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.plan.identity import signature

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.plan.nodes import Sink

# In the folder of a generation: it is being drained, or was.
DRAINING = "draining"


def claim(project: Path, sinks: tuple[Sink, ...], name: str, zone: str, running: set[Path]) -> tuple[Path, IO[str]]:
    """The folder of a job of these ``sinks``, and the lock on it: one of its own where those that are ``running`` in this session have the same plan.

    Raises ValidationError where another process holds it.
    """
    digest = hashlib.sha256("\n".join([zone, *(signature(s) for s in sinks)]).encode()).hexdigest()[:12]
    slug = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII)[:80]
    ordinal = 1
    while True:
        suffix = "" if ordinal == 1 else f"-{ordinal}"
        home = ProjectFolder(project).jobs / f"{slug}-{digest}{suffix}"
        if home not in running:
            break
        ordinal += 1
    lock = private.open_file(private.folder(home) / "lock", "a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        owner = lock.read().strip()
        lock.close()
        raise ValidationError(
            f"Job '{name}' is already running, in process {owner or 'unknown'}.",
            hint="Stop it there, or SET 'pipeline.name' to run it a second time under a name of its own.",
        ) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return home, lock


def generation(home: Path) -> tuple[Path, bool]:
    """The generation to run, and whether it was begun before."""
    numbers = sorted(int(p.name) for p in home.iterdir() if p.name.isdigit())
    latest = numbers[-1] if numbers else 0
    if latest and not (home / str(latest) / "finished").exists():
        return home / str(latest), True
    return home / str(latest + 1), False


def stopped_before(home: Path, name: str, running: set[Path]) -> Path | None:
    """The latest of the folders of other plans under ``name`` that keep state and that no job holds, where ``home`` is new."""
    if any(p.name.isdigit() for p in home.iterdir()):
        return None
    others = [p.parent for p in home.parent.glob("*-*/job.json") if p.parent not in (home, *running) and _named(p) == name]
    stopped = [folder for folder, begun in map(generation, others) if begun and not _runs_elsewhere(folder.parent)]
    return max(stopped, key=lambda folder: folder.stat().st_mtime, default=None)


def _named(description: Path) -> str | None:
    """The name of the job whose job.json this is."""
    try:
        name = json.loads(description.read_text())["name"]
    except (OSError, ValueError, KeyError):
        return None
    return name if isinstance(name, str) else None


def _runs_elsewhere(home: Path) -> bool:
    """Whether the process that held ``home`` last is another one that is there. Who asked for its lock would have it for a moment."""
    try:
        owner = int((home / "lock").read_text())
        os.kill(owner, 0)
    except (OSError, ValueError):
        return False
    return owner != os.getpid()


def drained_before(folder: Path) -> bool:
    """Whether the generation before that of ``folder`` was drained."""
    finished = folder.with_name(str(int(folder.name) - 1)) / "finished"
    return finished.exists() and finished.with_name(DRAINING).exists()


def sink_name(index: int, sink: Sink) -> str:
    """What the folder of a sink's checkpoint is called."""
    name = re.sub(r"\W", "_", sink.table.path.name, flags=re.ASCII)
    return f"{index}_{name}"


def write_atomically(path: Path, text: str) -> None:
    """Write a small file, whole or not at all."""
    # A leading underscore hides the half-written file from Spark's file source.
    part = path.with_name(f"_{path.name}.part")
    private.write_file(part, text)
    part.replace(path)
