"""Where jobs keep what they must go on with: folders and files of this machine, or of any file system that Hadoop knows (hdfs, s3a, abfss, gs).

A ``Place`` is a ``pathlib.Path``, or a ``HadoopPath``, which has those of its methods that are needed; what pathlib has no method for are functions
here. All of them raise OSError.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from functools import total_ordering
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from urllib.parse import unquote, urlparse

from sqlstream.core import private, settings
from sqlstream.core.errors import SetupError, SqlStreamError
from sqlstream.core.java import classes
from sqlstream.core.project_folder import ProjectFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# Of a file system's name more than one letter, unlike that of a drive.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
# What Flink calls S3, by one plugin or the other; Hadoop calls it s3a.
S3 = re.compile(r"^s3p?:(?=/)")


def scheme(location: str) -> str | None:
    """The file system that ``location`` names; None where it is a path of this machine."""
    match = _SCHEME.match(location)
    return None if match is None or match[1].lower() == "file" else match[1]


# Where jobs are kept, and savepoints: the first that is set.
DIRECTORIES = ("execution.checkpointing.dir", "state.checkpoints.dir")
SAVEPOINTS = ("execution.checkpointing.savepoint-dir", "state.savepoints.dir")
# Java's exceptions that have another.
_WRAPPERS = ("UncheckedIOException", "RuntimeException", "ExecutionException")


class StorageError(SetupError, OSError):
    """A file system does not do what it is asked for, or is not to be reached."""

    heals = True


class Engine(Protocol):
    """What has a JVM, started where it does not run."""

    @property
    def spark(self) -> Any:
        """The Spark session. Raises SqlStreamError where it has died."""

    def explained(self, error: Exception) -> SqlStreamError:
        """What its JVM has thrown, as a user can read it."""


@dataclass(frozen=True)
class Running:
    """The engine of a query that runs: what its JVM throws is explained where the query fails."""

    spark: Any

    def explained(self, error: Exception) -> SqlStreamError:
        raise error


@dataclass(frozen=True)
class Hadoop:
    """Hadoop's file systems, in the JVM of an engine."""

    engine: Callable[[], Engine]

    def call(self, method: str, *arguments: str) -> Any:
        """What a method of Java's storage.Files gives. Raises StorageError, FileNotFoundError where there is no such file."""
        return self.of("Files", method, *arguments)

    def of(self, name: str, method: str, *arguments: object) -> Any:
        """The same of a method of another class there, whose first argument is a path."""
        spark = self.spark
        return self.asked(str(arguments[0]), lambda: getattr(getattr(classes(spark).storage, name), method)(spark._jsparkSession, *arguments))

    @property
    def spark(self) -> Any:
        """The Spark session. Raises StorageError where it has died."""
        try:
            return self.engine().spark
        except SqlStreamError as error:
            raise StorageError(error.message, hint=error.hint) from error

    def asked(self, path: str, ask: Callable[[], Any]) -> Any:
        """What Java answers that is asked about ``path``. Raises as ``call``."""
        try:
            return ask()
        except Exception as error:
            java = getattr(error, "java_exception", None)
            while java is not None and java.getClass().getSimpleName() in _WRAPPERS and java.getCause() is not None:
                java = java.getCause()
            if java is not None and java.getClass().getSimpleName() == "FileNotFoundException":
                raise FileNotFoundError(2, "No such file", path) from error
            problem = self.engine().explained(error)
            raise StorageError(f"'{path}' can't be reached: {problem.message}", hint=problem.hint) from error


@total_ordering
class HadoopPath:
    """A path ``text``, with its scheme, of one of Hadoop's file systems; nothing in it is encoded. Its methods are as those of pathlib's paths."""

    def __init__(self, text: str, hadoop: Hadoop) -> None:
        self._text = text.rstrip("/")
        self._hadoop = hadoop

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"HadoopPath({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HadoopPath) and self._text == other._text

    def __lt__(self, other: HadoopPath) -> bool:
        return self._text < other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __truediv__(self, name: str) -> HadoopPath:
        return HadoopPath(f"{self._text}/{name}", self._hadoop)

    @property
    def hadoop(self) -> Hadoop:
        return self._hadoop

    @property
    def name(self) -> str:
        return self._text.rpartition("/")[2]

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0] or self.name

    @property
    def parent(self) -> HadoopPath:
        return HadoopPath(self._text.rpartition("/")[0], self._hadoop)

    def with_name(self, name: str) -> HadoopPath:
        return self.parent / name

    def with_suffix(self, suffix: str) -> HadoopPath:
        return self.parent / (self.stem + suffix)

    def as_uri(self) -> str:
        return self._text

    def absolute(self) -> HadoopPath:
        return self

    def exists(self) -> bool:
        return self._status() is not None

    def is_dir(self) -> bool:
        status = self._status()
        return status is not None and bool(status[0])

    def _status(self) -> list[Any] | None:
        found = self._hadoop.call("status", self._text)
        return None if found is None else list(json.loads(found))

    def modified(self) -> float:
        """When it was last written, in seconds since 1970."""
        if (status := self._status()) is None:
            raise FileNotFoundError(2, "No such file", self._text)
        return float(status[1]) / 1000

    def read_text(self) -> str:
        return str(self._hadoop.call("read", self._text))

    def glob(self, pattern: str) -> Iterator[HadoopPath]:
        for path in json.loads(self._hadoop.call("glob", self._text, pattern)):
            yield self / path

    def iterdir(self) -> Iterator[HadoopPath]:
        return self.glob("*")

    def touch(self) -> None:
        self._hadoop.call("write", self._text, "")

    def unlink(self, missing_ok: bool = False) -> None:
        if not missing_ok and not self.exists():
            raise FileNotFoundError(2, "No such file", self._text)
        self._hadoop.call("delete", self._text)

    def rename(self, target: HadoopPath) -> HadoopPath:
        self._hadoop.call("rename", self._text, str(target))
        return target


