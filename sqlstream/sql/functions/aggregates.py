"""Aggregate functions."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlstream.sql import types as t
from sqlstream.sql.functions.base import VALUES, Function, Rendered, Spark, Types, listed, listed_values, not_null, nullable
from sqlstream.sql.generated_names import bound
from sqlstream.sql.quoting import spark_string

if TYPE_CHECKING:
    from sqlstream.sql.types import Type


# Of these the plan knows the values: they are constants of a grouping set.
GROUPINGS = ("GROUPING", "GROUPING_ID", "GROUP_ID")


def _aggregate(name: str, call: Rendered, *args: str) -> str:
    return f"{name}({'DISTINCT ' if call.distinct else ''}{', '.join(args or call.args) or ('*' if name == 'count' else '')}){call.filter}"


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
    if call.type.is_integer or call.type.root == "DECIMAL":
        return _average(call, _aggregate("sum", call), _aggregate("count", call))
    average = _aggregate("avg", call)
    return average if call.type.root == "DOUBLE" else f"CAST({average} AS {call.type.spark})"


def _average(call: Rendered, total: str, number: str) -> str:
    if call.type.is_integer:
        return f"CAST(({total} div {number}) AS {call.type.spark})"
    if call.type.root == "DECIMAL":
        # Spark's own average keeps too few digits.
        return f"CAST({total} / CAST({number} AS DECIMAL(20,0)) AS {call.type.spark})"
    return f"CAST({total} / {number} AS {call.type.spark})"


def _counting(call: Rendered) -> Rendered:
    """As Flink, which counts each row of an argument whose type is NOT NULL."""
    each = bool(call.types) and not call.types[0].nullable and not call.distinct
    return replace(call, args=(), types=(), values=()) if each else call


def _counted(call: Rendered) -> str:
    """How many values that are not NULL there are, rows that go subtracted."""
    once = call.sign if not call.args else f"if({call.args[0]} IS NULL, 0, {call.sign})"
    return f"coalesce(sum(CAST({once} AS BIGINT)){call.filter}, 0L)"


def _total(call: Rendered, value: str) -> str:
    return f"sum(CASE {call.sign} WHEN 1 THEN {value} WHEN -1 THEN -({value}) END){call.filter}"


def _signed_total(call: Rendered) -> str:
    return _total(call, f"CAST({call.args[0]} AS BIGINT)" if call.types[0].is_integer else call.args[0])


def _signed_sum(call: Rendered) -> str:
    return f"if({_counted(call)} = 0, NULL, CAST({_signed_total(call)} AS {call.type.spark}))"


def _signed_avg(call: Rendered) -> str:
    return f"if({_counted(call)} = 0, NULL, {_average(call, _signed_total(call), _counted(call))})"


def _set(call: Rendered) -> str:
    return f"collect_set({call.args[0]}){call.filter}"


def _count_of_set(call: Rendered) -> str:
    return f"CAST(size({_set(call)}) AS BIGINT)"


def _total_of_set(call: Rendered) -> str:
    """NULL of an empty set, and where it overflows."""
    type_ = call.types[0]
    wide = _spark_sum_type(type_)
    if type_.root == "DECIMAL":
        # A sum of two DECIMALs has a digit more, which Spark takes from behind the point if there are more than 38, down to 6 digits.
        wide = f"DECIMAL({38 if type_.args[1] <= _KEPT_SCALE else 37},{type_.args[1]})"
    return f"if(size({_set(call)}) = 0, NULL, aggregate({_set(call)}, CAST(0 AS {wide}), {bound(lambda a, x: f'CAST({a} + {x} AS {wide})')}))"


def _spread(name: str) -> Spark:
    """Computed as DOUBLE, given in the type of AVG."""
    return lambda call: _cast_double(_aggregate(name, call, f"CAST({call.args[0]} AS DOUBLE)"), call)


def _spread_of_set(*, sample: bool, root: bool) -> Spark:
    def spread(call: Rendered) -> str:
        values = f"collect_set(CAST({call.args[0]} AS DOUBLE)){call.filter}"
        folded = f"aggregate({values}, named_struct('n', 0D, 'mean', 0D, 'm2', 0D), {bound(_spread_with)}, {bound(ended)})"
        return _cast_double(f"if(size({values}) = 0, NULL, {folded})", call)

    def ended(a: str) -> str:
        variance = f"{a}.m2 / nullif({a}.n{' - 1D' if sample else ''}, 0D)"
        return f"sqrt({variance})" if root else variance

    return spread


def _spread_with(a: str, x: str) -> str:
    """The count, mean and sum of squares ``a`` with the value ``x`` more."""
    mean = f"({a}.mean + ({x} - {a}.mean) / ({a}.n + 1D))"
    return f"named_struct('n', {a}.n + 1D, 'mean', {mean}, 'm2', {a}.m2 + ({x} - {a}.mean) * ({x} - {mean}))"


def _cast_double(text: str, call: Rendered) -> str:
    if call.type.root in ("TINYINT", "SMALLINT"):
        # Java narrows a DOUBLE to an INT first.
        text = f"CAST({text} AS INT)"
    return text if call.type.root == "DOUBLE" else f"CAST({text} AS {call.type.spark})"


_KEPT_SCALE = 6


def summed_as_set(type_: Type) -> bool:
    """Whether SUM and AVG of OVER_SET are exact for values of ``type_``."""
    return type_.root != "DECIMAL" or type_.args[1] <= _KEPT_SCALE or type_.args[0] <= 27


def _sum_of_set(call: Rendered) -> str:
    return f"CAST({_total_of_set(call)} AS {call.type.spark})"


def _avg_of_set(call: Rendered) -> str:
    return _average(call, _total_of_set(call), _count_of_set(call))


def _sum_type(types: Types) -> Type:
    """SUM keeps integers and doubles; a DECIMAL gets all 38 digits."""
    a = types[0]
    return t.decimal(38, a.args[1]).with_nullable(a.nullable) if a.root == "DECIMAL" else a


def _avg_type(types: Types) -> Type:
    """AVG keeps integers and doubles; a DECIMAL gets at least 6 digits behind the point."""
    a = types[0]
    return t.decimal(38, max(6, a.args[1])).with_nullable(a.nullable) if a.root == "DECIMAL" else a


def _first(types: Types) -> Type:
    return types[0].null()


def _same(types: Types) -> Type:
    return types[0]


def _check_count(types: Types, _: tuple[Any, ...]) -> str | None:
    return "We now only support the count of one field." if len(types) > 1 else None


def _ignoring_nulls(name: str) -> Spark:
    return lambda call: f"{name}({call.args[0]}, true){call.filter}"


def _last(call: Rendered) -> str:
    """With DISTINCT a value that comes again is none that comes."""
    if not call.distinct:
        return f"last({call.args[0]}, true){call.filter}"
    values = f"array_distinct({listed_values(call, call.args[0])})"
    return f"get({values}, size({values}) - 1)"


def _listagg(call: Rendered) -> str:
    return _joined(listed_values(call, call.args[0]), call) if call.arrival else _aggregate("listagg", call, call.args[0], _separator(call))


def _joined(texts: str, call: Rendered) -> str:
    return f"if(size({texts}) = 0, NULL, array_join({texts}, {_separator(call)}))"


def _separator(call: Rendered) -> str:
    return call.args[1] if len(call.args) > 1 else "','"


def _listagg_of_set(call: Rendered) -> str:
    return _joined(f"array_distinct({listed_values(call, call.args[0])})", call)


def _check_separator(_types: Types, values: tuple[Any, ...]) -> str | None:
    return None if len(values) < 2 or isinstance(values[1], str) else "Argument to function 'LISTAGG' must be a literal"


def _percentile(call: Rendered) -> str:
    value, percentage, *frequency = call.args
    # As often as NULL or a negative number says is not at all.
    counts = [f"CAST(greatest({f}, 0) AS BIGINT)" for f in frequency]
    return _aggregate("percentile", call, value, f"CAST({percentage} AS {call.type.spark})", *counts)


def _percentile_type(types: Types) -> Type:
    return t.array(t.DOUBLE) if types[1].root == "ARRAY" else t.DOUBLE.null()


def _check_percentage(_types: Types, values: tuple[Any, ...]) -> str | None:
    asked = values[1] if isinstance(values[1], tuple) else (values[1],)
    known = all(isinstance(p, int | float | Decimal) and 0 <= p <= 1 for p in asked)
    return None if known else "The percentage of PERCENTILE is a constant from 0 to 1, or an array of such constants."


def _check_shift(types: Types, values: tuple[Any, ...]) -> str | None:
    if len(values) > 1 and not isinstance(values[1], int):
        return "The offset of LAG and LEAD must be a constant."
    if len(values) > 1 and values[1] < 0:
        return f"Offset({values[1]}) should be positive."
    if len(types) > 2 and types[2].root != "NULL" and not types[2].same(types[0]):
        return f"The default of LAG and LEAD must have the type of the value: cast it to {types[0].null()}."
    return None


def _collect(call: Rendered) -> str:
    values = f"{'collect_set' if call.distinct else 'collect_list'}({call.args[0]}){call.filter}"
    count = bound(lambda value: f"size(filter({values}, {bound(lambda x: f'{x} <=> {value}')}))")
    return f"map_from_arrays(array_distinct({values}), transform(array_distinct({values}), {count}))"


def _array_agg(call: Rendered) -> str:
    # In a struct, NULLs are collected too.
    values = listed(call, f"named_struct('x', {call.args[0]})")
    if call.distinct:
        values = f"array_distinct({values})"
    return f"if(size({values}) = 0, NULL, transform({values}, {bound(lambda e: f'{e}.x')}))"


def _arguments(call: Rendered) -> str:
    # A struct needs a field.
    cells = [f"{spark_string(name)}, {arg}" for name, arg in zip(call.type.children[0].names, call.args, strict=True)] or ["'_', 0"]
    rows = listed(call, f"named_struct({', '.join(cells)})")
    return f"array_distinct({rows})" if call.distinct else rows


def accumulated(call: Rendered) -> str:
    """A struct of no accumulator and of all rows, each with its sign before its arguments."""
    names = call.type.children[1].children[0].names
    cells = (f"{spark_string(name)}, {arg}" for name, arg in zip(names, (f"CAST({call.sign or 1} AS TINYINT)", *call.args), strict=True))
    row = f"named_struct({', '.join(cells)})"
    rows = f"collect_list({f'if({call.sign} = 0, NULL, {row})' if call.sign else row}){call.filter}"
    return f"named_struct('accumulator', CAST(NULL AS BINARY), 'rows', {f'array_distinct({rows})' if call.distinct else rows})"


def _row(name: str, params: tuple[str, ...], returns: Any, spark: Spark, summary: str, example: str, **more: Any) -> Function:
    return Function(name, params, returns, spark, summary, example if example.startswith("SELECT") else f"{name}({example})", aggregate=True, **more)


ROWS: tuple[Function, ...] = (
    _row("COUNT", ("any*",), not_null(t.BIGINT), lambda call: _aggregate("count", _counting(call)), "The number of rows, or of values that are not NULL.", "*", check=_check_count,
         signed=lambda call: _counted(_counting(call)), ignores_nulls=True, of_set=_count_of_set),
    _row("SUM", ("numeric",), _sum_type, _sum, "The sum, in the type of its argument.", "x", null_of_none=True, signed=_signed_sum, ignores_nulls=True,
         of_set=_sum_of_set),
    _row("AVG", ("numeric",), _avg_type, _avg, "The average; integers give an integer.", "x", null_of_none=True, signed=_signed_avg,
         ignores_nulls=True, of_set=_avg_of_set),
    _row("MIN", ("plain",), _same, _call("min"), "The least value.", "x", null_of_none=True, ignores_nulls=True, same_distinct=True),
    _row("MAX", ("plain",), _same, _call("max"), "The greatest value.", "x", null_of_none=True, ignores_nulls=True, same_distinct=True),
    *(
        _row(name, ("numeric",), _avg_type, _spread(spark), summary, "x", null_of_none=True, ignores_nulls=True,
             of_set=_spread_of_set(sample="POP" not in name, root=name.startswith("STD")))
        for name, spark, summary in (
            ("STDDEV_POP", "stddev_pop", "The standard deviation of all values, in the type of AVG."),
            ("STDDEV_SAMP", "stddev_samp", "The standard deviation of a sample, in the type of AVG."),
            ("STDDEV", "stddev_samp", "Another name of STDDEV_SAMP."),
            ("VAR_POP", "var_pop", "The variance of all values, in the type of AVG."),
            ("VAR_SAMP", "var_samp", "The variance of a sample, in the type of AVG."),
            ("VARIANCE", "var_samp", "Another name of VAR_SAMP."),
        )
    ),
    _row("FIRST_VALUE", ("any",), _same, _ignoring_nulls("first"), "The first value that is not NULL, as rows come.", "x", null_of_none=True,
         ordered=True),
    _row("LAST_VALUE", ("any",), _same, _last, "The last value that is not NULL, as rows come.", "x", null_of_none=True, ordered=True),
    _row("LISTAGG", ("string", "string?"), _same, _listagg, "The texts with a separator between.", "s, ','", check=_check_separator, ordered=True,
         of_set=_listagg_of_set),
    _row("COLLECT", ("any",), lambda ts: t.multiset(ts[0]).not_null(), _collect, "The values with how often they occur.", "x",
         of_set=lambda call: _collect(replace(call, distinct=True))),
    _row("ARRAY_AGG", ("any",), lambda ts: t.array(ts[0]).with_nullable(ts[0].nullable), _array_agg, "The values as an array, NULLs too.", "x",
         ordered=True, of_set=lambda call: _array_agg(replace(call, distinct=True))),
    *(
        _row(name, ("any", "any*"), not_null(t.BIGINT), _call("grouping"), "Which of its keys are not in a row's grouping set: a bit each.",
             f"SELECT x, {name}(x) AS totals FROM {VALUES} GROUP BY GROUPING SETS ((x), ())")
        for name in ("GROUPING", "GROUPING_ID")
    ),
    _row("GROUP_ID", (), not_null(t.BIGINT), _call("group_id"), "Which of several equal grouping sets a row is of, from 0.",
         f"SELECT x, GROUP_ID() AS copy FROM {VALUES} GROUP BY x"),
    *(
        _row(name, params, returns, _call(name.lower()), summary, f"SELECT x, {name}({example}) OVER (ORDER BY x) AS y FROM {VALUES}",
             check=_check_shift if params else None, over_only=True, batch_only=name in ("PERCENT_RANK", "CUME_DIST", "NTILE", "LEAD"))
        for name, params, returns, summary, example in (
            ("ROW_NUMBER", (), not_null(t.BIGINT), "The place of a row in the order of OVER, from 1.", ""),
            ("RANK", (), not_null(t.BIGINT), "The place of a row in the order of OVER, the same for equal rows, with gaps behind them.", ""),
            ("DENSE_RANK", (), not_null(t.BIGINT), "The place of a row in the order of OVER, the same for equal rows, without gaps.", ""),
            ("PERCENT_RANK", (), not_null(t.DOUBLE), "The rank as a number from 0 to 1.", ""),
            ("CUME_DIST", (), not_null(t.DOUBLE), "The part of the rows that are not behind a row.", ""),
            ("NTILE", ("integer",), nullable(t.INT), "The number of a row's part, of as many equal parts.", "4"),
            ("LAG", ("any", "integer?", "any?"), _first, "The value some rows (1) before a row in the order of OVER.", "x, 1"),
            ("LEAD", ("any", "integer?", "any?"), _first, "The value some rows (1) after a row in the order of OVER.", "x, 1"),
        )
    ),
    _row("PERCENTILE", ("numeric", "any", "integer?"), _percentile_type, _percentile,
         "The value below which a part (0 to 1, or an array of such) of the values is; each counts once, or as often as the last argument says.", "x, 0.5",
         check=_check_percentage),
)  # fmt: skip

# What a sub-query that is a value gives: Flink's message for several rows. It has no name that a script can call.
SINGLE_VALUE = _row("SINGLE_VALUE", ("any",), _first, lambda call: (
    f"CASE WHEN count(1) > 1 THEN CAST(raise_error('SingleValueAggFunction received more than one element.') AS {call.type.spark}) "
    f"ELSE first({call.args[0]}) END"
), "The only value.", "x")  # fmt: skip

# What the arguments of an aggregate function in Python were, a ROW each, in the order of rows. It has no name that a script can call.
ARGUMENTS = _row("ARGUMENTS", ("any*",), lambda ts: t.array(t.row(tuple(map(str, range(len(ts)))), ts).not_null()).not_null(), _arguments,
                 "The arguments of all rows.", "x", ordered=True, of_set=lambda call: _arguments(replace(call, distinct=True)))  # fmt: skip

# Functions that OVER alone has.
OVER_ONLY = frozenset(row.name for row in ROWS if row.over_only)
# With DISTINCT, as functions of the set of the values.
OVER_SET: dict[str, Function] = {row.name: replace(row, spark=row.of_set) for row in (*ROWS, ARGUMENTS) if row.of_set is not None}
# Their names, as a refusal of others lists them.
OF_DISTINCT = ", ".join(name for name in OVER_SET if name != ARGUMENTS.name)
