"""Rows of changes in the order in which they were written: a row is retracted after it was added. Spark reads the parts of a source at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.java import classes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def arrival(frame: DataFrame) -> Column:
    """Numbers (BIGINT) for the rows that each task has of ``frame``, in the order in which it reads them."""
    from pyspark.sql.classic.column import Column

    return Column(classes(frame.sparkSession).catalyst.ArrivalNumber.column())


def task_sorted(frame: DataFrame, place: str) -> DataFrame:
    """``frame``, a stream, with the rows that each task has of a micro-batch in the order of SQL ``place``."""
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F

    spark = frame.sparkSession
    return DataFrame(classes(spark).catalyst.TaskSort.by(frame._jdf, F.expr(place)._jc), spark)
