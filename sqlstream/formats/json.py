"""The json format: Spark's from_json with Flink's coercions and failures.

In: a record's text. Out: rows. Two paths, since from_json reads scalars by Spark's rules:

- the fast one, one typed from_json; scalars that Spark reads otherwise than Flink (DATE, TIME, TIMESTAMP) are read as strings and
  converted above, so that an unused one costs nothing;
- the exact one, for records that the fast one marks as corrupt and for arrays at the top: scalars as strings or variants, then Flink's
  conversions.

Both meet in one array of raw rows, and an inline() above it gives the rows: a Generate keeps the optimizer from evaluating the
parser twice, and from dropping the check of a record of which no column is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sqlstream.errors import NotSupported
from sqlstream.formats.base import Encoded, Fields, Format, changes, exclusive, literal, map_leaves, refuse_types, sql_map, truncated
from sqlstream.formats.numbers import DECIMAL, FLOAT, INTEGER, plain_decimal, scientific_decimal
from sqlstream.options import Kind, Option, Use
from sqlstream.sql.types import Type, quote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CORRUPT = "__sqlstream_corrupt"
PARSED = "__sqlstream_json"
_PARSER = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": CORRUPT,
    # Flink's parser takes raw control characters in strings, and neither 'single quotes' nor bare NaN.
    "allowUnquotedControlChars": "true",
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}
_DATE = r"\d{4}-\d\d-\d\d"
_TIME = r"\d\d:\d\d:\d\d(\.\d{0,9})?"
_PATTERNS = {
    "DATE": f"^{_DATE}$",
    "TIME": f"^{_TIME}$",
    ("TIMESTAMP", "sql"): f"^{_DATE} {_TIME}$",
    ("TIMESTAMP", "iso-8601"): rf"^{_DATE}T\d\d:\d\d(:\d\d(\.\d{{0,9}})?)?$",
    ("TIMESTAMP_LTZ", "sql"): f"^{_DATE} {_TIME}Z$",
    ("TIMESTAMP_LTZ", "iso-8601"): rf"^{_DATE}T\d\d:\d\d(:\d\d(\.\d{{0,9}})?)?Z$",
}
# Spark takes "1,5" for the DECIMAL 15: such a record goes the exact way.
_COMMA_IN_NUMBER = r'"\s*[+-]?\d[\d.]*,[^"]*"'
_FLOAT_TEXT = r"^-?\d+\.\d+(E-?\d+)?$"
_QUOTE = '"'
_NUMBER_TOKEN = r"\s*:\s*(-?\d[\d.eE+-]*)"
_FLOAT_TOKEN = r":\s*+-?\d++[.eE]"
# Around the digits of a DECIMAL in the text of to_json: takes the quotes off again (to_json writes no number of our own form).
_NUMBER = "\ue0f1\ue0f7"
_QUOTED_NUMBER = f'"{_NUMBER}([^"]*)"'
_NO_NULL_KEYS = "Spark's maps hold no NULL key: a NULL key fails the job, as FAIL does"

Leaf = Callable[[str, Type], str | None]


class Json(Format):
    """JSON objects, or arrays of them."""

    name = "json"
    options = (
        Option("fail-on-missing-field", Kind.BOOLEAN, "false", "Fail on a record that lacks a field."),
        Option("ignore-parse-errors", Kind.BOOLEAN, "false", "Skip what can't be parsed: a field becomes NULL, a broken record is dropped."),
        Option("timestamp-format.standard", Kind.ENUM, "sql", "SQL: 2020-12-30 12:13:14.123; ISO-8601: 2020-12-30T12:13:14.123.",
               values=("sql", "iso-8601")),
        Option("map-null-key.mode", Kind.ENUM, "fail", "What to do with a NULL key of a map.", values=("fail", "drop", "literal")),
        Option("map-null-key.literal", Kind.STRING, "null", use=Use.NOTICE, why=_NO_NULL_KEYS),
        Option("encode.decimal-as-plain-number", Kind.BOOLEAN, "false", "Write 100000.000 where 1E+5 would stand."),
        Option("encode.ignore-null-fields", Kind.BOOLEAN, "false", "Leave out fields that are NULL."),
        Option("decode.json-parser.enabled", Kind.BOOLEAN, "true", use=Use.NOTICE, why="there is one parser"),
    )  # fmt: skip

    def check(self, fields: Fields, given: Mapping[str, str], *, at: Any = None) -> None:
        exclusive("JSON format", given, "fail-on-missing-field", "ignore-parse-errors", at=at)
        if self.option(given, "map-null-key.mode") != "fail":
            raise NotSupported("Option 'json.map-null-key.mode' can only be FAIL.", at=at, hint=_NO_NULL_KEYS + ".")
        refuse_types("json", fields, lambda t: t.is_interval or t.root in ("VARIANT", "NULL"), at=at)
        refuse_types("json", fields, lambda t: t.root in ("MAP", "MULTISET") and not t.children[0].is_string, at=at)
        if self.option(given, "fail-on-missing-field"):
            refuse_types("json", fields, _holds_rows, at=at)

    def decode(self, record: Encoded, fields: Fields, given: Mapping[str, str]) -> DataFrame:
        from pyspark.sql import functions as F

        ignore = self.option(given, "ignore-parse-errors")
        text = f"CAST({record.value} AS STRING)"
        standard = str(self.option(given, "timestamp-format.standard"))
        convert = _converter(standard, None if ignore else _failure(text, record.origin))
        fast = ", ".join(f"{quote(n)} {_raw(t)}" for n, t in fields)
        parsed = f"from_json({text}, {literal(f'{fast}, {CORRUPT} STRING')}, {sql_map(_PARSER)})"
        row = f"named_struct({', '.join(f'{literal(n)}, {PARSED}.{quote(n)}' for n, _ in fields)})"
        missing = _missing(text, fields) if self.option(given, "fail-on-missing-field") else None
        good = f"{PARSED}.{CORRUPT} IS NULL AND {PARSED} IS NOT NULL AND NOT startswith(ltrim({text}), '[')"
        if any(_holds_decimal(t) for _, t in fields):
            good += f" AND NOT {text} RLIKE {literal(_COMMA_IN_NUMBER)}"
        if strings := "|".join(sorted({re.escape(n) for n, t in _named(fields) if t.is_string})):
            # Spark gives the number 1.50 in a STRING as '1.5'. Two patterns, since the first is quick and seldom matches.
            in_string = rf'"(?:{strings})"{_NUMBER_TOKEN}'
            good += f" AND NOT ({text} RLIKE {literal(_FLOAT_TOKEN)} AND {text} RLIKE {literal(in_string)})"
        if missing:
            good += f" AND NOT ({missing})"
        exact = _exact(text, record.origin, fields, ignore, missing is not None)
        kept = record.frame.columns
        names = [f"__sqlstream_json_{i}" for i in range(len(fields))]
        rows = record.frame.select("*", F.expr(parsed).alias(PARSED)).select(
            *[F.col(quote(c)) for c in kept],
            F.inline(F.expr(f"CASE WHEN {good} THEN array({row}) ELSE {exact} END")).alias(*names),
        )
        return rows.select(
            *[F.col(quote(c)) for c in kept],
            *[_column(raw, t, convert).alias(n) for raw, (n, t) in zip(names, fields, strict=True)],
        )

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


def _holds_decimal(type_: Type) -> bool:
    return type_.root == "DECIMAL" or any(_holds_decimal(c) for c in type_.children)


def _holds_rows(type_: Type) -> bool:
    """Whether rows stand in a collection, where a missing field can't be told from a NULL one."""
    return type_.root in ("ARRAY", "MAP") and any(_has_row(c) for c in type_.children)


