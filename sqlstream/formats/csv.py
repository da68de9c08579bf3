"""The csv format: Spark's from_csv splits the line, Flink's rules convert its cells and quote what is written.

In: a record's text, columns by position. Out: one row. Cells are read as strings, so that no rule of Spark's about numbers, dates or
NULL comes in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlstream.errors import ValidationError
from sqlstream.formats.base import Encoded, Fields, Format, literal, refuse_types, sql_map, truncated
from sqlstream.formats.numbers import DECIMAL, FLOAT, INTEGER, scientific_decimal
from sqlstream.options import Kind, Option, Use
from sqlstream.sql.types import Type, quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

CORRUPT = "__sqlstream_corrupt"
PARSED = "__sqlstream_csv"
# Stands for "no such text": from_csv must take no cell for NULL, nor drop a character.
_NEVER = "\x00\x00"
_DATE = r"^\d{4}-\d{1,2}-\d{1,2}$"
_TIME = r"^\d\d:\d\d(:\d\d(\.\d{0,9})?)?$"
_TIMESTAMP = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{0,9})?"
_QUOTE_FROM = 24  # Flink's writer quotes every longer string without a look at it.


class Csv(Format):
    """Lines of separated values, without a header."""

    name = "csv"
    options = (
        Option("field-delimiter", Kind.STRING, ",", "The character between fields."),
        Option("disable-quote-character", Kind.BOOLEAN, "false", "Neither read nor write quotes."),
        Option("quote-character", Kind.STRING, '"', "The character around a field that holds delimiters."),
        Option("allow-comments", Kind.BOOLEAN, "false", "Skip lines that begin with #, and empty ones."),
        Option("ignore-parse-errors", Kind.BOOLEAN, "false", "A field that can't be parsed becomes NULL, a broken line is skipped."),
        Option("array-element-delimiter", Kind.STRING, ";", "What stands between the elements of an ARRAY or ROW."),
        Option("escape-character", Kind.STRING, None, "The character that takes the meaning from the next one."),
        Option("null-literal", Kind.STRING, None, "The text that stands for NULL."),
        Option("write-bigdecimal-in-scientific-notation", Kind.BOOLEAN, "true", use=Use.NOTICE,
               why="Flink, too, writes 100000 as 1E+5 either way"),
    )  # fmt: skip

    def check(self, fields: Fields, given: Mapping[str, str], *, at: Any = None) -> None:
        refuse_types(
            "csv", fields, lambda t: t.is_interval or t.root in ("MAP", "MULTISET", "VARIANT", "NULL"), at=at
        )
        for name, type_ in fields:
            if any(c.children for c in type_.children):
                raise ValidationError(f"The csv format can't hold the nested type {type_} of column '{name}'.", at=at)
        if "quote-character" in given and self.option(given, "disable-quote-character"):
            raise ValidationError(
                "Format cannot define a quote character and disabled quote character at the same time.", at=at
            )
        for key in ("field-delimiter", "quote-character", "escape-character"):
            if key in given and len(_unescaped(given[key])) != 1:
                raise ValidationError(f"Option 'csv.{key}' must be a string with single character, but was: {given[key]}", at=at)

    def decode(self, record: Encoded, fields: Fields, given: Mapping[str, str]) -> DataFrame:
        from pyspark.sql import functions as F

        ignore = self.option(given, "ignore-parse-errors")
        text = f"CAST({record.value} AS STRING)"
        parser = {
            "mode": "PERMISSIVE",
            "columnNameOfCorruptRecord": CORRUPT,
            "sep": _unescaped(self.option(given, "field-delimiter")),
            "quote": _NEVER[:1] if self.option(given, "disable-quote-character") else self.option(given, "quote-character"),
            "escape": self.option(given, "escape-character") or self._quote(given),
            "nullValue": _NEVER,
            "emptyValue": "",
            "ignoreLeadingWhiteSpace": "false",
            "ignoreTrailingWhiteSpace": "false",
            "maxCharsPerColumn": "-1",
        }
        cells = [f"c{i}" for i in range(len(fields))]
        schema = ", ".join(f"{c} STRING" for c in [*cells, "more"])
        fail = None if ignore else _failure(text, record.origin)
        null = given.get("null-literal")
        frame = record.frame.where(f"{record.value} IS NOT NULL")
        if self.option(given, "allow-comments"):
            frame = frame.where(f"NOT startswith({text}, '#') AND trim({text}) <> ''")
        parsed = f"from_csv({text}, {literal(schema)}, {sql_map(parser)})"
        kept = [F.col(quote(c)) for c in record.frame.columns]
        wide = f"{PARSED}.more IS NOT NULL"
        row = f"named_struct({', '.join(f'{literal(c)}, {PARSED}.{c}' for c in cells)})"
        nothing = "array()" if ignore else _failure(text, record.origin)(f"ARRAY<STRUCT<{', '.join(f'{c}: STRING' for c in cells)}>>")
        rows = frame.select("*", F.expr(parsed).alias(PARSED)).select(
            *kept, F.inline(F.expr(f"CASE WHEN {wide} THEN {nothing} ELSE array({row}) END")).alias(*[f"__sqlstream_{c}" for c in cells])
        )
        delimiter = self.option(given, "array-element-delimiter")
        columns = [
            F.expr(_cell(f"__sqlstream_{c}", t, null, delimiter, fail)).alias(n) for c, (n, t) in zip(cells, fields, strict=True)
        ]
        return rows.select(*kept, *columns)

    def _quote(self, given: Mapping[str, str]) -> str:
        return _NEVER[:1] if self.option(given, "disable-quote-character") else str(self.option(given, "quote-character"))

    def encode(self, fields: Fields, given: Mapping[str, str]) -> str:
        null = literal(given.get("null-literal", ""))
        delimiter = _unescaped(self.option(given, "field-delimiter"))
        escape = given.get("escape-character")
        quote_character = None if self.option(given, "disable-quote-character") else self.option(given, "quote-character")
        elements = literal(self.option(given, "array-element-delimiter"))

        def text(x: str, type_: Type) -> str:
            match type_.root:
                case "DECIMAL":
                    return scientific_decimal(x)
                case "VARBINARY" | "BINARY":
                    return f"base64({x})"
                case "TIMESTAMP_LTZ":
                    return f"concat(CAST({x} AS STRING), 'Z')"
                case "ARRAY":
                    inner = f"transform({x}, e -> coalesce({text('e', type_.children[0])}, {null}))"
                    return f"array_join({inner}, {elements})"
                case "ROW":
                    parts = ", ".join(
                        f"coalesce({text(f'{x}.{quote(n)}', c)}, {null})" for n, c in zip(type_.names, type_.children, strict=True)
                    )
                    return f"if({x} IS NULL, NULL, concat_ws({elements}, {parts}))"
            return f"CAST({x} AS STRING)"

        def cell(name: str, type_: Type) -> str:
            x = text(quote(name), type_)
            if quote_character is not None and not (type_.is_numeric or type_.root == "BOOLEAN"):
                x = _quoted(x, quote_character, delimiter, escape)
            return f"coalesce({x}, {null})"

        return f"concat_ws({literal(delimiter)}, {', '.join(cell(n, t) for n, t in fields)})"


def _quoted(x: str, quote_character: str, delimiter: str, escape: str | None) -> str:
    """SQL for ``x`` in quotes where Flink's writer sets them: long, or with a character up to the delimiter's or quote's code."""
    highest = max(delimiter, quote_character, "\r")
    pattern = "[\\x00-\\x{" + format(ord(highest), "x") + "}" + (f"\\x{{{ord(escape):x}}}" if escape else "") + "]"
    inner = x
    if escape:
        inner = f"replace({inner}, {literal(escape)}, {literal(escape * 2)})"
    inner = f"replace({inner}, {literal(quote_character)}, {literal(quote_character * 2)})"
    q = literal(quote_character)
    return f"if(length({x}) > {_QUOTE_FROM} OR {x} RLIKE {literal(pattern)}, concat({q}, {inner}, {q}), {x})"