Place: TypeAlias = "Path | HadoopPath"


def place(location: str, project: Path, hadoop: Hadoop) -> Place:
    """The place that ``location`` names: a path, relative to ``project``, or the URI of a file system."""
    if scheme(location) is not None:
        return HadoopPath(S3.sub("s3a:", location), hadoop)
    found = urlparse(location)
    return project / (unquote(found.path) if found.scheme.lower() == "file" else location)


def uri(path: Place) -> str:
    """``path`` as Spark takes it, whatever file system it takes others to be of."""
    return f"file://{path.absolute()}" if isinstance(path, Path) else str(path)


def write(path: Place, text: str) -> None:
    """Write a small file, whole or not at all, that only its owner can read, and the folders above it that are missing."""
    if isinstance(path, HadoopPath):
        path.hadoop.call("write", str(path), text)
        return
    # A leading underscore hides the half-written file from Spark's file source.
    part = private.folder(path.parent) / f"_{path.name}.part"
    private.write_file(part, text)
    part.replace(path)


def make(folder: Place) -> Place:
    """``folder``, made where it is missing, and those above it that are; only its owner can look into it."""
    if isinstance(folder, Path):
        return private.folder(folder)
    folder.hadoop.call("make", str(folder))
    return folder


def delete(path: Place) -> None:
    """Delete a file, or a folder with all that is in it; nothing where there is none."""
    if isinstance(path, HadoopPath):
        path.hadoop.call("delete", str(path))
    elif path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def copy(of: Place, to: Place) -> None:
    """Copy a file, or a folder with all that is in it, also to another file system."""
    if isinstance(of, HadoopPath):
        of.hadoop.call("copy", uri(of), uri(to))
    elif isinstance(to, HadoopPath):
        to.hadoop.call("copy", uri(of), uri(to))
    elif of.is_dir():
        shutil.copytree(of, to, dirs_exist_ok=True)
    else:
        shutil.copy2(of, to)


def size(path: Place) -> int:
    """Bytes on disk of it and of all that is in it; of other file systems the bytes that files have. 0 where it is gone."""
    if isinstance(path, Path):
        return sum(_blocks(file) for file in path.rglob("*"))
    try:
        return int(path.hadoop.call("size", str(path)))
    except FileNotFoundError:
        return 0


def _blocks(file: Path) -> int:
    try:
        return file.lstat().st_blocks * 512
    except OSError:
        return 0


def modified(path: Place) -> float:
    """When it was last written, in seconds since 1970; 0 where it is gone."""
    try:
        return path.stat().st_mtime if isinstance(path, Path) else path.modified()
    except FileNotFoundError:
        return 0.0


def empty(path: Place) -> bool:
    """Whether it is a file with nothing in it."""
    return path.exists() and not path.is_dir() and size(path) == 0 if isinstance(path, HadoopPath) else path.is_file() and not path.stat().st_size


@dataclass(frozen=True)
class JobFolders:
    """Where the jobs of a project are: below ``root``; savepoints in ``saved``, where that is set."""

    root: Place
    saved: Place | None = None

    @property
    def jobs(self) -> Place:
        """A folder each: checkpoints, state, locks."""
        return self.root / "jobs"

    @property
    def savepoints(self) -> Place:
        """A folder each."""
        return self.root / "savepoints" if self.saved is None else self.saved


def job_folders(options: Mapping[str, str], project: Path, hadoop: Hadoop) -> JobFolders:
    """Those by the session's ``options``: in the project's own folder unless they say where."""
    root, saved = (
        next((place(value, project, hadoop) for key in keys if (value := settings.read(options, key))), None) for keys in (DIRECTORIES, SAVEPOINTS)
    )
    return JobFolders(ProjectFolder(project).own if root is None else root, saved)