def _has_row(type_: Type) -> bool:
    return type_.root == "ROW" or any(_has_row(c) for c in type_.children)


def _spark(type_: Type, leaf: Callable[[Type], str]) -> str:
    match type_.root:
        case "ARRAY":
            return f"ARRAY<{_spark(type_.children[0], leaf)}>"
        case "MAP":
            return f"MAP<STRING,{_spark(type_.children[1], leaf)}>"
        case "MULTISET":
            return f"MAP<STRING,{leaf(Type('INT'))}>"
        case "ROW":
            return f"STRUCT<{', '.join(f'{quote(n)}: {_spark(c, leaf)}' for n, c in zip(type_.names, type_.children, strict=True))}>"
    return leaf(type_)


def _raw_leaf(type_: Type) -> str:
    return "STRING" if type_.root in ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ") else type_.spark


def _raw(type_: Type) -> str:
    """The type in which the fast path reads ``type_``; both paths give rows of it."""
    return _spark(type_, _raw_leaf)


def _exact_leaf(type_: Type) -> str:
    # A variant tells the number 1.5, which Flink cuts to the integer 1, from the string "1.5", which is an error.
    return "VARIANT" if type_.root in ("INT", "BIGINT", "DECIMAL") else "BINARY" if type_.is_binary else "STRING"


