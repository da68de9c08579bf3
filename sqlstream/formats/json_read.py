"""Reading json: our own reader in Java (``spark/operators/JsonRecords.java``), since Spark's from_json differs from Flink in its coercions.

In: records. Out: their rows. The reader gives a record's rows as an array; an inline() above makes rows of it: the optimizer can push no
filter through that and so read a record twice, and can't drop the reading of records of which no column is used.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlstream.formats.base import Encoded, Fields, columns_sql, literal
from sqlstream.sql.types import quote

if TYPE_CHECKING:
    from pyspark.sql import Column as AnyColumn
    from pyspark.sql import DataFrame

    from sqlstream.sql.types import Type


def decode(record: Encoded, fields: Fields, *, standard: str, ignore: bool, complete: bool) -> DataFrame:
    """``record.frame`` with the columns of ``fields``. ``standard`` is how times are written, ``complete`` asks for every field."""
    reader = readers(record).JsonRecords(json.dumps(row(fields)), standard == "iso-8601", ignore, complete)
    return rows(record, reader, fields, None if ignore else "Failed to deserialize JSON")


def readers(record: Encoded) -> Any:
    """Where the readers' classes are."""
    return record.frame.sparkSession._jvm.sqlstream  # type: ignore[union-attr]


def rows(record: Encoded, reader: Any, fields: Fields, problem: str | None) -> DataFrame:
    """``record.frame`` with the columns of the rows that ``reader`` finds, and ``problem`` the error of a record that it can't read."""
    from pyspark.sql import functions as F
    from pyspark.sql.classic.column import Column

    frame = record.frame
    value = F.expr(f"CAST({record.value} AS BINARY)")
    found: AnyColumn = Column(reader.column(value._jc, columns_sql(fields)))
    if problem is not None:
        # Where a record stands is put together only for one that can't be read.
        place = f"raise_error(concat({literal(problem)}, ' \\'', CAST({record.value} AS STRING), '\\' (', {record.origin}, ').'))"
        found = F.when(value.isNotNull(), F.coalesce(found, F.expr(place).cast(f"ARRAY<STRUCT<{columns_sql(fields)}>>")))
    if record.nulls:
        found = F.coalesce(found, F.array(F.lit(None).cast(f"STRUCT<{columns_sql(fields)}>")))
    kept = [F.col(quote(c)) for c in frame.columns]
    return frame.select(*kept, F.inline(found).alias(*[n for n, _ in fields]))


def row(fields: Fields, *, partial: bool = False) -> dict[str, Any]:
    """A row of ``fields`` as the readers take its type; a ``partial`` one may lack some."""
    return {"root": "ROW", "names": [n for n, _ in fields], "children": [described(t) for _, t in fields], "partial": partial}


def described(type_: Type) -> dict[str, Any]:
    """``type_`` as the readers take it."""
    return {"root": type_.root, "args": list(type_.args), "names": list(type_.names), "children": [described(c) for c in type_.children]}
