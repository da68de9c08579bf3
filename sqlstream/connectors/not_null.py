"""NULLs in columns that are NOT NULL: a row with one fails the query, and is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.sql.quoting import quote, spark_string

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

WRITTEN = "is NOT NULL, however, a null value is being written into it"


def sure(columns: Mapping[str, str]) -> str:
    """Of a row: that none of ``columns`` is NULL, but for those whose condition excuses it."""
    return " AND ".join(f"({quote(c)} IS NOT NULL OR {excuse})" for c, excuse in columns.items())


def wrong(columns: Mapping[str, str], problem: str) -> str:
    """SQL: "Column 'x' ``problem``", of the first of ``columns`` that is NULL."""
    missing = " ".join(f"WHEN {quote(c)} IS NULL AND NOT ({excuse}) THEN {spark_string(c)}" for c, excuse in columns.items())
    begin, end = (spark_string(part) for part in ("Column '", f"' {problem}"))
    return f"concat({begin}, CASE {missing} END, {end})"


def refused(frame: DataFrame, columns: Mapping[str, str], problem: str, shown: Sequence[str]) -> DataFrame:
    """``frame``, whose first row with NULL in one of ``columns``, each with the condition that excuses it, fails the query: "Column 'x' ``problem``",
    and what is in the columns ``shown``.
    """
    from pyspark.sql import functions as F

    if not columns:
        return frame
    # One check of the row, however many columns there are: each shows the whole row.
    first = next(iter(columns))
    row = f"CAST(struct({', '.join(map(quote, shown))}) AS STRING)"
    error = f"raise_error(concat({wrong(columns, problem)}, '. The row is ', {row}))"
    return frame.withColumn(first, F.expr(f"if({sure(columns)}, {quote(first)}, {error})"))
