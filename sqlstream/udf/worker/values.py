"""Values between Arrow, which Spark's workers are given, and Python, for every type that Flink passes to a function.

A TIMESTAMP is a naive datetime, its wall time; a TIMESTAMP_LTZ an aware one in the session's zone. Both are carried as UTC.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import numbers
import operator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlstream.sql.types import MAX_LENGTH
from sqlstream.udf.row import Row

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.sql.types import Type

_ARROW = {
    "BOOLEAN": pa.bool_(), "TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INT": pa.int32(), "BIGINT": pa.int64(), "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(), "CHAR": pa.string(), "VARCHAR": pa.string(), "BINARY": pa.binary(), "VARBINARY": pa.binary(), "DATE": pa.date32(),
    "TIME": pa.time64("ns"), "TIMESTAMP": pa.timestamp("us", tz="UTC"), "TIMESTAMP_LTZ": pa.timestamp("us", tz="UTC"),
    "INTERVAL_MILLIS": pa.duration("us"),
}  # fmt: skip
_SIZED = ("CHAR", "VARCHAR", "BINARY", "VARBINARY")
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}


class WrongType(Exception):
    """A value that is none of its declared type. ``value`` is it, or the part of it that does not fit ``type``."""

    def __init__(self, value: Any, type_: Type, why: str = "") -> None:
        super().__init__(why)
        self.value = value
        self.type = type_
        self.why = why


def arrow_type(type_: Type) -> pa.DataType:
    """The Arrow type in which Spark passes ``type_``."""
    match type_.root:
        case "DECIMAL":
            return pa.decimal128(*type_.args)
        case "ARRAY":
            return pa.list_(arrow_type(type_.children[0]))
        case "MAP":
            return pa.map_(*map(arrow_type, type_.children))
        case "ROW":
            return pa.struct([pa.field(n, arrow_type(c)) for n, c in zip(type_.names, type_.children, strict=True)])
    return _ARROW[type_.root]


# --- to Python --------------------------------------------------------------------------------------------------------


def python_values(array: pa.Array, type_: Type, zone: datetime.tzinfo) -> list[Any]:
    """The values of ``array``."""
    values = array.to_pylist()
    convert = _reader(type_, zone)
    return values if convert is None else [None if v is None else convert(v) for v in values]


def _reader(type_: Type, zone: datetime.tzinfo) -> Callable[[Any], Any] | None:
    """What makes a value of ``type_`` from what Arrow gives; None where it is that."""
    match type_.root:
        case "TIMESTAMP":
            return lambda v: v.replace(tzinfo=None)
        case "TIMESTAMP_LTZ":
            return lambda v: v.astimezone(zone)
        case "ARRAY":
            element = _reader(type_.children[0], zone)
            return None if element is None else lambda v: [None if e is None else element(e) for e in v]
        case "MAP":
            key, value = (_reader(c, zone) or _same for c in type_.children)
            return lambda v: {key(k): None if e is None else value(e) for k, e in v}
        case "ROW":
            names, parts = type_.names, [_reader(c, zone) or _same for c in type_.children]
            return lambda v: Row.of(names, [None if v[n] is None else read(v[n]) for n, read in zip(names, parts, strict=True)])
    return None


def _same(value: Any) -> Any:
    return value


# --- to Arrow ---------------------------------------------------------------------------------------------------------

# The classes whose values Arrow takes as they are.
_EXACT = {
    "BOOLEAN": bool, "TINYINT": int, "SMALLINT": int, "INT": int, "BIGINT": int, "FLOAT": float, "DOUBLE": float, "CHAR": str, "VARCHAR": str,
    "BINARY": bytes, "VARBINARY": bytes, "DATE": datetime.date,
}  # fmt: skip


def arrow_array(values: list[Any], type_: Type, zone: datetime.tzinfo) -> tuple[pa.Array | None, tuple[int, WrongType] | None]:
    """``values`` as an Arrow array; or the place of the first one that is none of ``type_``, and what is wrong with it."""
    exact = _EXACT.get(type_.root)
    if exact is not None and set(map(type, values)) <= {exact, type(None)} and (type_.nullable or None not in values):
        try:
            array = pa.array(values, type=arrow_type(type_))
            if too_long(array, type_) is None:
                return array, None
        except (pa.ArrowException, OverflowError, UnicodeError):  # one is out of range: which, is found below
            pass
    write, converted = writer(type_, zone), []
    for place, value in enumerate(values):
        try:
            converted.append(write(value))
        except WrongType as problem:
            return None, (place, problem)
    return pa.array(converted, type=arrow_type(type_)), None


def too_long(array: pa.Array, type_: Type) -> WrongType | None:
    """The longest of texts or bytes where it is longer than ``type_`` allows. Flink's pyflink does not look."""
    if type_.root not in _SIZED or type_.args[0] == MAX_LENGTH:
        return None
    import pyarrow.compute as pc

    lengths = pc.utf8_length(array) if type_.is_string else pc.binary_length(array)
    most = pc.max(lengths).as_py()
    if most is None or most <= type_.args[0]:
        return None
    return WrongType(array[pc.index(lengths, most).as_py()].as_py(), type_, "it is too long")


def writer(type_: Type, zone: datetime.tzinfo) -> Callable[[Any], Any]:
    """What makes of a value of Python's one that Arrow takes for ``type_``. Raises WrongType."""
    convert = _writer(type_, zone)

    def write(value: Any) -> Any:
        if value is None:
            if not type_.nullable:
                raise WrongType(value, type_)
            return None
        return convert(value)

    return write


