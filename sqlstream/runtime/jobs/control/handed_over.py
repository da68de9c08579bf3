"""The jobs that a process has handed over to the background, as scripts that submit them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core.project_folder import ProjectFolder
from sqlstream.runtime.jobs.script import write

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
    write(file, name, script)
    return file


def forget(project: Path, job: Place) -> None:
    """The job in the folder ``job`` is no more."""
    file_of(project, job).unlink(missing_ok=True)
