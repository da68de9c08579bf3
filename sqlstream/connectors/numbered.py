"""Rows with a number, of which generated tables make their cells."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

from sqlstream.connectors.base import once
from sqlstream.core.hidden import hidden

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlstream.connectors.base import Read

ROW = hidden("row")
NOW = hidden("now")
_IN_ORDER = 100_000  # So many rows come from one task, and therefore in order.


def numbered(request: Read, count: int | None, rate: int) -> tuple[DataFrame, int]:
    """``count`` rows, or without an end ``rate`` a second, with their number ROW, from 0, and their time NOW; and a seed.

    All are the same in each query of a job, also after a restart.
    """
    from pyspark.sql import functions as F

    spark = request.spark
    began, seed = map(int, once(request, request.table.connector, lambda: f"{int(time.time() * 1000)} {secrets.randbits(32)}").split())
    if count is not None:
        numbers = spark.range(0, count, 1, 1 if count <= _IN_ORDER else None)
        return numbers.select(F.col("id").alias(ROW), F.timestamp_millis(F.lit(began)).alias(NOW)), seed
    source = spark.readStream.name(request.name).format("rate").option("rowsPerSecond", str(rate))
    # Spark's own times are of the query, and there may be several of a job.
    time_of_row = F.expr(f"timestamp_millis({began}L + value * 1000 div {rate})")
    return source.load().select(F.col("value").alias(ROW), time_of_row.alias(NOW)), seed
