"""Literals: syntax to typed constants."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal

from sqlglot import exp

from sqlstream.core.errors import ValidationError
from sqlstream.sql import types as t
from sqlstream.sql.expressions import Literal
from sqlstream.sql.sqlglot.dialect import flink_sql
from sqlstream.sql.syntax import ast

_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_MILLIS = {"WEEK": 604_800_000, "DAY": 86_400_000, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1000}
_LAST = {"MONTH": 11, "HOUR": 23, "MINUTE": 59, "SECOND": 59}
_DAY_SECOND = ("DAY", "HOUR", "MINUTE", "SECOND")
_DATE = re.compile(r"(\d{1,4})-(\d{1,2})-(\d{1,2})", re.ASCII)
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d*))?", re.ASCII)
_TIMESTAMP = re.compile(rf" *{_DATE.pattern}(?: +{_TIME.pattern})?")
_FORMATS = {"DATE": "yyyy-MM-dd", "TIME": "HH:mm:ss", "TIMESTAMP": "yyyy-MM-dd HH:mm:ss"}


def literal(node: exp.Expr) -> Literal | None:
    """The constant that ``node`` is; None where it is not a literal. Raises ValidationError."""
    match node:
        case exp.Literal():
            return _string(node.name) if node.is_string else number(node.name, node)
        case exp.Boolean():
            return Literal(t.BOOLEAN.not_null(), bool(node.this))
        case exp.Null():
            return Literal(t.NULL, None)
        case exp.HexString():
            return _binary(str(node.this), node)
        case ast.TimeLiteral():
            return _time(node)
        case ast.IntervalLiteral():
            return interval(node)
    return None


def interval_millis(node: exp.Expr) -> int | None:
    """The length of a constant INTERVAL of days to seconds; None of anything else. Raises ValidationError."""
    value = literal(node)
    return int(value.value) if isinstance(value, Literal) and value.type.root == "INTERVAL_MILLIS" else None


def _string(text: str) -> Literal:
    # Java counts characters beyond the BMP twice; so does CHAR(n).
    return Literal(t.char(len(text.encode("utf-16-le")) // 2).not_null(), text)


def _binary(digits: str, at: exp.Expr) -> Literal:
    if len(digits) % 2:
        raise ValidationError("Binary literal string must contain an even number of hexits", at=at)
    return Literal(t.Type("BINARY", (len(digits) // 2,)).not_null(), bytes.fromhex(digits))


def number(text: str, at: exp.Expr) -> Literal:
    """A number: INT or BIGINT where it fits, DECIMAL with a point, DOUBLE with an exponent."""
    if re.search("[eE]", text):
        value = float(text)
        if math.isinf(value):
            raise ValidationError(f"Numeric literal '{text.upper()}' out of range", at=at)
        return Literal(t.DOUBLE.not_null(), value)
    # Without its point a number has to fit into 64 bits, DECIMALs too.
    digits = text.replace(".", "")
    if len(digits.lstrip("-0")) > 19 or not -(2**63) <= int(digits) < 2**63:
        shown = f"0{text}" if text[0] == "." else text
        raise ValidationError(f"Numeric literal '{shown}' out of range", at=at)
    if "." not in text:
        whole = int(text)
        return Literal((t.INT if -(2**31) <= whole < 2**31 else t.BIGINT).not_null(), whole)
    precision, scale = sum(c.isdigit() for c in text), len(text.partition(".")[2])
    if scale > 38:
        raise ValidationError(f"Numeric literal '{text}' out of range", at=at)
    return Literal(t.decimal(min(precision, 38), scale).not_null(), Decimal(text))


def _time(node: ast.TimeLiteral) -> Literal:
    kind, text = node.kind, str(node.args["this"])
    try:
        if kind == "DATE" and (matched := _DATE.fullmatch(text)):
            return Literal(t.DATE.not_null(), dt.date(*(int(p) for p in matched.groups())))
        if kind == "TIME" and (matched := _TIME.fullmatch(text)):
            return _time_of_day(*matched.groups())
        if kind == "TIMESTAMP" and (matched := _TIMESTAMP.fullmatch(text)):
            return _timestamp(*matched.groups())
        raise ValueError
    except ValueError:
        raise ValidationError(f"Illegal {kind} literal '{text}': not in format '{_FORMATS[kind]}'", at=node) from None


def _time_of_day(hour: str, minute: str, second: str, fraction: str | None) -> Literal:
    kept = (fraction or "")[:3]
    value = dt.time(int(hour), int(minute), int(second), int(kept.ljust(6, "0")))
    return Literal(t.time(len(kept)).not_null(), value)


def _timestamp(*fields: str | None) -> Literal:
    year, month, day, hour, minute, second = (int(f or 0) for f in fields[:6])
    kept = (fields[6] or "")[:9]
    # datetime ends at microseconds, as Spark does.
    value = dt.datetime(year, month, day, hour, minute, second, int(kept[:6].ljust(6, "0")))
    return Literal(t.timestamp(len(kept)).not_null(), value)


def interval(node: ast.IntervalLiteral) -> Literal:
    """An interval: months, or milliseconds. Its first field has two digits, or as many as it says: ``DAY(3)``."""
    unit, to = node.unit, node.args.get("to")
    text = str(node.args["this"]).strip(" ")
    _check_precision(node)
    matched = re.fullmatch(rf"([+-]?){_pattern(unit, to, node.args.get('scale') or 6)}", text)
    if matched is None:
        raise _illegal(node)
    sign, *fields = matched.groups()
    for name, field in zip(_units(unit, to)[1:], fields[1:], strict=True):
        if Decimal(field) >= _LAST[name] + 1:
            raise _illegal(node)
    most = node.precision or 2
    whole = Decimal(fields[0].partition(".")[0])
    # A first field is a number of 32 bits in Flink.
    if whole >= min(10**most, 2**31):
        value = f"{whole:,}"
        raise ValidationError(f"Interval field value {value} exceeds precision of {unit}({most}) field", at=node)
    negative = (sign == "-") != node.negative
    scale = _MONTHS if unit in _MONTHS else _MILLIS
    total = sum(int(Decimal(f) * scale[u]) for u, f in zip(_units(unit, to), fields, strict=True))
    kind = t.INTERVAL_MONTHS if unit in _MONTHS else t.INTERVAL_MILLIS
    return Literal(kind.not_null(), -total if negative else total)


def _units(unit: str, to: str | None) -> tuple[str, ...]:
    if to is None:
        return (unit,)
    return ("YEAR", "MONTH") if to == "MONTH" else _DAY_SECOND[_DAY_SECOND.index(unit) : _DAY_SECOND.index(to) + 1]


def _pattern(unit: str, to: str | None, scale: int) -> str:
    """Fields as an interval literal has them, each a group."""
    units = _units(unit, to)
    signs = ["", *("-" if u == "MONTH" else " " if u == "HOUR" else ":" for u in units[1:])]
    fraction = rf"(?:\.[0-9]{{1,{scale}}})?"
    return "".join(rf"{sign}([0-9]+{fraction if u == 'SECOND' else ''})" for sign, u in zip(signs, units, strict=True))


def _check_precision(node: ast.IntervalLiteral) -> None:
    unit, precision, scale = node.unit, node.precision, node.scale
    if precision is not None and not 1 <= precision <= (10 if unit in _MONTHS else 3):
        raise ValidationError(f"Interval leading field precision '{precision}' out of range for {_shown(node)}", at=node)
    if scale is not None and not 1 <= scale <= 9:
        raise ValidationError(f"Interval fractional second precision '{scale}' out of range for {_shown(node)}", at=node)


def _shown(node: ast.IntervalLiteral) -> str:
    return "INTERVAL " + flink_sql(node).rpartition("' ")[2]


def _illegal(node: ast.IntervalLiteral) -> ValidationError:
    return ValidationError(f"Illegal interval literal format '{node.args['this']}' for {_shown(node)}", at=node)
