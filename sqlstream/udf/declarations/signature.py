"""What a declared function takes and returns, as Flink's types: of DataTypes, of the names of types, of annotations."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import inspect
import re
import types
import typing
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import NotSupported, SqlStreamError, ValidationError
from sqlstream.sql import types as t
from sqlstream.sql.generated_names import reserved
from sqlstream.sql.syntax.cursor import Cursor
from sqlstream.sql.syntax.tokens import tokenize
from sqlstream.sql.syntax.type_syntax import parse_type
from sqlstream.udf.api import GENERAL, AggregateFunction, Declared, FunctionKind, TableAggregateFunction, TableFunction, UserDefinedFunction
from sqlstream.udf.data_types import RowField
from sqlstream.udf.row import Row

if TYPE_CHECKING:
    from sqlstream.sql.types import Type

_ANNOTATED: dict[Any, Type] = {
    str: t.STRING, int: t.BIGINT, float: t.DOUBLE, bool: t.BOOLEAN, bytes: t.BYTES, Decimal: t.decimal(38, 18),
    datetime.date: t.DATE, datetime.time: t.time(0), datetime.datetime: t.timestamp(6), datetime.timedelta: t.INTERVAL_MILLIS,
}  # fmt: skip
_MANY = (collections.abc.Iterator, collections.abc.Iterable, collections.abc.Generator, collections.abc.Sequence, list)
# The name of a ROW's field, before its type.
_FIELD = re.compile(r"([<,(]\s*)(\w+)\s+(?!(?:NOT|NULL|ARRAY|MULTISET|VARYING|PRECISION|WITH|WITHOUT|TO)\b)(?=[A-Za-z])", re.I)
# Types without a Python value.
_FOREIGN = ("NULL", "VARIANT", "INTERVAL_MONTHS", "MULTISET")


@dataclass(frozen=True)
class FunctionParameter:
    """One parameter of a function. ``type`` is None where a call's argument says it."""

    name: str
    type: Type | None
    optional: bool = False
    repeated: bool = False


@dataclass(frozen=True)
class Signature:
    """The parameters of a function and the type of its value; a table function's is the ROW of its columns."""

    parameters: tuple[FunctionParameter, ...]
    result: Type
    accumulator: Type | None = None


def type_named(text: str) -> Type:
    """The type that ``text`` names. Raises SqlStreamError. In these names, not in SQL, any word may be a field's: Flink has a parser of its own."""
    try:
        return _parsed(text)
    except SqlStreamError:
        if (quoted := _FIELD.sub(r"\1`\2` ", text)) == text:
            raise
        return _parsed(quoted)


def _parsed(text: str) -> Type:
    cursor = Cursor(text, tokenize(text))
    type_ = parse_type(cursor)
    if not cursor.at_end:
        cursor.unexpected(cursor.token)
    return type_


def signature(declared: Declared, name: str) -> Signature:
    """What ``declared``, called ``name``, takes and returns. Raises ValidationError, NotSupported."""
    try:
        read = _signature(declared)
    except SqlStreamError as error:
        raise type(error)(f"The function '{name}': {error.message[:1].lower()}{error.message[1:]}", hint=error.hint) from None
    for part in (*(p.type for p in read.parameters), read.result):
        if part is not None and (foreign := next((x for x in part.parts if x.root in _FOREIGN), None)):
            raise NotSupported(
                f"The function '{name}': values of type {foreign} are not passed to Python.", hint="CAST the argument to STRING or to a number."
            )
        if part is not None and (own := next((n for x in part.parts for n in x.names if reserved(n)), None)):
            raise ValidationError(f"The function '{name}': a field can't be called '{own}': such names are reserved for columns that sqlstream adds.")
    return read


def _signature(declared: Declared) -> Signature:
    if declared.waits and (declared.kind is not FunctionKind.SCALAR or declared.func_type != GENERAL):
        raise NotSupported("Only a scalar function by row can be async.", hint="Write def in the place of async def.")
    hints = _hints(declared.body)
    parameters = _parameters(declared, hints)
    if isinstance(declared.function, AggregateFunction):
        value = declared.function
        result = declared.result if declared.result is not None else value.get_result_type()
        if result is None and not isinstance(value, TableAggregateFunction):
            result = type_of_annotation(_hints(value.get_value).get("return"))
        accumulator = declared.accumulator if declared.accumulator is not None else value.get_accumulator_type()
        return Signature(parameters, _needed(result), None if accumulator is None else _type(accumulator))
    if declared.kind is FunctionKind.AGGREGATE:  # of whole columns
        return Signature(parameters, _needed(declared.result if declared.result is not None else type_of_annotation(hints.get("return"))))
    if declared.kind is FunctionKind.TABLE:
        return Signature(parameters, _columns(declared.result, hints.get("return")))
    return Signature(parameters, _needed(declared.result if declared.result is not None else type_of_annotation(hints.get("return"))))


def _needed(written: Any) -> Type:
    if written is None:
        raise ValidationError("Its result has no type.", hint="Give the decorator a result_type, or the function an annotation: -> str.")
    return _type(written)


def _type(written: Any) -> Type:
    """A type as a decorator is given it."""
    if isinstance(written, t.Type):
        return written
    if isinstance(written, str):
        try:
            return type_named(written)
        except SqlStreamError as error:
            raise ValidationError(f"'{written}' is not a type: {error.message}") from None
    if (annotated := type_of_annotation(written)) is not None:
        return annotated
    raise ValidationError(f"{written!r} is not a type.", hint="Write DataTypes.STRING(), 'STRING', or an annotation.")