def _writer(type_: Type, zone: datetime.tzinfo) -> Callable[[Any], Any]:
    match type_.root:
        case "BOOLEAN":
            return lambda v: bool(v) if isinstance(v, bool) or type(v).__name__ in ("bool_", "bool") else _wrong(v, type_)
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
            return _integer(type_)
        case "FLOAT" | "DOUBLE":
            return lambda v: _wrong(v, type_) if isinstance(v, bool) or not isinstance(v, numbers.Real) else float(v)
        case "DECIMAL":
            return _decimal(type_)
        case "CHAR" | "VARCHAR":
            return lambda v: _text(v, type_)
        case "BINARY" | "VARBINARY":
            return lambda v: _bytes(v, type_)
        case "DATE":
            return lambda v: _wrong(v, type_) if not isinstance(v, datetime.date) else v.date() if isinstance(v, datetime.datetime) else v
        case "TIME":
            return lambda v: _cut(v, type_) if isinstance(v, datetime.time) else _wrong(v, type_)
        case "TIMESTAMP":
            return lambda v: _cut(v.replace(tzinfo=None), type_) if isinstance(v, datetime.datetime) else _wrong(v, type_)
        case "TIMESTAMP_LTZ":
            return lambda v: _instant(v, type_, zone)
        case "INTERVAL_MILLIS":
            return lambda v: v if isinstance(v, datetime.timedelta) else _wrong(v, type_)
        case "ARRAY":
            element = writer(type_.children[0], zone)
            return lambda v: [element(e) for e in _listed(v, type_)]
        case "MAP":
            key, value = writer(type_.children[0].not_null(), zone), writer(type_.children[1], zone)
            return lambda v: [(key(k), value(e)) for k, e in v.items()] if isinstance(v, dict) else _wrong(v, type_)
    assert type_.root == "ROW", type_
    names, parts = type_.names, [writer(c, zone) for c in type_.children]
    return lambda v: {n: write(e) for n, write, e in zip(names, parts, _fields(v, type_), strict=True)}


def _wrong(value: Any, type_: Type, why: str = "") -> Any:
    raise WrongType(value, type_, why)


def _integer(type_: Type) -> Callable[[Any], int]:
    bound = 1 << (_BITS[type_.root] - 1)

    def write(value: Any) -> int:
        if isinstance(value, bool):
            _wrong(value, type_)
        try:
            number = operator.index(value)
        except TypeError:
            _wrong(value, type_)
        return number if -bound <= number < bound else _wrong(value, type_, "it is out of range")

    return write


def _decimal(type_: Type) -> Callable[[Any], decimal.Decimal]:
    precision, scale = type_.args
    unit, context = decimal.Decimal(1).scaleb(-scale), decimal.Context(prec=precision)

    def write(value: Any) -> decimal.Decimal:
        if isinstance(value, bool) or not isinstance(value, decimal.Decimal | int):
            _wrong(value, type_)
        try:
            return decimal.Decimal(value).quantize(unit, context=context)
        except decimal.InvalidOperation:
            _wrong(value, type_, "it has too many digits")
            raise

    return write


def _text(value: Any, type_: Type) -> str:
    if not isinstance(value, str):
        _wrong(value, type_)
    try:
        value.encode()
    except UnicodeEncodeError:
        _wrong(value, type_, "it is not Unicode text")
    return value if len(value) <= type_.args[0] else _wrong(value, type_, "it is too long")  # type: ignore[no-any-return]


def _bytes(value: Any, type_: Type) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        _wrong(value, type_)
    octets = bytes(value)
    return octets if len(octets) <= type_.args[0] else _wrong(value, type_, "it is too long")


def _cut(value: Any, type_: Type) -> Any:
    """A time with the digits that its type has."""
    unit = 10 ** max(0, 6 - type_.args[0])
    return value.replace(microsecond=value.microsecond // unit * unit, tzinfo=None)


def _instant(value: Any, type_: Type, zone: datetime.tzinfo) -> datetime.datetime:
    if not isinstance(value, datetime.datetime):
        _wrong(value, type_)
    aware = value if value.tzinfo is not None else value.replace(tzinfo=zone)
    return _cut(aware.astimezone(datetime.UTC), type_)  # type: ignore[no-any-return]


def _listed(value: Any, type_: Type) -> Any:
    if isinstance(value, list | tuple):
        return value
    return value.tolist() if type(value).__name__ in ("ndarray", "Series") else _wrong(value, type_)


def _fields(value: Any, type_: Type) -> Any:
    """The fields of what stands for a ROW, in order."""
    names = type_.names
    if isinstance(value, Row) or hasattr(value, "_fields"):
        written = value._fields
        if written and set(written) == set(names):
            return [getattr(value, n) if not isinstance(value, Row) else value[n] for n in names]
        cells = list(value)
    elif isinstance(value, dict):
        if unknown := [k for k in value if k not in names]:
            _wrong(value, type_, f"it has no field {unknown[0]!r}")
        return [value.get(n) for n in names]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        cells = [getattr(value, f.name) for f in dataclasses.fields(value)]
    elif isinstance(value, list | tuple) or type(value).__name__ == "Row":
        cells = list(value)
    else:
        return _wrong(value, type_)
    return cells if len(cells) == len(names) else _wrong(value, type_, f"it has {len(cells)} fields, not {len(names)}")
