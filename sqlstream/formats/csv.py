"""The csv format: Spark's from_csv splits the line, Flink's rules convert its cells and quote what is written.

In: a record's text, columns by position. Out: one row. Cells are read as strings, so that no rule of Spark's about numbers, dates or
NULL intervenes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import ValidationError
from sqlstream.core.hidden import hidden
from sqlstream.core.options import Option, OptionKind
from sqlstream.formats import rows
from sqlstream.formats.base import Encoded, Fields, Format, marked_record, refuse_types, sql_map, truncated
from sqlstream.formats.numbers import BASE64, DECIMAL, FLOAT, INTEGER, plain_decimal, scientific_decimal
from sqlstream.sql.generated_names import bound
from sqlstream.sql.quoting import quote, spark_string

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import Column, DataFrame

    from sqlstream.sql.types import Type

PARSED = hidden("csv")
_NEVER = "\x00"  # The quote of a line without quotes.
_END, _MISSING = "\x01\x02", "\x01\x03"
# Stand for escaped characters while the line is split.
_ESCAPE, _SEPARATOR, _QUOTE = "\ue0f2", "\ue0f3", "\ue0f4"
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_DATE = r"^\d{4}-\d{1,2}-\d{1,2}$"
_TIME = r"^\d\d:\d\d(:\d\d(\.\d{0,9})?)?$"
_TIMESTAMP = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{0,9})?"
_UNREAD = "'Failed to deserialize CSV row.'"
# A line of fewer characters than this is short.
_SHORT = 20_000
_MOST_CELLS = 2_000_000
_QUOTE_FROM = 24  # Flink's writer quotes every longer string without a look at it.


class Csv(Format):
    """Lines of separated values, without a header."""

    name = "csv"
    options = (
        Option("field-delimiter", OptionKind.STRING, ",", "The character between fields."),
        Option("disable-quote-character", OptionKind.BOOLEAN, "false", "Neither read nor write quotes."),
        Option("quote-character", OptionKind.STRING, '"', "The character around a field that contains delimiters."),
        Option("allow-comments", OptionKind.BOOLEAN, "false", "Skip lines that begin with #, and empty ones."),
        Option("ignore-parse-errors", OptionKind.BOOLEAN, "false", "A field that can't be parsed becomes NULL, a broken line is skipped."),
        Option("array-element-delimiter", OptionKind.STRING, ";", "The delimiter between the elements of an ARRAY or ROW."),
        Option("escape-character", OptionKind.STRING, None, "The escape character: the next one loses its meaning."),
        Option("null-literal", OptionKind.STRING, None, "The text that stands for NULL."),
        Option("write-bigdecimal-in-scientific-notation", OptionKind.BOOLEAN, "false",
               "Write 1E+5 for the DECIMAL 100000.000; files always do, as Flink's."),
    )  # fmt: skip

    def check(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> None:
        refuse_types("csv", fields, lambda t: t.is_interval or t.root in ("VARIANT", "NULL"), at=at)
        for name, type_ in fields:
            if type_.root in ("MAP", "MULTISET"):
                raise ValidationError(f"Unsupported type '{type_}' for field '{name}'.", at=at)
            for child in type_.children:
                if child.children:
                    what = f"Only simple types are supported in the second level nesting of fields '{name}' but was: {child}"
                    raise ValidationError(what, at=at)
        if "quote-character" in options and self.option(options, "disable-quote-character"):
            raise ValidationError("Format cannot define a quote character and disabled quote character at the same time.", at=at)
        for key in ("field-delimiter", "quote-character", "escape-character", "array-element-delimiter"):
            if key in options and len(_unescaped(options[key])) != 1:
                raise ValidationError(f"Option 'csv.{key}' must be a string with single character, but was: {options[key]}", at=at)

    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        from pyspark.sql import functions as F

        ignore = self.option(options, "ignore-parse-errors")
        text = f"CAST({record.value} AS STRING)"
        separator = _unescaped(self.option(options, "field-delimiter"))
        escape = options.get("escape-character")
        quoting = "" if self.option(options, "disable-quote-character") else self.option(options, "quote-character")
        parser = {
            "mode": "PERMISSIVE",
            "sep": separator,
            "quote": quoting or _NEVER,
            "escape": quoting or _NEVER,
            "ignoreLeadingWhiteSpace": "false",
            "ignoreTrailingWhiteSpace": "false",
            "maxCharsPerColumn": "-1",
        }
        frame = record.frame if record.nulls else record.frame.where(f"{record.value} IS NOT NULL")
        if self.option(options, "allow-comments"):
            frame = frame.where(f"{text} IS NULL OR (NOT startswith(ltrim({text}), '#') AND trim({text}) <> '')")
        # A cell of our own ends each line: it tells a cell that is empty, which from_csv gives as NULL, from one that is not there, and
        # a closed quote from an open one. A record may have one cell more, a blank one.
        cells = [f"c{i}" for i in range(len(fields) + 2)]
        *own_cells, last, more = cells
        schema = ", ".join(f"{c} STRING" for c in cells)
        first = text if record.lines else _first_line(text, escape, separator, quoting)
        line = f"concat({_escaped(first, escape, separator, quoting)}, {spark_string(separator + _END)})"
        # A parser takes memory for as many cells as a line may have: each, and our own, has a character.
        short, long = (f"from_csv({line}, {spark_string(schema)}, {sql_map({**parser, 'maxColumns': str(n)})})" for n in (_SHORT + 2, _MOST_CELLS))
        parsed = f"if(length({text}) < {_SHORT}, {short}, {long})"
        fail = _failure(text, record.origin) if record.unread is None else _nothing
        rows_type = f"ARRAY<STRUCT<{', '.join(f'{c}: STRING' for c in own_cells)}>>"
        good = f"array(named_struct({', '.join(f'{spark_string(c)}, {PARSED}.{c}' for c in own_cells)}))"
        none = f"CAST(array() AS {rows_type})" if ignore else fail(rows_type)
        fewer, wrong = none, none
        if ignore:
            end = f"array_position(array({', '.join(f'{PARSED}.{c}' for c in cells)}), {spark_string(_END)})"
            there = (f"{spark_string(c)}, if({i} < {end}, coalesce({PARSED}.{c}, ''), {spark_string(_MISSING)})" for i, c in enumerate(own_cells, 1))
            fewer = f"array(named_struct({', '.join(there)}))"
        whole = f"{PARSED}.{last} = {spark_string(_END)}"
        broken = "false"
        if not record.lines:
            whole = f"({whole} OR trim(coalesce({PARSED}.{last}, '')) = '' AND {PARSED}.{more} = {spark_string(_END)})"
            broken = f"{text} = '' OR NOT is_valid_utf8({text}) OR {_odd(text, quoting)} AND NOT {text} RLIKE {_line(escape, separator, quoting)}"
        elif quoting:
            unclosed = " OR ".join(f"({PARSED}.{c} <> {spark_string(_END)} AND endswith({PARSED}.{c}, {spark_string(_END)}))" for c in cells)
            why = " A quoted field continues on the next line, which is not supported."
            unread = (_failure(text, record.origin, why) if record.unread is None else _nothing)(rows_type)
            wrong = f"CASE WHEN {unclosed} THEN {unread} ELSE {wrong} END"
        ends = " OR ".join(f"{PARSED}.{c} = {spark_string(_END)}" for c in own_cells)
        array = f"CASE WHEN {broken} THEN {none} WHEN {whole} THEN {good} WHEN {ends} THEN {fewer} ELSE {wrong} END"
        if record.nulls:
            array = f"if({text} IS NULL, array(CAST(NULL AS STRUCT<{', '.join(f'{c}: STRING' for c in own_cells)}>)), {array})"
        kept = [F.col(quote(c)) for c in record.frame.columns]
        own = [hidden(f"{c}") for c in own_cells]
        read = F.expr(array)
        if record.unread is not None:
            read = F.coalesce(read, record.kept(text, _UNREAD, F.expr(f"CAST(array() AS {rows_type})")))
        split = frame.select("*", F.expr(parsed).alias(PARSED)).select(*kept, F.inline(read).alias(*own))
        delimiter = self.option(options, "array-element-delimiter")
        null = options.get("null-literal")
        columns = []
        for c, (name, type_) in zip(own, fields, strict=True):
            cell = _restored(f"coalesce({c}, '')", escape, separator, quoting)
            cell = f"nullif({cell}, {spark_string(_MISSING)})" if ignore else cell
            value = _cell(cell, type_, null, delimiter, None if ignore else _failure(text, record.origin))
            columns.append(F.expr(f"if({text} IS NULL, NULL, {value})" if record.nulls else value).alias(name))
        if record.unread is None:
            return split.select(*kept, *columns)
        # The row of a record whose cells are what their columns ask for; else NULL.
        row = _tried(F.struct(*columns))
        right = F.filter(F.array(row), lambda one: F.coalesce(one.isNotNull(), F.lit(False)) | record.kept(text, _UNREAD, F.lit(False)))
        return split.select(*kept, F.inline(right).alias(*[name for name, _ in fields]))

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> Column:
        from pyspark.sql import functions as F

        null = spark_string(options.get("null-literal", ""))
        delimiter = _unescaped(self.option(options, "field-delimiter"))
        escape = options.get("escape-character")
        quote_character = None if self.option(options, "disable-quote-character") else self.option(options, "quote-character")
        scientific = lines or self.option(options, "write-bigdecimal-in-scientific-notation")
        elements = spark_string(self.option(options, "array-element-delimiter"))

        def text(x: str, type_: Type) -> str:
            match type_.root:
                case "DECIMAL":
                    return scientific_decimal(x) if scientific else plain_decimal(x, type_)
                case "VARBINARY" | "BINARY":
                    return f"base64({x})"
                case "TIMESTAMP_LTZ":
                    return f"concat(CAST({x} AS STRING), 'Z')"
                case "ARRAY":
                    inner = bound(lambda e: f"coalesce({text(e, type_.children[0])}, {null})")
                    return f"array_join(transform({x}, {inner}), {elements})"
                case "ROW":
                    parts = ", ".join(f"coalesce({text(f'{x}.{quote(n)}', c)}, {null})" for n, c in zip(type_.names, type_.children, strict=True))
                    return f"if({x} IS NULL, NULL, concat_ws({elements}, {parts}))"
            return f"CAST({x} AS STRING)"

        def cell(name: str, type_: Type) -> str:
            x = text(quote(name), type_)
            if quote_character is not None and not (type_.is_numeric or type_.root == "BOOLEAN"):
                x = _quoted(x, quote_character, delimiter, escape)
            return f"coalesce({x}, {null})"

        return F.expr(f"concat_ws({spark_string(delimiter)}, {', '.join(cell(n, t) for n, t in fields)})")


def _quoted(x: str, quote_character: str, delimiter: str, escape: str | None) -> str:
    """SQL for ``x`` in quotes where Flink's writer sets them: long, or with a character up to the delimiter's or quote's code."""
    highest = max(delimiter, quote_character, "\r")
    pattern = "[\\x00-\\x{" + format(ord(highest), "x") + "}" + (f"\\x{{{ord(escape):x}}}" if escape else "") + "]"
    inner = x
    if escape:
        inner = f"replace({inner}, {spark_string(escape)}, {spark_string(escape * 2)})"
    inner = f"replace({inner}, {spark_string(quote_character)}, {spark_string(quote_character * 2)})"
    q = spark_string(quote_character)
    return f"if(length({x}) > {_QUOTE_FROM} OR {x} RLIKE {spark_string(pattern)}, concat({q}, {inner}, {q}), {x})"


