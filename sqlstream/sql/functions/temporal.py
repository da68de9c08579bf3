"""Functions of dates and times. Timestamps are carried as UTC; the session's zone enters here (see sql/types)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import NotSupported
from sqlstream.sql import types as t
from sqlstream.sql.functions.base import Function, Rendered, Spark, Types, fixed, local, not_null, nullable
from sqlstream.sql.functions.dates import OF_CLOCK, OF_DATE, date_of
from sqlstream.sql.quoting import spark_string

if TYPE_CHECKING:
    from sqlstream.sql.types import Type

# Milliseconds, or months, of a unit.
_MILLIS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000, "WEEK": 604_800_000}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_LONG = ("DECADE", "CENTURY", "MILLENNIUM")
_UTC = "'UTC'"
_OF_INTERVAL = {"DAY": (86_400_000_000, None), "HOUR": (3_600_000_000, 24), "MINUTE": (60_000_000, 60), "SECOND": (1_000_000, 60)}


def _wall(call: Rendered, index: int) -> str:
    """An argument's wall time as a Spark TIMESTAMP."""
    text, type_ = call.args[index], call.types[index]
    return f"CAST({text} AS TIMESTAMP)" if type_.root == "DATE" else local(text, type_, call.zone)


def _extract(call: Rendered) -> str:
    return _field(call.args[0], call.args[1], call.types[1], call.zone)


def _field(unit: str, value: str, type_: Type, zone: str) -> str:
    if type_.root == "INTERVAL_MONTHS":
        months = f"CAST({value} AS INT)"
        return f"CAST({f'{months} div 12' if unit == 'YEAR' else f'{months} % 12'} AS BIGINT)"
    if type_.root == "INTERVAL_MILLIS":
        size, limit = _OF_INTERVAL[unit]
        whole = f"(unix_micros(TIMESTAMP '1970-01-01 00:00:00' + {value}) div {size}L)"
        return f"({whole} % {limit}L)" if limit else whole
    if type_.root == "TIME":
        return f"CAST({unit}({value}) AS BIGINT)"
    if unit in OF_CLOCK:
        wall = f"CAST({value} AS TIMESTAMP)" if type_.root == "DATE" else local(value, type_, zone)
        return f"({OF_CLOCK[unit].format(wall)})"
    return f"CAST({OF_DATE[unit].format(value if type_.root == 'DATE' else date_of(local(value, type_, zone)))} AS BIGINT)"


def _check_field(types: Types, values: tuple[Any, ...]) -> str | None:
    unit, root = values[0], types[1].root
    known = {"INTERVAL_MONTHS": ("YEAR", "MONTH"), "INTERVAL_MILLIS": tuple(_OF_INTERVAL), "TIME": ("HOUR", "MINUTE", "SECOND")}.get(
        root, (*OF_DATE, *OF_CLOCK)
    )
    return None if unit in known else f"EXTRACT({unit}) of {types[1]} is not supported."


def _part(unit: str) -> Spark:
    return lambda call: _field(unit, call.args[0], call.types[0], call.zone)


def _to_unit(ceil: bool) -> Spark:
    up = str(ceil).lower()

    def render(call: Rendered) -> str:
        value, unit = call.args
        type_ = call.types[0]
        if type_.root == "TIME":
            return f"time_trunc('{unit}', {value})"
        if type_.root == "DATE":
            if unit == "DAY" and ceil:
                return f"date_add({value}, 1)"  # A defect of Flink's: a date is not a whole day.
            if unit in OF_CLOCK or unit == "DAY":
                return value
            return f"sqlstream_date_to_unit({value}, '{unit}', {up})"
        return f"sqlstream_time_to_unit({value}, '{unit}', {up}, {_zone(call) if type_.root == 'TIMESTAMP_LTZ' else _UTC})"

    return render


def _check_unit(ceil: bool):  # type: ignore[no-untyped-def]
    def check(types: Types, values: tuple[Any, ...]) -> str | None:
        known = (*_MILLIS, *_MONTHS, *_LONG, "MILLISECOND")
        if types[0].root == "TIME":
            known = () if ceil else ("HOUR", "MINUTE", "SECOND")
        return None if values[1] in known else f"{'CEIL' if ceil else 'FLOOR'}({types[0]} TO {values[1]}) is not supported."

    return check


def _add_type(types: Types, values: tuple[Any, ...]) -> Type:
    within_day = types[2].root == "DATE" and values[0] in ("SECOND", "MINUTE", "HOUR")
    return (t.timestamp(6) if within_day else types[2]).with_nullable(any(x.nullable for x in types[1:]))


