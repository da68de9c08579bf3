"""Typed expressions as Spark SQL text. User text enters as quoted identifiers and escaped literals only."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from sqlstream.core.changelog import RowKind
from sqlstream.sql.casts import cast_sql
from sqlstream.sql.expressions import AggregateCall, Call, Cast, ColumnRef, Expr, FieldAccess, Keyword, Literal, constant
from sqlstream.sql.functions.aggregates import OVER_SET
from sqlstream.sql.functions.base import Rendered
from sqlstream.sql.quoting import quote, spark_string


def render(expr: Expr, zone: str) -> str:
    """Spark SQL for ``expr`` over columns of the same names; ``zone`` is ``table.local-time-zone``."""
    match expr:
        case ColumnRef(name=name):
            return quote(name)
        case Literal():
            return literal(expr)
        case Keyword(text=text):
            return text
        case Cast(operand=operand, type=type_, safe=safe):
            return cast_sql(render(operand, zone), operand.type, type_, zone, safe=safe)
        case FieldAccess(operand=operand, name=name):
            return f"{render(operand, zone)}.{quote(name)}"
        case Call(function=function, args=args, type=type_):
            texts = [render(a, zone) for a in args]
            return function.render(Rendered(tuple(texts), tuple(a.type for a in args), type_, zone, _values(args)))
        case AggregateCall(function=function):
            return function.render(_aggregate(expr, zone))
    raise TypeError(type(expr).__name__)


def _aggregate(call: AggregateCall, zone: str) -> Rendered:
    condition, args = call.filter, call.args
    suffix = f" FILTER (WHERE {render(condition, zone)})" if condition is not None else ""
    texts, types = tuple(render(a, zone) for a in args), tuple(a.type for a in args)
    return Rendered(texts, types, call.type, zone, _values(args), call.distinct, suffix)


def render_arrived(call: AggregateCall, zone: str, arrival: str) -> str:
    """Spark SQL for a call over rows in another order than that in which they came, of which the column ``arrival`` tells."""
    return call.function.render(replace(_aggregate(call, zone), arrival=quote(arrival)))


def render_over(call: AggregateCall, zone: str, window: str) -> str:
    """Spark SQL for a call over a window of Spark SQL."""
    return call.function.render(replace(_aggregate(call, zone), distinct=False, filter=f" OVER ({window})"))


def render_marked(call: AggregateCall, zone: str, mark: str) -> str:
    """Spark SQL for a call with DISTINCT over rows of which those count for which the column ``mark`` is 1."""
    return call.function.render(replace(_aggregate(call, zone), distinct=False, filter=f" FILTER (WHERE {quote(mark)} = 1)"))


def render_signed(call: AggregateCall, zone: str, kind: str, mark: str | None) -> str:
    """Spark SQL for a call over rows that may take others away, as the column ``kind`` says; with DISTINCT the column ``mark`` does.

    A function that has no such form is called as it is, with DISTINCT as a function of the set of its values.
    """
    rendered = _aggregate(call, zone)
    if call.function.signed is None:
        of_set = OVER_SET.get(call.function.name) if call.distinct else None
        return call.function.render(replace(rendered, distinct=False)) if of_set is None else of_set.render(rendered)
    if mark is not None:
        return call.function.signed(replace(rendered, distinct=False, filter="", sign=quote(mark)))
    return call.function.signed(replace(rendered, sign=signs(kind)))


def signs(kind: str) -> str:
    """Spark SQL: 1, or -1 where the column ``kind`` says that a row is retracted."""
    return f"if({quote(kind)} IN ({', '.join(str(k.code) for k in RowKind if k.removes)}), -1, 1)"


def _values(args: tuple[Expr, ...]) -> tuple[Any, ...]:
    return tuple(constant(a) for a in args)


def literal(expr: Literal) -> str:
    """A constant, of exactly its carrier type."""
    value, root = expr.value, expr.type.root
    if value is None:
        return f"CAST(NULL AS {expr.type.spark})"
    match root:
        case "BOOLEAN":
            return str(value).lower()
        case "CHAR" | "VARCHAR":
            return spark_string(value)
        case "BINARY" | "VARBINARY":
            return f"X'{value.hex()}'"
        case "INT":
            return str(value)
        case "BIGINT":
            return f"{value}L" if value != -(2**63) else "(-9223372036854775807L - 1L)"
        case "TINYINT" | "SMALLINT":
            return f"CAST({value} AS {root})"
        case "DOUBLE" | "FLOAT":
            return f"CAST('{value!r}' AS {root})" if math.isinf(value) or math.isnan(value) else f"CAST({value!r} AS {root})"
        case "DECIMAL":
            return f"CAST('{value:f}' AS {expr.type.spark})"
        case "DATE" | "TIMESTAMP" | "TIMESTAMP_LTZ":
            return f"{'DATE' if root == 'DATE' else 'TIMESTAMP'} '{value}'"
        case "TIME":
            return f"TIME '{value}'"
        case "INTERVAL_MILLIS":
            sign, ms = ("-" if value < 0 else ""), abs(value)
            days, hours, minutes = ms // 86_400_000, ms // 3_600_000 % 24, ms // 60_000 % 60
            return f"INTERVAL {sign}'{days} {hours}:{minutes}:{ms // 1000 % 60}.{ms % 1000:03d}' DAY TO SECOND"
        case "INTERVAL_MONTHS":
            return f"INTERVAL {'-' if value < 0 else ''}'{abs(value) // 12}-{abs(value) % 12}' YEAR TO MONTH"
    raise TypeError(root)
