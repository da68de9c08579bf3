"""``python -m sqlstream.cli.supervisor FOLDER``: runs a script in the background, and again when its process itself dies.

It is the leader of a session of its own, so that no terminal's end reaches it. A process that ends by itself, whatever its exit code, has
ended: a job that fails is started again inside of it. One that a signal has killed, as ``kill -9`` does and the system for want of memory, is
started again, and so is that one where something is in its way that may be over after a while, as a full disk: after a second, then after twice
as long each time, up to a minute. SIGTERM ends the script, in order, and the supervisor.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sqlstream.cli import background
from sqlstream.cli.background import Background
from sqlstream.core import kept, private

if TYPE_CHECKING:
    from types import FrameType

FIRST_SECONDS, MOST_SECONDS = 1.0, 60.0
# One that has run so long begins with the shortest wait again.
HEALTHY_SECONDS = 600.0
# A script that is to end is killed after so long.
ENDING_SECONDS = 90.0
_LOOK_SECONDS = 0.2


class Supervisor:
    """Runs the script of a folder. ``running`` is the lock that its process inherits."""

    def __init__(self, folder: Path, script: Background, running: IO[str]) -> None:
        self._folder = folder
        self._running = running
        self._script = replace(script, supervisor=os.getpid(), process=0, restarts=0, since=time.time(), exit_code=None, earlier=())
        self._ending = threading.Event()
        self._noted = False

    def run(self) -> int:
        """Run it until it has ended; its exit code."""
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._end)
        # Who ends it looks for its number.
        self._note()
        wait = FIRST_SECONDS
        while True:
            began = time.monotonic()
            code = self._run_once()
            if code == background.TRY_AGAIN and not self._script.restarts:
                # It has not run before.
                code = 1
            if self._ending.is_set() or (code >= 0 and code != background.TRY_AGAIN):
                break
            wait = FIRST_SECONDS if time.monotonic() - began > HEALTHY_SECONDS else wait
            why = f"was killed by signal {-code}" if code < 0 else "could not go on"
            self._say(f"the process {why}; it is started again in {wait:.0f} s")
            if self._ending.wait(wait):
                break
            wait = min(2 * wait, MOST_SECONDS)
            self._script = self._script.again()
            self._note()
        self._say(f"ended with exit code {code}")
        self._note(exit_code=code)
        return code if code >= 0 else 1

    def _run_once(self) -> int:
        log = background.log_of(self._folder)
        again = (background.KEEP_STOPPED,) if self._script.restarts else ()
        with self._log() as out:
            process = subprocess.Popen(
                (*self._script.command, *again),
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, pass_fds=[self._running.fileno()],
            )  # fmt: skip
        self._note(process=process.pid)
        asked: float | None = None
        while True:
            try:
                return process.wait(_LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                with suppress(OSError):
                    kept.rotate(log)
                self._write()
            if self._ending.is_set():
                asked = asked or self._terminate(process)
                if time.monotonic() - asked > ENDING_SECONDS:
                    process.kill()

    def _terminate(self, process: subprocess.Popen[bytes]) -> float:
        process.terminate()
        return time.monotonic()

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._ending.set()

    def _note(self, **changes: int) -> None:
        self._script = replace(self._script, **changes)  # type: ignore[arg-type]
        self._noted = False
        self._write()

    def _write(self) -> None:
        """Write down what was noted; where that can't be done now, as on a full disk, a later look does."""
        if not self._noted:
            with suppress(OSError):
                self._script.write(self._folder)
                self._noted = True

    def _log(self) -> IO[bytes]:
        """The log, for what is said from now on; where it can't be opened nothing is said."""
        try:
            return private.open_file(background.log_of(self._folder), "ab")
        except OSError:
            return Path(os.devnull).open("ab")

    def _say(self, line: str) -> None:
        with suppress(OSError), self._log() as log:
            log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} [supervisor] {line}\n".encode())


def main(argv: list[str]) -> int:
    """Supervise the script of the folder that ``argv`` names; 3 where it runs already."""
    folder = Path(argv[0])
    lock, running = background.hold(folder), background.hold(folder, background.RUNNING)
    if lock is None or running is None:
        return 3
    script = Background.read(folder)
    if script is None:
        return 2
    with lock, running:
        return Supervisor(folder, script, running).run()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
