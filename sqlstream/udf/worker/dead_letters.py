"""Rows for which a function fails: the values of the others, and what each of them is with its error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from sqlstream.udf.worker import masking
from sqlstream.udf.worker.opening import opened_function
from sqlstream.udf.worker.task import FunctionFailed, Task
from sqlstream.udf.worker.values import arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Values: TypeAlias = "Callable[[Task, tuple[pa.Array, ...]], pa.Array]"


def evaluated_or_left_out(task: Task, arrays: tuple[pa.Array, ...], values: Values) -> pa.Array:
    """A struct of a value, the error where there is none, and then the row as JSON, for a batch whose last column is the rows so. ``values`` gives
    those of a batch.
    """
    *arguments, rows = arrays
    opened_function(task)
    parts: list[pa.Array] = []
    errors: list[str | None] = []
    kept: list[str | None] = []
    for length, result in _parts(task, values, tuple(arguments) or (rows,), 0, len(rows)):
        if isinstance(result, FunctionFailed):
            row = masking.masked_inside(json.loads(rows[len(errors)].as_py()))
            errors.append(result.message)
            kept.append(json.dumps(row, ensure_ascii=False))
            parts.append(pa.nulls(1, arrow_type(task.result)))
        else:
            errors += [None] * length
            kept += [None] * length
            parts.append(result)
    column = pa.concat_arrays(parts) if parts else pa.nulls(0, arrow_type(task.result))
    return pa.StructArray.from_arrays([column, pa.array(errors, pa.string()), pa.array(kept, pa.string())], names=["value", "error", "row"])


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
