"""Rows whose rowtime is so far in the future that the watermark would follow it, so that all later ones would be late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan.nodes import scans
from sqlstream.plan.properties import field
from sqlstream.runtime.lower import dead_letters
from sqlstream.sql.expressions import Call
from sqlstream.sql.functions import find
from sqlstream.sql.quoting import quote, spark_string
from sqlstream.sql.spark_sql import render

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlstream.plan.nodes import Watermark
    from sqlstream.runtime.lower.context import Lowering


def without_future(node: Watermark, frame: DataFrame, to: Lowering) -> DataFrame:
    """``frame``, the rows below ``node``, without those that are more than ``to.future_ms`` ahead of the clock, which are kept as dead letters."""
    table = ", ".join(dict.fromkeys(s.table.path.name for s in scans(node)))
    why = f"{node.column} is more than {to.future_ms} ms in the future"
    row, error = dead_letters.json(node.input), spark_string(why)
    return dead_letters.without(frame, _ahead(node, to), to, dead_letters.FUTURE, table, why, row=row, error=error)


def _ahead(node: Watermark, to: Lowering) -> str:
    """SQL: whether a row is too far ahead. A TIMESTAMP is the wall's time in the session's zone."""
    clock = find("CURRENT_TIMESTAMP" if field(node.input, node.column).type.root == "TIMESTAMP_LTZ" else "LOCALTIMESTAMP")
    assert clock is not None
    now = render(Call(clock.returns(()), clock, ()), to.zone)
    return f"coalesce({_millis(quote(node.column))} - {_millis(now)} > {to.future_ms}L, FALSE)"


def _millis(time: str) -> str:
    return f"unix_millis(CAST({time} AS TIMESTAMP))"
