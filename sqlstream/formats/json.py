"""The json format: records of JSON with Flink's coercions and failures, both ways.

In: a record's text, or columns. Out: rows, or the text as Flink's writer has it. Reading is in ``json_read``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.core.options import Option, OptionKind, Support
from sqlstream.formats import json_read, rows
from sqlstream.formats.base import Encoded, Fields, Format, columns_sql, exclusive, refuse_types
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column as AnyColumn
    from pyspark.sql import DataFrame

    from sqlstream.sql.types import Type

_NO_NULL_KEYS = "a map can't have a NULL key here: creating one fails the job"


class JsonBased(Format):
    """Base of formats whose rows are JSON objects."""

    options: ClassVar[tuple[Option, ...]] = (
        Option("ignore-parse-errors", OptionKind.BOOLEAN, "false", "Skip what can't be parsed: a field becomes NULL, a broken record is dropped."),
        Option("timestamp-format.standard", OptionKind.ENUM, "sql", "SQL: 2020-12-30 12:13:14.123; ISO-8601: 2020-12-30T12:13:14.123.",
               values=("sql", "iso-8601")),
        Option("map-null-key.mode", OptionKind.ENUM, "fail", use=Support.NOTICE, why=_NO_NULL_KEYS, values=("fail", "drop", "literal"),
               unmet=("drop", "literal")),
        Option("map-null-key.literal", OptionKind.STRING, "null", use=Support.NOTICE, why=_NO_NULL_KEYS),
        Option("encode.decimal-as-plain-number", OptionKind.BOOLEAN, "false", "Write 100000.000 instead of 1E+5."),
        Option("encode.ignore-null-fields", OptionKind.BOOLEAN, "false", "Leave out fields that are NULL."),
    )  # fmt: skip

    def check(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> None:
        refuse_types(self.name, fields, lambda t: t.is_interval or t.root in ("VARIANT", "NULL"), at=at)
        for _, type_ in fields:
            for t in type_.parts:
                if t.root in ("MAP", "MULTISET") and not t.children[0].is_string:
                    raise ValidationError(f"JSON format doesn't support non-string as key type of map. The type is: {t}", at=at)

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> AnyColumn:
        iso = self.option(options, "timestamp-format.standard") == "iso-8601"
        plain = self.option(options, "encode.decimal-as-plain-number")
        sparse = self.option(options, "encode.ignore-null-fields")
        writer = rows.java().JsonWriter(columns_sql(fields), json.dumps(json_read.row(fields)), iso, plain, sparse)
        return rows.written(writer, rows.row(fields))


class Json(JsonBased):
    """JSON objects, or arrays of them."""

    name = "json"
    options = (
        *JsonBased.options,
        Option("fail-on-missing-field", OptionKind.BOOLEAN, "false", "Fail on a record that lacks a field."),
        Option("decode.json-parser.enabled", OptionKind.BOOLEAN, "true", "A number read as STRING keeps its digits, 1.50; else it is Java's, 1.5."),
    )

    def check(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> None:
        exclusive("JSON format", options, "fail-on-missing-field", "ignore-parse-errors", at=at)
        super().check(fields, options, at=at)

    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        return json_read.decode(
            record,
            fields,
            standard=self.option(options, "timestamp-format.standard"),
            ignore=self.option(options, "ignore-parse-errors"),
            complete=self.option(options, "fail-on-missing-field"),
            tree=not self.option(options, "decode.json-parser.enabled"),
        )


def writes_value(type_: Type) -> bool:
    """Whether JSON has a form for the values of a type."""
    try:
        Json().check((("v", type_),), {})
    except SqlStreamError:
        return False
    return True


def value_text(name: str, type_: Type) -> AnyColumn:
    """The text of a column as a JSON value, ``null`` for NULL: times are written by ISO 8601."""
    from pyspark.sql import functions as F

    alone = (("v", type_),)
    writer = rows.java().JsonWriter(columns_sql(alone), json.dumps(json_read.row(alone)), True, False, False)
    text = rows.written(writer, F.struct(F.col(quote(name)).alias("v")))
    around = len('{"v":}')
    return text.substr(F.lit(around), F.length(text) - around)
