"""What the log of a Delta table says of it, read without Spark: its last versions, and how large it is.

In comes the folder of a table on this machine. Of each commit only the beginning is read, where Delta writes what it did; the size stands in the
checksum that Delta writes beside a commit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlstream.core import foreign_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_COMMIT = re.compile(r"(\d{20})\.json", re.ASCII)
# So many bytes of a commit are read, and of a checksum, which may list all files of a small table.
_MOST_BYTES = 1 << 16
_CHECKSUM_BYTES = 1 << 22
_LONGEST_NAME = 100
# What the metrics of an operation say of its rows, and of its files.
_ROWS = (
    ("numTargetRowsInserted", "inserted"), ("numTargetRowsUpdated", "updated"), ("numTargetRowsDeleted", "deleted"),
    ("numUpdatedRows", "updated"), ("numDeletedRows", "deleted"),
)  # fmt: skip
_WRITTEN = "numOutputRows"
_ADDED, _REMOVED = ("numTargetFilesAdded", "numAddedFiles", "numFiles"), ("numTargetFilesRemoved", "numRemovedFiles")


@dataclass(frozen=True)
class Commit:
    """A version. ``at``: seconds since 1970; ``rows``: counts with what became of them; ``added`` and ``removed`` count files. None: not known."""

    version: int
    at: float | None
    operation: str | None = None
    rows: tuple[tuple[int, str], ...] = ()
    added: int | None = None
    removed: int | None = None


@dataclass(frozen=True)
class DeltaTable:
    """What is known of a table: its last versions, newest first, and its files and their bytes; None where that is not known."""

    commits: tuple[Commit, ...]
    files: int | None = None
    bytes: int | None = None


def read(folder: Path, most: int) -> DeltaTable | None:
    """The table in ``folder``, with ``most`` versions; None where there is none yet. Raises OSError."""
    log = folder / "_delta_log"
    try:
        versions = sorted(int(match[1]) for file in log.iterdir() if (match := _COMMIT.fullmatch(file.name)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not versions:
        return None
    commits = tuple(commit for version in reversed(versions[-most:]) if (commit := _commit(log, version)) is not None)
    return DeltaTable(commits, *_size(log, versions[-1]))


def _commit(log: Path, version: int) -> Commit | None:
    """A version; None where it was cleaned up meanwhile."""
    file = log / f"{version:020}.json"
    try:
        with file.open("rb") as opened:
            begin = opened.read(_MOST_BYTES)
        modified = file.stat().st_mtime
    except FileNotFoundError:
        return None
    info: dict[str, Any] = next((action["commitInfo"] for action in _actions(begin) if isinstance(action.get("commitInfo"), dict)), {})
    metrics = info.get("operationMetrics")
    counts = _counts(metrics if isinstance(metrics, dict) else {})
    millis = next((info[key] for key in ("inCommitTimestamp", "timestamp") if type(info.get(key)) is int), None)
    operation = info.get("operation")
    rows = tuple((counts[key], word) for key, word in _ROWS if counts.get(key))
    if not rows and not any(key in counts for key, _ in _ROWS) and _WRITTEN in counts:
        rows = ((counts[_WRITTEN], "written"),)
    return Commit(
        version,
        modified if millis is None else millis / 1000,
        operation[:_LONGEST_NAME] if isinstance(operation, str) else None,
        rows,
        next((counts[key] for key in _ADDED if key in counts), None),
        next((counts[key] for key in _REMOVED if key in counts), None),
    )


def _actions(text: bytes) -> Iterator[dict[str, Any]]:
    """The actions of a commit, one a line; a line that is cut off is none."""
    for line in text.splitlines():
        action = _json(line)
        if action is not None:
            yield action


def _counts(metrics: Mapping[str, Any]) -> dict[str, int]:
    """Those metrics that are counts: Delta writes them as texts."""
    return {key: int(value) for key, value in metrics.items() if isinstance(value, str) and re.fullmatch(r"\d{1,18}", value, re.ASCII)}


def _size(log: Path, version: int) -> tuple[int | None, int | None]:
    """The files and the bytes of a version; of the one before where its own are not written yet, as just behind its commit."""
    for each in (version, version - 1):
        try:
            with (log / f"{each:020}.crc").open("rb") as opened:
                said = _json(opened.read(_CHECKSUM_BYTES)) or {}
            break
        except FileNotFoundError:
            continue
    else:
        return None, None
    files, size = said.get("numFiles"), said.get("tableSizeBytes")
    return files if type(files) is int else None, size if type(size) is int else None


def _json(text: bytes) -> dict[str, Any] | None:
    try:
        value = foreign_json.read(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
