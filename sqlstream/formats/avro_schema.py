"""Schemas of Avro: that of a row, as Flink derives it, and the type of what a schema describes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.sql import types as t
from sqlstream.sql.types import INT, Type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlstream.formats.base import Fields

_RECORD = "org.apache.flink.avro.generated.record"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = {
    "BOOLEAN": "boolean", "TINYINT": "int", "SMALLINT": "int", "INT": "int", "BIGINT": "long", "FLOAT": "float", "DOUBLE": "double",
    "CHAR": "string", "VARCHAR": "string", "BINARY": "bytes", "VARBINARY": "bytes",
}  # fmt: skip
_SIMPLE = {
    "boolean": t.BOOLEAN, "int": INT, "long": t.BIGINT, "float": t.FLOAT, "double": t.DOUBLE, "string": t.STRING, "enum": t.STRING, "bytes": t.BYTES,
}  # fmt: skip
# The logical types of numbers, as the legacy mapping has them. Flink reads no microseconds: what a number of them means depends on who wrote it.
_LOGICAL = {
    ("int", "date"): t.DATE, ("int", "time-millis"): t.time(3), ("long", "timestamp-millis"): t.timestamp(3),
    ("long", "timestamp-micros"): t.timestamp(6),
}  # fmt: skip


def of_row(fields: Fields, *, legacy: bool, hint: str, at: Any = None) -> str:
    """The schema of a record, as JSON; ``hint``: what to do where TIMESTAMP_LTZ has none. Raises ValidationError, NotSupported."""
    return of_type(row(fields).not_null(), legacy=legacy, hint=hint, at=at)


def of_type(type_: Type, *, legacy: bool = True, hint: str, at: Any = None) -> str:
    """The same of a type."""
    return json.dumps(_Derivation(at, hint).of(type_, _RECORD, legacy=legacy))


def row(fields: Fields) -> Type:
    """The type of a row of ``fields``."""
    return t.row(tuple(name for name, _ in fields), tuple(type_ for _, type_ in fields))


def notices(fields: Fields) -> list[str]:
    """Notices about columns whose times lose digits."""
    precise = (n for n, type_ in fields if any(p.is_timestamp and p.args[0] > 3 for p in type_.parts))
    return [f"Column '{n}': as Flink's, avro's times are kept to the millisecond; further digits are cut off." for n in precise]


def type_of(schema: str, parts: Iterable[str] = ()) -> Type | None:
    """The type of what a schema, in JSON, describes by the legacy mapping; None where there is none. ``parts``: schemas that it refers to.

    Raises ValueError for what is no schema.
    """
    known: dict[str, Any] = {}
    try:
        for part in parts:
            _type(json.loads(part), known, "", ())
        return _type(json.loads(schema), known, "", ())
    except (KeyError, TypeError, AttributeError, IndexError) as wrong:
        raise ValueError(f"it is no schema of Avro: {wrong!r}") from wrong


def _type(schema: Any, known: dict[str, Any], space: str, inside: tuple[str, ...]) -> Type | None:
    """``known``: the named types that stand before; ``space``: the namespace; ``inside``: the records around, of which none can hold itself."""
    if isinstance(schema, list):
        branches = [branch for branch in schema if branch != "null"]
        if len(branches) != 1 or len(schema) > 2:
            return None
        found = _type(branches[0], known, space, inside)
        return found if found is None or len(schema) == 1 else found.null()
    if isinstance(schema, str):
        schema = {"type": schema}
    kind = schema["type"]
    if isinstance(kind, list | dict):
        return _type(kind, known, space, inside)
    if "name" in schema and kind in ("record", "error", "enum", "fixed"):
        space, _, own = _full(schema["name"], schema.get("namespace", space)).rpartition(".")
        known[f"{space}.{own}"] = schema
        inside = (*inside, f"{space}.{own}")
    match kind:
        case "record" | "error":
            names = tuple(field["name"] for field in schema["fields"])
            types = [_type(field["type"], known, space, inside) for field in schema["fields"]]
            children = tuple(type_ for type_ in types if type_ is not None)
            return t.row(names, children).not_null() if len(children) == len(names) else None
        case "array":
            element = _type(schema["items"], known, space, inside)
            return None if element is None else t.array(element).not_null()
        case "map":
            value = _type(schema["values"], known, space, inside)
            return None if value is None else t.map_of(t.STRING.not_null(), value).not_null()
        case "bytes" | "fixed" if schema.get("logicalType") == "decimal":
            return t.decimal(schema["precision"], schema.get("scale", 0)).not_null()
        case "fixed":
            return Type("VARBINARY", (schema["size"],), nullable=False)
        case _ if kind in _SIMPLE:
            return _LOGICAL.get((kind, schema.get("logicalType", "")), _SIMPLE[kind]).not_null()
    full = _full(kind, space)
    referred = known.get(full)
    if referred is None and kind != "null":
        raise ValueError(f"it refers to '{kind}', which it does not define")
    return None if referred is None or full in inside else _type(referred, known, full.rpartition(".")[0], inside)


def _full(name: str, space: str) -> str:
    return name if "." in name else f"{space}.{name}"


class _Derivation:
    """Avro's schema of a type."""

    def __init__(self, at: Any, hint: str) -> None:
        self.at = at
        self.hint = hint

    def record(self, name: str, fields: Fields, *, legacy: bool) -> dict[str, Any]:
        space, _, own = name.rpartition(".")
        return {
            "type": "record",
            "name": own,
            **({"namespace": space} if space else {}),
            "fields": [self._field(name, n, type_, legacy=legacy) for n, type_ in fields],
        }

    def _field(self, record: str, name: str, type_: Type, *, legacy: bool) -> dict[str, Any]:
        if not _NAME.fullmatch(name):
            where = "character in" if _NAME.match(name) else "initial character"
            hint = "A name in Avro consists of letters, digits and _, and does not begin with a digit."
            raise ValidationError(f"Illegal {where}: {name}", at=self.at, hint=hint)
        default = {"default": None} if type_.nullable else {}
        return {"name": name, "type": self.of(type_, f"{record}_{name}", legacy=legacy), **default}

    def of(self, type_: Type, name: str, *, legacy: bool) -> Any:
        schema = self._of(type_, name, legacy=legacy)
        return ["null", schema] if type_.nullable else schema

    def _of(self, type_: Type, name: str, *, legacy: bool) -> Any:
        match type_.root:
            case "TIMESTAMP" | "TIMESTAMP_LTZ":
                return {"type": "long", "logicalType": self._timestamp(type_, legacy=legacy)}
            case "DATE":
                return {"type": "int", "logicalType": "date"}
            case "TIME":
                return {"type": "int", "logicalType": "time-millis"}
            case "DECIMAL":
                return {"type": "bytes", "logicalType": "decimal", "precision": type_.args[0], "scale": type_.args[1]}
            case "ROW":
                return self.record(name, tuple(zip(type_.names, type_.children, strict=True)), legacy=legacy)
            case "ARRAY":
                # As in Flink, what is in collections has the legacy mapping and its row the collection's name.
                return {"type": "array", "items": self.of(type_.children[0], name, legacy=True)}
            case "MAP" | "MULTISET":
                key = type_.children[0]
                if not key.is_string:
                    raise ValidationError(f"Avro format doesn't support non-string as key type of map. The key type is: {key.full}", at=self.at)
                value = type_.children[1] if type_.root == "MAP" else INT
                return {"type": "map", "values": self.of(value, name, legacy=True)}
        if type_.root not in _PLAIN:
            raise NotSupported(f"Unsupported to derive Schema for type: {type_}", at=self.at, hint="CAST it to STRING, or to a type that Avro has.")
        return _PLAIN[type_.root]

    def _timestamp(self, type_: Type, *, legacy: bool) -> str:
        (precision,) = type_.args
        zoned = type_.root == "TIMESTAMP_LTZ"
        if legacy and zoned:
            raise ValidationError(f"Unsupported to derive Schema for type: {type_}", at=self.at, hint=self.hint)
        if precision > (3 if legacy else 6):
            what = "TIMESTAMP" if zoned or legacy else "LOCAL TIMESTAMP"
            raise ValidationError(
                f"Avro does not support {what} type with precision: {precision}, it only supports precision less than {3 if legacy else 6}.",
                at=self.at,
                hint="Declare TIMESTAMP(3).",
            )
        unit = "millis" if precision <= 3 else "micros"
        return f"timestamp-{unit}" if legacy or zoned else f"local-timestamp-{unit}"
