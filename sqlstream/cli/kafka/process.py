"""Processes and ports of this machine: what the development broker must know and do about them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core.environment import BROKER_HOST
from sqlstream.core.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable

STOP_LIMIT_S = 30


def free_port(*taken: int) -> int:
    """A port that is free now; none of ``taken``, which nobody listens on yet."""
    while True:
        with socket.socket() as probe:
            probe.bind((BROKER_HOST, 0))
            port = int(probe.getsockname()[1])
        if port not in taken:
            return port


def is_free(port: int) -> bool:
    """Whether nothing listens on ``port``."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((BROKER_HOST, port))
        except OSError:
            return False
    with socket.socket() as probe:  # one that listens on all addresses does not stop the bind everywhere
        probe.settimeout(1)
        return probe.connect_ex((BROKER_HOST, port)) != 0


def end_process(pid: int, ended: Callable[[], bool]) -> None:
    """End a process by SIGTERM, and where that takes too long by SIGKILL. Raises SetupError if it does not end."""
    for name, limit in ((signal.SIGTERM, STOP_LIMIT_S), (signal.SIGKILL, 10)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, name)
        end = time.monotonic() + limit
        while time.monotonic() < end:
            with contextlib.suppress(ChildProcessError, OSError):
                os.waitpid(pid, os.WNOHANG)  # where it is our child, it stays a zombie until we ask
            if ended():
                return
            time.sleep(0.05)
    raise SetupError(f"The process {pid} does not end.")


def command_line(pid: int) -> str:
    """The command line of a process; empty if there is none, or only a zombie."""
    proc = Path(f"/proc/{pid}/cmdline")
    if Path("/proc/self/cmdline").exists():
        try:
            return proc.read_bytes().replace(b"\0", b" ").decode(errors="surrogateescape")
        except OSError:
            return ""
    done = subprocess.run(["ps", "-ww", "-p", str(pid), "-o", "command="], capture_output=True, text=True, check=False)
    return done.stdout
