"""Variables that options name as ``${env:NAME}``: those of the process, and the address of the project's development broker."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from sqlstream.core.project_folder import ProjectFolder

if TYPE_CHECKING:
    from pathlib import Path

KAFKA_BOOTSTRAP = "KAFKA_BOOTSTRAP"
# Where the development broker keeps its address, in its folder.
BROKER_SETTINGS = "settings.json"
BROKER_HOST = "127.0.0.1"
_project: Path | None = None


def use_project(project: Path) -> None:
    """From now on the development broker of ``project`` is the one that a variable may name."""
    global _project
    _project = project


def variable(name: str) -> str | None:
    """The value of a variable. KAFKA_BOOTSTRAP, where it is not set, is the address of the project's development broker."""
    value = os.environ.get(name)
    if value is None and name == KAFKA_BOOTSTRAP and _project is not None:
        return development_broker(_project)
    return value


def development_broker(project: Path) -> str | None:
    """The address of the development broker of a project, whether or not it runs; None where there is none."""
    try:
        settings = json.loads((ProjectFolder(project).kafka / BROKER_SETTINGS).read_text("utf-8"))
        return f"{BROKER_HOST}:{int(settings['port'])}"
    except (OSError, ValueError, KeyError, TypeError):
        return None