def _failure(text: str, origin: str) -> Callable[[str], str]:
    """SQL that fails the job: NULL of the type in the argument, as far as Spark is concerned."""

    def fail(type_: str) -> str:
        return f"CAST(raise_error(concat('Failed to deserialize JSON \\'', {text}, '\\' (', {origin}, ').')) AS {type_})"

    return fail


def _named(fields: Fields) -> Iterator[tuple[str, Type]]:
    """All fields, those of rows at any depth included."""
    for name, type_ in fields:
        yield name, type_
        inner: tuple[Type, ...] = (type_,)
        while inner := tuple(c for t in inner for c in t.children if t.root != "ROW") if type_.root != "ROW" else ():
            for t in inner:
                if t.root == "ROW":
                    yield from _named(tuple(zip(t.names, t.children, strict=True)))
        if type_.root == "ROW":
            yield from _named(tuple(zip(type_.names, type_.children, strict=True)))


def _column(x: str, type_: Type, leaf: Leaf) -> Column:
    """``map_leaves`` as a column. In a row the fields that change are replaced: Spark then leaves out those that no one asks for, which
    it can't do with a row that is built anew behind a test for NULL."""
    from pyspark.sql import functions as F

    if type_.root != "ROW":
        return F.expr(map_leaves(x, type_, leaf))
    column = F.expr(x)
    for name, child in zip(type_.names, type_.children, strict=True):
        if changes(child, leaf):
            column = column.withField(quote(name), _column(f"{x}.{quote(name)}", child, leaf))
    return column


def _converter(standard: str, fail: Callable[[str], str] | None) -> Leaf:
    """From the raw string of a DATE, TIME or TIMESTAMP to its value."""

    def leaf(x: str, type_: Type) -> str | None:
        target = type_.spark
        match type_.root:
            case "DATE" | "TIME":
                pattern = _PATTERNS[type_.root]
            case "TIMESTAMP" | "TIMESTAMP_LTZ":
                pattern = _PATTERNS[type_.root, standard]
            case _:
                return None
        value = f"if({x} RLIKE {literal(pattern)}, try_cast({x} AS {target}), NULL)"
        if type_.is_timestamp:
            value = truncated(value, type_.args[0])
        elif type_.root == "TIME":
            value = f"time_trunc('{'SECOND' if type_.args[0] == 0 else 'MILLISECOND'}', {value})"
        return f"coalesce({value}, if({x} IS NULL, NULL, {fail(target)}))" if fail else value

    return leaf


def _exact(text: str, origin: str, fields: Fields, ignore: bool, check_missing: bool) -> str:
    """SQL for the array of raw rows of a record that the fast path can't read."""
    record = "__r"
    schema = ", ".join(f"{quote(n)} {_spark(t, _exact_leaf)}" for n, t in fields)
    struct = literal(f"{schema}, {CORRUPT} STRING")
    parse = f"from_json({record}, {struct}, {sql_map(_PARSER)})"
    fail_text = _failure(text, origin)
    raw_struct = f"STRUCT<{', '.join(f'{quote(n)}: {_raw(t)}' for n, t in fields)}>"
    leaf = _exact_converter(None if ignore else fail_text, record)
    converted = ", ".join(f"{literal(n)}, {map_leaves(f'__p.{quote(n)}', t, leaf)}" for n, t in fields)
    broken = f"__p.{CORRUPT} IS NOT NULL"
    if ignore:
        valid = f"from_json({record}, 'MAP<STRING,STRING>', {sql_map(_ARRAY_PARSER)})"
        broken = f"({broken} AND {valid} IS NULL OR NOT startswith(ltrim({record}), '{{'))"
        otherwise = f"CAST(NULL AS {raw_struct})"
    else:
        missing = f" OR ({_missing(record, fields)})" if check_missing else ""
        broken = f"({broken} OR NOT startswith(ltrim({record}), '{{'){missing})"
        otherwise = fail_text(raw_struct)
    # The lambda over a one-element array is a LET: the record is parsed once.
    one = f"element_at(transform(array({parse}), __p -> CASE WHEN {broken} THEN {otherwise} ELSE named_struct({converted}) END), 1)"
    null = f"({record} IS NULL OR trim({record}) IN ('null', ''))" if ignore else f"({record} IS NULL)"
    each = f"CASE WHEN {null} THEN CAST(NULL AS {raw_struct}) ELSE {one} END"
    whole = fail_text("ARRAY<STRING>") if not ignore else "CAST(array() AS ARRAY<STRING>)"
    records = (
        f"if(startswith(ltrim({text}), '['), coalesce(from_json({text}, 'ARRAY<STRING>', {sql_map(_ARRAY_PARSER)}), {whole}), array({text}))"
    )
    return f"filter(transform({records}, {record} -> {each}), __row -> __row IS NOT NULL)"


