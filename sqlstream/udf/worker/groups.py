"""Aggregate functions at work, in a Spark worker: what is kept of each group comes in, and a value goes out.

Of a group all rows are kept, an array of its rows' arguments as ROWs; or an accumulator, with the rows that are not in it yet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlstream.core.zones import zone_of
from sqlstream.sql import types as t
from sqlstream.udf.api import GENERAL, RAISED
from sqlstream.udf.worker import accumulators, masking, vectors
from sqlstream.udf.worker.failures import failure, of_wrong_type, secret_texts, shown_arguments
from sqlstream.udf.worker.task import FunctionFailed
from sqlstream.udf.worker.values import arrow_array, python_values

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterator

    import pyarrow as pa

    from sqlstream.sql.types import Type
    from sqlstream.udf.worker.task import Task


def accumulates(groups: Type) -> bool:
    """Whether ``groups``, the type of what is kept of a group, has an accumulator."""
    return groups.root == "ROW"


def row_of(groups: Type) -> Type:
    """One row of what is kept of a group: the arguments are its fields."""
    if not accumulates(groups):
        return groups.children[0]
    row = groups.children[1].children[0]
    return t.row(row.names[1:], row.children[1:])


@dataclass(frozen=True)
class GroupRows:
    """Rows of groups, one group behind the other: their arguments as columns; the sign of each, unless none is retracted."""

    columns: tuple[pa.Array, ...]
    signs: list[int] | None = None

    def places(self, task: Task, count: int, zone: datetime.tzinfo) -> list[tuple[Any, ...]]:
        """The arguments of each of the ``count`` rows."""
        columns = (python_values(c, x, zone) for c, x in zip(self.columns, task.arguments, strict=True))
        return list(zip(*columns, strict=True)) or [()] * count


def signed(columns: list[pa.Array]) -> GroupRows:
    """Rows of which the first column is the sign."""
    signs = columns[0].to_pylist()
    return GroupRows(tuple(columns[1:]), signs if -1 in signs else None)


def group_values(task: Task, function: Any, array: pa.Array) -> pa.Array:
    """The values of ``function``, the one of ``task``, for groups. Raises FunctionFailed."""
    (groups,), zone = task.arguments, zone_of(task.zone)
    # What one row of a group is, for messages: the arguments are columns.
    task = replace(task, arguments=row_of(groups).children)
    kept: list[bytes | None] = [None] * len(array)
    if accumulates(groups):
        first, array = array.flatten()
        kept = first.to_pylist()
    columns = array.flatten().flatten()
    rows = signed(columns) if accumulates(groups) else GroupRows(tuple(columns[: len(task.arguments)]))
    counts = array.value_lengths().to_pylist()
    if task.func_type == GENERAL:
        results = _by_row(task, function, rows, counts, kept, zone, keeps=accumulates(groups))
    else:
        results = _of_columns(task, function, rows.columns, counts, zone)
    values, wrong = arrow_array(list(results), task.result, zone)
    if wrong is None:
        return values
    place, problem = wrong
    where = _rows(task, rows.columns, sum(counts[:place]), counts[place], zone, kept[place])
    problem_text = masking.with_masks(of_wrong_type(problem), secret_texts(task, rows.columns, range(sum(counts[:place]), sum(counts[: place + 1]))))
    raise FunctionFailed(f"The Python function {task.name} returned {problem_text}, {where}.")


def _by_row(
    task: Task, function: Any, rows: GroupRows, counts: list[int], kept: list[bytes | None], zone: datetime.tzinfo, *, keeps: bool
) -> Iterator[Any]:
    """``keeps``: accumulators are kept some time."""
    argument_rows = rows.places(task, sum(counts), zone)
    first = 0
    for count, before in zip(counts, kept, strict=True):
        places = range(first, first + count)
        try:
            accumulator = function.create_accumulator() if before is None else accumulators.loaded(task, function, before)
            take_in(task, function, accumulator, rows, argument_rows, places, zone)
            if keeps:
                accumulators.check_accumulators(task, function, accumulator, rows.columns, places)
            yield function.get_value(accumulator)
        except FunctionFailed:
            raise
        except RAISED as error:
            where = _rows(task, rows.columns, first, count, zone, before)
            raise failure(task, error, function.get_value, rows.columns, places, where) from None
        first += count


def take_in(
    task: Task, function: Any, accumulator: Any, rows: GroupRows, argument_rows: list[tuple[Any, ...]], places: range, zone: datetime.tzinfo
) -> None:
    """Add to ``accumulator`` the rows at ``places``, in order, of all that are ``argument_rows``. Raises FunctionFailed."""
    signs, take, place = rows.signs, function.accumulate, places.start
    try:
        if signs is None:
            for place in places:
                take(accumulator, *argument_rows[place])
        else:
            for place in places:
                take = function.accumulate if signs[place] > 0 else function.retract
                take(accumulator, *argument_rows[place])
    except RAISED as error:
        raise failure(task, error, take, rows.columns, range(place, place + 1), f"for {shown_arguments(task, rows.columns, place, zone)}") from None


def _of_columns(task: Task, function: Any, columns: tuple[pa.Array, ...], counts: list[int], zone: datetime.tzinfo) -> Iterator[Any]:
    """Each group by itself, so that what its columns are in pandas depends on no other's NULLs."""
    body = function if callable(function) else _accumulated(function)
    first = 0
    for count in counts:
        arguments = [
            vectors.argument_column(c.slice(first, count), type_, zone, task.func_type) for c, type_ in zip(columns, task.arguments, strict=True)
        ]
        try:
            result = body(*arguments)
        except RAISED as error:
            where = _rows(task, columns, first, count, zone)
            raise failure(task, error, getattr(function, "accumulate", body), columns, range(first, first + count), where) from None
        # What pandas gives for no value.
        yield None if type(result).__name__ in ("NaTType", "NAType") or (isinstance(result, float) and result != result) else result
        first += count


def _accumulated(function: Any) -> Any:
    """An AggregateFunction of whole columns: all rows are accumulated at once."""

    def body(*columns: Any) -> Any:
        accumulator = function.create_accumulator()
        function.accumulate(accumulator, *columns)
        return function.get_value(accumulator)

    return body


def _rows(task: Task, columns: tuple[pa.Array, ...], first: int, count: int, zone: datetime.tzinfo, kept: bytes | None = None) -> str:
    """A group, in words. ``kept``: the accumulator that it had before these rows."""
    if not count:
        return "for no rows" if kept is None else "for the rows in its accumulator"
    begin = f"that begin{'s' if count == 1 else ''} with {shown_arguments(task, columns, first, zone)}"
    return f"for {count} row{'' if count == 1 else 's'} {begin}{'' if kept is None else ', and those in its accumulator'}"
