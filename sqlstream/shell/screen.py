"""The two streams of the client: stdout carries results, stderr everything else.

Light to import, for the prompt waits for it. Lines of jobs (print sinks) come from other threads, so every line is
written under one lock; the streams are looked up at each write, for the prompt replaces ``sys.stdout`` while one types.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import threading
import time
import traceback
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from sqlstream.core.errors import JobFailed, SetupError, SqlStreamError
from sqlstream.core.job_names import short_name
from sqlstream.core.kept import NO_SPACE
from sqlstream.core.lines import OfJob, Passing, Waiting
from sqlstream.core.secrets import masked_value
from sqlstream.shell import prose, tableau

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PROMPT = "sqlstream> "
CONTINUATION = "> "
_BLUE, _RED, _RESET = "\x1b[34;1m", "\x1b[31;1m", "\x1b[0m"
_LEVEL = re.compile(r"\[(INFO|NOTICE|WARNING|ERROR)\] ")
_ERASE = "\r\x1b[K"
VERBOSE_HINT = "SET 'sql-client.verbose' = 'true'; shows the whole trace"


@dataclass(frozen=True)
class Script:
    """Text to run, and the name of the file that it is from."""

    text: str
    name: str | None = None


@dataclass
class Screen:
    """Where lines go; None is the process's own stream at the time.

    ``verbose``: errors show their trace. ``interactive``: a user is at the terminal, so a result may take the whole screen. ``output``: rows
    are shown as tableau, csv or json. ``timestamps``: what is no result begins with the time. ``log_format``: it is text, or json, an object a line.
    """

    out: TextIO | None = None
    err: TextIO | None = None
    verbose: bool = False
    interactive: bool = False
    output: str = "tableau"
    timestamps: bool = False
    log_format: str = "text"
    lock: threading.RLock = field(default_factory=threading.RLock)
    _held: list[tuple[TextIO, str, str]] | None = None
    _prompting: bool = False
    _passing: TextIO | None = None

    def emit(self, line: str) -> None:
        """A line of a result."""
        stream = self.out or sys.stdout
        self._write(stream, _shown(stream, line))

    def notify(self, line: str = "") -> None:
        """A line about what is happening; a passing one is for terminals."""
        if isinstance(line, Waiting):
            self._notify("", f"{line} Ctrl-C ends the wait.")
        elif not isinstance(line, Passing):
            self._notify("", line)
        elif self.overwrites:
            self.overwrite(line)

    def info(self, message: str) -> None:
        self._notify(_BLUE, f"[INFO] {message}")

    def failure(self, message: str) -> None:
        """A line about what has failed in the background."""
        self._notify(_RED, f"[ERROR] {message}")

    def notices(self, messages: Iterable[str]) -> None:
        for message in messages:
            self.notify(f"[NOTICE] {message}")

    def error(self, error: BaseException, *, verbose: bool = False, of_statement: bool = True) -> None:
        if self.log_format == "json":
            self._log("ERROR", **error_fields(error, verbose=verbose or self.verbose))
            return
        stream = self.err or sys.stderr
        # The first line is wrapped with its colour.
        first, *rest = error_lines(error, verbose=verbose or self.verbose, width=_width(stream), of_statement=of_statement)
        self._notify(_RED, first)
        for line in rest:
            self._notify("", line, as_it_is=True)

    def echo(self, statement: str) -> None:
        """A statement of a script, as if it had been typed."""
        self._notify("", PROMPT + f"\n{CONTINUATION}".join(statement.splitlines()), as_it_is=True)

    @property
    def overwrites(self) -> bool:
        """Whether a line can take the place of another where ``notify`` writes."""
        return (self.err or sys.stderr).isatty() and os.environ.get("TERM") != "dumb"

    def overwrite(self, line: str) -> None:
        """A line that stays until the next one comes, of this kind or another; it is cut to the width. An empty one removes it."""
        with self.lock:
            self._erase()
            if line and self._held is None and not self._prompting:
                stream = self.err or sys.stderr
                stream.write(_shown(stream, line)[: shutil.get_terminal_size().columns - 1])
                stream.flush()
                self._passing = stream

    def _erase(self) -> None:
        if self._passing is not None:
            self._passing.write(_ERASE)
            self._passing.flush()
            self._passing = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lines that come meanwhile are written afterwards: the terminal is another's."""
        self._held = []
        try:
            yield
        finally:
            with self.lock:
                held, self._held = self._held, None
            for stream, line, end in held or []:
                self._write(stream, line, end)

    @contextmanager
    def prompting(self) -> Iterator[None]:
        """The user types: no line can stay in place of another."""
        with self.lock:
            self._erase()
            self._prompting = True
        try:
            yield
        finally:
            self._prompting = False

    def clear(self) -> None:
        stream = self.out or sys.stdout
        if stream.isatty():
            self._write(stream, "\x1b[H\x1b[2J", end="")

    @property
    def to_terminal(self) -> bool:
        """Whether results come to a terminal, which obeys control characters."""
        return (self.out or sys.stdout).isatty()

    def _notify(self, colour: str, line: str, *, as_it_is: bool = False) -> None:
        """``as_it_is``: its lines end where they do, also in a narrow terminal."""
        if self.log_format == "json":
            level = _LEVEL.match(line)
            of = {"job": line.job} if isinstance(line, OfJob) else {}
            if isinstance(line, OfJob) and line.error is not None:
                self._log("ERROR", **error_fields(line.error, verbose=self.verbose) | of)
            elif line:
                self._log(level[1] if level else "INFO", message=line[level.end() :] if level else line, **of)
            return
        stream = self.err or sys.stderr
        line = f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {line}" if self.timestamps and line else line
        shown, width = _shown(stream, line), _width(stream)
        if not as_it_is:
            shown = "\n".join(prose.within(width, shown.split("\n")))
        painted = colour and width is not None and "NO_COLOR" not in os.environ
        self._write_log(stream, f"{colour}{shown}{_RESET}" if painted else shown)

    def _log(self, level: str, **fields: str) -> None:
        """An object with the time, in UTC, the level and the ``fields``."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._write_log(self.err or sys.stderr, json.dumps({"time": now, "level": level, **fields}, ensure_ascii=False))

    def _write_log(self, stream: TextIO, line: str) -> None:
        try:
            self._write(stream, line)
        except OSError as error:
            # A log that can't be written ends nothing; what the stream keeps is written later.
            if error.errno not in NO_SPACE:
                raise

    def _write(self, stream: TextIO, line: str, end: str = "\n") -> None:
        with self.lock:
            if self._held is not None:
                self._held.append((stream, line, end))
                return
            self._erase()
            stream.write(line + end)
            stream.flush()


def _shown(stream: TextIO, line: str) -> str:
    return tableau.harmless(line) if stream.isatty() else line


def _width(stream: TextIO) -> int | None:
    """The columns of the terminal that ``stream`` writes to; None where it is none."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def error_fields(error: BaseException, *, verbose: bool) -> dict[str, str]:
    """The parts of an error, for a program; ``location``: where it is in a script; ``trace``: with ``verbose``."""
    fields = {"message": masked_value(str(error).strip()), "error": type(error).__name__}
    if isinstance(error, SqlStreamError):
        job = error.job if isinstance(error, JobFailed) else None
        known = {"message": error.message, "code": error.code, "hint": error.hint, "location": error.location, "job": job}
        fields |= {name: str(value) for name, value in known.items() if value}
    return fields | ({"trace": masked_value("".join(traceback.format_exception(error)))} if verbose else {})


