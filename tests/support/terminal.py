"""A process in a terminal that tmux draws: keys go in, the screen comes out."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
import uuid
from pathlib import Path

from tests.support import needs

ROOT = Path(__file__).parent.parent.parent


class Tmux:
    """``command`` runs in a terminal of ``columns`` by ``rows``."""

    def __init__(self, *command: str, columns: int = 100, rows: int = 30, env: dict[str, str] | None = None, folder: Path | None = None) -> None:
        self._program = needs.program("tmux")
        self._socket = f"sqlstream-{uuid.uuid4().hex[:12]}"
        given = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "TZ": "UTC", "LC_ALL": "C.UTF-8", **(env or {})}
        line = " ".join([*(f"{k}={shlex.quote(v)}" for k, v in given.items()), *map(shlex.quote, command)])
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(folder or ROOT), f"env {line}; sleep 600")

    def _tmux(self, *arguments: str) -> str:
        return subprocess.run([self._program, "-u", "-L", self._socket, *arguments], capture_output=True, text=True, check=True, timeout=30).stdout

    @property
    def pid(self) -> int:
        """What was started in the terminal."""
        return int(self._tmux("list-panes", "-F", "#{pane_pid}"))

    @property
    def screen(self) -> str:
        """What is on the screen now."""
        return self._tmux("capture-pane", "-p")

    @property
    def unwrapped(self) -> str:
        """What is on the screen now; a line for which it is too narrow is one."""
        return self._tmux("capture-pane", "-p", "-J")

    @property
    def coloured(self) -> str:
        """What is on the screen now, with the escapes of its colours."""
        return self._tmux("capture-pane", "-p", "-e")

    def keys(self, *keys: str) -> None:
        """Press keys, by tmux's names: Enter, C-r, Escape, Up, q."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", _escaped(text))

    def paste(self, text: str) -> None:
        """Paste ``text``, marked as such."""
        self._tmux("set-buffer", _escaped(text))
        self._tmux("paste-buffer", "-p")

    def wait_for(self, text: str, seconds: float = 60, *, gone: str | None = None) -> str:
        """The screen, as soon as ``text`` is on it, which may go on in the next line, and ``gone`` is not."""
        end = time.monotonic() + seconds
        while (text not in (shown := self.screen) and text not in " ".join(shown.split())) or (gone is not None and gone in shown):
            assert time.monotonic() < end, f"no {text!r} on:\n{shown}"
            time.sleep(0.1)
        return shown

    def close(self) -> None:
        subprocess.run([self._program, "-L", self._socket, "kill-server"], capture_output=True, check=False)


def _escaped(text: str) -> str:
    """A semicolon at the end would end tmux's own command."""
    return text[:-1] + "\\;" if text.endswith(";") else text
