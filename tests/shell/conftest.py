"""A session without Spark, and a terminal to run the shell in."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from sqlstream.shell.screen import Screen
from tests.support.terminal import Tmux

ROOT = Path(__file__).parents[2]


class FakeJobs(tuple):
    """No jobs; a test calls ``on_failure``."""

    def latest(self):
        return list(self)


class FakeSession:
    """Answers each statement with what ``answers`` holds for its text: an outcome, an error, or a call."""

    def __init__(self, answers=None, options=None):
        self.answers = answers or {}
        self.options = options or {}
        self.ran: list[str] = []
        self.names: list[str | None] = []
        self.interrupted = threading.Event()
        self.closed = threading.Event()
        self.project = Path(tempfile.mkdtemp())
        self.hurried = threading.Event()
        self.started = False
        self.waits = None
        self.place = "default_catalog.default_database"
        self.jobs = FakeJobs()

    def start_spark(self):
        self.started = True

    def suggester(self):
        from sqlstream.session.completion import Context, suggest

        return partial(suggest, context=Context())

    def standing(self):
        from sqlstream.session.standing import standing

        return standing(self.place, self.options, self.jobs)

    def on_failure(self, hear):
        self.jobs.on_failure = hear

    def run(self, script, name=None):
        from sqlstream.session import results
        from sqlstream.sql.statements.split import split

        self.names.append(name)
        for statement in (piece.text for piece in split(script)):
            self.ran.append(statement)
            answer = self.answers.get(statement, results.Done(statement=statement))
            if statement.upper() in ("QUIT", "EXIT") and statement not in self.answers:
                answer = results.Exit(statement=statement)
            if callable(answer):
                answer = answer(self)
            if isinstance(answer, Exception):
                raise answer
            yield answer

    initialize = run

    def wait(self):
        if self.waits:
            self.waits(self)

    def interrupt(self, *, for_good=False):
        self.interrupted.set()

    def close(self):
        self.closed.set()

    def hurry(self):
        self.hurried.set()


@pytest.fixture
def screen():
    return Screen(io.StringIO(), io.StringIO())


@pytest.fixture
def fake_session():
    return FakeSession


class Terminal:
    """A process in a terminal of its own: what it shows so far, and keys to send it."""

    def __init__(self, *arguments: str, env: dict[str, str] | None = None) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
        self.shown = ""
        self._read = 0
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"} | (env or {}),
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(slave)

    def read_until(self, text: str, timeout: float = 30) -> float:
        """Wait for ``text`` behind what was waited for before; the seconds since the start come back."""
        end = time.monotonic() + timeout
        while (found := self.shown.find(text, self._read)) < 0:
            left = end - time.monotonic()
            assert left > 0 and select.select([self._master], [], [], left)[0], f"no {text!r} in:\n{self.shown}"
            try:
                chunk = os.read(self._master, 65536).decode("utf-8", "replace")
            except OSError:
                chunk = ""
            assert chunk, f"ended without {text!r}:\n{self.shown}"
            self.shown += chunk
        self._read = found + len(text)
        return time.monotonic() - self.began

    def send(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def exit_code(self, timeout: float = 30) -> int:
        end = time.monotonic() + timeout
        while self.process.poll() is None and time.monotonic() < end:
            if select.select([self._master], [], [], 0.05)[0]:
                try:
                    self.shown += os.read(self._master, 65536).decode("utf-8", "replace")
                except OSError:
                    time.sleep(0.02)
        return self.process.wait(1)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal():
    opened: list[Terminal] = []

    def open_terminal(*arguments: str, env: dict[str, str] | None = None) -> Terminal:
        opened.append(Terminal(*arguments, env=env))
        return opened[-1]

    yield open_terminal
    for one in opened:
        one.close()


@pytest.fixture
def tmux():
    """Opens processes in terminals of tmux; they end with the test."""
    opened: list[Tmux] = []

    def open_tmux(*command: str, **more) -> Tmux:
        opened.append(Tmux(*command, **more))
        return opened[-1]

    yield open_tmux
    for one in opened:
        one.close()
