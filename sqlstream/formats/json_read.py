"""Reading json: our own reader in Java (``JsonRecords.java``), since Spark's from_json differs from Flink in its coercions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlstream.formats import rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlstream.formats.base import Encoded, Fields
    from sqlstream.sql.types import Type


def decode(record: Encoded, fields: Fields, *, standard: str, ignore: bool, complete: bool, tree: bool) -> DataFrame:
    """``record.frame`` with the columns of ``fields``. ``standard`` is how times are written, ``complete`` asks for every field, ``tree`` for
    numbers that are those of Java before they are a column's."""
    reader = rows.java().JsonRecords(json.dumps(row(fields)), standard == "iso-8601", ignore, complete, tree)
    return rows.read_rows(record, reader, fields, None if ignore else "Failed to deserialize JSON")


def row(fields: Fields, *, partial: bool = False) -> dict[str, Any]:
    """A row of ``fields`` as the readers take its type; a ``partial`` one may lack some."""
    return {"root": "ROW", "names": [n for n, _ in fields], "children": [reader_type(t) for _, t in fields], "partial": partial}


def reader_type(type_: Type) -> dict[str, Any]:
    """``type_`` as the readers take it."""
    return {"root": type_.root, "args": list(type_.args), "names": list(type_.names), "children": [reader_type(c) for c in type_.children]}
