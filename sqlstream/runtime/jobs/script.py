"""The script that submits a job in another session, and the file that keeps it.

It holds what the session had declared and set, secrets among it: nobody but the owner can read the file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core import private
from sqlstream.sql.quoting import flink_string

if TYPE_CHECKING:
    from pathlib import Path

# Before the name of the job, in the first line of a file, and before the script that it is of, in the second.
_NAME, _OF = "-- ", "-- Of the script "


@dataclass(frozen=True)
class JobScript:
    """``declared``: the statements that set up the session; ``submitted``: those that are the job; ``file``: the script that they are of."""

    declared: tuple[str, ...]
    submitted: tuple[str, ...]
    file: str | None = None

    def of(self, name: str) -> str:
        """The text, for the job of this name: the statement alone may have the name of another, which it is a further job of."""
        named = f"SET 'pipeline.name' = {flink_string(name)}"
        of = "" if self.file is None else f"{_OF}{' '.join(self.file.split())}\n"
        return of + "".join(f"{text.strip().removesuffix(';')}\n;\n" for text in (*self.declared, named, *self.submitted))


def write(file: Path, name: str, text: str) -> None:
    """Write the script ``text`` of the job called ``name``, whole or not at all, so that it outlives a power cut. Raises OSError."""
    part = private.folder(file.parent) / f".{file.name}"
    # What exists keeps its mode.
    part.unlink(missing_ok=True)
    with private.open_file(part, "w", encoding="utf-8") as out:
        out.write(f"{_NAME}{' '.join(name.split())}\n{text}")
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)


def name_in(file: Path) -> str:
    """The name of the job whose script a file keeps. Raises OSError."""
    with file.open(encoding="utf-8") as text:
        return text.readline().removeprefix(_NAME).strip()


def script_of(text: str) -> str | None:
    """The file of the script that the job is of whose own this is, as a file keeps it; None where it is of none."""
    line = text.partition("\n")[2].partition("\n")[0]
    return line.removeprefix(_OF).strip() if line.startswith(_OF) else None
