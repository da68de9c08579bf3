"""Literals: syntax to typed constants."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal

from sqlglot import exp

from sqlstream.errors import NotSupported, ValidationError
from sqlstream.sql import ast
from sqlstream.sql import types as t
from sqlstream.sql.expressions import Literal

_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_MILLIS = {"WEEK": 604_800_000, "DAY": 86_400_000, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1000}
_DAY_SECOND = ("DAY", "HOUR", "MINUTE", "SECOND")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def literal(node: exp.Expr) -> Literal | None:
    """The constant that ``node`` is; None where it is no literal. Raises ValidationError."""
    match node:
        case exp.Literal():
            return _string(node.name) if node.is_string else number(node.name, node)
        case exp.Boolean():
            return Literal(t.BOOLEAN.not_null(), bool(node.this))
        case exp.Null():
            return Literal(t.NULL, None)
        case exp.HexString():
            text = str(node.this)
            digits = text if re.fullmatch(r"[0-9A-Fa-f]*", text) else format(int(text), "x")
            return Literal(t.Type("BINARY", (len(digits) // 2,)).not_null(), bytes.fromhex(digits if len(digits) % 2 == 0 else "0" + digits))
        case exp.ByteString():
            return _string(_unescaped(str(node.this)))
        case exp.UnicodeString():
            return _string(_unicode(str(node.this), node))
        case ast.TimeLiteral():
            return _time(node)
        case ast.IntervalLiteral():
            return interval(node)
    return None


def _string(text: str) -> Literal:
    # Java counts characters beyond the BMP twice; so does CHAR(n).
    return Literal(t.char(len(text.encode("utf-16-le")) // 2).not_null(), text)


def number(text: str, at: exp.Expr) -> Literal:
    """A number: INT or BIGINT where it fits, DECIMAL with a point, DOUBLE with an exponent."""
    if re.search("[eE]", text):
        return Literal(t.DOUBLE.not_null(), float(text))
    value = Decimal(text)
    if "." not in text:
        whole = int(text)
        if -(2**31) <= whole < 2**31:
            return Literal(t.INT.not_null(), whole)
        if -(2**63) <= whole < 2**63:
            return Literal(t.BIGINT.not_null(), whole)
        raise ValidationError(f"Numeric literal '{text}' out of range", at=at)
    precision, scale = sum(c.isdigit() for c in text), len(text.partition(".")[2])
    if precision > 38:
        raise ValidationError(f"Numeric literal '{text}' out of range", at=at)
    return Literal(t.decimal(precision, scale).not_null(), value)


def _unescaped(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        body = match[1]
        if body[0] in "uU" or (body[0] == "x" and len(body) > 1):
            return chr(int(body[1:], 16))
        if body[0] in "01234567":
            return chr(int(body, 8))
        return _ESCAPES.get(body[0], body)

    return re.sub(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|.)", one, text, flags=re.S)


def _unicode(text: str, node: exp.UnicodeString) -> str:
    escape = node.args.get("escape")
    mark = re.escape(escape.name if escape else "\\")
    return re.sub(f"{mark}([0-9A-Fa-f]{{4}})", lambda m: chr(int(m[1], 16)), text)


def _time(node: ast.TimeLiteral) -> Literal:
    kind, text = node.args["kind"], str(node.args["this"])
    try:
        if kind == "DATE":
            return Literal(t.DATE.not_null(), dt.date.fromisoformat(text))
        fraction = text.partition(".")[2]
        if kind == "TIME":
            hour, minute, second = (int(p) for p in text.partition(".")[0].split(":"))
            return Literal(t.time(min(len(fraction), 3)).not_null(), dt.time(hour, minute, second, int((fraction + "000000")[:6])))
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d+)?", text):
            raise ValueError
        value = dt.datetime.fromisoformat(text.partition(".")[0]) + dt.timedelta(microseconds=int((fraction + "000000")[:6]))
        return Literal(t.timestamp(len(fraction)).not_null(), value)
    except ValueError:
        raise ValidationError(f"Illegal {kind} literal '{text}'", at=node) from None


def interval(node: ast.IntervalLiteral) -> Literal:
    """An interval: months, or milliseconds."""
    text, unit, to = str(node.args["this"]).strip(), node.args["unit"], node.args.get("to")
    sign = -1 if node.args.get("negative") else 1
    if text[:1] in "+-" and text:
        sign, text = (-sign if text[0] == "-" else sign), text[1:]
    try:
        if unit in _MONTHS:
            if to == "MONTH":
                years, months = text.split("-")
                return Literal(t.INTERVAL_MONTHS.not_null(), sign * (int(years) * 12 + int(months)))
            return Literal(t.INTERVAL_MONTHS.not_null(), sign * int(text) * _MONTHS[unit])
        if unit not in _MILLIS:
            raise NotSupported(f"INTERVAL in {unit} is not supported.", at=node)
        if to is None:
            return Literal(t.INTERVAL_MILLIS.not_null(), sign * int(Decimal(text) * _MILLIS[unit]))
        units = _DAY_SECOND[_DAY_SECOND.index(unit) : _DAY_SECOND.index(to) + 1]
        parts = re.split(r"[ :]", text)
        if len(parts) != len(units):
            raise ValueError
        total = sum(int(Decimal(p) * _MILLIS[u]) for p, u in zip(parts, units, strict=True))
        return Literal(t.INTERVAL_MILLIS.not_null(), sign * total)
    except (ValueError, ArithmeticError):
        raise ValidationError(f"Illegal interval literal format '{text}' for INTERVAL {unit}{f' TO {to}' if to else ''}", at=node) from None
