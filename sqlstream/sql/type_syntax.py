"""The grammar of Flink's types: tokens to Type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from sqlstream.sql import types as t

if TYPE_CHECKING:
    from sqlstream.sql.parser import FlinkParser

_SIMPLE = {
    "BOOLEAN": t.BOOLEAN, "TINYINT": t.TINYINT, "SMALLINT": t.SMALLINT, "INT": t.INT, "INTEGER": t.INT, "BIGINT": t.BIGINT,
    "FLOAT": t.FLOAT, "DATE": t.DATE, "STRING": t.STRING, "BYTES": t.BYTES, "VARIANT": t.VARIANT, "NULL": t.NULL,
}  # fmt: skip
_YEAR_MONTH = ("YEAR", "MONTH")
_DAY_SECOND = ("DAY", "HOUR", "MINUTE", "SECOND")
_REFUSED = ("RAW", "STRUCTURED", "BITMAP", "GEOGRAPHY", "DESCRIPTOR")


def parse_type(parser: FlinkParser) -> t.Type:
    """The type at the parser's place, ``NOT NULL`` and trailing ``ARRAY`` / ``MULTISET`` included."""
    found = _nullability(parser, _base(parser))
    while parser.at("ARRAY") or parser.at("MULTISET"):
        collection = t.array(found) if parser.word() == "ARRAY" else t.multiset(found)
        found = _nullability(parser, collection)
    return found


def _nullability(parser: FlinkParser, found: t.Type) -> t.Type:
    if parser.accept("NOT", "NULL"):
        return found.not_null()
    parser.accept("NULL")
    return found


def _base(parser: FlinkParser) -> t.Type:
    start = parser.token
    word = parser.word()
    if word in _SIMPLE:
        return _SIMPLE[word]
    match word:
        case "DOUBLE":
            parser.accept("PRECISION")
            return t.DOUBLE
        case "CHAR" | "CHARACTER":
            if parser.accept("VARYING"):
                return t.varchar(_length(parser, t.MAX_LENGTH))
            return t.char(_length(parser, 1))
        case "VARCHAR":
            return t.varchar(_length(parser, t.MAX_LENGTH))
        case "BINARY":
            return t.Type("BINARY", (_length(parser, 1),))
        case "VARBINARY":
            return t.Type("VARBINARY", (_length(parser, t.MAX_LENGTH),))
        case "DECIMAL" | "DEC" | "NUMERIC":
            return _decimal(parser)
        case "TIME":
            precision = _length(parser, 0)
            parser.accept("WITHOUT", "TIME", "ZONE")
            return t.time(precision)
        case "TIMESTAMP":
            precision = _precision(parser)
            if parser.accept("WITH", "LOCAL", "TIME", "ZONE"):
                return t.timestamp_ltz(precision)
            if parser.accept("WITH", "TIME", "ZONE"):
                parser.refuse("TIMESTAMP WITH TIME ZONE is not supported by Flink; TIMESTAMP_LTZ is.", start)
            parser.accept("WITHOUT", "TIME", "ZONE")
            return t.timestamp(precision)
        case "TIMESTAMP_LTZ":
            return t.timestamp_ltz(_precision(parser))
        case "INTERVAL":
            return _interval(parser)
        case "ARRAY" | "MULTISET":
            parser.expect_operator("<")
            element = parse_type(parser)
            parser.close_angle()
            return t.array(element) if word == "ARRAY" else t.multiset(element)
        case "MAP":
            parser.expect_operator("<")
            key = parse_type(parser)
            parser.expect_operator(",")
            value = parse_type(parser)
            parser.close_angle()
            return t.map_of(key, value)
        case "ROW":
            return _row(parser)
    if word in _REFUSED:
        parser.refuse(f"The type {word} is not supported.", start)
    parser.unexpected(start, "a data type")


def _length(parser: FlinkParser, default: int) -> int:
    if not parser.accept_operator("("):
        return default
    length = parser.integer()
    parser.expect_operator(")")
    return length


def _precision(parser: FlinkParser) -> int:
    start = parser.token
    precision = _length(parser, 6)
    if precision > 9:
        parser.refuse("Timestamp precision must be between 0 and 9 (both inclusive).", start)
    return precision


def _decimal(parser: FlinkParser) -> t.Type:
    start = parser.token
    precision, scale = 10, 0
    if parser.accept_operator("("):
        precision = parser.integer()
        scale = parser.integer() if parser.accept_operator(",") else 0
        parser.expect_operator(")")
    if not 1 <= precision <= 38:
        parser.refuse("Decimal precision must be between 1 and 38 (both inclusive).", start)
    if not 0 <= scale <= precision:
        parser.refuse(f"Decimal scale must be between 0 and the precision {precision} (both inclusive).", start)
    return t.decimal(precision, scale)


def _interval(parser: FlinkParser) -> t.Type:
    start = parser.token
    unit = parser.word()
    _length(parser, 0)
    last = unit
    if parser.accept("TO"):
        last = parser.word()
        _length(parser, 0)
    if unit in _YEAR_MONTH and last in _YEAR_MONTH:
        return t.INTERVAL_MONTHS
    if unit in _DAY_SECOND and last in _DAY_SECOND:
        return t.INTERVAL_MILLIS
    parser.unexpected(start, "an interval unit")


def _row(parser: FlinkParser) -> t.Type:
    closing = ")" if parser.accept_operator("(") else ">"
    if closing == ">":
        parser.expect_operator("<")
    names: list[str] = []
    children: list[t.Type] = []
    while True:
        names.append(parser.identifier())
        children.append(parse_type(parser))
        if parser.token.token_type == TokenType.STRING:
            parser.word()
        if not parser.accept_operator(","):
            break
    if closing == ")":
        parser.expect_operator(")")
    else:
        parser.close_angle()
    return t.row(tuple(names), tuple(children))


def type_sql(found: t.Type, *, nested: bool = False) -> str:
    """``found`` in Flink SQL, as SHOW CREATE TABLE writes it; NOT NULL only where ``nested``."""
    match found.root:
        case "VARCHAR":
            text = f"VARCHAR({found.args[0]})"
        case "VARBINARY":
            text = f"VARBINARY({found.args[0]})"
        case "TIMESTAMP_LTZ":
            text = f"TIMESTAMP({found.args[0]}) WITH LOCAL TIME ZONE"
        case "ARRAY" | "MULTISET" | "MAP":
            text = f"{found.root}<{', '.join(type_sql(c, nested=True) for c in found.children)}>"
        case "ROW":
            fields = zip(found.names, found.children, strict=True)
            text = f"ROW<{', '.join(f'{t.quote(n)} {type_sql(c, nested=True)}' for n, c in fields)}>"
        case _:
            text = str(found)
    return text if found.nullable or not nested else f"{text} NOT NULL"
