"""Lines into Kafka's console producer: in come lines, out comes how many the broker has and what went wrong."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from sqlstream.core.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a file, one at a time, whatever bytes they hold. Raises SetupError."""
    try:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as handle:
            yield from handle
    except OSError as e:
        raise SetupError(f"'{path}' cannot be read: {e.strerror}.") from e


def feed(command: list[str], lines: Iterable[str], key_separator: str | None) -> tuple[int, str | None]:
    """Write ``lines`` to the console producer; how many, and what went wrong.

    It ends with 0 even where records were lost: that they were is seen in what it logs, at level error.
    """
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stdin is not None and process.stderr is not None
    count = 0
    problem = None
    try:
        for line in lines:
            text = line.rstrip("\r\n")
            if key_separator is not None and key_separator not in text:
                problem = f"line {count + 1} holds no {key_separator!r} after its key; {count} lines were sent"
                break
            process.stdin.write(text.encode("utf-8", "surrogateescape") + b"\n")
            count += 1
    except BrokenPipeError:
        problem = "the producer ended early"
    except BaseException:
        process.kill()
        process.wait()
        raise
    _, errors = process.communicate()
    logged = errors.decode("utf-8", "replace")
    if process.returncode or " ERROR " in logged:
        problem = problem or reason(logged)
    return count, problem


def reason(logged: str) -> str:
    """The one line of a tool's stack traces that says what went wrong."""
    lines = [line.strip() for line in logged.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(Caused by: )?[\w.]+(Exception|Error)\b", line)]
    return (telling or lines or ["no reason given"])[-1]
