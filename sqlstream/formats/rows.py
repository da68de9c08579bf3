"""The rows that our own readers in Java (``RecordReader.java``) read from records, and the bytes that our writers produce.

A reader gives a record's rows as an array; an inline() above makes rows of it: the optimizer can push no filter through that and so read a
record twice, and can't drop the reading of records of which no column is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.core.java import classes
from sqlstream.formats.base import Encoded, Fields, columns_sql, marked_record
from sqlstream.sql.quoting import quote, spark_string

if TYPE_CHECKING:
    from pyspark.sql import Column as AnyColumn
    from pyspark.sql import DataFrame


def java() -> Any:
    """Java's package of the readers and writers."""
    from pyspark import SparkContext

    return classes(SparkContext._active_spark_context).formats


def row(fields: Fields) -> AnyColumn:
    """The columns of ``fields`` as a struct."""
    from pyspark.sql import functions as F

    return F.struct(*[F.col(quote(n)) for n, _ in fields])


def written(writer: Any, value: AnyColumn) -> AnyColumn:
    """The records that one of our writers makes of values."""
    from pyspark.sql.classic.column import Column

    record: AnyColumn = Column(writer.written(value._jc))
    return record


def read_rows(record: Encoded, reader: Any, fields: Fields, problem: str | None, *, text: bool = True, why: str = "''") -> DataFrame:
    """``record.frame`` with the columns of the rows that ``reader`` finds, and ``problem`` the error of a record that it can't read.

    ``text``: whether a record is shown as text, else in hex; ``why``: SQL of what is said behind the record and its place."""
    from pyspark.sql import functions as F
    from pyspark.sql.classic.column import Column

    frame = record.frame
    value = F.expr(f"CAST({record.value} AS BINARY)")
    row_array: AnyColumn = Column(reader.column(value._jc, columns_sql(fields)))
    if problem is not None:
        # The place of a record is computed only for one that can't be read.
        shown = f"CAST({record.value} AS STRING)" if text else f"hex(CAST({record.value} AS BINARY))"
        type_ = f"ARRAY<STRUCT<{columns_sql(fields)}>>"
        if record.unread is not None:
            error = F.concat(F.expr(f"concat({spark_string(f'{problem}.')}, {why})"), Column(reader.why(value._jc)))
            failed = record.kept(shown, error, F.expr(f"CAST(array() AS {type_})"))
        else:
            failed = _failure(record, reader, problem, shown, why).cast(type_)
        row_array = F.when(value.isNotNull(), F.coalesce(row_array, failed))
    if record.nulls:
        row_array = F.coalesce(row_array, F.array(F.lit(None).cast(f"STRUCT<{columns_sql(fields)}>")))
    kept = [F.col(quote(c)) for c in frame.columns]
    return frame.select(*kept, F.inline(row_array).alias(*[n for n, _ in fields]))


def _failure(record: Encoded, reader: Any, problem: str, shown: str, why: str) -> AnyColumn:
    """The error of a record that can't be read."""
    from pyspark.sql import functions as F
    from pyspark.sql.classic.column import Column

    value = F.expr(f"CAST({record.value} AS BINARY)")
    told = F.expr(f"concat({spark_string(f'{problem} ')}, {marked_record(shown)}, ' (', {record.origin}, ').', {why})")
    return F.raise_error(F.concat(told, Column(reader.why(value._jc))))
