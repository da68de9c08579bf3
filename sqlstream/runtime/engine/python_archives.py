"""``python.archives`` and ``python.executable`` where Spark's workers run on this machine: a cluster's executors unpack archives by themselves.

In: the options. Out: the folder with what the archives hold, each under its name or the one behind its #, and the interpreter's path. Functions
have the folder as their working directory, as they have an executor's.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from contextlib import suppress
from hashlib import sha1
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING

from sqlstream.core import private, settings, tars
from sqlstream.core.errors import ValidationError
from sqlstream.core.project_folder import ProjectFolder

if TYPE_CHECKING:
    from collections.abc import Mapping

# Of what is unpacked so much stays that no process uses.
_KEPT = 2
# Open as long as this process lives.
_held: list[IO[str]] = []
_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_ZIPS = (".zip", ".jar", ".whl", ".egg")


def on_this_machine(master: str) -> bool:
    """Whether workers are processes of the driver's JVM; ``local-cluster`` has executors, with folders of their own."""
    return master.startswith("local") and not master.startswith("local-cluster")


def archives(options: Mapping[str, str]) -> list[tuple[Path, str]]:
    """The files of ``python.archives``, each with the name of its folder. Raises ValidationError for one that is not there."""
    listed = []
    for named in settings.read(options, "python.archives"):
        file, _, folder = named.partition("#")
        path = Path(file).expanduser().absolute()
        if "://" not in file and not path.exists():
            raise ValidationError(f"There is no file '{file}' (python.archives).")
        folder = folder or path.name
        if PurePath(folder).is_absolute() or ".." in PurePath(folder).parts:
            raise ValidationError(f"'{named}' would be unpacked outside its folder (python.archives).", hint="Write archive#name.")
        listed.append((path, folder))
    return listed


def unpacked(options: Mapping[str, str], project: Path) -> Path | None:
    """The folder that holds what is in the archives, unpacked once for all starts; None without any. Raises ValidationError."""
    archived = archives(options)
    if not archived:
        return None
    if remote := next((n for n in settings.read(options, "python.archives") if "://" in n), None):
        raise ValidationError(f"'{remote}' is not a file on this machine (python.archives).", hint="Only a cluster fetches archives: --master.")
    stamps = [(str(path), folder, path.stat().st_mtime_ns, path.stat().st_size) for path, folder in archived]
    place = ProjectFolder(project).archives / sha1(repr(stamps).encode()).hexdigest()[:16]
    private.folder(place.parent)
    _hold(place)
    _forget(place.parent)
    if place.is_dir():
        return place
    unpacking = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=place.parent))
    try:
        for path, folder in archived:
            _unpack(path, unpacking / folder)
        if not place.is_dir():
            unpacking.rename(place)
    finally:
        shutil.rmtree(unpacking, ignore_errors=True)
    return place


def _hold(place: Path) -> None:
    """Keep a folder, used now, from being deleted while this process lives."""
    file = private.open_file(place.with_suffix(".lock"), "a")
    fcntl.flock(file, fcntl.LOCK_SH)
    if os.fstat(file.fileno()).st_nlink == 0:
        # Another process has just deleted it.
        file.close()
        _hold(place)
        return
    os.utime(file.fileno())
    _held.append(file)


def _forget(folder: Path) -> None:
    """Delete what was unpacked for settings of before, but for the latest, and what a process uses."""
    by_use = sorted(folder.glob("*.lock"), key=lambda lock: lock.stat().st_mtime_ns, reverse=True)
    for lock in by_use[_KEPT:]:
        with suppress(OSError), lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink()


def _unpack(path: Path, folder: Path) -> None:
    """``path`` as ``folder``; what is not an archive is there as it is."""
    try:
        if path.is_file() and path.name.endswith(_TARS):
            with tarfile.open(path) as tar:
                tars.unpack(tar, folder)  # links may lead out, as an environment's to its Python
        elif path.is_file() and path.name.endswith(_ZIPS):
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    written = Path(archive.extract(member, folder))
                    if (mode := member.external_attr >> 16 & 0o777) and not member.is_dir():
                        written.chmod(mode | 0o600)
        else:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.symlink_to(path)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise ValidationError(f"The archive '{path}' cannot be unpacked (python.archives): {error}.") from error


def executable(options: Mapping[str, str], archive: Path | None) -> str | None:
    """The interpreter that ``python.executable`` names, in an archive or else on this machine. Raises ValidationError."""
    named = options.get("python.executable")
    if not named:
        return None
    inside = archive / named if archive is not None else None
    if inside is not None and inside.is_file():
        return str(inside)
    program = shutil.which(str(Path(named).expanduser()) if named.startswith("~") else named)
    if program is None:
        hint = "That of an archive is named like name/bin/python, where python.archives has archive.tar.gz#name."
        raise ValidationError(f"There is no program '{named}' (python.executable).", hint=hint)
    return str(Path(program).absolute())
