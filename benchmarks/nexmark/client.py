"""Runs a script in a SQL client, ours or Flink's, and takes the time of each INSERT.

Both print the same closing line for a statement; with ``table.dml-sync`` an INSERT's comes when its job has finished.
An INSERT's time is from the closing line of the statement before it to its own: parsing, planning, submitting, the job.
"""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.nexmark.memory import Peak

if TYPE_CHECKING:
    from pathlib import Path

OK = "[INFO] Execute statement succeeded."
DONE = "[INFO] Complete execution of the SQL update statement."


@dataclass(frozen=True)
class ClientRun:
    """``inserts``: seconds of each INSERT that finished, in order; ``error``: what the client said where it failed; ``memory``: bytes at most."""

    inserts: tuple[float, ...]
    seconds: float
    error: str | None
    memory: int


def run(command: list[str], log: Path, env: dict[str, str] | None = None) -> ClientRun:
    """Run ``command`` to its end; its output is kept in ``log``, each line after the seconds at which it came."""
    started = before = time.monotonic()
    inserts: list[float] = []
    error: list[str] = []
    process = subprocess.Popen(
        command,
        env=os.environ | {"PYTHONUNBUFFERED": "1"} | (env or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    peak = Peak(process.pid)
    try:
        with log.open("w", encoding="utf-8") as out:
            assert process.stdout is not None
            for line in process.stdout:
                now = time.monotonic()
                out.write(f"{now - started:9.3f} {line}")
                out.flush()
                if error or "[ERROR]" in line:
                    error.append(line.rstrip())
                elif DONE in line:
                    inserts.append(now - before)
                    before = now
                elif OK in line:
                    before = now
        process.wait()
    finally:
        memory = peak.stop()
        process.kill()
    if process.returncode and not error:
        error = [f"the client ended with exit code {process.returncode}; see {log}"]
    return ClientRun(tuple(inserts), time.monotonic() - started, "\n".join(error[:6]) or None, memory)
