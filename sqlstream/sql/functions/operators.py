"""Operators as functions: arithmetic, comparison, logic, access, constructors, CASE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.sql import types as t
from sqlstream.sql.coercion import (
    as_decimal,
    common_type,
    compared,
    divide_type,
    listed,
    minus_operands,
    modulo_operands,
    modulo_type,
    operands,
    ordered,
    plus_operands,
    plus_type,
    times_operands,
    times_type,
)
from sqlstream.sql.functions.base import VARIES, Function, Rendered, Returns, Spark, Types, fixed, like, not_null
from sqlstream.sql.quoting import spark_string
from sqlstream.sql.types import Type

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_ESCAPE = "''"


def _arithmetic(rule: Callable[[Type, Type], Type]) -> Returns:
    def returns(types: Types) -> Type:
        a, b = types
        nulls = a.nullable or b.nullable
        if a.is_interval and not (b.is_timestamp or b.root in ("DATE", "TIME")):
            return a.with_nullable(nulls)
        if (b.is_interval and a.is_numeric) or a.is_interval:
            return b.with_nullable(nulls)
        if b.is_interval:
            return a.with_nullable(nulls)
        return rule(a, b).with_nullable(nulls)

    return returns


def _sides(call: Rendered) -> tuple[str, str]:
    """Both arguments; whole numbers beside a DECIMAL as DECIMALs of just their digits, from which Flink derives the result's type."""
    if "DECIMAL" not in (call.types[0].root, call.types[1].root):
        return call.args[0], call.args[1]
    a, b = (f"CAST({x} AS {as_decimal(y).spark})" if y.is_integer else x for x, y in zip(call.args, call.types, strict=True))
    return a, b


def _plus(sign: str) -> Spark:
    def render(call: Rendered) -> str:
        a, b = _sides(call)
        left, right = call.types
        amount = call.values[1]
        if left.is_interval and not right.is_interval:
            a, b, left, right = b, a, right, left
            amount = call.values[0]
        if left.is_timestamp and right.root == "INTERVAL_MILLIS":
            moved_by = f"{amount * (1000 if sign == '+' else -1000)}L" if isinstance(amount, int) else f"{sign}{micros(b)}"
            return f"sqlstream_plus_units({a}, {moved_by}, 1L)"
        if (left.is_timestamp or left.root == "DATE") and right.root == "INTERVAL_MONTHS":
            moved = f"sqlstream_plus_months(CAST({a} AS TIMESTAMP), CAST({sign}CAST({b} AS INT) AS BIGINT))"
            return f"CAST({moved} AS DATE)" if left.root == "DATE" else moved
        if left.root == "TIME":
            # A time of day begins anew after 24 hours.
            return f"time_from_micros(pmod(time_to_micros({a}) {sign} {micros(b)}, 86400000000L))"
        if left.root == "DATE" and right.root == "INTERVAL_MILLIS":
            # Whole days only.
            return f"CAST(sqlstream_plus_units(CAST({a} AS TIMESTAMP), {sign}({micros(b)} div 86400000000L), 86400000000L) AS DATE)"
        return _sized(f"({a} {sign} {b})", call)

    return render


def micros(interval: str) -> str:
    """Spark SQL for a day-time interval's microseconds."""
    return f"(unix_micros(TIMESTAMP '1970-01-01 00:00:00' + {interval}))"


def _times(call: Rendered) -> str:
    a, b = _sides(call)
    product = _sized(f"({a} * {b})", call)
    return f"CAST({product} AS {call.type.spark})" if call.type.is_interval else product


def _sized(text: str, call: Rendered) -> str:
    return f"CAST({text} AS {call.type.spark})" if call.type.root == "DECIMAL" else text


def _nonzero(call: Rendered) -> bool:
    """Whether the divisor is a constant other than zero."""
    return call.values[1] is not VARIES and bool(call.values[1])


def _divide(call: Rendered) -> str:
    a, b = _sides(call)
    if call.type.is_approximate:
        plain = f"({a} / {b})"
        if not _nonzero(call):
            zero = f"CASE WHEN {a} = 0 OR isnan({a}) THEN 'NaN' WHEN {a} > 0 THEN 'Infinity' WHEN {a} < 0 THEN '-Infinity' END"
            plain = f"if({b} = 0, CAST({zero} AS DOUBLE), {plain})"
        return plain if call.type.root == "DOUBLE" else f"CAST({plain} AS FLOAT)"
    operator = "div" if call.type.is_integer else "/"
    quotient = f"CAST(({a} {operator} {b}) AS {call.type.spark})"
    return quotient if _nonzero(call) else _unless_zero(quotient, call)


