"""A class-data-sharing archive for Spark's JVM: thousands of classes parsed and verified once, mapped into memory at every later start.

It is built by a process of its own (see ``archiving``), in the background, when a session has ended that had none. It is kept beside the
jars, under a name of the Java and the jars that it is made of, so that another Java or release makes another. It stands upon the archive that
a Java has of its own classes; for a Java that brings none, as one made by jlink, such a base is made first. Where it can't be written
there is none, and where it does not fit the JVM continues without it. ``SQLSTREAM_CLASS_ARCHIVE=off`` does without; with ``no-build`` one is used
where there is one.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sqlstream.core import jars, sealed
from sqlstream.core.errors import SetupError
from sqlstream.core.java import require_java

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")
SWITCH = "SQLSTREAM_CLASS_ARCHIVE"


def enabled() -> bool:
    return os.environ.get(SWITCH, "").lower() not in ("off", "0", "false")


def builds() -> bool:
    """Whether one that is missing is built."""
    return enabled() and os.environ.get(SWITCH, "").lower() != "no-build"


def archive_path(class_path: Iterable[Path]) -> Path:
    """Where the archive is, or is to be, of the JVM that would run with these jars."""
    java = require_java().resolve()
    digest = hashlib.sha256()
    for path in (java, java.parent.parent / "release", *class_path):
        stat = path.stat() if path.exists() else None
        digest.update(f"{path} {stat and stat.st_size} {stat and stat.st_mtime_ns}\n".encode())
    return jars.cache_dir() / f"classes-{digest.hexdigest()[:16]}.jsa"


def base_of(archive: Path) -> Path | None:
    """What ``archive`` stands upon, beside it; None where the Java has brought it."""
    brought = require_java().resolve().parent.parent / "lib" / "server" / "classes.jsa"
    return None if brought.exists() else archive.with_suffix(".base")


def remove(archive: Path) -> None:
    sealed.remove(archive)
    sealed.remove(archive.with_suffix(".base"))


def started(start: Callable[[list[str]], T], options: list[str], archive: Path) -> T:
    """A JVM that ``start`` starts with ``options`` and the archive, if there is one; without it where it does not start with it."""
    if not is_intact(archive):
        return start(options)
    # The JVM continues without one that does not fit, and is to say nothing of it.
    try:
        return start([*options, f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"])
    except SetupError:
        remove(archive)
        return start(options)


def is_intact(archive: Path) -> bool:
    """Whether there is an archive as it was written: the JVM crashes on one that was cut, and runs what is in it."""
    return all(os.access(path, os.R_OK) and sealed.intact(path) for path in filter(None, (archive, base_of(archive))))


def build_later(archive: Path) -> None:
    """Have the archive built by a process that outlives this one."""
    command = [sys.executable, "-m", "sqlstream.cli.archiving", str(archive)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(_root()), os.environ.get("PYTHONPATH")]))}
    try:
        with (archive.parent / "classes.log").open("wb") as log:
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=archive.parent, env=environment)
    except OSError:
        # A cache that can't be written: there will be no archive.
        return


def _root() -> Path:
    """The folder that this package is imported from."""
    return Path(__file__).parents[2]
