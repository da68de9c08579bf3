"""Rows for which a function fails, left out and kept: a line of JSON each, in a file of the worker's own.

A batch that runs again writes its rows again.
"""

from __future__ import annotations

import atexit
import datetime
import json
import os
import uuid
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
from pyspark import TaskContext

from sqlstream.core import private
from sqlstream.udf.worker import masking
from sqlstream.udf.worker.opening import opened_function
from sqlstream.udf.worker.task import FunctionFailed, Task
from sqlstream.udf.worker.values import arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Values: TypeAlias = "Callable[[Task, tuple[pa.Array, ...]], pa.Array]"

_files: dict[str, IO[str]] = {}


def evaluated_or_left_out(task: Task, arrays: tuple[pa.Array, ...], values: Values) -> pa.Array:
    """Pairs of a value and whether there is none, for a batch whose last column is the rows as JSON. ``values`` gives those of a batch."""
    *arguments, rows = arrays
    opened_function(task)
    parts: list[pa.Array] = []
    failed: list[bool] = []
    letters: list[str] = []
    for length, result in _parts(task, values, tuple(arguments) or (rows,), 0, len(rows)):
        if isinstance(result, FunctionFailed):
            letters.append(_letter(task, result, rows[len(failed)].as_py()))
            result = pa.nulls(1, arrow_type(task.result))
            failed.append(True)
        else:
            failed += [False] * length
        parts.append(result)
    _keep(task, letters)
    column = pa.concat_arrays(parts) if parts else pa.nulls(0, arrow_type(task.result))
    return pa.StructArray.from_arrays([column, pa.array(failed, pa.bool_())], names=["value", "failed"])


def _parts(task: Task, values: Values, arrays: tuple[pa.Array, ...], begin: int, length: int) -> Iterator[tuple[int, Any]]:
    """The values of ``length`` rows from ``begin``; where one fails, those of each half, and in the end its error."""
    try:
        yield length, values(task, tuple(a.slice(begin, length) for a in arrays))
    except FunctionFailed as error:
        if length == 1:
            yield 1, error
            return
        yield from _parts(task, values, arrays, begin, length // 2)
        yield from _parts(task, values, arrays, begin + length // 2, length - length // 2)


def _letter(task: Task, error: FunctionFailed, row: str) -> str:
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    letter = {"time": now, "query": _query(), "function": task.name, "error": error.message, "row": masking.masked_inside(json.loads(row))}
    return json.dumps(letter, ensure_ascii=False)


def _query() -> str | None:
    """The streaming query that this is a task of, or the job group in batch mode."""
    context = TaskContext.get()
    if context is None:
        return None
    return context.getLocalProperty("sql.streaming.queryId") or context.getLocalProperty("spark.jobGroup.id")


def _keep(task: Task, letters: list[str]) -> None:
    if not letters:
        return
    if task.dead_letters not in _files:
        kept = private.folder(Path(task.dead_letters)) / f"functions-{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
        _files[task.dead_letters] = private.open_file(kept, "a", encoding="utf-8")
        atexit.register(_files[task.dead_letters].close)
    file = _files[task.dead_letters]
    file.write("".join(f"{letter}\n" for letter in letters))
    file.flush()