_ARRAY_PARSER = {k: v for k, v in _PARSER.items() if k != "columnNameOfCorruptRecord"}


def _exact_converter(fail: Callable[[str], str] | None, record: str) -> Leaf:
    """From a scalar as the exact path reads it to the raw scalar, by Flink's rules. ``record`` is the text it stands in."""

    def checked(x: str, value: str, target: str) -> str:
        return f"coalesce({value}, if({x} IS NULL, NULL, {fail(target)}))" if fail else value

    def leaf(x: str, type_: Type) -> str | None:
        match type_.root:
            case "CHAR" | "VARCHAR":
                # A number's own text: the token under the same name that is the same number. (None for elements, which have no name.)
                name = re.search(r"`((?:[^`]|``)+)`$", x)
                if name is None:
                    return None
                key = re.escape(name[1].replace("``", "`"))
                tokens = f"regexp_extract_all({record}, {literal(_QUOTE + key + _QUOTE + _NUMBER_TOKEN)}, 1)"
                own = f"element_at(filter({tokens}, t -> try_cast(t AS DOUBLE) = try_cast({x} AS DOUBLE)), 1)"
                return f"if({x} RLIKE {literal(_FLOAT_TEXT)}, coalesce({own}, {x}), {x})"
            case "BOOLEAN":
                return f"(lower(trim({x})) = 'true')"
            case "TINYINT" | "SMALLINT":
                return checked(x, f"if(trim({x}) RLIKE {literal(INTEGER)}, try_cast(trim({x}) AS {type_.root}), NULL)", type_.root)
            case "INT" | "BIGINT":
                kind, string = f"schema_of_variant({x})", f"trim(try_variant_get({x}, '$', 'string'))"
                value = (
                    f"CASE WHEN {kind} = 'STRING' THEN if({string} RLIKE {literal(INTEGER)}, try_cast({string} AS {type_.root}), NULL)"
                    f" WHEN {kind} IN ('BIGINT', 'DOUBLE') OR {kind} LIKE 'DECIMAL%'"
                    f" THEN try_cast(try_variant_get({x}, '$', '{'BIGINT' if type_.root == 'BIGINT' else 'DOUBLE'}') AS {type_.root}) END"
                )
                null = f"({x} IS NULL OR {kind} = 'VOID')"
                return f"coalesce({value}, if({null}, NULL, {fail(type_.root)}))" if fail else value
            case "DECIMAL":
                # What has too many digits is NULL.
                string = f"trim(try_variant_get({x}, '$', 'string'))"
                value = f"try_cast({string} AS {type_.spark})"
                null = f"({x} IS NULL OR schema_of_variant({x}) = 'VOID' OR {string} RLIKE {literal(DECIMAL)})"
                return f"coalesce({value}, if({null}, NULL, {fail(type_.spark)}))" if fail else value
            case "FLOAT" | "DOUBLE":
                return checked(x, f"if(trim({x}) RLIKE {literal(FLOAT)}, try_cast(trim({x}) AS {type_.root}), NULL)", type_.root)
        return None

    return leaf


def _missing(text: str, fields: Fields, path: str = "$") -> str:
    """SQL: whether a record lacks one of ``fields``; a field that is null is there."""
    parts = []
    for name, type_ in fields:
        step = f"{path}[{literal_path(name)}]"
        parts.append(f"variant_get(try_parse_json({text}), {literal(step)}, 'variant') IS NULL")
        if type_.root == "ROW":
            inner = _missing(text, tuple(zip(type_.names, type_.children, strict=True)), step)
            parts.append(f"(startswith(schema_of_variant(variant_get(try_parse_json({text}), {literal(step)}, 'variant')), 'OBJECT') AND ({inner}))")
    return " OR ".join(parts)


def literal_path(name: str) -> str:
    """``name`` as a step of a variant path."""
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