def error_lines(error: BaseException, *, verbose: bool, width: int | None = None, of_statement: bool = True) -> list[str]:
    """An error as its reader wants it: what, where, what to do; with ``verbose`` the trace, the JVM's included. ``width``: that of a terminal;
    ``of_statement``: it is about one, as far as its place is not said.
    """
    lines = ["[ERROR] Could not execute SQL statement. Reason:"]
    place: list[str] = []
    advice: list[str] = []
    if isinstance(error, SetupError) and error.at is None:
        # About the machine, not about a statement.
        lines = [f"[ERROR] {error.message}" + (f" {error.hint}" if error.hint else "")]
    elif isinstance(error, SqlStreamError) and not of_statement and error.location is None:
        lines, advice = f"[ERROR] {error.code} {error.message}".splitlines(), error.advice
    elif isinstance(error, SqlStreamError):
        lines += f"{type(error).__name__} [{error.code}]: {error.message}".splitlines()
        if isinstance(error, JobFailed) and error.job:
            lines.append(f" --> job {short_name(error.job)}")
        place, advice = error.place(width), error.advice
    else:
        said = masked_value(str(error).strip()).splitlines()
        lines += [f"{type(error).__name__}: {said[0] if said else ''}".rstrip(": ")]
        advice = [] if verbose else [f"hint: {VERBOSE_HINT}"]
    lines = [lines[0], *prose.within(width, lines[1:]), *place, *prose.within(width, advice)]
    if verbose:
        lines += masked_value("".join(traceback.format_exception(error))).splitlines()
    return lines