def _check_span(types: Types, values: tuple[Any, ...]) -> str | None:
    of_two = types[1].root != "BIGINT"
    if values[0] not in (*_MILLIS, *_MONTHS, *(("MILLISECOND",) if of_two else ())):
        return f"The unit {values[0]} is not supported here."
    both = {x.root for x in types[1:]}
    if of_two and "TIMESTAMP_LTZ" in both and len(both) > 1:
        return "TIMESTAMP_LTZ only supports diff between the same type."
    return None


def _check_same_times(types: Types, values: tuple[Any, ...]) -> str | None:
    if len({x.root for x in types[1:]}) > 1:
        return "Both times must be of the same type."
    return _check_span(types, values)


def _add(call: Rendered) -> str:
    unit, amount, value = call.args
    # An LTZ moves as an instant, whatever the zone.
    start = f"CAST({value} AS TIMESTAMP)" if call.types[2].root == "DATE" else value
    if unit in _MONTHS:
        moved = f"sqlstream_plus_months({start}, {amount} * {_MONTHS[unit]}L)"
    else:
        moved = f"sqlstream_plus_units({start}, {amount}, {_MILLIS[unit]}000L)"
    return f"CAST({moved} AS DATE)" if call.type.root == "DATE" else moved


def _diff(call: Rendered) -> str:
    """Whole units from the first time to the second."""
    unit = call.args[0]
    start, end = (f"CAST({a} AS TIMESTAMP)" if x.root == "DATE" else a for a, x in zip(call.args[1:], call.types[1:], strict=True))
    if unit == "MILLISECOND":
        # Whole seconds, in milliseconds.
        return f"CAST((unix_micros({end}) - unix_micros({start})) div 1000000L * 1000L AS INT)"
    if unit in _MILLIS:
        return f"CAST((unix_millis({end}) - unix_millis({start})) div {_MILLIS[unit]}L AS INT)"
    return f"CAST(sqlstream_months_between({start}, {end}) div {_MONTHS[unit]} AS INT)"


def _difference_type(types: Types, values: tuple[Any, ...]) -> Type:
    return (t.INTERVAL_MONTHS if values[0] in _MONTHS else t.INTERVAL_MILLIS).with_nullable(types[1].nullable or types[2].nullable)


def _difference(call: Rendered) -> str:
    """The interval from the second time to the first: whole months, or milliseconds."""
    unit, end, start = call.args
    end, start = (f"CAST({a} AS TIMESTAMP)" if x.root == "DATE" else a for a, x in zip((end, start), call.types[1:], strict=True))
    if unit in _MONTHS:
        return f"make_ym_interval(0, sqlstream_months_between({start}, {end}))"
    return f"sqlstream_time_difference({end}, {start})"


def _millis(text: str) -> str:
    return f"date_trunc('MILLISECOND', {text})"


def _to_timestamp(call: Rendered) -> str:
    return _millis(_parsed(call))


def _parsed(call: Rendered) -> str:
    return f"sqlstream_to_timestamp({call.args[0]})" if len(call.args) == 1 else f"sqlstream_to_timestamp_by({call.args[0]}, {call.args[1]})"


def _to_date(call: Rendered) -> str:
    return f"sqlstream_to_date({call.args[0]})" if len(call.args) == 1 else f"sqlstream_to_date_by({call.args[0]}, {call.args[1]})"


def _ltz_type(types: Types, values: tuple[Any, ...]) -> Type:
    if len(types) == 1:
        return t.timestamp_ltz(3)
    # A constant pattern has so many digits behind the second as it has S outside of quotes.
    digits = values[1] if types[0].is_numeric else re.sub("'[^']*'", "", values[1]).count("S") if isinstance(values[1], str) else 3
    return t.timestamp_ltz(min(9, max(3, digits)))


def _check_ltz(types: Types, values: tuple[Any, ...]) -> str | None:
    if types[0].is_string and len(types) == 2 and types[1].is_numeric:
        return "The second argument of TO_TIMESTAMP_LTZ of a text is its pattern."
    if types[0].is_numeric and (len(types) > 2 or (len(types) == 2 and values[1] not in range(10))):
        return "TO_TIMESTAMP_LTZ of a number takes a constant precision: 0 (seconds), 3 (milliseconds), up to 9 (nanoseconds)."
    return None


def _ltz_return(_types: Types) -> Type:
    return t.timestamp_ltz(3)


_FIRST_MICROS, _LAST_MICROS = -62_167_219_200_000_000, 253_402_300_799_999_999


