"""The raw format: the record's bytes are the one column."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import ValidationError
from sqlstream.core.options import Option, OptionKind
from sqlstream.formats import rows
from sqlstream.formats.base import Encoded, Fields, Format
from sqlstream.sql.quoting import quote, spark_string

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column as AnyColumn
    from pyspark.sql import DataFrame

    from sqlstream.sql.types import Type

_SIZES = {"BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8, "FLOAT": 4, "DOUBLE": 8}


class Raw(Format):
    """One column: a string, bytes, a number or a boolean."""

    name = "raw"
    options = (
        Option("charset", OptionKind.STRING, "UTF-8", "The charset of a string column."),
        Option("endianness", OptionKind.ENUM, "big-endian", "Byte order of numbers.", values=("big-endian", "little-endian")),
    )

    def check(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> None:
        if len(fields) != 1:
            names = ", ".join(n for n, _ in fields)
            raise ValidationError(f"The 'raw' format only supports single physical column. However the defined schema "
                                  f"contains multiple physical columns: [{names}]", at=at)  # fmt: skip
        ((_, type_),) = fields
        if not (type_.is_string or type_.is_binary or type_.root in _SIZES):
            raise ValidationError(f"The 'raw' format doesn't supports '{type_}' as column type.", at=at)
        if self._charset(options) is None:
            raise ValidationError(f"Unsupported 'raw.charset' name: {options['charset']}.", at=at)

    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        from pyspark.sql import functions as F
        from pyspark.sql.classic.column import Column

        ((name, type_),) = fields
        kept = [F.col(quote(c)) for c in record.frame.columns]
        if type_.is_binary or (type_.is_string and self._charset(options) == "utf-8"):
            value = F.expr(f"CAST({record.value} AS {type_.spark})")
        else:
            bytes_ = F.expr(f"CAST({record.value} AS BINARY)")
            wrong = f"Size of data received for deserializing {type_.root} type is not "
            value = Column(self._records(type_, options).read(bytes_._jc))
            if record.unread is not None:
                error = f"concat({spark_string(wrong)}, octet_length({record.value}), '.')"
                unread = record.kept(f"hex(CAST({record.value} AS BINARY))", error, F.expr(f"CAST(array() AS ARRAY<{type_.spark}>)"))
                nulls = F.array(F.lit(None).cast(type_.spark))
                one = F.when(bytes_.isNull(), nulls).otherwise(F.coalesce(F.when(value.isNotNull(), F.array(value)), unread))
                return record.frame.select(*kept, F.explode(one).alias(name))
            place = F.expr(f"raise_error(concat({spark_string(wrong)}, octet_length({record.value}), ' (', {record.origin}, ').'))")
            value = F.when(bytes_.isNotNull(), F.coalesce(value, place.cast(type_.spark)))
        return record.frame.select(*kept, value.alias(name))

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> AnyColumn:
        from pyspark.sql import functions as F

        ((name, type_),) = fields
        value = F.col(quote(name))
        if type_.is_binary or (type_.is_string and self._charset(options) == "utf-8"):
            return value.cast("BINARY")
        return rows.written(self._records(type_, options), value)

    def _charset(self, options: Mapping[str, str]) -> str | None:
        """Python's name of the charset; None where there is none."""
        try:
            return codecs.lookup(self.option(options, "charset")).name
        except LookupError:
            return None

    def _records(self, type_: Type, options: Mapping[str, str]) -> Any:
        little = self.option(options, "endianness") == "little-endian"
        return rows.java().RawRecords(type_.spark, _SIZES.get(type_.root, 0), self.option(options, "charset"), little)
