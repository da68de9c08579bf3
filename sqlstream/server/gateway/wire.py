"""Results as Flink's gateway writes them: the types of columns, and rows as JSON or as the client's text."""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import NotSupported

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlstream.core.changelog import Change
    from sqlstream.plan.nodes import Field
    from sqlstream.sql.types import Type

_ROOTS = {
    "INT": "INTEGER",
    "TIME": "TIME_WITHOUT_TIME_ZONE",
    "TIMESTAMP": "TIMESTAMP_WITHOUT_TIME_ZONE",
    "TIMESTAMP_LTZ": "TIMESTAMP_WITH_LOCAL_TIME_ZONE",
    "INTERVAL_MONTHS": "INTERVAL_YEAR_MONTH",
    "INTERVAL_MILLIS": "INTERVAL_DAY_TIME",
}
# What a type has beside its root and whether it is nullable, by the root's name on the wire: the keys of its numbers.
_NUMBERS = {
    "CHAR": ("length",),
    "VARCHAR": ("length",),
    "BINARY": ("length",),
    "VARBINARY": ("length",),
    "DECIMAL": ("precision", "scale"),
    "TIME_WITHOUT_TIME_ZONE": ("precision",),
    "TIMESTAMP_WITHOUT_TIME_ZONE": ("precision",),
    "TIMESTAMP_WITH_LOCAL_TIME_ZONE": ("precision",),
}
_INTERVALS = {
    "INTERVAL_YEAR_MONTH": {"precision": 2, "resolution": "MONTH"},
    "INTERVAL_DAY_TIME": {"precision": 2, "fractionalPrecision": 3, "resolution": "SECOND"},
}


class RowFormat(Enum):
    """How the fields of a row are written: as JSON values, or as the text that Flink's client shows."""

    JSON = "JSON"
    PLAIN_TEXT = "PLAIN_TEXT"


def logical_type(type_: Type) -> dict[str, Any]:
    """A type as Flink's gateway describes it."""
    root = _ROOTS.get(type_.root, type_.root)
    if root == "NULL":
        return {"type": root}
    described = {"type": root, "nullable": type_.nullable, **dict(zip(_NUMBERS.get(root, ()), type_.args, strict=False)), **_INTERVALS.get(root, {})}
    children = [logical_type(child) for child in type_.children]
    match root:
        case "ARRAY" | "MULTISET":
            described["elementType"] = children[0]
        case "MAP":
            described["keyType"], described["valueType"] = children
        case "ROW":
            described["fields"] = [{"name": name, "fieldType": child} for name, child in zip(type_.names, children, strict=True)]
    return described


def column(field: Field) -> dict[str, Any]:
    """A column of a result."""
    return {"name": field.name, "logicalType": logical_type(field.type), "comment": None}


def rows_text(columns: Sequence[Field], changes: Iterable[Change], format_: RowFormat) -> str:
    """The JSON text of an array of rows. Raises NotSupported for a column that has none in this format."""
    written = _values if format_ is RowFormat.JSON else _texts
    return "[" + ",".join(f'{{"kind":"{c.kind.name}","fields":[{",".join(written(columns, c))}]}}' for c in changes) + "]"


def _texts(_: Sequence[Field], change: Change) -> Iterator[str]:
    return (json.dumps(cell, ensure_ascii=False) for cell in change.row)


def _values(columns: Sequence[Field], change: Change) -> Iterator[str]:
    for field, cell, value in zip(columns, change.row, change.values or change.row, strict=True):
        if change.values is None:
            yield cell.lower() if cell is not None and field.type.root == "BOOLEAN" else json.dumps(cell, ensure_ascii=False)
        elif value is None:
            hint = "Cast it, or ask for rowFormat=PLAIN_TEXT."
            raise NotSupported(f"Column '{field.name}' of type {field.type} can't be written as JSON.", hint=hint)
        else:
            yield value
