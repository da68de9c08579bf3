"""The process of Spark's JVM: out of the reach of this process's signals, watched until its end, and why it ended.

In: a command. Out: a JavaProcess. A signal to all of a process group or service (a terminal's Ctrl-C, timeout, systemd) would take the JVM from
under the jobs that are to be stopped: it has a session of its own, and ignores them. Where this process is killed the JVM is, too.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.core import kept, private
from sqlstream.core.errors import JobFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

# Those that end a process, which a terminal, a shell or a service manager sends.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PR_SET_PDEATHSIG = 1
# Spark's SparkExitCode.OOM, and HotSpot's with -XX:+ExitOnOutOfMemoryError.
_OUT_OF_MEMORY = (52, 3)
# What Java prints of options that the environment gives it.
_PICKED_UP = re.compile(r"(NOTE: )?Picked up J")
_NO_MEMORY = re.compile(r"java\.lang\.OutOfMemoryError(?:: [^\n]*)?")
# As much of a log's end is looked at.
_READ_BYTES = 200_000
# How often the size of a log is looked at.
_LOOK_SECONDS = 10.0
# Reports of JVMs that have crashed.
_REPORTS = 5


@dataclass(frozen=True)
class Death:
    """Why a JVM has ended that nobody had asked to."""

    message: str
    hint: str

    def error(self) -> JobFailed:
        return JobFailed(self.message, hint=self.hint)


class JavaProcess:
    """A running JVM. ``on_death`` hears, in a thread of its own, of an end that nobody had asked for. ``latest``: the one that was started last;
    ``replaced``: why the one before it has ended.
    """

    latest: ClassVar[JavaProcess | None] = None

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], logs: Path, on_death: Callable[[JavaProcess], None]) -> None:
        """Start it: what it prints goes to ``jvm.log`` of ``logs``, beside which is Spark's log. Raises OSError."""
        self._logs = logs
        kept.keep_newest(logs.glob("hs_err_*.log"), _REPORTS)
        self._on_death = on_death
        self._begun = {name: _size(logs / name) for name in ("jvm.log", "spark.log")}
        self._asked = False
        self._ended = threading.Event()
        self.death: Death | None = None
        started: Future[subprocess.Popen[bytes]] = Future()
        # Linux takes the end of the thread that has started a process for that of its parent: this one lives as long as the JVM.
        threading.Thread(target=self._watch, args=(command, environment, started), name="spark-jvm", daemon=True).start()
        self._process = started.result()
        self.replaced = None if JavaProcess.latest is None else JavaProcess.latest.death
        JavaProcess.latest = self
        atexit.register(self.kill)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    @property
    def ending(self) -> bool:
        """Whether it was asked to end: it answers no more from a moment after that on, and may take a while until it is gone."""
        return self._asked

    def ended_within(self, seconds: float) -> bool:
        """Whether it has ended; waits for it so long."""
        return self._ended.wait(seconds)

    def end(self, seconds: float) -> None:
        """Have it end by itself, as it does at the end of its input; kill it where that takes longer."""
        self._asked = True
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        if not self._ended.wait(seconds):
            self.kill()

    def kill(self) -> None:
        """End it at once, and wait until it is gone."""
        self._asked = True
        atexit.unregister(self.kill)
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._ended.set()

    def _watch(self, command: Sequence[str], environment: Mapping[str, str], started: Future[subprocess.Popen[bytes]]) -> None:
        try:
            with private.open_file(self._logs / "jvm.log", "ab") as output:
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=output, stderr=output, env=environment, start_new_session=True,
                    preexec_fn=_become_jvm(os.getpid()),
                )  # fmt: skip
        except Exception as error:
            started.set_exception(error)
            return
        started.set_result(process)
        code = self._awaited(process)
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()
        if not self._asked:
            self.death = cause(code, self._said("jvm.log"), self._said("spark.log"), self._logs)
        self._ended.set()
        atexit.unregister(self.kill)
        if self.death is not None:
            self._on_death(self)

    def _awaited(self, process: subprocess.Popen[bytes]) -> int:
        """The exit code of ``process``, at its end; its log is put aside meanwhile where it grows large."""
        while True:
            with suppress(OSError):
                kept.rotate(self._logs / "jvm.log")
            with suppress(subprocess.TimeoutExpired):
                return process.wait(_LOOK_SECONDS)

    def _said(self, name: str) -> str:
        """What it has written to a log."""
        try:
            with (self._logs / name).open("rb") as log:
                size = _size(self._logs / name)
                # One that has been put aside meanwhile is this one's from its beginning.
                begun = self._begun[name] if self._begun[name] <= size else 0
                log.seek(max(begun, size - _READ_BYTES))
                return log.read().decode("utf-8", "replace")
        except OSError:
            return ""


def cause(code: int, printed: str, logged: str, logs: Path) -> Death:
    """Why a JVM ended with this exit code, which is negative for a signal; ``printed`` and ``logged`` are what it said itself."""
    see = f"See jvm.log and spark.log in {logs}."
    lines = [s for line in printed.splitlines() if (s := line.strip()) and not s.startswith("at ") and not _PICKED_UP.match(s)]
    memory = _NO_MEMORY.findall(printed) or (_NO_MEMORY.findall(logged) if code in _OUT_OF_MEMORY else [])
    if code in _OUT_OF_MEMORY or (code > 0 and memory):
        detail = f": {memory[-1]}" if memory else ""
        return Death(
            f"Spark died: it ran out of memory (exit status {code}){detail}.",
            f"SET 'spark.driver.memory' = '8g' or more before Spark starts (2g is the default). {see}",
        )
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        by_system = "The system kills processes that take too much memory: see dmesg. " if -code == signal.SIGKILL else ""
        return Death(f"Spark died: its JVM was killed ({name}).", by_system + see)
    return Death(f"Spark died: its JVM ended with exit status {code}{f' ({lines[-1]})' if lines else ''}.", see)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _become_jvm(parent: int) -> Callable[[], None]:
    """What the JVM's process does before it becomes one."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def prepare() -> None:
        for one in _SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        if libc is not None:
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)

    return prepare
