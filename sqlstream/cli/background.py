"""Scripts that run in the background of this machine under a supervisor of ours (``cli/supervisor.py``): what is known of each.

``.sqlstream/background/<name>/`` has ``script.json`` (how it runs, its processes, how often it was started again), ``log`` and older ones, and two
locks: one that the supervisor holds, and one that its process holds as well, also when the supervisor was killed.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import asdict, dataclass, field, replace
from typing import IO, TYPE_CHECKING

from sqlstream.core import file_locks, storage
from sqlstream.core.kept import keep_newest
from sqlstream.core.project_folder import ProjectFolder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FILE = "script.json"
SUPERVISED, RUNNING = "lock", "running"
# What the client is told with a script that comes again by itself, and with one whose lines go into a log.
KEEP_STOPPED, TIMESTAMPS = "--keep-stopped", "--timestamps"
# The exit code of a script that ran before, and is kept from it by what may be over after a while (EX_TEMPFAIL of sysexits.h).
TRY_AGAIN = 75
_LONGEST = 40
_EARLIER = 20
# Of so many scripts that have ended the log is kept.
_ENDED = 50


@dataclass(frozen=True)
class Background:
    """A script in the background. ``supervisor`` and ``process`` are ids of processes, 0 before there is one; ``exit_code`` is that of the end.

    ``earlier``: the ids of its last processes that were killed.
    """

    file: str
    command: tuple[str, ...]
    supervisor: int = 0
    process: int = 0
    restarts: int = 0
    since: float = field(default_factory=time.time)
    exit_code: int | None = None
    earlier: tuple[int, ...] = ()

    def write(self, folder: Path) -> None:
        """Keep it in its folder."""
        storage.write(folder / _FILE, json.dumps(asdict(self), indent=2) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Background | None:
        """That of a folder; None where there is none."""
        try:
            found = cls(**json.loads((folder / _FILE).read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return replace(found, command=tuple(found.command), earlier=tuple(found.earlier))

    def runs(self, process: int | None) -> bool:
        """Whether this is its process, or was one."""
        return process in (self.process, *self.earlier)

    def again(self) -> Background:
        """The same, whose process was killed, and is started again."""
        return replace(self, restarts=self.restarts + 1, earlier=(*self.earlier, self.process)[-_EARLIER:])


def folder_of(project: Path, file: Path) -> Path:
    """The folder of the script in ``file``, a whole path."""
    slug = re.sub(r"[^\w.-]+", "_", file.stem, flags=re.ASCII)[:_LONGEST].lstrip("._")
    return ProjectFolder(project).background / f"{slug or 'script'}-{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"


def log_of(folder: Path) -> Path:
    """What the script of a folder says."""
    return folder / "log"


def held(folder: Path) -> bool:
    """Whether a supervisor has it."""
    return file_locks.is_held(folder / SUPERVISED)


def is_running(folder: Path) -> bool:
    """Whether a supervisor has it, or the process of its script outlives one."""
    return file_locks.is_held(folder / RUNNING)


def forget(project: Path) -> None:
    """Delete what is kept of scripts that have ended, but for the last ones."""
    ended = [folder for folder in ProjectFolder(project).background.glob("*") if not held(folder) and not is_running(folder)]
    keep_newest(ended, _ENDED)


def hold(folder: Path, lock_name: str = SUPERVISED) -> IO[str] | None:
    """Hold a lock of a folder; see ``file_locks.hold``."""
    return file_locks.hold(folder / lock_name)


def scripts(project: Path) -> Iterator[tuple[Path, Background]]:
    """Those of the project in this folder, with their folders."""
    for folder in sorted(ProjectFolder(project).background.glob("*")):
        if (found := Background.read(folder)) is not None:
            yield folder, found


def supervised(project: Path) -> dict[int, Background]:
    """The scripts that a supervisor has now, by the id of the process that runs each."""
    return {found.process: found for folder, found in scripts(project) if held(folder)}
