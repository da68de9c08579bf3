"""A file's place in git, as the program git knows it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS = 5.0
# A repository may name programs that git runs when it is asked: none of them is wanted here.
_QUIET = ("-c", "core.fsmonitor=false", "-c", "log.showSignature=false")


@dataclass(frozen=True)
class InGit:
    """The commit that last changed a file, and when, in seconds since 1970; ``changed``: it is another one now. No commit: it is not in git yet."""

    commit: str = ""
    author: str = ""
    subject: str = ""
    at: float | None = None
    changed: bool = False


def place_of(project: Path, file: str) -> InGit | None:
    """That of a file, named from the project's folder on; None where the folder is in no repository, or git is not there or does not answer."""
    try:
        state = _git(project, "status", "--porcelain", "--ignored", "--", file)
        # It fails in a repository without a commit.
        last = _git(project, "log", "-1", "--format=%h%x00%an%x00%s%x00%ct", "--", file, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    if not last.strip():
        return InGit()
    commit, author, subject, at = last.strip("\n").split("\0")
    return InGit(commit, author, subject, float(at), changed=bool(state.strip()))


def _git(folder: Path, *words: str, check: bool = True) -> str:
    """What git answers. Raises OSError, SubprocessError; where it fails only with ``check``."""
    asked = subprocess.run(
        ["git", "-C", str(folder), *_QUIET, *words], capture_output=True, text=True, errors="replace", timeout=_SECONDS,
        check=check, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return asked.stdout