def _parameters(declared: Declared, hints: dict[str, Any]) -> tuple[FunctionParameter, ...]:
    declared_types: list[Any] | None = None
    if declared.inputs is not None:
        declared_types = (
            list(declared.inputs) if isinstance(declared.inputs, list | tuple) and not isinstance(declared.inputs, RowField) else [declared.inputs]
        )
    try:
        written = list(inspect.signature(declared.body).parameters.values())
    except (TypeError, ValueError):  # a function of C: nothing is known of it
        written = [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)]
    if isinstance(declared.function, AggregateFunction):
        written = written[1:]
    positional = [p for p in written if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
    if declared_types is not None:
        names = [p.name for p in positional if p.kind is not p.VAR_POSITIONAL]
        return tuple(FunctionParameter(names[i] if i < len(names) else f"arg{i}", _type(g)) for i, g in enumerate(declared_types))
    parameters = []
    for p in positional:
        hint = hints.get(p.name)
        type_ = None if hint is None or _unknown(hint) else type_of_annotation(hint)
        if hint is not None and not _unknown(hint) and type_ is None:
            raise ValidationError(f"The annotation of '{p.name}' does not name a SQL type.", hint="Give the decorator input_types.")
        repeated = p.kind is p.VAR_POSITIONAL
        parameters.append(FunctionParameter(p.name, type_, p.default is not p.empty and not repeated, repeated))
    return tuple(parameters)


def _unknown(hint: Any) -> bool:
    """Whether an annotation says nothing of a SQL type: that of a whole column, of a Row, or Any."""
    return hint is Any or getattr(hint, "__name__", "") == "Row" or getattr(hint, "__module__", "").split(".")[0] in ("pandas", "pyarrow", "numpy")


def _hints(body: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(body, include_extras=True)
    except (NameError, TypeError, AttributeError):  # annotations of names that only a type checker imports
        return {}


def _plain(hint: Any) -> Any:
    """``int`` of ``int | None``."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        others = [a for a in typing.get_args(hint) if a is not type(None)]
        return others[0] if len(others) == 1 else hint
    return hint


def type_of_annotation(hint: Any) -> Type | None:
    """The type for a Python annotation; None where there is none."""
    hint = _plain(hint)
    if isinstance(hint, t.Type):
        return hint
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return next((_type(a) for a in arguments[1:] if isinstance(a, t.Type | str)), None) or type_of_annotation(arguments[0])
    if origin in (list, collections.abc.Sequence) and len(arguments) == 1:
        element = type_of_annotation(arguments[0])
        return None if element is None else t.array(element)
    if origin in (dict, collections.abc.Mapping) and len(arguments) == 2:
        key, value = (type_of_annotation(a) for a in arguments)
        return None if key is None or value is None else t.map_of(key, value)
    try:
        if hint in _ANNOTATED:
            return _ANNOTATED[hint]
    except TypeError:  # an annotation that has no hash
        return None
    return _record(hint)


def _record(hint: Any) -> Type | None:
    """The ROW of a NamedTuple, a dataclass, or ``tuple[int, str]``."""
    if typing.get_origin(hint) is tuple:
        parts = {f"f{i}": part for i, part in enumerate(typing.get_args(hint))}
    elif isinstance(hint, type) and (hasattr(hint, "_fields") or dataclasses.is_dataclass(hint)) and not issubclass(hint, Row):
        parts = _hints(hint)
    else:
        return None
    resolved = [type_of_annotation(part) for part in parts.values()]
    return None if not resolved or None in resolved else t.row(tuple(parts), tuple(x for x in resolved if x is not None))


def _columns(declared: Any, hint: Any) -> Type:
    """The ROW of a table function's columns."""
    if declared is not None:
        columns = declared if isinstance(declared, list | tuple) and not isinstance(declared, RowField) else [declared]
        parts = [_type(g.type if isinstance(g, RowField) else g) for g in columns]
        if len(parts) == 1 and parts[0].root == "ROW":
            return parts[0]
        return t.row(tuple(g.name if isinstance(g, RowField) else f"f{i}" for i, g in enumerate(columns)), tuple(parts))
    hint = _plain(hint)
    element = typing.get_args(hint)[0] if typing.get_origin(hint) in _MANY and typing.get_args(hint) else None
    if element is None or (annotated := type_of_annotation(element)) is None:
        raise ValidationError(
            "Its columns have no types.", hint="Give the decorator result_types, or the function an annotation: -> Iterator[tuple[str, int]]."
        )
    return annotated if annotated.root == "ROW" else t.row(("f0",), (annotated,))


def undecorated(function: Any) -> Declared:
    """A plain function, or a class of functions, as its annotations declare it. Raises ValidationError."""
    function = function() if inspect.isclass(function) and issubclass(function, UserDefinedFunction) else function
    if isinstance(function, UserDefinedFunction):
        kinds = {TableAggregateFunction: FunctionKind.TABLE_AGGREGATE, AggregateFunction: FunctionKind.AGGREGATE, TableFunction: FunctionKind.TABLE}
        kind = next((kind for base, kind in kinds.items() if isinstance(function, base)), FunctionKind.SCALAR)
        return Declared(kind, function)
    hint = _plain(_hints(function).get("return"))
    many = inspect.isgeneratorfunction(function) or (typing.get_origin(hint) in _MANY and typing.get_origin(hint) is not list)
    listed = typing.get_origin(hint) is list
    return Declared(FunctionKind.TABLE if many or listed else FunctionKind.SCALAR, function)
