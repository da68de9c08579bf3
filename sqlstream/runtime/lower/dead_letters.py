"""What a query leaves out, and keeps: each row or record as a dead letter (Java's package ``letters``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.core import storage
from sqlstream.core.java import classes
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.core.secrets import MASK, is_secret
from sqlstream.plan.properties import fields
from sqlstream.sql.quoting import quote, spark_string

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlstream.formats.base import Unread
    from sqlstream.plan.nodes import Field, Node, Scan
    from sqlstream.runtime.lower.context import Lowering
    from sqlstream.sql.tables import Table
    from sqlstream.sql.types import Type

# Kinds of dead letters.
RECORD, FUNCTION, NOT_NULL, FUTURE = "record", "function", "not null", "future"


def without(frame: DataFrame, wrong: str, to: Lowering, kind: str, source: str, said: str, *, row: str, error: str) -> DataFrame:
    """``frame`` without the rows that are ``wrong`` (SQL, never NULL), which are kept: ``row`` is SQL of one as JSON, ``error`` of what is wrong.

    ``source``: the table or the function that they are of; ``said``: which rows these are, in words.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.classic.column import Column

    kept = _kept(to, to.dead_letters, kind, source, said)
    left_out = Column(kept.leftOut(F.expr(row)._jc, F.expr(error)._jc))
    return frame.where(F.when(F.expr(wrong), left_out).otherwise(F.lit(True)))


def unread(to: Lowering, scan: Scan) -> Unread | None:
    """What keeps records of ``scan`` that can't be read, see Read; None where they fail the query."""
    from pyspark.sql.classic.column import Column

    into, name = scan.dead_letters, scan.table.path.name
    # One that is read again and again would be kept as often.
    if into is None or scan.static != (not to.streaming):
        return None
    kept = _kept(to, into, RECORD, name, f"a record of {name} can't be read")
    return lambda record, place, error: Column(kept.unread(record._jc, place._jc, error._jc))


def _kept(to: Lowering, into: Table | None, kind: str, source: str, said: str) -> Any:
    letters = classes(to.spark).letters
    if into is None or to.letters is None:
        place = letters.ProcessFiles(str(ProjectFolder(to.project).dead_letters))
    else:
        place = letters.BatchFiles(storage.uri(to.letters), str(into.path))
    return letters.LeftOutRows(place, kind, source, said)


def json(node: Node) -> str:
    """SQL: a row of ``node`` as JSON, without what its names say is secret."""
    cells = (f"{spark_string(f.name)}, {spark_string(MASK) if is_secret(f.name) else _cell(f)}" for f in fields(node))
    return f"to_json(named_struct({', '.join(cells)}), map('ignoreNullFields', 'false'))"


def _cell(column: Field) -> str:
    # Spark's JSON has no times of a day.
    return f"CAST({quote(column.name)} AS STRING)" if _has_time(column.type) else quote(column.name)


def _has_time(type_: Type) -> bool:
    return type_.root in ("TIME", "VARIANT") or any(map(_has_time, type_.children))