def _unless_zero(text: str, call: Rendered) -> str:
    """``text``, NULL where the divisor is zero, made to fail there."""
    return f"coalesce({text}, CAST(if({call.args[1]} = 0 AND {call.args[0]} IS NOT NULL, raise_error('/ by zero'), NULL) AS {call.type.spark}))"


def _modulo(call: Rendered) -> str:
    a, b = _sides(call)
    rest = f"CAST(({a} % {b}) AS {call.type.spark})"
    return rest if _nonzero(call) else _unless_zero(rest, call)


def _all_same(types: Types) -> Types | None:
    common = common_type(types)
    return None if common is None or not types else tuple(common for _ in types)


def _pairs(types: Types) -> Types | None:
    if len(types) % 2 or not types:
        return None
    keys, values = _all_same(types[::2]), _all_same(types[1::2])
    return None if keys is None or values is None else tuple(x for pair in zip(keys, values, strict=True) for x in pair)


def _any_null(types: Types) -> Type:
    return types[0].with_nullable(any(x.nullable for x in types))


def _array_type(types: Types) -> Type:
    return t.array(_any_null(types)).not_null()


def _map_type(types: Types) -> Type:
    return t.map_of(_any_null(types[::2]), _any_null(types[1::2])).not_null()


def _row_type(types: Types) -> Type:
    return t.row(tuple(f"EXPR${i}" for i in range(len(types))), types).not_null()


def _row(call: Rendered) -> str:
    pairs = ", ".join(f"{spark_string(n)}, {a}" for n, a in zip(call.type.names, call.args, strict=True))
    return f"named_struct({pairs})"


def _branches(types: Types) -> Types | None:
    """Conditions as they are, results brought to their common type."""
    results = common_type([*types[1:-1:2], types[-1]])
    if results is None:
        return None
    last = len(types) - 1
    return tuple(results.with_nullable(x.nullable) if i % 2 or i == last else x for i, x in enumerate(types))


def _case_type(types: Types) -> Type:
    results = [*types[1:-1:2], types[-1]]
    return results[0].with_nullable(any(r.nullable for r in results))


def _case(call: Rendered) -> str:
    pairs = " ".join(f"WHEN {c} THEN {v}" for c, v in zip(call.args[:-1:2], call.args[1::2], strict=False))
    return f"CASE {pairs} ELSE {call.args[-1]} END"


def _like(call: Rendered) -> str:
    text, pattern, *escape = call.args
    value = call.values[1]
    if isinstance(value, str) and not escape and "_" not in value and "\\" not in value:
        return f"({text} LIKE {pattern})"
    return f"sqlstream_like({text}, {pattern}, {escape[0] if escape else _NO_ESCAPE})"


def _similar(call: Rendered) -> str:
    return f"sqlstream_similar_to({', '.join(call.args)}{'' if len(call.args) == 3 else f', {_NO_ESCAPE}'})"


def _concat_type(types: Types) -> Type:
    length = min(sum(x.args[0] for x in types), t.MAX_LENGTH)
    root = "CHAR" if all(x.root == "CHAR" for x in types) else "VARCHAR"
    return Type(root, (length,)).with_nullable(any(x.nullable for x in types))


def _element(types: Types) -> Type:
    return t.VARIANT if types[0].root == "VARIANT" else types[0].children[-1].null()


def _item(call: Rendered) -> str:
    if call.types[0].root != "VARIANT":
        return f"get({call.args[0]}, {call.args[1]} - 1)" if call.types[0].root == "ARRAY" else f"try_element_at({call.args[0]}, {call.args[1]})"
    return f"sqlstream_variant_{'member' if call.types[1].is_string else 'element'}({call.args[0]}, {call.args[1]})"


BOOL = fixed(t.BOOLEAN)
_SURE = not_null(t.BOOLEAN)


def _comparison(name: str) -> Function:
    return Function(
        name,
        ("comparable", "comparable"),
        BOOL,
        _compared(name),
        "Compares two values.",
        f"1 {name} 2",
        coerce=compared if name in ("=", "<>") else ordered,
    )


def _compared(name: str) -> Spark:
    # For Spark NaN is the greatest number: the side that must not be it.
    wrong = {"<": 1, "<=": 1, ">": 0, ">=": 0}.get(name)

    def render(call: Rendered) -> str:
        left, right = call.args
        if left == right and "(" not in left and "=" in name and not any(type_.nullable for type_ in call.types):
            # One column.
            return "TRUE"
        plain = f"({left} {name} {right})"
        if wrong is None or not call.types[wrong].is_approximate or call.values[wrong] is not VARIES:
            return plain
        other = 1 - wrong
        unknown = f" OR {call.args[other]} IS NULL" if call.types[other].nullable else ""
        return f"({plain} AND (NOT isnan({call.args[wrong]}){unknown}))"

    return render


