"""A job's folder is held by one process at a time.

On this machine's file systems by a lock of the operating system, which ends with the process. Elsewhere by a lease (Java's storage.Lease): it is
renewed while the process lives, and is another's to take when it was not for LEASE_SECONDS, by the clock of who waits; at once where its process is
of this machine and has ended.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import socket
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sqlstream.core import file_locks, private, processes
from sqlstream.core.errors import JobFailed, ValidationError
from sqlstream.core.job_names import short_name
from sqlstream.core.storage import HadoopPath, modified

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.core.storage import Place

LEASE_SECONDS = 30.0
RENEW_SECONDS = 5.0
# So long a driver writes without having renewed its lease; then it looks whether it has it still.
_VALID_SECONDS = 20.0
_LOOK_SECONDS = 0.1
_DROPS = 100


class Lock(ABC):
    """A folder that is held, until it is closed."""

    @property
    @abstractmethod
    def lost(self) -> bool:
        """Whether another has it by now."""

    @abstractmethod
    def renew(self) -> None:
        """Hold it also after Spark's death. Raises JobFailed where another has it by now."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it."""

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@dataclass(frozen=True)
class Owner:
    """Who holds a folder: a process, and that of its JVM where it is known; ``machine`` says whether their numbers mean anything here.

    ``run``: the id of the job that runs, which may take its own lease. ``since``: when it took it, in seconds since 1970; None if not known.
    """

    pid: int
    host: str
    machine: str = ""
    jvm: int = 0
    run: str = ""
    since: float | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        return f"process {self.pid} on {self.host}" if self.host else f"process {self.pid or 'unknown'}"

    @property
    def ended(self) -> bool:
        """Whether it is of this machine, and has ended."""
        return bool(self.machine) and self.machine == processes.machine() and not any(processes.lives(pid) for pid in (self.pid, self.jvm) if pid)


def lock(folder: Place, name: str, run: str = "", notify: Callable[[str], None] = lambda line: None) -> Lock:
    """Hold the folder of the job ``name``, of which ``run`` is the id. Raises ValidationError where another process has it, OSError.

    ``notify`` hears if it has to wait until a lease ends.
    """
    if isinstance(folder, Path):
        return _FileLock(_locked(folder, name))
    return _Lease(folder, name, run, notify)


def holder(folder: Place) -> Owner | None:
    """Who holds it now; None where nobody does."""
    return _file_holder(folder) if isinstance(folder, Path) else _lease_holder(folder)


def last_holder(folder: Place) -> Owner | None:
    """Who holds it, or held it last."""
    if not isinstance(folder, Path):
        return _Standing.of(folder).owner
    try:
        file = folder / "lock"
        return Owner(int(file.read_text()), socket.gethostname(), since=file.stat().st_mtime)
    except (OSError, ValueError):
        return None


def busy(name: str, owner: Owner | None) -> ValidationError:
    """What is raised where another process has the job ``name``."""
    return ValidationError(
        f"Job '{short_name(name)}' is already running, in {owner.text if owner is not None else 'process unknown'}.",
        hint=f"sqlstream jobs stop {shlex.quote(short_name(name))} stops it. Or SET 'pipeline.name' to run it a second time under a name of its own.",
    )


@dataclass(frozen=True)
class _FileLock(Lock):
    file: IO[str]

    @property
    def lost(self) -> bool:
        return False

    def renew(self) -> None:
        """It ends with this process."""

    def close(self) -> None:
        self.file.close()


def _locked(folder: Path, name: str) -> IO[str]:
    file = _opened(folder)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Who only looks whether it is held has it for a moment.
            time.sleep(_LOOK_SECONDS)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        owner = file.read().strip()
        file.close()
        raise busy(name, Owner(int(owner), "") if owner.isdigit() else None) from None
    if os.fstat(file.fileno()).st_nlink == 0 or not (folder / "lock").exists():
        # The job was dropped meanwhile.
        file.close()
        return _locked(folder, name)
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _opened(folder: Path) -> IO[str]:
    """The file of the lock; its folder is made, as often as another process drops the job before there is a file in it."""
    for _ in range(_DROPS):
        with suppress(FileNotFoundError):
            return private.open_file(private.folder(folder) / "lock", "a+")
    return private.open_file(folder / "lock", "a+")


