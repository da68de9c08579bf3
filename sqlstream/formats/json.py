"""The json format: records of JSON with Flink's coercions and failures, both ways.

In: a record's text, or columns. Out: rows, or the text as Flink's writer has it. Reading is in ``json_read``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sqlstream.errors import NotSupported
from sqlstream.formats import json_read
from sqlstream.formats.base import Encoded, Fields, Format, exclusive, literal, map_leaves, refuse_types
from sqlstream.formats.numbers import plain_decimal, scientific_decimal
from sqlstream.options import Kind, Option, Use
from sqlstream.sql.types import Type, quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

# Around the digits of a DECIMAL in the text of to_json: takes the quotes off again, since to_json knows one form of number.
_NUMBER = "\ue0f1\ue0f7"
_QUOTED_NUMBER = f'"{_NUMBER}([^"]*)"'
_NO_NULL_KEYS = "Spark's maps hold no NULL key: a NULL key fails the job, as FAIL does"


class JsonBased(Format):
    """Base of formats whose rows are JSON objects."""

    options: ClassVar[tuple[Option, ...]] = (
        Option("ignore-parse-errors", Kind.BOOLEAN, "false", "Skip what can't be parsed: a field becomes NULL, a broken record is dropped."),
        Option("timestamp-format.standard", Kind.ENUM, "sql", "SQL: 2020-12-30 12:13:14.123; ISO-8601: 2020-12-30T12:13:14.123.",
               values=("sql", "iso-8601")),
        Option("map-null-key.mode", Kind.ENUM, "fail", "What to do with a NULL key of a map.", values=("fail", "drop", "literal")),
        Option("map-null-key.literal", Kind.STRING, "null", use=Use.NOTICE, why=_NO_NULL_KEYS),
        Option("encode.decimal-as-plain-number", Kind.BOOLEAN, "false", "Write 100000.000 where 1E+5 would stand."),
        Option("encode.ignore-null-fields", Kind.BOOLEAN, "false", "Leave out fields that are NULL."),
    )  # fmt: skip

    def check(self, fields: Fields, given: Mapping[str, str], *, at: Any = None) -> None:
        if self.option(given, "map-null-key.mode") != "fail":
            raise NotSupported(f"Option '{self.name}.map-null-key.mode' can only be FAIL.", at=at, hint=_NO_NULL_KEYS + ".")
        refuse_types(self.name, fields, lambda t: t.is_interval or t.root in ("VARIANT", "NULL"), at=at)
        refuse_types(self.name, fields, lambda t: t.root in ("MAP", "MULTISET") and not t.children[0].is_string, at=at)

    def encode(self, fields: Fields, given: Mapping[str, str]) -> str:
        iso = self.option(given, "timestamp-format.standard") == "iso-8601"
        plain = self.option(given, "encode.decimal-as-plain-number")

        def leaf(x: str, type_: Type) -> str | None:
            match type_.root:
                case "TIMESTAMP" | "TIMESTAMP_LTZ":
                    text = f"CAST({x} AS STRING)"
                    text = f"replace({text}, ' ', 'T')" if iso else text
                    return f"concat({text}, 'Z')" if type_.root == "TIMESTAMP_LTZ" else text
                case "TIME" | "DATE":
                    return f"CAST({x} AS STRING)"
                case "DECIMAL":
                    return f"concat({literal(_NUMBER)}, {plain_decimal(x, type_) if plain else scientific_decimal(x)})"
            return None

        row = f"named_struct({', '.join(f'{literal(n)}, {map_leaves(quote(n), t, leaf)}' for n, t in fields)})"
        nulls = "true" if self.option(given, "encode.ignore-null-fields") else "false"
        text = f"to_json({row}, map('ignoreNullFields', '{nulls}'))"
        if any(_holds_decimal(t) for _, t in fields):
            text = f"regexp_replace({text}, {literal(_QUOTED_NUMBER)}, '$1')"
        return text


class Json(JsonBased):
    """JSON objects, or arrays of them."""

    name = "json"
    options = (
        *JsonBased.options,
        Option("fail-on-missing-field", Kind.BOOLEAN, "false", "Fail on a record that lacks a field."),
        Option("decode.json-parser.enabled", Kind.BOOLEAN, "true", use=Use.NOTICE, why="there is one parser"),
    )

    def check(self, fields: Fields, given: Mapping[str, str], *, at: Any = None) -> None:
        exclusive("JSON format", given, "fail-on-missing-field", "ignore-parse-errors", at=at)
        super().check(fields, given, at=at)
        if self.option(given, "fail-on-missing-field"):
            refuse_types("json", fields, _holds_rows, at=at)

    def decode(self, record: Encoded, fields: Fields, given: Mapping[str, str]) -> DataFrame:
        return json_read.decode(
            record,
            fields,
            standard=self.option(given, "timestamp-format.standard"),
            ignore=self.option(given, "ignore-parse-errors"),
            complete=self.option(given, "fail-on-missing-field"),
        )


def _holds_decimal(type_: Type) -> bool:
    return type_.root == "DECIMAL" or any(_holds_decimal(c) for c in type_.children)


def _holds_rows(type_: Type) -> bool:
    """Whether rows stand in a collection, where a missing field can't be told from a NULL one."""
    return type_.root in ("ARRAY", "MAP") and any(_has_row(c) for c in type_.children)


def _has_row(type_: Type) -> bool:
    return type_.root == "ROW" or any(_has_row(c) for c in type_.children)