def _to_ltz(call: Rendered) -> str:
    value = call.args[0]
    if call.types[0].is_string:
        zone = call.args[2] if len(call.args) > 2 else spark_string("UTC")
        wall, digits = _parsed(call), call.type.args[0]
        if digits < 6:
            wall = f"timestamp_micros(unix_micros({wall}) div {10 ** (6 - digits)}L * {10 ** (6 - digits)}L)" if digits > 3 else _millis(wall)
        problem = f"raise_error(concat('Cannot parse ', {value}, ' as TIMESTAMP_LTZ.'))"
        return f"to_utc_timestamp({wall if len(call.args) > 1 else f'coalesce({wall}, if({value} IS NULL, NULL, {problem}))'}, {zone})"
    digits = call.values[1] if len(call.values) > 1 else 3
    unit = 10 ** max(6 - digits, 0)
    if not call.types[0].is_integer:
        # Seconds of a DOUBLE keep their milliseconds.
        value, unit = (f"{value} * 1000", 1000) if digits == 0 and call.types[0].is_approximate else (value, unit)
        value = f"CAST({f'floor({value})' if call.types[0].is_approximate else value} AS BIGINT)"
    if digits > 6:
        value = f"CAST(floor({value} / {10 ** (digits - 6)}BD) AS BIGINT)"
    # Outside of the years 0 to 9999 it is NULL.
    return f"if({value} BETWEEN {_FIRST_MICROS // unit}L AND {_LAST_MICROS // unit}L, timestamp_micros({value} * {unit}L), NULL)"


def _date_format(call: Rendered) -> str:
    text = call.types[0].is_string
    return f"sqlstream_date_format_text({call.args[0]}, {call.args[1]})" if text else f"sqlstream_date_format({_wall(call, 0)}, {call.args[1]})"


def _zone(call: Rendered) -> str:
    return spark_string(call.zone)


def _pattern(call: Rendered) -> str:
    """The pattern behind the first argument."""
    return call.args[1] if len(call.args) > 1 else spark_string("yyyy-MM-dd HH:mm:ss")


def _unix(call: Rendered) -> str:
    if not call.args:
        return "unix_timestamp(current_timestamp())"
    return f"sqlstream_unix_timestamp({call.args[0]}, {_pattern(call)}, {_zone(call)})"


def _from_unix(call: Rendered) -> str:
    return f"sqlstream_from_unixtime({call.args[0]}, {_pattern(call)}, {_zone(call)})"


def _now(type_: Type) -> Spark:
    """The time now, or the instant that the plan has added as an argument."""

    def render(call: Rendered) -> str:
        now = call.args[0] if call.args else "date_trunc('MILLISECOND', current_timestamp())"
        wall = local(now, t.timestamp_ltz(3), call.zone)
        match type_.root:
            case "DATE":
                return f"CAST({wall} AS DATE)"
            case "TIMESTAMP":
                return wall
            case "TIME":
                return f"time_from_micros(pmod(unix_micros(date_trunc('SECOND', {wall})), 86400000000L))"
        return now

    return render


def _no_call(_call: Rendered) -> str:
    raise NotSupported("CURRENT_WATERMARK is supported in SELECT and WHERE over a table only.", hint="Select it as a column there.")


def _current(name: str, type_: Type, summary: str, *, example: str = "") -> Function:
    return Function(name, (), not_null(type_), _now(type_), summary, example or name, deterministic=False, clock=True)


def _second_nullable(types: Types) -> Type:
    return t.BIGINT.with_nullable(types[1].nullable)


def _int_diff(types: Types) -> Type:
    return t.INT.with_nullable(types[1].nullable or types[2].nullable)


_LTZ = t.timestamp_ltz(3)
_MAYBE_TEXT = nullable(t.STRING)

_EXAMPLE = "TIMESTAMP '2026-01-31 10:11:12'"

