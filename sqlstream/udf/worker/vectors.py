"""Whole columns between Arrow and pandas, for functions that take and return them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlstream.udf.api import PANDAS
from sqlstream.udf.worker.failures import of_wrong_type
from sqlstream.udf.worker.values import WrongType, arrow_array, arrow_type, python_values, too_long

if TYPE_CHECKING:
    import datetime

    from sqlstream.sql.types import Type

# Nested values come as Arrow makes them of Python's, times in them too.
_BY_VALUE = ("ARRAY", "MAP", "TIME", "INTERVAL_MILLIS")


def argument_column(array: pa.Array, type_: Type, zone: datetime.tzinfo, func_type: str) -> Any:
    """A column as the function takes it: a pandas.Series, a ROW's a DataFrame; or an Arrow array, a TIMESTAMP's without a zone."""
    if type_.root == "TIMESTAMP":
        array = array.cast(pa.timestamp("us"))
    if func_type != PANDAS:
        return array
    import pandas

    if type_.root == "ROW":
        parts = {n: argument_column(part, t, zone, func_type) for n, t, part in zip(type_.names, type_.children, array.flatten(), strict=True)}
        return pandas.DataFrame(parts)
    if type_.root in _BY_VALUE:
        return pandas.Series(python_values(array, type_, zone), dtype=object)
    series = array.to_pandas(date_as_object=True)
    return series.dt.tz_convert(zone) if type_.root == "TIMESTAMP_LTZ" else series


def result_column(found: Any, type_: Type, zone: datetime.tzinfo, count: int, func_type: str) -> pa.Array:
    """The column that a function has returned, of ``count`` values. Raises WrongType."""
    if func_type == PANDAS:
        return _of_pandas(found, type_, zone, count)
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    if not isinstance(found, pa.Array):
        raise WrongType(found, type_, "it must be a pyarrow.Array")
    _check(len(found), count, found, type_)
    if type_.root == "TIMESTAMP" and pa.types.is_timestamp(found.type) and found.type.tz is None:
        found = found.cast(pa.timestamp("us")).cast(pa.timestamp("us", tz="UTC"))
    try:
        found = found.cast(arrow_type(type_))
    except pa.ArrowException as error:
        raise WrongType(found, type_, str(error)) from None
    return _fitting(found, type_)


def _of_pandas(found: Any, type_: Type, zone: datetime.tzinfo, count: int) -> pa.Array:
    import pandas

    if isinstance(found, pandas.DataFrame) and type_.root == "ROW":
        _check(len(found), count, found, type_)
        missing = [n for n in type_.names if n not in found.columns]
        if missing:
            raise WrongType(found, type_, f"it has no column {missing[0]!r}")
        parts = [_of_pandas(found[n], t, zone, count) for n, t in zip(type_.names, type_.children, strict=True)]
        return pa.StructArray.from_arrays(parts, fields=list(arrow_type(type_)))
    if type(found).__name__ == "ndarray":
        found = pandas.Series(found)
    if not isinstance(found, pandas.Series):
        raise WrongType(found, type_, "it must be a pandas.Series")
    _check(len(found), count, found, type_)
    if isinstance(found.dtype, pandas.DatetimeTZDtype) and type_.root == "TIMESTAMP":
        found = found.dt.tz_localize(None)
    elif pandas.api.types.is_datetime64_dtype(found.dtype) and type_.root == "TIMESTAMP_LTZ":
        found = found.dt.tz_localize(zone)
    if found.dtype != object or type_.is_string:
        try:
            column = pa.Array.from_pandas(found, type=arrow_type(type_))
            column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
            return _fitting(_cut(column, type_), type_)
        except pa.ArrowException as error:
            if found.dtype != object:
                raise WrongType(found, type_, str(error)) from None
    values = [None if v is None or v is pandas.NaT or (isinstance(v, float) and v != v) else v for v in found.tolist()]
    array, wrong = arrow_array(values, type_, zone)
    if wrong is not None:
        raise wrong[1]
    return array


def _cut(array: pa.Array, type_: Type) -> pa.Array:
    """Times with the digits that their type has."""
    if not type_.is_timestamp or type_.args[0] >= 6:
        return array
    import pyarrow.compute as pc

    return pc.floor_temporal(array, 10 ** (6 - type_.args[0]), unit="microsecond")


def _check(length: int, count: int, found: Any, type_: Type) -> None:
    if length != count:
        raise WrongType(found, type_, f"it has {length} values, not {count}")


def _fitting(array: pa.Array, type_: Type) -> pa.Array:
    if not type_.nullable and array.null_count:
        raise WrongType(None, type_)
    if (wrong := too_long(array, type_)) is not None:
        raise wrong
    return array


def described_column(problem: WrongType) -> str:
    """What is wrong with a column, or with a value in it, in words."""
    kind = getattr(problem.value, "dtype", None) or getattr(problem.value, "type", None)
    if kind is None and type(problem.value).__name__ != "DataFrame":
        return of_wrong_type(problem)
    name = type(problem.value).__name__ + (f" of {kind}" if kind is not None else "")
    return f"a {name}, which is not a column of {problem.type.full}{f': {problem.why}' if problem.why else ''}"
