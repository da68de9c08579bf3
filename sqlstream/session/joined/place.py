"""Where the server of a project listens: it writes that down for shells of its owner."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sqlstream.core import file_locks, private
from sqlstream.core.project_folder import ProjectFolder

if TYPE_CHECKING:
    from pathlib import Path

# So long a server may take from its start until it listens.
_BEGIN_SECONDS = 5.0
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class ServerPlace:
    """The address ``url`` of a server. ``token``: one that it knows; ``certificate``: the file with its own, which is trusted as it is."""

    url: str
    token: str | None = None
    certificate: str | None = None

    def write(self, project: Path) -> None:
        """Note that the server of ``project`` listens there, for its owner alone. Raises OSError."""
        private.write_file(private.folder(ProjectFolder(project).served) / "address", json.dumps(asdict(self)))


def forget(project: Path) -> None:
    """Nobody listens there any more."""
    (ProjectFolder(project).served / "address").unlink(missing_ok=True)


def served_at(project: Path) -> ServerPlace | None:
    """Where the server of ``project`` listens; None where none runs. One that has just begun is awaited."""
    folder = ProjectFolder(project).served
    end = time.monotonic() + _BEGIN_SECONDS
    while _is_served(folder):
        try:
            return ServerPlace(**json.loads((folder / "address").read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            if time.monotonic() >= end:
                return None
            time.sleep(_LOOK_SECONDS)
    return None


def _is_served(folder: Path) -> bool:
    try:
        return file_locks.is_held(folder / "lock")
    except OSError:  # it is another's
        return False
