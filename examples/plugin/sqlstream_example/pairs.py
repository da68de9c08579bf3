"""The format ``pairs``: a record is ``number=3;square=9``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import ValidationError
from sqlstream.core.options import Option, OptionKind
from sqlstream.formats.base import Encoded, Fields, Format, marked_record, refuse_types
from sqlstream.sql.quoting import quote, spark_string

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame


class Pairs(Format):
    """Names and numbers; a column whose name is not there is NULL."""

    name = "pairs"
    options = (Option("separator", OptionKind.ENUM, ";", "What stands between two pairs.", values=(";", "&")),)

    def check(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> None:
        refuse_types(self.name, fields, lambda type_: not type_.is_numeric, at=at)
        for name in (name for name, _ in fields if not name.isidentifier()):
            raise ValidationError(f"The pairs format can't carry column '{name}': its name is not a word.", at=at)

    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        """A text that is no number fails the job, with the record and its place."""
        text = f"CAST({record.value} AS STRING)"
        pairs = f"str_to_map({text}, '{self.option(options, 'separator')}', '=')"
        columns = []
        for name, type_ in fields:
            written = f"{pairs}[{spark_string(name)}]"
            number = f"TRY_CAST({written} AS {type_.spark})"
            why = spark_string(f"'{name}' is not of type {type_}: ")
            fails = f"raise_error(concat({why}, {marked_record(text)}, ' (', {record.origin}, ').'))"
            columns.append(f"IF({number} IS NULL AND {written} IS NOT NULL, CAST({fails} AS {type_.spark}), {number}) AS {quote(name)}")
        return record.frame.selectExpr("*", *columns)

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> Column:
        """A column that is NULL is left out."""
        from pyspark.sql import functions as F

        pairs = (f"concat('{name}=', CAST({quote(name)} AS STRING))" for name, _ in fields)
        return F.expr(f"concat_ws('{self.option(options, 'separator')}', {', '.join(pairs)})")
