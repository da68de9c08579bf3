"""Rows whose rowtime is so far in the future that the watermark would follow it, so that all later ones would be late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.java import classes
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.core.secrets import MASK, is_secret
from sqlstream.plan.nodes import scans
from sqlstream.plan.properties import field, fields
from sqlstream.sql.expressions import Call
from sqlstream.sql.functions import find
from sqlstream.sql.quoting import quote, spark_string
from sqlstream.sql.spark_sql import render

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import Column, DataFrame, SparkSession

    from sqlstream.plan.nodes import Field, Watermark
    from sqlstream.runtime.lower.context import Lowering
    from sqlstream.sql.types import Type


def without_future(node: Watermark, frame: DataFrame, to: Lowering) -> DataFrame:
    """``frame``, the rows below ``node``, without those that are more than ``to.future_ms`` ahead of the clock, which are kept as dead letters."""
    from pyspark.sql import functions as F

    table = ", ".join(dict.fromkeys(s.table.path.name for s in scans(node)))
    why = f"{node.column} is more than {to.future_ms} ms in the future"
    kept = _left_out(to.spark, _json(node), ProjectFolder(to.project).dead_letters, table, why)
    return frame.where(F.when(F.expr(_ahead(node, to)), kept).otherwise(F.lit(True)))


def _left_out(spark: SparkSession, row: str, folder: Path, table: str, error: str) -> Column:
    """A condition that is FALSE: the row, ``row`` as JSON (SQL), is kept in ``folder`` as one that ``table``'s readers leave out."""
    from pyspark.sql import functions as F
    from pyspark.sql.classic.column import Column

    return Column(classes(spark).monitor.LeftOutRows(str(folder), table, error).leftOut(F.expr(row)._jc))


def _ahead(node: Watermark, to: Lowering) -> str:
    """SQL: whether a row is too far ahead. A TIMESTAMP is the wall's time in the session's zone."""
    clock = find("CURRENT_TIMESTAMP" if field(node.input, node.column).type.root == "TIMESTAMP_LTZ" else "LOCALTIMESTAMP")
    assert clock is not None
    now = render(Call(clock.returns(()), clock, ()), to.zone)
    return f"coalesce({_millis(quote(node.column))} - {_millis(now)} > {to.future_ms}L, FALSE)"


def _millis(time: str) -> str:
    return f"unix_millis(CAST({time} AS TIMESTAMP))"


def _json(node: Watermark) -> str:
    """SQL: a row as JSON, without what its names say is secret."""
    cells = (f"{spark_string(f.name)}, {spark_string(MASK) if is_secret(f.name) else _cell(f)}" for f in fields(node.input))
    return f"to_json(named_struct({', '.join(cells)}))"


def _cell(column: Field) -> str:
    # Spark's JSON has no times of a day.
    return f"CAST({quote(column.name)} AS STRING)" if _has_time(column.type) else quote(column.name)


def _has_time(type_: Type) -> bool:
    return type_.root == "TIME" or any(map(_has_time, type_.children))
