"""Schemas of Protobuf: whether a message fits the columns of a table, the message of a row, and the type of what a message describes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import NotSupported, ValidationError, did_you_mean
from sqlstream.sql import types as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.descriptor import Descriptor, FieldDescriptor

    from sqlstream.formats.base import Fields
    from sqlstream.sql.types import Type

_SMALL = ("TINYINT", "SMALLINT")
# The types of columns by the kind of a field, and how Flink calls both.
_TYPES = {
    "BOOLEAN": ("BOOLEAN",), "BYTE_STRING": ("BINARY", "VARBINARY"), "DOUBLE": ("DOUBLE",), "FLOAT": ("FLOAT",),
    "ENUM": ("VARCHAR", "CHAR", *_SMALL, "INT", "BIGINT"), "STRING": ("VARCHAR", "CHAR"), "INT": ("INT",), "LONG": ("BIGINT",),
}  # fmt: skip
_ROOTS = {
    "INT": "INTEGER", "TIME": "TIME_WITHOUT_TIME_ZONE", "TIMESTAMP": "TIMESTAMP_WITHOUT_TIME_ZONE", "TIMESTAMP_LTZ": "TIMESTAMP_WITH_LOCAL_TIME_ZONE",
}  # fmt: skip


def check(message: Descriptor, fields: Fields, at: Any = None) -> None:
    """Raises ValidationError for a column that the message has not, or has of another type, NotSupported."""
    known = message.fields_by_name
    for name, type_ in fields:
        if name not in known:
            hint = did_you_mean(name, list(known)) or f"It has: {', '.join(known)}."
            raise ValidationError(f"Column {name} does not exists in definition of proto class.", at=at, hint=f"'{message.full_name}': {hint}")
        _check(known[name], name, type_, at)


def _check(field: FieldDescriptor, column: str, type_: Type, at: Any) -> None:
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        _must_be("MAP", column, type_, at)
        for of_entry, part in zip(("key", "value"), type_.children, strict=True):
            _check(message.fields_by_name[of_entry], column, part, at)
    elif field.is_repeated:
        _must_be("ARRAY", column, type_, at)
        _check_one(field, column, type_.children[0], at)
    else:
        _check_one(field, column, type_, at)


def _check_one(field: FieldDescriptor, column: str, type_: Type, at: Any) -> None:
    """The same of one value of a field that may be repeated."""
    if field.message_type is not None:
        _must_be("ROW", column, type_, at)
        check(field.message_type, tuple(zip(type_.names, type_.children, strict=True)), at)
        return
    kind = _kind(field)
    if type_.root not in _TYPES[kind]:
        raise ValidationError(
            f"Protobuf field type does not match column type, {kind}(protobuf) is not compatible of {_ROOTS.get(type_.root, type_.root)}",
            at=at,
            hint=f"Column '{column}': declare {' or '.join(_TYPES[kind])} for the field '{field.name}'.",
        )
    if kind == "ENUM" and type_.root in _SMALL:
        raise NotSupported(f"Unsupported data type in schema: {type_}", at=at, hint=f"Declare column '{column}' INT or STRING.")


def _kind(field: FieldDescriptor) -> str:
    """What Java calls the type of a field that is no message."""
    names = ("", "INT", "LONG", "INT", "LONG", "DOUBLE", "FLOAT", "BOOLEAN", "ENUM", "STRING")
    return "BYTE_STRING" if field.type == field.TYPE_BYTES else names[field.cpp_type]


def _must_be(root: str, column: str, type_: Type, at: Any) -> None:
    if type_.root != root:
        flink = {"ROW": "RowType", "MAP": "MapType", "ARRAY": "ArrayType"}[root]
        raise ValidationError(f"Unexpected LogicalType: {type_}. It should be {flink}", at=at, hint=f"Column '{column}'.")


# What a column is written as, and what the kinds of Java become; those without a sign need a wider type.
_WRITTEN = {
    "BOOLEAN": "bool", "TINYINT": "int32", "SMALLINT": "int32", "INT": "int32", "BIGINT": "int64", "FLOAT": "float", "DOUBLE": "double",
    "CHAR": "string", "VARCHAR": "string", "BINARY": "bytes", "VARBINARY": "bytes",
}  # fmt: skip
_READ = {
    "BOOLEAN": t.BOOLEAN, "BYTE_STRING": t.BYTES, "DOUBLE": t.DOUBLE, "FLOAT": t.FLOAT, "ENUM": t.STRING, "STRING": t.STRING, "INT": t.INT,
    "LONG": t.BIGINT,
}  # fmt: skip
TIMESTAMP = t.row(("seconds", "nanos"), (t.BIGINT, t.INT))
_KEYS = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "CHAR", "VARCHAR")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def of_row(fields: Fields, at: Any = None) -> str:
    """A .proto file whose message has ``fields``. Raises NotSupported, ValidationError for what Protobuf has not."""
    return "\n".join(['syntax = "proto3";', "", *_message("Record", fields, at)]) + "\n"


def _message(name: str, fields: Fields, at: Any) -> Iterator[str]:
    yield f"message {name} {{"
    for number, (column, type_) in enumerate(fields, 1):
        if not _NAME.fullmatch(column):
            hint = "A name in Protobuf consists of letters, digits and _, and does not begin with a digit."
            raise ValidationError(f"Illegal name: {column}", at=at, hint=hint)
        one, label = type_, "optional " if type_.nullable else ""
        nested: list[str] = []
        if type_.root == "ARRAY":
            one, label = type_.children[0], "repeated "
        elif type_.root in ("MAP", "MULTISET"):
            key, one = type_.children[0], type_.children[1] if type_.root == "MAP" else t.INT
            if key.root not in _KEYS:
                raise NotSupported(f"The protobuf format can't carry a map with keys of type {key}.", at=at, hint="CAST them to STRING.")
            label = f"map<{_WRITTEN[key.root]}, "
        if one.root == "ROW":
            kind = f"Row{number}"
            nested = list(_message(kind, tuple(zip(one.names, one.children, strict=True)), at))
        elif one.root in _WRITTEN:
            kind = _WRITTEN[one.root]
        else:
            hint = "CAST it to STRING, or to BIGINT; a time to ROW<seconds BIGINT, nanos INT>."
            raise NotSupported(f"The protobuf format can't carry type {one} of column '{column}'.", at=at, hint=hint)
        yield from (f"  {line}" for line in nested)
        yield f"  {label}{kind}{'>' if label.startswith('map') else ''} {column} = {number};"
    yield "}"


def type_of(message: Descriptor, around: tuple[str, ...] = ()) -> Type | None:
    """The type of a message, a ROW; None for one that can hold itself. ``around``: the messages that it is in."""
    if message.full_name in around:
        return None
    inside = (*around, message.full_name)
    found = [(field.name, type_) for field in message.fields if (type_ := _type(field, inside)) is not None]
    return t.row(tuple(name for name, _ in found), tuple(type_ for _, type_ in found))


def _type(field: FieldDescriptor, inside: tuple[str, ...]) -> Type | None:
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        key, value = (_one(message.fields_by_name[part], inside) for part in ("key", "value"))
        return None if key is None or value is None else t.map_of(key.not_null(), value)
    one = _one(field, inside)
    return t.array(one) if one is not None and field.is_repeated else one


def _one(field: FieldDescriptor, inside: tuple[str, ...]) -> Type | None:
    if field.message_type is not None:
        return type_of(field.message_type, inside)
    unsigned = field.type in (field.TYPE_UINT32, field.TYPE_FIXED32)
    return t.BIGINT if unsigned else _READ[_kind(field)]
