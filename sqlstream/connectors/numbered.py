"""Tables whose rows are numbers first, of which each row's cells are made: what connectors that generate rows have in common."""

from __future__ import annotations

import secrets
import time
from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING

from sqlstream.connectors.base import Connector, once
from sqlstream.core import options as option_rows
from sqlstream.core.hidden import hidden
from sqlstream.core.options import Option, OptionKind, Role

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlstream.connectors.base import Read
    from sqlstream.sql.tables import Table

ROW = hidden("row")
NOW = hidden("now")
_IN_ORDER = 100_000  # So many rows come from one task, and therefore in order.
# An option of such a table: with another value, a row of the same number is another.
makes = partial(Option, role=Role.PLACE)
_RATE = makes("rows-per-second", OptionKind.LONG, "10000", "How many rows a second, if there is no last row.", least=1)
HOW_MANY = (_RATE, makes("number-of-rows", OptionKind.LONG, summary="How many rows; by default there is no end.", least=0))


class Numbered(Connector):
    """A connector that makes rows of their numbers; HOW_MANY are among its options."""

    is_source = True
    generates = True
    bounded_by = "'number-of-rows' = '100'"

    @abstractmethod
    def count(self, table: Table) -> int | None:
        """How many rows there are; None where they never end."""

    def bounded(self, table: Table) -> bool:
        return self.count(table) is not None

    def static(self, table: Table) -> bool:
        return self.bounded(table)

    def without_rate(self, table: Table) -> list[str]:
        """The notice of a rate that is set and has no effect."""
        if not self.bounded(table) or _RATE.key not in table.options:
            return []
        return [f"Option '{_RATE.key}' of '{self.name}' has no effect if there is a last row: all rows come at once."]

    def numbers(self, request: Read) -> tuple[DataFrame, int]:
        """The table's rows with their number ROW, from 0, and their time NOW; and a seed.

        All are the same in each query of a job, also after a restart.
        """
        from pyspark.sql import functions as F

        spark, count = request.spark, self.count(request.table)
        began, seed = map(int, once(request, self.name, lambda: f"{int(time.time() * 1000)} {secrets.randbits(32)}").split())
        if count is not None:
            numbers = spark.range(0, count, 1, 1 if count <= _IN_ORDER else None)
            return numbers.select(F.col("id").alias(ROW), F.timestamp_millis(F.lit(began)).alias(NOW)), seed
        rate = option_rows.value(request.table.options, HOW_MANY, _RATE.key)
        source = spark.readStream.name(request.name).format("rate").option("rowsPerSecond", str(rate))
        # Spark's own times are of the query, and there may be several of a job.
        time_of_row = F.expr(f"timestamp_millis({began}L + value * 1000 div {rate})")
        return source.load().select(F.col("value").alias(ROW), time_of_row.alias(NOW)), seed
