"""Reading json: our own reader in Java (``spark/operators/JsonRecords.java``), since Spark's from_json differs from Flink in its coercions.

In: records. Out: their rows. The reader gives a record's rows as an array; an inline() above makes rows of it: the optimizer can push no
filter through that and so read a record twice, and can't drop the reading of records of which no column is used.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlstream.formats.base import Encoded, Fields, columns_sql
from sqlstream.sql.types import quote

if TYPE_CHECKING:
    from pyspark.sql import Column as AnyColumn
    from pyspark.sql import DataFrame

    from sqlstream.sql.types import Type


def decode(record: Encoded, fields: Fields, *, standard: str, ignore: bool, complete: bool) -> DataFrame:
    """``record.frame`` with the columns of ``fields``. ``standard`` is how times are written, ``complete`` asks for every field."""
    from pyspark.sql import functions as F
    from pyspark.sql.classic.column import Column

    frame = record.frame
    row = {"root": "ROW", "names": [n for n, _ in fields], "children": [_described(t) for _, t in fields]}
    reader = frame.sparkSession._jvm.sqlstream.JsonRecords(json.dumps(row), standard == "iso-8601", ignore, complete)  # type: ignore[union-attr]
    value = F.expr(f"CAST({record.value} AS BINARY)")
    rows: AnyColumn = Column(reader.column(value._jc, columns_sql(fields)))
    if not ignore:
        # Where a record stands is put together only for one that can't be read.
        problem = f"raise_error(concat('Failed to deserialize JSON \\'', CAST({record.value} AS STRING), '\\' (', {record.origin}, ').'))"
        rows = F.when(value.isNotNull(), F.coalesce(rows, F.expr(problem).cast(f"ARRAY<STRUCT<{columns_sql(fields)}>>")))
    kept = [F.col(quote(c)) for c in frame.columns]
    return frame.select(*kept, F.inline(rows).alias(*[n for n, _ in fields]))


def _described(type_: Type) -> dict[str, Any]:
    """``type_`` as the reader takes it."""
    return {"root": type_.root, "args": list(type_.args), "names": list(type_.names), "children": [_described(c) for c in type_.children]}
