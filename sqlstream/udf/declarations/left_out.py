"""What has been left out while a query ran, or the call of a function that failed: from the files of dead letters on this machine."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import JobFailed
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.calls import CALLS, call_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from sqlglot import exp


class LeftOut:
    """What is written in ``folder`` from now on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before = {file: file.stat().st_size for file in folder.glob("*.jsonl")}

    def lines(self, project: Path) -> list[str]:
        """A line for each file with new rows, and each function that failed for some, or table that they are of."""
        lines = []
        for file in sorted(self._folder.glob("*.jsonl")):
            reasons = Counter(_reason(letter) for letter, _ in letters(file, self._before.get(file, 0)))
            shown = file.relative_to(project) if file.is_relative_to(project) else file
            lines += [f"{n} row{' was' if n == 1 else 's were'} left out, {reason}: {shown}" for reason, n in sorted(reasons.items())]
        return lines


def _reason(letter: dict[str, Any]) -> str:
    kind, source = letter.get("kind"), letter.get("source")
    if kind == "function":
        return f"for which {source} failed"
    # Errors of records are all different.
    return f"which can't be read in {source}" if kind == "record" else f"since in {source} {letter.get('error')}"


def count(folder: Path, queries: Collection[str]) -> int:
    """How many rows of these queries, as dead letters name them, are in ``folder``."""
    return sum(letter.get("query") in queries for file in folder.glob("*.jsonl") for letter, _ in letters(file))


def letters(file: Path, start: int = 0) -> Iterator[tuple[dict[str, Any], int]]:
    """The dead letters of ``file`` from the byte ``start`` on, each with the byte behind it. One that is being written is not a line yet, and what
    somebody has written into the file by hand is none. None at all where it has just been deleted, or may not be read.
    """
    with suppress(OSError), file.open("rb") as text:
        text.seek(start)
        for line in text:
            start += len(line)
            with suppress(ValueError):
                letter = json.loads(line) if line.endswith(b"\n") else None
                if isinstance(letter, dict):
                    yield letter, start


@contextmanager
def reporting_left_out(query: exp.Expr, dead_letters: Path, project: Path, notify: Callable[[str], None]) -> Iterator[None]:
    """While ``query`` runs: an error of a function is put at its call; in the end ``notify`` hears of rows left out, kept in ``dead_letters``."""
    left_out = LeftOut(dead_letters)
    try:
        yield
    except JobFailed as error:
        error.at = failed_call(query, error.message) if error.at is None else error.at
        raise
    finally:
        for line in left_out.lines(project):
            notify(f"[NOTICE] {line}")


def failed_call(query: exp.Expr, message: str) -> exp.Expr | None:
    """The first call, in ``query`` itself, of the function that ``message`` names."""
    named = re.match(r"The Python function (\S+) ", message)
    calls = query.find_all(*CALLS, ast.TableFunction) if named else ()
    return next((c for c in calls if named and (call_name(c) or c.name).rpartition(".")[2].lower() == named[1].lower()), None)