def _escaped(text: str, escape: str | None, separator: str, quoting: str) -> str:
    """SQL for ``text`` with what is escaped out of the parser's sight: from_csv knows escapes in quotes only."""
    if not escape:
        return text
    for character, stand_in in ((escape, _ESCAPE), (separator, _SEPARATOR), *([(quoting, _QUOTE)] if quoting else [])):
        text = f"replace({text}, {spark_string(escape + character)}, {spark_string(stand_in)})"
    for letter, control in _CONTROLS.items():
        text = f"replace({text}, {spark_string(escape + letter)}, {spark_string(control)})"
    return f"replace({text}, {spark_string(escape)}, '')"


def _restored(cell: str, escape: str | None, separator: str, quoting: str) -> str:
    if not escape:
        return cell
    return f"translate({cell}, {spark_string(_ESCAPE + _SEPARATOR + _QUOTE)}, {spark_string(escape + separator + (quoting or escape))})"


def _odd(text: str, quoting: str) -> str:
    """SQL: whether ``text`` may be more than cells without quotes on one line."""
    pattern = spark_string(rf"[{_code(quoting)}\r\n]")
    return f"({text} RLIKE {pattern})"


def _first_line(text: str, escape: str | None, separator: str, quoting: str) -> str:
    """SQL for the line that a record is, as for Flink, which a line break in quotes does not end."""
    return f"if({_odd(text, quoting)}, regexp_extract({text}, {_line(escape, separator, quoting)}, 0), {text})"


