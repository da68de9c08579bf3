"""The connector ``squares``: whole numbers from 1 on, and their squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors.base import Connector, Read, SourceFrame, plain_options
from sqlstream.core import options
from sqlstream.core.errors import ValidationError
from sqlstream.core.options import Option, OptionKind, Role
from sqlstream.sql.types import BIGINT

if TYPE_CHECKING:
    from sqlstream.sql.tables import Table

COLUMNS = {"number": BIGINT, "square": BIGINT}


class Squares(Connector):
    """A source that ends: its rows are an expression of Spark's over a range."""

    name = "squares"
    summary = "Whole numbers from 1 on, and their squares."
    example = "CREATE TABLE squares (number BIGINT, square BIGINT) WITH ('connector' = 'squares', 'last' = '10');"
    options = (Option("last", OptionKind.LONG, required=True, summary="The last number.", role=Role.PLACE),)
    is_source = True
    generates = True

    def check(self, table: Table) -> list[str]:
        notices = options.check_options(self.name, plain_options(table), self.options)
        if {c.name: c.type.null() for c in table.physical} != COLUMNS:
            raise ValidationError("The columns of a 'squares' table are number BIGINT, square BIGINT.")
        return notices

    def bounded(self, table: Table) -> bool:
        return True

    def static(self, table: Table) -> bool:
        return True

    def read(self, request: Read) -> SourceFrame:
        last = options.value(request.table.options, self.options, "last")
        numbers = request.spark.range(1, last + 1).toDF("number")
        return SourceFrame(numbers.selectExpr("number", "number * number AS square"))
