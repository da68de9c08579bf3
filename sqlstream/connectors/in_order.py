"""Rows of changes in the order in which they were written: a row is retracted after it was added. Spark reads the parts of a source at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.changelog import KIND
from sqlstream.core.hidden import hidden
from sqlstream.core.java import classes

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

_ARRIVAL = hidden("arrival")


def arrival(frame: DataFrame) -> Column:
    """Numbers (BIGINT) for the rows that each task has of ``frame``, in the order in which it reads them."""
    from pyspark.sql.classic.column import Column

    return Column(classes(frame.sparkSession).catalyst.ArrivalNumber.column())


def arriving(frame: DataFrame, joined: Callable[[DataFrame], DataFrame]) -> DataFrame:
    """What ``joined`` makes of ``frame``, each of whose rows it joins by itself; in the order of that where rows carry their kind.

    Spark's joins keep no order: of one side they make a table, which gives the rows of a key from the last to the first, or they sort both.
    """
    if KIND not in frame.columns:
        return joined(frame)
    return task_sorted(joined(frame.withColumn(_ARRIVAL, arrival(frame))), _ARRIVAL)


def task_sorted(frame: DataFrame, place: str) -> DataFrame:
    """``frame`` with the rows that each task has, of a micro-batch where it is a stream, in the order of SQL ``place``."""
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F

    spark = frame.sparkSession
    return DataFrame(classes(spark).catalyst.TaskSort.by(frame._jdf, F.expr(place)._jc), spark)