def _line(escape: str | None, separator: str, quoting: str) -> str:
    """SQL for a pattern of a line at the start of a text: behind a closing quote stand only blanks."""
    s, q, e = _code(separator), _code(quoting), _code(escape or "")
    escaped = f"|{e}." if e else ""
    cell = rf"(?:(?:[^{s}{q}{e}\r\n]{escaped})(?:[^{s}{e}\r\n]{escaped})*+)?+"
    if q:
        cell = rf"(?:{q}(?:[^{q}{e}]|{q}{q}{escaped})*+{q} *+|{cell})"
    return spark_string(rf"(?s)^{cell}(?:{s}{cell})*+(?=[\r\n]|\z)")


def _code(character: str) -> str:
    return rf"\x{{{ord(character):x}}}" if character else ""


def _unescaped(text: str) -> str:
    r"""The character meant by ``\t`` and the like."""
    return {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\\\": "\\"}.get(text, text)


def _nothing(type_: str) -> str:
    return f"CAST(NULL AS {type_})"


def _tried(value: Column) -> Column:
    """``value``, NULL where it raises an error."""
    from pyspark.sql.classic.column import Column

    return Column(rows.java().Tried.of(value._jc))


def _failure(text: str, origin: str, why: str = "") -> Callable[[str], str]:
    end = spark_string(f").{why}")

    def fail(type_: str) -> str:
        parts = f"'Failed to deserialize CSV row ', {marked_record(text)}, ' (', {origin}, {end}"
        return f"CAST(raise_error(concat({parts})) AS {type_})"

    return fail


def _cell(x: str, type_: Type, null: str | None, delimiter: str, fail: Callable[[str], str] | None) -> str:
    """SQL for the value of the text ``x``."""
    parts = f"split({x}, concat('\\\\Q', {spark_string(delimiter)}, '\\\\E'))"
    match type_.root:
        case "ARRAY":
            inner = bound(lambda e: _scalar(e, type_.children[0], null, fail))
            # As in Flink, the NULL literal is one of elements here, and of fields below.
            return f"if({x} = '', CAST(array() AS {type_.spark}), transform({parts}, {inner}))"
        case "ROW":
            fields = ", ".join(
                f"{spark_string(n)}, {_scalar(f'get({parts}, {i})', c, null, fail)}"
                for i, (n, c) in enumerate(zip(type_.names, type_.children, strict=True))
            )
            short = f"WHEN size({parts}) < {len(type_.children)} THEN {fail(type_.spark)}" if fail else ""
            return f"CASE WHEN {x} IS NULL OR {x} = '' THEN NULL {short} ELSE named_struct({fields}) END"
    return _scalar(x, type_, null, fail)


def _scalar(x: str, type_: Type, null: str | None, fail: Callable[[str], str] | None) -> str:
    known = x if null is None else f"nullif({x}, {spark_string(null)})"
    target = type_.spark
    trimmed = f"trim({known})"
    match type_.root:
        case "CHAR" | "VARCHAR":
            return known
        case "BOOLEAN":
            return f"(lower({trimmed}) = 'true')"
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
            value = f"if({trimmed} RLIKE {spark_string(INTEGER)}, try_cast({trimmed} AS {target}), NULL)"
        case "FLOAT" | "DOUBLE":
            value = f"if({trimmed} RLIKE {spark_string(FLOAT)}, try_cast({trimmed} AS {target}), NULL)"
        case "DECIMAL":
            # What has too many digits is NULL.
            value = f"if({known} RLIKE {spark_string(DECIMAL)}, try_cast({known} AS {target}), NULL)"
            return f"coalesce({value}, if({known} IS NULL OR {known} RLIKE {spark_string(DECIMAL)}, NULL, {fail(target)}))" if fail else value
        case "BINARY" | "VARBINARY":
            value = f"if(length({known}) % 4 = 0 AND {known} RLIKE {spark_string(BASE64)}, try_to_binary({known}, 'base64'), NULL)"
        case "DATE":
            value = f"if({known} RLIKE {spark_string(_DATE)}, try_cast({known} AS DATE), NULL)"
        case "TIME":
            value = f"if({known} RLIKE {spark_string(_TIME)}, try_cast({known} AS TIME(6)), NULL)"
            value = f"time_trunc('{'SECOND' if type_.args[0] == 0 else 'MILLISECOND'}', {value})"
        case _:
            pattern = _TIMESTAMP + ("Z$" if type_.root == "TIMESTAMP_LTZ" else "$")
            value = truncated(f"if({known} RLIKE {spark_string(pattern)}, try_cast({known} AS TIMESTAMP), NULL)", type_.args[0])
    return f"coalesce({value}, if({known} IS NULL, NULL, {fail(target)}))" if fail else value
