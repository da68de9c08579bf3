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


def result_column(column: Any, type_: Type, zone: datetime.tzinfo, count: int, func_type: str) -> pa.Array:
    """The column that a function has returned, of ``count`` values. Raises WrongType."""
    if func_type == PANDAS:
        return _of_pandas(column, type_, zone, count)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not isinstance(column, pa.Array):
        raise WrongType(column, type_, "it must be a pyarrow.Array")
    _check(len(column), count, column, type_)
    if type_.root == "TIMESTAMP" and pa.types.is_timestamp(column.type) and column.type.tz is None:
        column = column.cast(pa.timestamp("us")).cast(pa.timestamp("us", tz="UTC"))
    try:
        column = column.cast(arrow_type(type_))
    except pa.ArrowException as error:
        raise WrongType(column, type_, str(error)) from None
    return _fitting(column, type_)


def _of_pandas(series: Any, type_: Type, zone: datetime.tzinfo, count: int) -> pa.Array:
    import pandas

    if isinstance(series, pandas.DataFrame) and type_.root == "ROW":
        _check(len(series), count, series, type_)
        missing = [n for n in type_.names if n not in series.columns]
        if missing:
            raise WrongType(series, type_, f"it has no column {missing[0]!r}")
        parts = [_of_pandas(series[n], t, zone, count) for n, t in zip(type_.names, type_.children, strict=True)]
        return pa.StructArray.from_arrays(parts, fields=list(arrow_type(type_)))
    if type(series).__name__ == "ndarray":
        series = pandas.Series(series)
    if not isinstance(series, pandas.Series):
        raise WrongType(series, type_, "it must be a pandas.Series")
    _check(len(series), count, series, type_)
    if isinstance(series.dtype, pandas.DatetimeTZDtype) and type_.root == "TIMESTAMP":
        series = series.dt.tz_localize(None)
    elif pandas.api.types.is_datetime64_dtype(series.dtype) and type_.root == "TIMESTAMP_LTZ":
        series = series.dt.tz_localize(zone)
    if series.dtype != object or type_.is_string:
        try:
            column = pa.Array.from_pandas(series, type=arrow_type(type_))
            column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
            return _fitting(_cut(column, type_), type_)
        except pa.ArrowException as error:
            if series.dtype != object:
                raise WrongType(series, type_, str(error)) from None
    values = [None if v is None or v is pandas.NaT or (isinstance(v, float) and v != v) else v for v in series.tolist()]
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


def _check(length: int, count: int, value: Any, type_: Type) -> None:
    if length != count:
        raise WrongType(value, type_, f"it has {length} values, not {count}")


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
