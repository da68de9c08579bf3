"""The raw format: the record's bytes are the one column."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any

from sqlstream.errors import NotSupported, ValidationError
from sqlstream.formats.base import Encoded, Fields, Format
from sqlstream.options import Kind, Option
from sqlstream.sql.types import Type, quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

_SIZES = {"TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8}
# What Spark's encode and decode know.
_CHARSETS = ("US-ASCII", "ISO-8859-1", "UTF-8", "UTF-16BE", "UTF-16LE", "UTF-16", "UTF-32")


class Raw(Format):
    """One column: a string, bytes, an integer or a boolean."""

    name = "raw"
    options = (
        Option("charset", Kind.STRING, "UTF-8", "The charset of a string column."),
        Option("endianness", Kind.ENUM, "big-endian", "Byte order of numbers.", values=("big-endian", "little-endian")),
    )

    def check(self, fields: Fields, given: Mapping[str, str], *, at: Any = None) -> None:
        if len(fields) != 1:
            names = ", ".join(n for n, _ in fields)
            raise ValidationError(f"The 'raw' format only supports single physical column. However the defined schema "
                                  f"contains multiple physical columns: [{names}]", at=at)  # fmt: skip
        name, type_ = fields[0]
        if not (type_.is_string or type_.is_binary or type_.is_integer or type_.root == "BOOLEAN"):
            raise NotSupported(
                f"The 'raw' format doesn't support type {type_} of column '{name}'.",
                at=at,
                hint="STRING, BYTES, BOOLEAN and the integer types can be raw.",
            )
        if _charset(given) is None:
            raise ValidationError(
                f"Unsupported 'raw.charset' name: {given['charset']}.", at=at, hint=f"Known are {', '.join(_CHARSETS)}."
            )

    def decode(self, record: Encoded, fields: Fields, given: Mapping[str, str]) -> DataFrame:
        from pyspark.sql import functions as F

        ((name, type_),) = fields
        kept = [F.col(quote(c)) for c in record.frame.columns]
        return record.frame.select(*kept, F.expr(self._decoded(record, type_, given)).alias(name))

    def _decoded(self, record: Encoded, type_: Type, given: Mapping[str, str]) -> str:
        bytes_ = f"CAST({record.value} AS BINARY)"
        if type_.is_binary:
            return bytes_
        if type_.is_string:
            charset = _charset(given)
            return f"CAST({record.value} AS STRING)" if charset == "UTF-8" else f"decode({bytes_}, '{charset}')"
        size = _SIZES.get(type_.root, 1)
        hexed = f"hex({bytes_})"
        if self.option(given, "endianness") == "little-endian" and size > 1:
            hexed = "concat(" + ", ".join(f"substr(hex({bytes_}), {2 * i + 1}, 2)" for i in range(size - 1, -1, -1)) + ")"
        unsigned = f"CAST(conv({hexed}, 16, 10) AS DECIMAL(20,0))"
        wrap = 2 ** (8 * size)
        number = f"CAST(if({unsigned} >= {wrap // 2}, {unsigned} - {wrap}, {unsigned}) AS {_integer(type_)})"
        wrong = (
            f"CAST(raise_error(concat('Size of data received for deserializing {type_} is ', octet_length({bytes_}), "
            f"', expected {size} (', {record.origin}, ').')) AS {_integer(type_)})"
        )
        value = f"CASE WHEN {record.value} IS NULL THEN NULL WHEN octet_length({bytes_}) = {size} THEN {number} ELSE {wrong} END"
        return f"({value} <> 0)" if type_.root == "BOOLEAN" else value

    def encode(self, fields: Fields, given: Mapping[str, str]) -> str:
        ((name, type_),) = fields
        x = quote(name)
        if type_.is_binary:
            return x
        if type_.is_string:
            charset = _charset(given)
            return f"CAST({x} AS BINARY)" if charset == "UTF-8" else f"encode({x}, '{charset}')"
        size = _SIZES.get(type_.root, 1)
        digits = f"right(lpad(hex(CAST({x} AS BIGINT)), 16, '0'), {2 * size})"
        if self.option(given, "endianness") == "little-endian" and size > 1:
            digits = "concat(" + ", ".join(f"substr({digits}, {2 * i + 1}, 2)" for i in range(size - 1, -1, -1)) + ")"
        return f"unhex({digits})"


def _charset(given: Mapping[str, str]) -> str | None:
    """The name that Spark has for the charset; None where it has none."""
    wanted = given.get("charset", "UTF-8")
    try:
        normal = codecs.lookup(wanted).name
    except LookupError:
        return None
    return next((c for c in _CHARSETS if codecs.lookup(c).name == normal), None)


def _integer(type_: Type) -> str:
    return "TINYINT" if type_.root == "BOOLEAN" else type_.root
