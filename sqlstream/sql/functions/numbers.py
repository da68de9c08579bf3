"""Functions of numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlstream.sql import types as t
from sqlstream.sql.functions.base import VARIES, Function, Rendered, Spark, Types, fixed, like, not_null, nullable

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.sql.types import Type

_DOUBLE = fixed(t.DOUBLE)


def _integral_type(types: Types) -> Type:
    a = types[0]
    return t.decimal(a.args[0], 0).with_nullable(a.nullable) if a.root == "DECIMAL" else a


def _integral(name: str) -> Spark:
    def render(call: Rendered) -> str:
        if call.type.is_integer:
            return call.args[0]
        if call.type.is_approximate:
            return _of_double(f"sqlstream_{name}", call)
        return f"CAST({name}({call.args[0]}) AS {call.type.spark})"

    return render


def _of_double(function: str, call: Rendered) -> str:
    """A function of a DOUBLE, called for a FLOAT too."""
    x, *rest = call.args
    if call.type.root == "DOUBLE":
        return f"{function}({', '.join(call.args)})"
    return f"CAST({function}({', '.join((f'CAST({x} AS DOUBLE)', *rest))}) AS FLOAT)"


def _round_type(types: Types, values: tuple[Any, ...]) -> Type:
    """A DECIMAL keeps as many digits behind the point as are asked for, and may grow by one in front."""
    a, nulls = types[0], any(x.nullable for x in types)
    if a.root != "DECIMAL":
        return a.with_nullable(nulls)
    precision, scale = a.args
    digits = values[1] if len(values) > 1 else 0
    if digits >= scale:
        return a.with_nullable(nulls)
    whole = 1 + precision - scale
    return (t.decimal(min(38, whole), 0) if digits < 0 else t.decimal(whole + digits, digits)).with_nullable(nulls)


def _check_digits(types: Types, values: tuple[Any, ...]) -> str | None:
    known = len(values) < 2 or isinstance(values[1], int) or types[0].root != "DECIMAL"
    return None if known else "The number of digits of a DECIMAL must be a constant."


def _check_seed(_: Types, seeds: tuple[Any, ...]) -> str | None:
    return "A seed must be a constant." if VARIES in seeds else None


def _cut(name: str, exact: str) -> Spark:
    """A function that leaves so many digits; ``exact`` is Spark SQL for a DECIMAL."""

    def render(call: Rendered) -> str:
        x, digits = (*call.args, "0")[:2]
        if call.type.is_approximate:
            return _of_double(f"sqlstream_{name}", replace(call, args=(x, digits)))
        if call.type.is_integer:
            places = call.values[1] if len(call.args) > 1 else 0
            kept = isinstance(places, int) and places >= 0
            return x if kept else f"CAST(sqlstream_{name}_whole(CAST({x} AS BIGINT), {digits}) AS {call.type.spark})"
        return f"CAST({exact.format(x, digits)} AS {call.type.spark})"

    return render


def _log(call: Rendered) -> str:
    return f"sqlstream_{'ln' if len(call.args) == 1 else 'log'}({', '.join(call.args)})"


def _sign(call: Rendered) -> str:
    return f"CAST(sign({call.args[0]}) AS {call.type.spark})"


def _hex_type(types: Types) -> Type:
    return t.STRING.with_nullable(types[0].nullable)


def _seeded(name: str, arguments: int) -> Callable[[int], str | None]:
    """What is reported of a call with a seed."""
    return lambda count: f"{name} gives other numbers of a seed than Flink's, and the same ones in each micro-batch." if count == arguments else None


def _random_integer(call: Rendered) -> str:
    *seed, bound = call.args
    return f"CAST(floor(rand({', '.join(seed)}) * {bound}) AS INT)"


_DOUBLES = (
    ("SQRT", "sqlstream_power({0}, 0.5D)", "The square root."),
    ("EXP", "sqlstream_exp({0})", "e to the power of x."),
    ("LN", "sqlstream_ln({0})", "The natural logarithm."),
    ("LOG10", "sqlstream_log10({0})", "The logarithm to base 10."),
    ("LOG2", "sqlstream_log2({0})", "The logarithm to base 2."),
    ("SIN", "sin({0})", "The sine."), ("COS", "cos({0})", "The cosine."), ("TAN", "tan({0})", "The tangent."),
    ("COT", "cot({0})", "The cotangent."), ("ASIN", "asin({0})", "The arc sine."), ("ACOS", "acos({0})", "The arc cosine."),
    ("ATAN", "atan({0})", "The arc tangent."), ("SINH", "sinh({0})", "The hyperbolic sine."), ("COSH", "cosh({0})", "The hyperbolic cosine."),
    ("TANH", "tanh({0})", "The hyperbolic tangent."), ("DEGREES", "degrees({0})", "Radians as degrees."),
    ("RADIANS", "radians({0})", "Degrees as radians."),
)  # fmt: skip


def _unhex(call: Rendered) -> str:
    """Of an odd number of digits the first counts as 00, where Spark takes it."""
    text = call.args[0]
    return f"if(length({text}) % 2 = 0, unhex({text}), concat(substring(unhex(left({text}, 1)), 2), X'00', unhex(substring({text}, 2))))"


ROWS: tuple[Function, ...] = (
    Function("ABS", ("numeric",), like(0), "abs({0})", "The absolute value.", "ABS(-1)"),
    Function("SIGN", ("numeric",), like(0), _sign, "-1, 0 or 1.", "SIGN(-3)"),
    *(Function(name, ("double",), _DOUBLE, sql, summary, f"{name}(1.0)") for name, sql, summary in _DOUBLES),
    Function("LOG", ("double", "double?"), _DOUBLE, _log, "The natural logarithm, or that to the base of the first.", "LOG(2, 8)"),
    Function("POWER", ("double", "double"), _DOUBLE, "sqlstream_power({0}, {1})", "x to the power of y.", "POWER(2, 3)"),
    Function("ATAN2", ("double", "double"), _DOUBLE, "atan2({0}, {1})", "The angle of the point (y, x).", "ATAN2(1, 2)"),
    Function("CEIL", ("numeric",), _integral_type, _integral("ceil"), "The next whole number upwards.", "CEIL(1.2)"),
    Function("FLOOR", ("numeric",), _integral_type, _integral("floor"), "The next whole number downwards.", "FLOOR(1.8)"),
    Function("ROUND", ("numeric", "int?"), like(0), _cut("round", "round({0}, {1})"), "Rounded, half away from zero.", "ROUND(1.555, 2)", sized=_round_type, check=_check_digits),
    Function("TRUNCATE", ("numeric", "int?"), like(0), _cut("truncate", "if({0} < 0, ceil({0}, {1}), floor({0}, {1}))"), "Cut to so many digits behind the point.", "TRUNCATE(42.345, 2)", sized=_round_type, check=_check_digits),
    Function("PI", (), not_null(t.DOUBLE), "pi()", "The number pi.", "PI()"),
    Function("E", (), not_null(t.DOUBLE), "e()", "The number e.", "E()"),
    Function("RAND", ("int?",), not_null(t.DOUBLE), lambda c: f"rand({', '.join(c.args)})", "A random number from 0 to 1.", "RAND()", check=_check_seed, deterministic=False, notice=_seeded("RAND", 1)),
    Function("RAND_INTEGER", ("short int", "short int?"), not_null(t.INT), _random_integer, "A random whole number below n; the first of two is a seed.", "RAND_INTEGER(10)", check=lambda types, values: _check_seed(types, values[:-1]), deterministic=False, notice=_seeded("RAND_INTEGER", 2)),
    Function("BIN", ("bigint",), _hex_type, "bin({0})", "In binary.", "BIN(4)"),
    Function("HEX", ("integer or string",), _hex_type, "hex({0})", "In hexadecimal.", "HEX(255)"),
    Function("UNHEX", ("string",), nullable(t.BYTES), _unhex, "The bytes of a hexadecimal text.", "UNHEX('4A')"),
)  # fmt: skip
