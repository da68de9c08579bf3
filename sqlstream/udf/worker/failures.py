"""Failures of the user's code, in words: with the row that caused them, without secrets."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # noqa: TC002  (Spark reads the annotations of what it calls)

from sqlstream.core.secrets import MASK, is_secret
from sqlstream.core.zones import zone_of
from sqlstream.udf.worker import masking
from sqlstream.udf.worker.task import FunctionFailed, Task
from sqlstream.udf.worker.values import WrongType, python_values

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable


_LONGEST = 120


def failure(task: Task, error: BaseException, body: Any, arrays: tuple[pa.Array, ...], places: range, where: str) -> FunctionFailed:
    """What ``body``, given the arguments at ``places``, which ``where`` says in words, has done wrong."""
    said = error_line(error, secret_texts(task, arrays, places))
    return FunctionFailed(f"The Python function {task.name} failed {where}: {said}{raised_at(error, body)}.")


def secret_texts(task: Task, arrays: tuple[pa.Array, ...] = (), places: range = range(0)) -> list[str]:
    """The texts, among the arguments at ``places`` and the job's parameters, that are never printed."""
    zone, hidden = zone_of(task.zone), [value for key, value in task.parameters if is_secret(key)]
    for array, type_, secret in zip(arrays, task.arguments, task.secrets or (False,) * len(arrays), strict=False):
        for value in python_values(array[places.start : places.stop], type_, zone):
            hidden += masking.texts(value, secret=secret)
    return hidden


def shown_arguments(task: Task, arrays: tuple[pa.Array, ...], place: int, zone: datetime.tzinfo) -> str:
    """The arguments of one row."""
    if not arrays or place >= len(arrays[0]):
        return "no arguments"
    row = [python_values(a.slice(place, 1), t, zone)[0] for a, t in zip(arrays, task.arguments, strict=True)]
    hidden = task.secrets or (False,) * len(row)
    texts = ("NULL" if v is None else MASK if s else shortened(repr(masking.masked_inside(v))) for v, s in zip(row, hidden, strict=True))
    return f"({', '.join(texts)})"


def error_line(error: BaseException, secrets: Iterable[str]) -> str:
    """``error`` in a line, without ``secrets``."""
    text = " ".join(masking.with_masks(str(error), secrets).split())
    return shortened(f"{type(error).__name__}: {text}" if text else type(error).__name__, 4 * _LONGEST)


def raised_at(error: BaseException, body: Any) -> str:
    """The file and line of the user's code that raised ``error``."""
    code = getattr(getattr(body, "__func__", body), "__code__", None)
    frames, ours = traceback.extract_tb(error.__traceback__), Path(__file__).parents[1]
    in_it = [f for f in frames if code is not None and f.filename == code.co_filename]
    own = in_it or [f for f in frames if not Path(f.filename).is_relative_to(ours)]
    return f", at {own[-1].filename}:{own[-1].lineno}" if own else ""


def shortened(text: str, most: int = _LONGEST) -> str:
    """``text``, its end left out where it is long."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def of_wrong_type(problem: WrongType) -> str:
    """What is wrong with a value, in words."""
    why = f": {problem.why}" if problem.why else ""
    value = "NULL" if problem.value is None else f"{shortened(repr(masking.masked_inside(problem.value)))} ({type(problem.value).__name__})"
    return f"{value}, which is not of type {problem.type.full}{why}"