def _file_holder(folder: Path) -> Owner | None:
    if file_locks.is_held(folder / "lock"):
        return last_holder(folder) or Owner(0, socket.gethostname())
    return None


@dataclass(frozen=True)
class _Standing:
    """The last lease of a folder: its number, 0 for none; ``beat`` is None where it was released."""

    number: int
    owner: Owner | None
    beat: str | None

    @classmethod
    def of(cls, folder: HadoopPath) -> _Standing:
        found = json.loads(folder.hadoop.of("Lease", "look", str(folder)))
        told = found.get("owner") or {}
        owner = Owner(**{f.name: told[f.name] for f in fields(Owner) if f.name in told}) if "pid" in told else None
        return cls(found["number"], owner, found.get("beat"))

    @property
    def free(self) -> bool:
        return self.number == 0 or self.beat is None or (self.owner is not None and self.owner.ended)


def _lease_holder(folder: HadoopPath) -> Owner | None:
    standing = _Standing.of(folder)
    if standing.free or time.time() - modified(folder / "lease" / f"{standing.number}.beat") > LEASE_SECONDS:
        return None
    return standing.owner or Owner(0, "")


class _Lease(Lock):
    """A folder that is held by a lease."""

    def __init__(self, folder: HadoopPath, name: str, run: str, notify: Callable[[str], None]) -> None:
        self._folder = folder
        self._name = name
        self._run = run
        self._notify = notify
        self._java: Any = None
        self._take()

    @property
    def lost(self) -> bool:
        # Where Spark does not answer it has died, and its queries with it.
        with suppress(OSError):
            return bool(self._called(lambda: self._java.isLost()))
        return False

    def renew(self) -> None:
        try:
            lost = bool(self._called(lambda: self._java.isLost()))
        except OSError:
            # It was of the JVM that has died.
            try:
                self._take()
            except ValidationError as error:
                raise lost_lease(self._name, last_holder(self._folder)) from error
            return
        if lost:
            raise lost_lease(self._name, last_holder(self._folder))

    def close(self) -> None:
        # One that can't be let go of ends by itself.
        with suppress(OSError):
            self._called(lambda: self._java.close())

    def _called(self, call: Callable[[], Any]) -> Any:
        return self._folder.hadoop.asked(str(self._folder), call)

    def _take(self) -> None:
        while True:
            standing = self._awaited()
            owner = Owner(os.getpid(), socket.gethostname(), processes.machine(), _java_process(self._folder), self._run, time.time())
            arguments = standing.number + 1, json.dumps(asdict(owner)), int(RENEW_SECONDS * 1000), int(_VALID_SECONDS * 1000)
            self._java = self._folder.hadoop.of("Lease", "take", str(self._folder), *arguments)
            if self._java is not None:
                return

    def _awaited(self) -> _Standing:
        """The last lease, when it has ended. Raises ValidationError where it goes on."""
        seen = _Standing.of(self._folder)
        if self._free(seen):
            return seen
        owner = seen.owner
        if owner is not None and owner.machine == processes.machine() != "":
            raise busy(self._name, owner)
        told = False
        end = time.monotonic() + LEASE_SECONDS
        while time.monotonic() < end:
            time.sleep(1)
            again = _Standing.of(self._folder)
            if self._free(again):
                return again
            if (again.number, again.beat) != (seen.number, seen.beat):
                raise busy(self._name, again.owner)
            if not told and end - time.monotonic() < LEASE_SECONDS - 2 * RENEW_SECONDS:
                told = True
                who = "another process" if owner is None else owner.text
                self._notify(f"Job '{short_name(self._name)}' was running in {who}, which is not heard of: its lease ends in {LEASE_SECONDS:.0f} s.")
        return seen

    def _free(self, standing: _Standing) -> bool:
        return standing.free or (standing.owner is not None and standing.owner.run == self._run != "")


def lost_lease(name: str, owner: Owner | None) -> JobFailed:
    """What a job fails with whose folder another process has taken."""
    by = "another process" if owner is None else owner.text
    return JobFailed(
        f"Job '{short_name(name)}' is run by {by} now: this process was not to be reached for longer than its lease of {LEASE_SECONDS:.0f} s.",
        hint="Nothing is lost: it goes on there.",
        heals=False,
    )


def _java_process(folder: HadoopPath) -> int:
    return int(folder.hadoop.spark._jvm.java.lang.ProcessHandle.current().pid())
