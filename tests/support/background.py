"""A script whose jobs run in a process of their own, by the command line: started, killed, stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.support.processes import children

if TYPE_CHECKING:
    from pathlib import Path


class Background:
    """A project in ``folder`` with one script."""

    def __init__(self, folder: Path, script: str) -> None:
        self.folder, self.script = folder, folder / "script.sql"
        self.script.write_text(script)

    def jobs(self, verb: str, *arguments: str) -> str:
        """What the command says; where it fails, behind FAILED."""
        command = [sys.executable, "-m", "sqlstream", "jobs", verb, "--project", str(self.folder), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        return ("" if done.returncode == 0 else "FAILED\n") + done.stdout + done.stderr

    def start(self, **options: str) -> str:
        given = (part for option in options.items() for part in ("-D", "=".join(option)))
        return self.jobs("start", str(self.script), "--detach", *given)

    def stop(self) -> str:
        return self.jobs("stop", str(self.script))

    @property
    def supervisor(self) -> int:
        """The process that starts the script's again."""
        (script,) = self.folder.glob(".sqlstream/background/*/script.json")
        return int(json.loads(script.read_text())["supervisor"])

    def kill(self) -> None:
        """Kill the process that runs the script, and its JVM with it, by SIGKILL: its supervisor starts it again."""
        for pid, _ in children(self.supervisor):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
