"""The grammar of Flink's types: tokens to Type, and Type back to text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sqlstream.sql import types as t
from sqlstream.sql.quoting import flink_string, quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.sql.syntax.cursor import Cursor

_SIMPLE = {
    "BOOLEAN": t.BOOLEAN,
    "TINYINT": t.TINYINT,
    "SMALLINT": t.SMALLINT,
    "INT": t.INT,
    "INTEGER": t.INT,
    "BIGINT": t.BIGINT,
    "FLOAT": t.FLOAT,
    "DATE": t.DATE,
    "STRING": t.STRING,
    "BYTES": t.BYTES,
    "VARIANT": t.VARIANT,
    "NULL": t.NULL,
}
# Types of other dialects.
_ELSEWHERE = {
    "TEXT": "STRING", "CLOB": "STRING", "NVARCHAR": "STRING", "VARCHAR2": "STRING", "JSON": "STRING", "JSONB": "STRING", "UUID": "STRING",
    "SERIAL": "INT", "BIGSERIAL": "BIGINT", "LONG": "BIGINT", "INT64": "BIGINT", "INT8": "BIGINT", "INT32": "INT", "INT4": "INT",
    "INT16": "SMALLINT", "INT2": "SMALLINT", "SHORT": "SMALLINT", "BYTE": "TINYINT", "BOOL": "BOOLEAN",
    "FLOAT64": "DOUBLE", "FLOAT8": "DOUBLE", "FLOAT4": "FLOAT", "REAL": "FLOAT", "NUMBER": "DECIMAL(12, 2)", "MONEY": "DECIMAL(12, 2)",
    "BLOB": "BYTES", "BYTEA": "BYTES", "DATETIME": "TIMESTAMP(3)", "TIMESTAMP_NTZ": "TIMESTAMP(3)", "TIMESTAMPTZ": "TIMESTAMP_LTZ(3)",
    "STRUCT": "ROW<name type, ..>", "LIST": "ARRAY<type>",
}  # fmt: skip
OF_ANOTHER = "Was expecting: a data type. Here"
"""So begins the hint about a type of another dialect."""
_YEAR_MONTH = ("YEAR", "MONTH")
_DAY_SECOND = ("DAY", "HOUR", "MINUTE", "SECOND")
_REFUSED = ("RAW", "STRUCTURED", "BITMAP", "GEOGRAPHY", "DESCRIPTOR")


# Calcite's names, with regard to case.
_CHARACTER_SETS = ("BIG5", "GB2312", "GBK", "ISO-8859-1", "LATIN1", "UTF-16", "UTF-16BE", "UTF-16LE", "UTF-8", "UTF16", "UTF8")


def parse_type(cursor: Cursor, *, nullability: bool = True) -> t.Type:
    """The type at the cursor; trailing ``ARRAY`` and ``MULTISET`` included, ``NOT NULL`` where ``nullability``."""
    type_ = _base(cursor)
    if nullability:
        type_ = _nullability(cursor, type_)
    while collection := cursor.one_of("ARRAY", "MULTISET"):
        type_ = t.array(type_) if collection == "ARRAY" else t.multiset(type_)
        if nullability:
            type_ = _nullability(cursor, type_)
    return type_


def _nullability(cursor: Cursor, type_: t.Type) -> t.Type:
    if cursor.at("NOT", "NULL"):
        cursor.expect("NOT", "NULL")
        return type_.not_null()
    cursor.accept("NULL")
    return type_


def _base(cursor: Cursor) -> t.Type:
    start = cursor.token
    word = cursor.peek(0)
    if not word.isidentifier():
        cursor.unexpected(start, "a data type")
    cursor.index += 1
    if word in _SIMPLE:
        return _SIMPLE[word]
    match word:
        case "DOUBLE":
            cursor.accept("PRECISION")
            return t.DOUBLE
        case "CHAR" | "CHARACTER":
            if cursor.accept("VARYING"):
                return _with_character_set(cursor, t.varchar(_length(cursor, t.MAX_LENGTH, "Character string")))
            return _with_character_set(cursor, t.char(_length(cursor, 1, "Character string")))
        case "VARCHAR":
            return _with_character_set(cursor, t.varchar(_length(cursor, t.MAX_LENGTH, "Character string")))
        case "BINARY":
            if cursor.accept("VARYING"):
                return t.Type("VARBINARY", (_length(cursor, t.MAX_LENGTH, "Binary string"),))
            return t.Type("BINARY", (_length(cursor, 1, "Binary string"),))
        case "VARBINARY":
            return t.Type("VARBINARY", (_length(cursor, t.MAX_LENGTH, "Binary string"),))
        case "DECIMAL" | "DEC" | "NUMERIC":
            return _decimal(cursor)
        case "TIME":
            precision = _precision(cursor, 0, "Time")
            if cursor.at("WITH"):
                cursor.refuse("TIME WITH LOCAL TIME ZONE is not supported by Flink.", start)
            _without_zone(cursor)
            return t.time(precision)
        case "TIMESTAMP":
            precision = _precision(cursor, 6, "Timestamp")
            if cursor.at("WITH", "TIME"):
                cursor.refuse("TIMESTAMP WITH TIME ZONE is not supported by Flink; TIMESTAMP_LTZ is.", start)
            if cursor.accept("WITH"):
                cursor.expect("LOCAL", "TIME", "ZONE")
                return t.timestamp_ltz(precision)
            _without_zone(cursor)
            return t.timestamp(precision)
        case "TIMESTAMP_LTZ":
            return t.timestamp_ltz(_precision(cursor, 6, "Timestamp"))
        case "INTERVAL":
            return _interval(cursor)
        case "ARRAY" | "MULTISET":
            cursor.expect("<")
            element = parse_type(cursor)
            cursor.expect(">")
            return t.array(element) if word == "ARRAY" else t.multiset(element)
        case "MAP":
            cursor.expect("<")
            key = parse_type(cursor)
            cursor.expect(",")
            value = parse_type(cursor)
            cursor.expect(">")
            return t.map_of(key, value)
        case "ROW":
            return _row(cursor)
    if word in _REFUSED:
        cursor.unsupported(f"The type {word} is not supported.", start, "Declare the column as STRING, or CAST what is read.")
    if word in _ELSEWHERE:
        cursor.unexpected(start, f"a data type. Here {word} is {_ELSEWHERE[word]}.")  # see OF_ANOTHER
    return cursor.unexpected(start, "a data type")


def _with_character_set(cursor: Cursor, type_: t.Type) -> t.Type:
    """``type_``: a character set behind it says how Calcite writes constants, and nothing of values."""
    if cursor.accept("CHARACTER", "SET"):
        start = cursor.token
        if (name := cursor.name().name) not in _CHARACTER_SETS:
            cursor.refuse(f"The character set '{name}' is not known; Flink knows {', '.join(_CHARACTER_SETS)}.", start)
    return type_


def _without_zone(cursor: Cursor) -> None:
    if cursor.at("WITHOUT"):
        cursor.expect("WITHOUT", "TIME", "ZONE")


def _number(cursor: Cursor, default: int) -> int:
    if not cursor.accept("("):
        return default
    number = cursor.integer()
    cursor.expect(")")
    return number


def _length(cursor: Cursor, default: int, what: str) -> int:
    start = cursor.token
    length = _number(cursor, default)
    if not 1 <= length <= t.MAX_LENGTH:
        cursor.refuse(f"{what} length must be between 1 and {t.MAX_LENGTH} (both inclusive).", start)
    return length


def _precision(cursor: Cursor, default: int, what: str) -> int:
    start = cursor.token
    precision = _number(cursor, default)
    if precision > 9:
        cursor.refuse(f"{what} precision must be between 0 and 9 (both inclusive).", start)
    return precision


def _decimal(cursor: Cursor) -> t.Type:
    start = cursor.token
    precision, scale = 10, 0
    if cursor.accept("("):
        precision = cursor.integer()
        scale = cursor.integer() if cursor.accept(",") else 0
        cursor.expect(")")
    if not 1 <= precision <= 38:
        cursor.refuse("Decimal precision must be between 1 and 38 (both inclusive).", start)
    if not 0 <= scale <= precision:
        cursor.refuse(f"Decimal scale must be between 0 and the precision {precision} (both inclusive).", start)
    return t.decimal(precision, scale)


def _interval(cursor: Cursor) -> t.Type:
    start = cursor.token
    unit = cursor.word()
    _number(cursor, 0)
    last = unit
    if cursor.accept("TO"):
        last = cursor.word()
        _number(cursor, 0)
    for units, type_ in ((_YEAR_MONTH, t.INTERVAL_MONTHS), (_DAY_SECOND, t.INTERVAL_MILLIS)):
        if unit in units and last in units and units.index(unit) <= units.index(last):
            return type_
    return cursor.unexpected(start, "an interval unit")


def _row(cursor: Cursor) -> t.Type:
    start = cursor.token
    closing = ")" if cursor.accept("(") else ">"
    if closing == ">":
        cursor.expect("<")
    names: list[str] = []
    children: list[t.Type] = []
    comments: list[str | None] = []
    while not cursor.at(closing) or names:
        names.append(cursor.name().name)
        children.append(parse_type(cursor))
        comments.append(cursor.string().name if cursor.at_string() else None)
        if not cursor.accept(","):
            break
    cursor.expect(closing)
    if len(set(names)) < len(names):
        twice = sorted({n for n in names if names.count(n) > 1})
        cursor.refuse(f"Field names must be unique. Found duplicates: [{', '.join(twice)}]", start)
    return t.row(tuple(names), tuple(children), tuple(comments) if any(c is not None for c in comments) else ())


def type_sql(type_: t.Type, *, nested: bool = False, short: bool = False) -> str:
    """``type_`` in Flink SQL, as SHOW CREATE TABLE writes it; NOT NULL only where ``nested``. ``short``: STRING and BYTES are called so."""
    inner = partial(type_sql, nested=True, short=short)
    match type_.root:
        case "VARCHAR" | "VARBINARY" if not short:
            text = f"{type_.root}({type_.args[0]})"
        case "TIMESTAMP_LTZ":
            text = f"TIMESTAMP({type_.args[0]}) WITH LOCAL TIME ZONE"
        case "ARRAY" | "MULTISET" | "MAP":
            text = f"{type_.root}<{', '.join(map(inner, type_.children))}>"
        case "ROW":
            text = f"ROW<{', '.join(fields_sql(type_, inner))}>"
        case _:
            text = str(type_)
    return text if type_.nullable or not nested else f"{text} NOT NULL"


def fields_sql(row: t.Type, type_text: Callable[[t.Type], str]) -> list[str]:
    """The fields of ``row``, as ROW<..> lists them."""
    comments = row.comments or (None,) * len(row.names)
    fields = zip(row.names, row.children, comments, strict=True)
    return [f"{quote(name)} {type_text(type_)}" + (f" {flink_string(comment)}" if comment is not None else "") for name, type_, comment in fields]
