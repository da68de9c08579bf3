"""The last resort: an exception that no stage has turned into an error is a defect in sqlstream. Its trace goes to a file, never to the screen."""

from __future__ import annotations

import errno
import os
import platform
import tempfile
import time
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core.errors import Defect, SqlStreamError, disk_is_full
from sqlstream.core.kept import keep_newest
from sqlstream.core.project_folder import ProjectFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

_TRACES = 100
_MESSAGE = "This is a defect in sqlstream, not in the statement, which should have been executed, or refused with a reason."


@contextmanager
def as_defects(project: Path) -> Iterator[None]:
    """Raises what ``defect`` makes of whatever is raised inside and is not a SqlStreamError."""
    try:
        yield
    except SqlStreamError:
        raise
    except Exception as error:
        raise defect(error, project) from error


def defect(error: BaseException, project: Path) -> SqlStreamError:
    """The Defect that reports ``error``, whose trace is kept in a file for the user alone; a full disk is none of ours."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_is_full(error.filename)
    text = f"Python {platform.python_version()}, {platform.platform()}\n{''.join(traceback.format_exception(error))}"
    try:
        file = _written_down(ProjectFolder(project).defects, text)
    except OSError:  # a project that can't be written to
        file = _written_down(Path(tempfile.mkdtemp(prefix="sqlstream-defect-")), text)
    problem = Defect(_MESSAGE, hint=f"Please report it with the file {file}. The session continues; writing the same thing differently may work.")
    problem.__cause__ = error
    return problem


def _written_down(folder: Path, text: str) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    keep_newest(folder.glob("*.txt"), _TRACES - 1)
    file = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{time.monotonic_ns()}.txt"
    with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8", errors="backslashreplace") as out:
        out.write(text)
    return file