def _is_null(call: Rendered) -> str:
    """As Flink, which asks no value whose type answers it."""
    return f"({call.args[0]} IS NULL)" if call.types[0].nullable else "FALSE"


def _is(truth: str, sure: str) -> Spark:
    return lambda call: f"({call.args[0]} IS {truth})" if call.types[0].nullable else sure.format(*call.args)


def _not_distinct(call: Rendered) -> str:
    return f"({call.args[0]} {'<=>' if any(type_.nullable for type_ in call.types) else '='} {call.args[1]})"


ROWS: tuple[Function, ...] = (
    Function("+", ("any", "any"), _arithmetic(plus_type), _plus("+"), "Adds numbers, or an interval to a time. Integers wrap.", "1 + 2", coerce=plus_operands),
    Function("-", ("any", "any"), _arithmetic(plus_type), _plus("-"), "Subtracts.", "3 - 2", coerce=minus_operands),
    Function("*", ("any", "any"), _arithmetic(times_type), _times, "Multiplies.", "2 * 3", coerce=times_operands),
    Function("/", ("any", "any"), _arithmetic(divide_type), _divide, "Divides; integers give an integer, cut towards zero.", "7 / 2", coerce=operands),
    Function("%", ("exact", "exact"), _arithmetic(modulo_type), _modulo, "The remainder, with the sign of the dividend.", "7 % 3", coerce=modulo_operands),
    Function("MOD", ("exact", "exact"), _arithmetic(modulo_type), _modulo, "The remainder, with the sign of the dividend.", "MOD(7, 3)", coerce=modulo_operands),
    Function("NEGATE", ("number or interval",), like(0), "(- {0})", "The negative.", "-(2)"),
    *(_comparison(name) for name in ("=", "<>", "<", "<=", ">", ">=")),
    Function("AND", ("boolean", "boolean"), BOOL, "({0} AND {1})", "Whether both hold.", "TRUE AND FALSE"),
    Function("OR", ("boolean", "boolean"), BOOL, "({0} OR {1})", "Whether one of them holds.", "TRUE OR FALSE"),
    Function("NOT", ("boolean",), BOOL, "(NOT {0})", "The opposite.", "NOT TRUE"),
    Function("IS NULL", ("any",), _SURE, _is_null, "Whether it is NULL.", "1 IS NULL"),
    Function("IS TRUE", ("boolean",), _SURE, _is("TRUE", "{0}"), "Whether it is TRUE.", "TRUE IS TRUE"),
    Function("IS FALSE", ("boolean",), _SURE, _is("FALSE", "(NOT {0})"), "Whether it is FALSE.", "TRUE IS FALSE"),
    Function("IS NOT DISTINCT FROM", ("comparable", "comparable"), _SURE, _not_distinct, "Equality in which NULL equals NULL.", "1 IS NOT DISTINCT FROM 2", coerce=compared),
    Function("IN", ("comparable", "comparable*"), BOOL, lambda c: f"({c.args[0]} IN ({', '.join(c.args[1:])}))", "Whether it is one of the list.", "3 IN (1, 2)", coerce=listed),
    Function("LIKE", ("string", "string", "string?"), BOOL, _like, "Matches a pattern of % and _.", "'Anna' LIKE 'A%'"),
    Function("SIMILAR TO", ("string", "string", "string?"), BOOL, _similar, "Matches an SQL regular expression.", "'Anna' SIMILAR TO '(A|B)%'"),
    Function("CASE", ("any*",), _case_type, _case, "The value of the first condition that holds.", "CASE WHEN 1 > 0 THEN 'a' ELSE 'b' END", coerce=_branches),
    Function("||", ("string", "string"), _concat_type, "concat({0}, {1})", "Joins two strings.", "'a' || 'b'"),
    Function("ITEM", ("any", "any"), _element, _item, "An element of an array, counted from 1, or of a map, by key; both of a VARIANT.", "ARRAY['a', 'b'][1]"),
    Function("ROW", ("any*",), _row_type, _row, "A row of the values.", "ROW(1, 'a')"),
    Function("ARRAY", ("any*",), _array_type, lambda c: f"array({', '.join(c.args)})", "An array of the values.", "ARRAY[1, 2]", coerce=_all_same),
    Function("MAP", ("any*",), _map_type, lambda c: f"map({', '.join(c.args)})", "A map of the keys and values.", "MAP['a', 1]", coerce=_pairs),
)  # fmt: skip
