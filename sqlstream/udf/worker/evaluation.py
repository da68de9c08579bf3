"""Functions at work, in a Spark worker: Arrow arrays of arguments in, an Arrow array of values out."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # noqa: TC002  (Spark reads the annotations of what it calls)

from sqlstream.core.zones import zone_of
from sqlstream.udf.api import GENERAL, RAISED
from sqlstream.udf.row import Row
from sqlstream.udf.worker import concurrent, dead_letters, groups, masking, vectors
from sqlstream.udf.worker.failures import failure, of_wrong_type, secret_texts, shown_arguments
from sqlstream.udf.worker.opening import opened_function, waiting
from sqlstream.udf.worker.task import FunctionFailed, Task
from sqlstream.udf.worker.values import WrongType, arrow_array, python_values

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable

    from sqlstream.sql.types import Type


def evaluator(task: Task) -> Callable[..., pa.Array]:
    """What Spark calls with a batch of arguments."""

    def call(*arrays: pa.Array) -> pa.Array:
        return evaluated(task, arrays)

    return call


def evaluated(task: Task, arrays: tuple[pa.Array, ...]) -> pa.Array:
    """The values of ``task``'s function for a batch. Raises FunctionFailed."""
    if task.keeps_failures:
        return dead_letters.evaluated_or_left_out(task, arrays, batch_values)
    return batch_values(task, arrays)


def batch_values(task: Task, arrays: tuple[pa.Array, ...]) -> pa.Array:
    """The values of ``task``'s function for a batch. Raises FunctionFailed for the first row that has none."""
    body, zone = opened_function(task), zone_of(task.zone)
    if task.aggregate:
        return groups.group_values(task, body, arrays[0])
    arguments = arrays[: len(task.arguments)]
    if task.func_type == GENERAL:
        return _by_row(task, body, arguments, len(arrays[0]), zone)
    columns = [vectors.argument_column(a, t, zone, task.func_type) for a, t in zip(arguments, task.arguments, strict=True)]
    try:
        result = body(*columns)
    except RAISED as error:
        where = f"for a batch of {len(arrays[0])} rows that begins with {shown_arguments(task, arguments, 0, zone)}"
        raise failure(task, error, body, arguments, range(len(arrays[0])), where) from None
    try:
        return vectors.result_column(result, task.result, zone, len(arrays[0]), task.func_type)
    except WrongType as problem:
        problem_text = masking.with_masks(vectors.described_column(problem), secret_texts(task, arguments, range(len(arrays[0]))))
        raise FunctionFailed(f"The Python function {task.name} returned {problem_text} for a batch of {len(arrays[0])} rows.") from None


def _by_row(task: Task, body: Callable[..., Any], arrays: tuple[pa.Array, ...], count: int, zone: datetime.tzinfo) -> pa.Array:
    columns = [python_values(a, t, zone) for a, t in zip(arrays, task.arguments, strict=True)]
    results: list[Any] = []
    try:
        if task.calls is not None:
            rows = list(zip(*columns, strict=True)) if columns else [()] * count
            results, problem = concurrent.concurrent_values(body, rows, task.calls, waiting())
            if problem is not None:
                raise problem
        elif task.rows:
            is_record = _records(task.result.children[0])
            for row in zip(*columns, strict=True) if columns else ((),) * count:
                results.append([r if is_record(r) else (r,) for r in body(*row) or ()])
        elif columns:
            results.extend(map(body, *columns))
        else:
            results.extend(body() for _ in range(count))
    except RAISED as error:
        place = len(results)
        raise failure(task, error, body, arrays, range(place, place + 1), f"for {shown_arguments(task, arrays, place, zone)}") from None
    column, wrong = arrow_array(results, task.result, zone)
    if wrong is None:
        return column
    place, misfit = wrong
    problem_text = masking.with_masks(of_wrong_type(misfit), secret_texts(task, arrays, range(place, place + 1)))
    raise FunctionFailed(f"The Python function {task.name} returned {problem_text}, for {shown_arguments(task, arrays, place, zone)}.")


def _records(row: Type) -> Callable[[Any], bool]:
    """What tells a row of the columns of ``row`` from the value of its only one."""
    classes = (tuple, Row) if len(row.names) == 1 and row.children[0].root == "MAP" else (tuple, Row, dict)
    return lambda value: isinstance(value, classes) or dataclasses.is_dataclass(value) or type(value).__name__ == "Row"
