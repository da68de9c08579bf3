"""Processes of this machine, by what the system tells of them (``/proc``)."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

# PATH with the program as it is installed beside this Python.
WITH_PROGRAM = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def children(pid: int) -> list[tuple[int, str]]:
    """The processes that this one has started, and those that these have, each with its name."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (process / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has ended
            continue
        if int(rest.split()[1]) == pid:
            found += [(int(process.name), name), *children(int(process.name))]
    return found


def jvms_of(pid: int) -> list[int]:
    """The JVMs that this process, or one that it has started, runs."""
    return [child for child, name in children(pid) if name == "java"]


def ensure_runs(process: subprocess.Popen[bytes], log: Path) -> None:
    """Fail with the end of its log where a process has ended."""
    assert process.poll() is None, log.read_text(errors="replace")[-8000:]


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads a group, and all of that, by SIGKILL."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
