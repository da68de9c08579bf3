"""Aggregate functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.sql import types as t
from sqlstream.sql.functions.base import Function, Rendered, Spark, not_null, nullable

if TYPE_CHECKING:
    from sqlstream.sql.types import Type


def _aggregate(name: str, call: Rendered) -> str:
    return f"{name}({'DISTINCT ' if call.distinct else ''}{', '.join(call.args) or '*'}){call.filter}"


def _call(name: str) -> Spark:
    return lambda call: _aggregate(name, call)


def _sum(call: Rendered) -> str:
    # Cut to the argument's width, the BIGINT sum of Spark is the wrapping sum of Flink.
    total = _aggregate("sum", call)
    return f"CAST({total} AS {call.type.spark})" if call.type.spark != _spark_sum_type(call.types[0]) else total


def _spark_sum_type(type_: Type) -> str:
    if type_.root == "DECIMAL":
        return f"DECIMAL({min(38, type_.args[0] + 10)},{type_.args[1]})"
    return "BIGINT" if type_.is_integer else "DOUBLE"


def _avg(call: Rendered) -> str:
    if call.type.is_integer:
        return f"CAST(({_aggregate('sum', call)} div {_aggregate('count', call)}) AS {call.type.spark})"
    if call.type.root == "DECIMAL":
        return f"CAST({_aggregate('avg', call)} AS {call.type.spark})"
    average = _aggregate("avg", call)
    return average if call.type.root == "DOUBLE" else f"CAST({average} AS {call.type.spark})"


def sum_type(types: tuple[Type, ...]) -> Type:
    """SUM keeps integers and doubles; a DECIMAL gets all 38 digits."""
    a = types[0]
    return t.decimal(38, a.args[1]) if a.root == "DECIMAL" else a.null()


def avg_type(types: tuple[Type, ...]) -> Type:
    """AVG keeps integers and doubles; a DECIMAL gets at least 6 digits behind the point."""
    a = types[0]
    return t.decimal(38, max(6, a.args[1])) if a.root == "DECIMAL" else a.null()


def _first(types: tuple[Type, ...]) -> Type:
    return types[0].null()


ROWS: tuple[Function, ...] = (
    Function("COUNT", ("any*",), not_null(t.BIGINT), _call("count"), "The number of rows, or of values that are not NULL.", "COUNT(*)", aggregate=True),
    Function("SUM", ("numeric",), sum_type, _sum, "The sum, in the type of its argument.", "SUM(x)", aggregate=True),
    Function("AVG", ("numeric",), avg_type, _avg, "The average; integers give an integer.", "AVG(x)", aggregate=True),
    Function("MIN", ("comparable",), _first, _call("min"), "The least value.", "MIN(x)", aggregate=True),
    Function("MAX", ("comparable",), _first, _call("max"), "The greatest value.", "MAX(x)", aggregate=True),
    *(
        Function(name, ("double",), nullable(t.DOUBLE), _call(spark), "A measure of spread.", f"{name}(x)", aggregate=True)
        for name, spark in (
            ("STDDEV_POP", "stddev_pop"), ("STDDEV_SAMP", "stddev_samp"), ("STDDEV", "stddev_samp"),
            ("VAR_POP", "var_pop"), ("VAR_SAMP", "var_samp"), ("VARIANCE", "var_samp"),
        )
    ),
)  # fmt: skip
