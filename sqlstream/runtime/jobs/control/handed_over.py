"""The jobs that a process has handed over to the background, as scripts that submit them.

A script holds what the session of its job had declared and set, secrets among it: nobody but the owner can read it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core import private
from sqlstream.core.project_folder import ProjectFolder

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.core.storage import Place


@dataclass(frozen=True)
class InBackground:
    """A script that was started in the background: its log, and whether a job of it has begun there."""

    log: Path
    begun: bool


def file_of(project: Path, job: Place) -> Path:
    """The script of the job in the folder ``job``; it is there once the job was handed over."""
    return ProjectFolder(project).detached / f"{job.name}.sql"


def keep(project: Path, job: Place, name: str, script: str) -> Path:
    """Write the ``script`` that submits the job called ``name``, whose folder is ``job``; its file. Raises OSError."""
    file = file_of(project, job)
    part = private.folder(file.parent) / f".{file.name}"
    # What exists keeps its mode.
    part.unlink(missing_ok=True)
    with private.open_file(part, "w", encoding="utf-8") as out:
        out.write(f"-- {' '.join(name.split())}\n{script}")
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)
    return file


def forget(project: Path, job: Place) -> None:
    """The job in the folder ``job`` is no more."""
    file_of(project, job).unlink(missing_ok=True)