ROWS: tuple[Function, ...] = (
    _current("CURRENT_TIMESTAMP", _LTZ, "The time now."),
    _current("NOW", _LTZ, "The time now.", example="NOW()"),
    Function("CURRENT_ROW_TIMESTAMP", (), not_null(_LTZ), "sqlstream_current_row_timestamp()", "The time at which a row is looked at.", "CURRENT_ROW_TIMESTAMP()", deterministic=False),
    _current("PROCTIME", _LTZ, "The time at which a row is processed: a processing-time attribute.", example="PROCTIME()"),
    Function(
        "CURRENT_WATERMARK", ("timestamp",), lambda types: types[0].null(), _no_call,
        "The watermark of a rowtime attribute as a micro-batch begins; NULL before the first.", 
        "CREATE TEMPORARY TABLE orders (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'number-of-rows' = '5');\n"
        "SELECT ts, CURRENT_WATERMARK(ts) AS passed FROM orders",
    ),
    _current("LOCALTIMESTAMP", t.timestamp(3), "The wall time now, in the session's zone."),
    _current("CURRENT_DATE", t.DATE, "The date now, in the session's zone."),
    _current("LOCALTIME", t.time(0), "The time of day now, in the session's zone."),
    _current("CURRENT_TIME", t.time(0), "The time of day now, in the session's zone."),
    Function("EXTRACT", ("unit", "datetime or interval"), _second_nullable, _extract, "One field of a time or an interval.", f"EXTRACT(DAY FROM {_EXAMPLE})", check=_check_field, words=(0,)),
    *(
        Function(name, ("datetime" if unit in OF_CLOCK else "date or timestamp",), fixed(t.BIGINT), _part(unit), f"The {name.lower()} of a time.", f"{name}({_EXAMPLE})")
        for name, unit in (
            ("YEAR", "YEAR"), ("QUARTER", "QUARTER"), ("MONTH", "MONTH"), ("WEEK", "WEEK"), ("DAYOFYEAR", "DOY"), ("DAYOFMONTH", "DAY"),
            ("DAYOFWEEK", "DOW"), ("HOUR", "HOUR"), ("MINUTE", "MINUTE"), ("SECOND", "SECOND"),
        )
    ),
    Function("FLOOR TO", ("datetime", "unit"), lambda ts: ts[0], _to_unit(False), "A time cut to a unit.", f"FLOOR({_EXAMPLE} TO HOUR)", check=_check_unit(False), words=(1,)),
    Function("CEIL TO", ("datetime", "unit"), lambda ts: ts[0], _to_unit(True), "A time moved up to a unit.", f"CEIL({_EXAMPLE} TO HOUR)", check=_check_unit(True), words=(1,)),
    Function("TIMESTAMPADD", ("unit", "bigint", "date or timestamp"), lambda ts: ts[2], _add, "A time moved by n units.", f"TIMESTAMPADD(DAY, 1, {_EXAMPLE})", sized=_add_type, check=_check_span, words=(0,)),
    Function("TIMESTAMPDIFF", ("unit", "date or timestamp", "date or timestamp"), _int_diff, _diff, "Whole units from the first time to the second.", f"TIMESTAMPDIFF(DAY, {_EXAMPLE}, TIMESTAMP '2026-02-02 00:00:00')", check=_check_span, words=(0,)),
    Function("TO_DATE", ("string", "string?"), nullable(t.DATE), _to_date, "A text as a date; NULL where it is none.", "TO_DATE('2026-01-31')"),
    Function("TO_TIMESTAMP", ("string", "string?"), nullable(t.timestamp(3)), _to_timestamp, "A text as a timestamp; NULL where it is none.", "TO_TIMESTAMP('2026-01-31 10:00:00')"),
    Function("TO_TIMESTAMP_LTZ", ("number or string", "any?", "string?"), _ltz_return, _to_ltz, "Seconds (0) or milliseconds (3) since 1970, or a text, as an instant.", "TO_TIMESTAMP_LTZ(1767225600000, 3)", sized=_ltz_type, check=_check_ltz),
    Function("DATE_FORMAT", ("timestamp or string", "string"), _MAYBE_TEXT, _date_format, "A time as text, by a pattern.", f"DATE_FORMAT({_EXAMPLE}, 'yyyy-MM-dd')"),
    Function("UNIX_TIMESTAMP", ("string?", "string?"), fixed(t.BIGINT), _unix, "Seconds since 1970, now or of a text.", "UNIX_TIMESTAMP('2026-01-31 10:00:00')"),
    Function("FROM_UNIXTIME", ("bigint", "string?"), _MAYBE_TEXT, _from_unix, "Seconds since 1970 as text.", "FROM_UNIXTIME(0)"),
    Function("CONVERT_TZ", ("string", "string", "string"), _MAYBE_TEXT, "sqlstream_convert_tz({0}, {1}, {2})", "A time's text, from one zone to another.", "CONVERT_TZ('2026-01-31 10:00:00', 'UTC', 'Asia/Tokyo')"),
)  # fmt: skip
OPERATORS: tuple[Function, ...] = (
    Function(
        "- UNIT", ("unit", "date or timestamp", "date or timestamp"), lambda types: t.INTERVAL_MILLIS, _difference, "The interval between two times: (a - b) unit.",
        f"({_EXAMPLE} - TIMESTAMP '2026-01-01 00:00:00') DAY", sized=_difference_type, check=_check_same_times, words=(0,),
    ),
)  # fmt: skip
