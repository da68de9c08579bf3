"""A project's folder: which one it is, the nearest upwards that holds one of the user's own, and where in it things are kept.

A project's code runs as soon as it is opened (its functions, when the session starts), so a folder that somebody else has made, such as
``/tmp/.sqlstream``, is none until it is named with ``--project``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sqlstream.core.errors import SetupError

OWN = ".sqlstream"
# What is in a package has it beside: its scripts, and what it was made with.
PACKAGE = "sqlstream-package.json"
MARKS = ("catalog", "sqlstream.toml", OWN)
# What else is read of a project.
_READ = (*MARKS, "udfs", "connectors", "queries", "protos")


@dataclass(frozen=True)
class ProjectFolder:
    """The folder ``path``, and what sqlstream keeps in it."""

    path: Path

    @property
    def own(self) -> Path:
        return self.path / OWN

    @property
    def background(self) -> Path:
        """A folder for each script that runs, or ran, in the background."""
        return self.own / "background"

    @property
    def catalog_lock(self) -> Path:
        """Held by the session that writes the catalog's files."""
        return self.own / "catalog.lock"

    @property
    def dead_letters(self) -> Path:
        """Rows that were left out, as lines of JSON."""
        return self.own / "dead-letters"

    @property
    def defects(self) -> Path:
        """Traces of what should not have happened."""
        return self.own / "defects"

    @property
    def history(self) -> Path:
        """The file of what was typed."""
        return self.own / "history"

    @property
    def logs(self) -> Path:
        """What Spark and its JVM say."""
        return self.own / "log"

    @property
    def served(self) -> Path:
        """Scripts of the jobs that a server has."""
        return self.own / "served"

    @property
    def detached(self) -> Path:
        """Scripts of the jobs that were handed over to the background."""
        return self.own / "detached"

    @property
    def scratch(self) -> Path:
        """Folders of SELECTs, while they run."""
        return self.own / "scratch"

    @property
    def archives(self) -> Path:
        """Environments of Python, unpacked."""
        return self.own / "archives"

    @property
    def warehouse(self) -> Path:
        """Spark's warehouse: nothing is kept there."""
        return self.own / "warehouse"

    @property
    def kafka(self) -> Path:
        """The development broker."""
        return self.own / "kafka"


@dataclass(frozen=True)
class ProjectChoice:
    """The project in ``path``, and those nearer than it that are not used: the folder, and whose it is; ``begins``: there is none yet."""

    path: Path
    passed: tuple[tuple[Path, str], ...] = ()
    begins: bool = False


def find_project(folder: Path, script: Path | None = None) -> ProjectChoice:
    """The project of a ``script``: the nearest one that is the user's own, from the script's folder upwards. Else that of ``folder``: the nearest one
    from there upwards, or ``folder`` itself if there is none.

    What a first session leaves in the home folder does not make a project of everything below. Raises SetupError where ``folder`` holds another's.
    """
    if script is not None and not foreign_part(script.parent) and not (choice := find_project(script.parent)).begins:
        return choice
    passed = []
    if owner := foreign_part(folder):
        raise SetupError(
            f"The project {folder} is not used: '{owner[0]}' in it belongs to {owner[1]}, and a project's functions run with your rights.",
            hint=f"--project {folder} uses it anyway; sqlstream check --no-python checks it without running any code.",
        )
    for candidate in (folder, *folder.parents):
        marks = [mark for mark in MARKS if os.path.lexists(candidate / mark)]
        if not marks or (candidate != folder and candidate == _home() and marks == [OWN]):
            continue
        if owner := foreign_part(candidate):
            passed.append((candidate, owner[1]))
            continue
        return ProjectChoice(candidate, tuple(passed))
    return ProjectChoice(folder, tuple(passed), begins=True)


def foreign_part(folder: Path) -> tuple[str, str] | None:
    """The part of a project in ``folder`` that belongs to somebody else, and to whom; a link must be the user's own, and so must its target."""
    ours = _users()
    for name in _READ:
        path = folder / name
        for look in (os.lstat, os.stat):
            try:
                owner = look(path).st_uid
            except FileNotFoundError:
                continue
            except OSError:  # no permission to look at it
                return name, "somebody else"
            if owner not in ours:
                return name, _name(owner)
    return None


def _users() -> set[int]:
    """The user's ids: under sudo also that of the user who called it."""
    ours = {os.geteuid()}
    sudo_uid = os.environ.get("SUDO_UID", "")
    return ours | {int(sudo_uid)} if ours == {0} and sudo_uid.isdigit() else ours


def _name(owner: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(owner).pw_name}"
    except KeyError:
        return f"the user {owner}"


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None