def _unescaped(text: str) -> str:
    r"""The character meant by ``\t`` and the like."""
    return {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\\\": "\\"}.get(text, text)


def _failure(text: str, origin: str) -> Callable[[str], str]:
    def fail(type_: str) -> str:
        return f"CAST(raise_error(concat('Failed to deserialize CSV row \\'', {text}, '\\' (', {origin}, ').')) AS {type_})"

    return fail


def _cell(x: str, type_: Type, null: str | None, delimiter: str, fail: Callable[[str], str] | None) -> str:
    """SQL for the value of the text ``x``."""
    known = x if null is None else f"nullif({x}, {literal(null)})"
    parts = f"split({known}, concat('\\\\Q', {literal(delimiter)}, '\\\\E'))"
    match type_.root:
        case "ARRAY":
            inner = _scalar("e", type_.children[0], null, fail)
            return f"if({known} = '', CAST(array() AS {type_.spark}), transform({parts}, e -> {inner}))"
        case "ROW":
            fields = ", ".join(
                f"{literal(n)}, {_scalar(f'get({parts}, {i})', c, null, fail)}"
                for i, (n, c) in enumerate(zip(type_.names, type_.children, strict=True))
            )
            return f"if({known} IS NULL OR {known} = '', NULL, named_struct({fields}))"
    return _scalar(x, type_, null, fail)


def _scalar(x: str, type_: Type, null: str | None, fail: Callable[[str], str] | None) -> str:
    known = x if null is None else f"nullif({x}, {literal(null)})"
    target = type_.spark
    trimmed = f"trim({known})"
    match type_.root:
        case "CHAR" | "VARCHAR":
            return known
        case "BOOLEAN":
            return f"(lower({trimmed}) = 'true')"
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
            value = f"if({trimmed} RLIKE {literal(INTEGER)}, try_cast({trimmed} AS {target}), NULL)"
        case "FLOAT" | "DOUBLE":
            value = f"if({trimmed} RLIKE {literal(FLOAT)}, try_cast({trimmed} AS {target}), NULL)"
        case "DECIMAL":
            # What has too many digits is NULL.
            value = f"if({known} RLIKE {literal(DECIMAL)}, try_cast({known} AS {target}), NULL)"
            return (
                f"coalesce({value}, if({known} IS NULL OR {known} RLIKE {literal(DECIMAL)}, NULL, {fail(target)}))" if fail else value
            )
        case "BINARY" | "VARBINARY":
            value = f"try_to_binary({known}, 'base64')"
        case "DATE":
            value = f"if({known} RLIKE {literal(_DATE)}, try_cast({known} AS DATE), NULL)"
        case "TIME":
            value = f"if({known} RLIKE {literal(_TIME)}, try_cast({known} AS TIME(6)), NULL)"
            value = f"time_trunc('{'SECOND' if type_.args[0] == 0 else 'MILLISECOND'}', {value})"
        case _:
            pattern = _TIMESTAMP + ("Z$" if type_.root == "TIMESTAMP_LTZ" else "$")
            value = truncated(f"if({known} RLIKE {literal(pattern)}, try_cast({known} AS TIMESTAMP), NULL)", type_.args[0])
    return f"coalesce({value}, if({known} IS NULL, NULL, {fail(target)}))" if fail else value
