"""Aggregate functions at work, in a Spark worker: for each group the array of its rows' arguments, as ROWs, comes in, and a value goes out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlstream.udf import masking
from sqlstream.udf.api import GENERAL, RAISED
from sqlstream.udf.values import arrow_array, python_values, zone_of
from sqlstream.udf.worker import FunctionFailed, failure, of_wrong_type, secrets, shown

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterator

    import pyarrow as pa

    from sqlstream.udf.worker import Task


def values(task: Task, function: Any, array: pa.Array) -> pa.Array:
    """The values of ``function``, the one of ``task``, for groups. Raises FunctionFailed."""
    (groups,), zone = task.arguments, zone_of(task.zone)
    # What one row of a group is, for messages: the arguments are columns.
    task = replace(task, arguments=groups.children[0].children)
    counts = array.value_lengths().to_pylist()
    columns = tuple(array.flatten().flatten()[: len(task.arguments)])
    make = _by_row if task.func_type == GENERAL else _of_columns
    values, wrong = arrow_array(list(make(task, function, columns, counts, zone)), task.result, zone)
    if wrong is None:
        return values
    place, problem = wrong
    rows = _rows(task, columns, sum(counts[:place]), counts[place], zone)
    said = masking.struck(of_wrong_type(problem), secrets(task, columns, range(sum(counts[:place]), sum(counts[: place + 1]))))
    raise FunctionFailed(f"The Python function {task.name} gave {said}, {rows}.")


def _by_row(task: Task, function: Any, columns: tuple[pa.Array, ...], counts: list[int], zone: datetime.tzinfo) -> Iterator[Any]:
    rows = list(zip(*(python_values(c, t, zone) for c, t in zip(columns, task.arguments, strict=True)), strict=True)) or [()] * sum(counts)
    first = 0
    for count in counts:
        place = -1
        try:
            accumulator = function.create_accumulator()
            for place in range(first, first + count):
                function.accumulate(accumulator, *rows[place])
            place = -1
            yield function.get_value(accumulator)
        except RAISED as error:
            if place >= 0:
                where = f"for {shown(task, columns, place, zone)}"
                raise failure(task, error, function.accumulate, columns, range(place, place + 1), where) from None
            where = _rows(task, columns, first, count, zone)
            raise failure(task, error, function.get_value, columns, range(first, first + count), where) from None
        first += count


def _of_columns(task: Task, function: Any, columns: tuple[pa.Array, ...], counts: list[int], zone: datetime.tzinfo) -> Iterator[Any]:
    """Each group by itself, so that what its columns are in pandas depends on no other's NULLs."""
    from sqlstream.udf import vectors

    body = function if callable(function) else _accumulated(function)
    first = 0
    for count in counts:
        given = [vectors.given(c.slice(first, count), t, zone, task.func_type) for c, t in zip(columns, task.arguments, strict=True)]
        try:
            found = body(*given)
        except RAISED as error:
            where = _rows(task, columns, first, count, zone)
            raise failure(task, error, getattr(function, "accumulate", body), columns, range(first, first + count), where) from None
        # What pandas gives for no value.
        yield None if type(found).__name__ in ("NaTType", "NAType") or (isinstance(found, float) and found != found) else found
        first += count


def _accumulated(function: Any) -> Any:
    """An AggregateFunction of whole columns: all rows are taken in at once."""

    def body(*columns: Any) -> Any:
        accumulator = function.create_accumulator()
        function.accumulate(accumulator, *columns)
        return function.get_value(accumulator)

    return body


def _rows(task: Task, columns: tuple[pa.Array, ...], first: int, count: int, zone: datetime.tzinfo) -> str:
    """A group, in words."""
    if not count:
        return "for no rows"
    return f"for {count} row{'' if count == 1 else 's'} that begin{'s' if count == 1 else ''} with {shown(task, columns, first, zone)}"
