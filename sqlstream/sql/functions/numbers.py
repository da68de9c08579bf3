"""Functions of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.sql import types as t
from sqlstream.sql.functions.base import Function, Rendered, Spark, Types, fixed, like, not_null, nullable

if TYPE_CHECKING:
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
            # Spark's gives a BIGINT, which has no room for large numbers.
            x = f"CAST({call.args[0]} AS DOUBLE)"
            rounded = f"CAST({name}({x}) AS DOUBLE)"
            if name == "ceil":
                # Between -1 and 0 the result is -0.0.
                rounded = f"if({x} < 0, -CAST(floor(-({x})) AS DOUBLE), {rounded})"
            whole = f"if(abs({x}) < 9.0E15D, {rounded}, {x})"
            return whole if call.type.root == "DOUBLE" else f"CAST({whole} AS FLOAT)"
        return f"CAST({name}({call.args[0]}) AS {call.type.spark})"

    return render


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


def _check_digits(_: Types, values: tuple[Any, ...]) -> str | None:
    return None if len(values) < 2 or isinstance(values[1], int) else "The number of digits must be a constant."


def _round(call: Rendered) -> str:
    return f"CAST(round({', '.join(call.args)}) AS {call.type.spark})"


def _truncate(call: Rendered) -> str:
    x, digits = call.args[0], call.args[1] if len(call.args) > 1 else "0"
    if call.types[0].is_approximate:
        exact = f"CAST({x} AS DECIMAL(38,18))"
        cut = f"if({x} < 0, ceil({exact}, {digits}), floor({exact}, {digits}))"
        # Beyond 20 digits there is no fraction to cut.
        return f"if(abs({x}) < 1.0E15D, CAST({cut} AS {call.type.spark}), {x})"
    return f"CAST(if({x} < 0, ceil({x}, {digits}), floor({x}, {digits})) AS {call.type.spark})"


def _log(call: Rendered) -> str:
    if len(call.args) == 1:
        return _LN.format(*call.args)
    base, x = call.args
    return f"({_LN.format(x)} / {_LN.format(base)})"


def _sign(call: Rendered) -> str:
    return f"CAST(sign({call.args[0]}) AS {call.type.spark})"


def _hex_type(types: Types) -> Type:
    return t.STRING.with_nullable(types[0].nullable)


def _random_integer(call: Rendered) -> str:
    *seed, bound = call.args
    return f"CAST(floor(rand({', '.join(seed)}) * {bound}) AS INT)"


def _nonpositive(name: str) -> str:
    """A logarithm as Java has it, where Spark's is NULL."""
    return f"coalesce({name}({{0}}), CAST(if({{0}} = 0, '-Infinity', if({{0}} < 0, 'NaN', NULL)) AS DOUBLE))"


_LN = _nonpositive("ln")

_DOUBLES = (
    ("SQRT", "sqrt({0})", "The square root."),
    ("EXP", "exp({0})", "e to the power of x."),
    ("LN", _LN, "The natural logarithm."),
    ("LOG10", _nonpositive("log10"), "The logarithm to base 10."),
    ("LOG2", _nonpositive("log2"), "The logarithm to base 2."),
    ("SIN", "sin({0})", "The sine."), ("COS", "cos({0})", "The cosine."), ("TAN", "tan({0})", "The tangent."),
    ("COT", "cot({0})", "The cotangent."), ("ASIN", "asin({0})", "The arc sine."), ("ACOS", "acos({0})", "The arc cosine."),
    ("ATAN", "atan({0})", "The arc tangent."), ("SINH", "sinh({0})", "The hyperbolic sine."), ("COSH", "cosh({0})", "The hyperbolic cosine."),
    ("TANH", "tanh({0})", "The hyperbolic tangent."), ("DEGREES", "degrees({0})", "Radians as degrees."),
    ("RADIANS", "radians({0})", "Degrees as radians."),
)  # fmt: skip

ROWS: tuple[Function, ...] = (
    Function("ABS", ("numeric",), like(0), "abs({0})", "The absolute value.", "ABS(-1)"),
    Function("SIGN", ("numeric",), like(0), _sign, "-1, 0 or 1.", "SIGN(-3)"),
    *(Function(name, ("double",), _DOUBLE, sql, summary, f"{name}(1.0)") for name, sql, summary in _DOUBLES),
    Function("LOG", ("double", "double?"), _DOUBLE, _log, "The natural logarithm, or that to the base of the first.", "LOG(2, 8)"),
    Function("POWER", ("double", "double"), _DOUBLE, "power({0}, {1})", "x to the power of y.", "POWER(2, 3)"),
    Function("ATAN2", ("double", "double"), _DOUBLE, "atan2({0}, {1})", "The angle of the point (y, x).", "ATAN2(1, 2)"),
    Function("CEIL", ("numeric",), _integral_type, _integral("ceil"), "The next whole number upwards.", "CEIL(1.2)"),
    Function("FLOOR", ("numeric",), _integral_type, _integral("floor"), "The next whole number downwards.", "FLOOR(1.8)"),
    Function("ROUND", ("numeric", "int?"), like(0), _round, "Rounded, half away from zero.", "ROUND(1.555, 2)", sized=_round_type, check=_check_digits),
    Function("TRUNCATE", ("numeric", "int?"), like(0), _truncate, "Cut to so many digits behind the point.", "TRUNCATE(42.345, 2)", sized=_round_type, check=_check_digits),
    Function("PI", (), not_null(t.DOUBLE), "pi()", "The number pi.", "PI()"),
    Function("E", (), not_null(t.DOUBLE), "e()", "The number e.", "E()"),
    Function("RAND", ("int?",), not_null(t.DOUBLE), lambda c: f"rand({', '.join(c.args)})", "A random number from 0 to 1.", "RAND()", deterministic=False),
    Function("RAND_INTEGER", ("int", "int?"), not_null(t.INT), _random_integer, "A random whole number below n; the first of two is a seed.", "RAND_INTEGER(10)", deterministic=False),
    Function("BIN", ("bigint",), _hex_type, "bin({0})", "In binary.", "BIN(4)"),
    Function("HEX", ("any",), _hex_type, "hex({0})", "In hexadecimal.", "HEX(255)"),
    Function("UNHEX", ("string",), nullable(t.BYTES), "unhex({0})", "The bytes of a hexadecimal text.", "UNHEX('4A')"),
)  # fmt: skip

