"""Functions of dates and times. Timestamps are carried as UTC; the session's zone enters here (see sql/types)."""

from __future__ import annotations

from sqlstream.sql import types as t
from sqlstream.sql.functions.base import Function, Rendered, Spark, fixed, instant, local, not_null, nullable
from sqlstream.sql.types import Type

_FIELDS = {
    "YEAR": "year({0})", "QUARTER": "quarter({0})", "MONTH": "month({0})", "WEEK": "weekofyear({0})", "DAY": "day({0})", "DOY": "dayofyear({0})",
    "DOW": "dayofweek({0})", "HOUR": "hour({0})", "MINUTE": "minute({0})", "SECOND": "second({0})", "ISOYEAR": "extract(YEAROFWEEK FROM {0})",
    "ISODOW": "extract(DAYOFWEEK_ISO FROM {0})", "DECADE": "floor(year({0}) / 10)", "CENTURY": "ceil(year({0}) / 100)", "MILLENNIUM": "ceil(year({0}) / 1000)",
    "EPOCH": "unix_seconds(CAST({0} AS TIMESTAMP))", "MILLISECOND": "pmod(unix_millis({0}), 1000)", "MICROSECOND": "pmod(unix_micros({0}), 1000000)",
}  # fmt: skip
# What is behind these is fixed length in milliseconds.
_MILLIS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000, "WEEK": 604_800_000}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def _wall(call: Rendered, index: int) -> str:
    text, type_ = call.args[index], call.types[index]
    return f"CAST({text} AS TIMESTAMP)" if type_.root == "DATE" else local(text, type_, call.zone)


def _extract(call: Rendered) -> str:
    unit = call.args[0]
    value = call.args[1] if call.types[1].root in ("DATE", "TIME") else _wall(call, 1)
    if unit == "EPOCH":
        return f"unix_seconds({_wall(call, 1)})" if call.types[1].root == "DATE" else f"unix_seconds({call.args[1]})"
    return f"CAST({_FIELDS[unit].format(value)} AS BIGINT)"


def _part(unit: str) -> Spark:
    def render(call: Rendered) -> str:
        value = call.args[0] if call.types[0].root in ("DATE", "TIME") else local(call.args[0], call.types[0], call.zone)
        return f"CAST({_FIELDS[unit].format(value)} AS BIGINT)"

    return render


def _to_unit(ceil: bool) -> Spark:
    def render(call: Rendered) -> str:
        unit, type_ = call.args[1], call.types[0]
        wall = _wall(call, 0)
        floor = f"date_trunc('{unit}', {wall})"
        if unit == "WEEK":
            # Weeks begin on Sunday.
            floor = f"(date_trunc('DAY', {wall}) - make_dt_interval(dayofweek({wall}) - 1))"
        if ceil:
            step = f"INTERVAL '{_MONTHS[unit]}' MONTH" if unit in _MONTHS else f"make_dt_interval(0, 0, 0, {_MILLIS[unit] // 1000})"
            floor = f"if({floor} = {wall}, {wall}, {floor} + {step})"
        return f"CAST({floor} AS DATE)" if type_.root == "DATE" else instant(floor, type_, call.zone)

    return render


def _add_type(types: tuple[Type, ...]) -> Type:
    return types[2].with_nullable(any(x.nullable for x in types[1:]))


def _add(call: Rendered) -> str:
    unit, amount, _ = call.args
    wall = _wall(call, 2)
    if unit in _MONTHS:
        moved = f"({wall} + make_ym_interval(0, CAST({amount} * {_MONTHS[unit]} AS INT)))"
    else:
        moved = f"timestamp_micros(unix_micros({wall}) + {amount} * {_MILLIS[unit]}000L)"
    return f"CAST({moved} AS DATE)" if call.types[2].root == "DATE" else instant(moved, call.types[2], call.zone)


def _diff(call: Rendered) -> str:
    unit = call.args[0]
    start, end = _wall(call, 1), _wall(call, 2)
    if unit in _MILLIS:
        return f"CAST((unix_micros({end}) - unix_micros({start})) div {_MILLIS[unit]}000L AS INT)"
    days = f"(extract(DAY FROM {end}) * 86400000000L + pmod(unix_micros({end}), 86400000000L))"
    first = f"(extract(DAY FROM {start}) * 86400000000L + pmod(unix_micros({start}), 86400000000L))"
    months = f"(year({end}) * 12 + month({end}) - year({start}) * 12 - month({start}))"
    last = f"(last_day({end}) = CAST({end} AS DATE) AND extract(DAY FROM {start}) > extract(DAY FROM {end}))"
    whole = (
        f"({months} - CASE WHEN {months} > 0 AND {days} < {first} AND NOT {last} THEN 1 "
        f"WHEN {months} < 0 AND {days} > {first} THEN -1 ELSE 0 END)"
    )
    return f"CAST({whole} div {_MONTHS[unit]} AS INT)"


def _timestamp_of(call: Rendered) -> str:
    if len(call.args) > 1:
        return f"CAST(CAST(try_to_timestamp({call.args[0]}, {call.args[1]}) AS TIMESTAMP_NTZ) AS TIMESTAMP)"
    return f"date_trunc('MILLISECOND', CAST(try_cast({call.args[0]} AS TIMESTAMP_NTZ) AS TIMESTAMP))"


def _ltz_of(call: Rendered) -> str:
    value = call.args[0]
    if call.types[0].is_string:
        wall = _timestamp_of(call)
        return instant(wall, t.timestamp_ltz(3), call.zone)
    if len(call.args) > 1 and call.args[1] == "0":
        return f"timestamp_seconds({value})"
    return f"timestamp_millis({value})"


def _ltz_type(types: tuple[Type, ...]) -> Type:
    return t.timestamp_ltz(3).with_nullable(types[0].is_string or any(x.nullable for x in types))


def _format(call: Rendered) -> str:
    value = f"CAST(try_cast({call.args[0]} AS TIMESTAMP_NTZ) AS TIMESTAMP)" if call.types[0].is_string else _wall(call, 0)
    return f"date_format({value}, {call.args[1]})"


def _unix(call: Rendered) -> str:
    if not call.args:
        return "unix_timestamp(current_timestamp())"
    wall = f"CAST(try_cast({call.args[0]} AS TIMESTAMP_NTZ) AS TIMESTAMP)" if len(call.args) == 1 else _timestamp_of(call)
    return f"coalesce(unix_seconds({instant(wall, t.timestamp_ltz(3), call.zone)}), if({call.args[0]} IS NULL, NULL, -9223372036854775807L - 1L))"


def _from_unix(call: Rendered) -> str:
    pattern = call.args[1] if len(call.args) > 1 else "'yyyy-MM-dd HH:mm:ss'"
    return f"date_format({local(f'timestamp_seconds({call.args[0]})', t.timestamp_ltz(3), call.zone)}, {pattern})"


def _now(type_: Type) -> Spark:
    def render(call: Rendered) -> str:
        now = "date_trunc('MILLISECOND', current_timestamp())"
        wall = local(now, t.timestamp_ltz(3), call.zone)
        match type_.root:
            case "DATE":
                return f"CAST({wall} AS DATE)"
            case "TIMESTAMP":
                return wall
            case "TIME":
                return f"CAST(CAST(date_trunc('SECOND', {wall}) AS TIMESTAMP_NTZ) AS TIME(6))"
        return now

    return render


def _current(name: str, type_: Type, summary: str) -> Function:
    return Function(name, (), not_null(type_), _now(type_), summary, name)


_LTZ = t.timestamp_ltz(3)
ROWS: tuple[Function, ...] = (
    _current("CURRENT_TIMESTAMP", _LTZ, "The time now."),
    _current("NOW", _LTZ, "The time now."),
    _current("CURRENT_ROW_TIMESTAMP", _LTZ, "The time now."),
    _current("PROCTIME", _LTZ, "The time at which a row is processed: a processing-time attribute."),
    _current("LOCALTIMESTAMP", t.timestamp(3), "The wall time now, in the session's zone."),
    _current("CURRENT_DATE", t.DATE, "The date now, in the session's zone."),
    _current("LOCALTIME", t.time(0), "The time of day now, in the session's zone."),
    _current("CURRENT_TIME", t.time(0), "The time of day now, in the session's zone."),
    Function("EXTRACT", ("unit", "datetime"), lambda ts: t.BIGINT.with_nullable(ts[1].nullable), _extract, "One field of a time.", "EXTRACT(DAY FROM ts)", words=(0,)),
    *(
        Function(name, ("datetime",), fixed(t.BIGINT), _part(unit), f"The {name.lower()} of a time.", f"{name}(ts)")
        for name, unit in (
            ("YEAR", "YEAR"), ("QUARTER", "QUARTER"), ("MONTH", "MONTH"), ("WEEK", "WEEK"), ("DAYOFYEAR", "DOY"), ("DAYOFMONTH", "DAY"),
            ("DAYOFWEEK", "DOW"), ("HOUR", "HOUR"), ("MINUTE", "MINUTE"), ("SECOND", "SECOND"),
        )
    ),
    Function("FLOOR TO", ("date or timestamp", "unit"), lambda ts: ts[0], _to_unit(False), "A time cut to a unit.", "FLOOR(ts TO HOUR)", words=(1,)),
    Function("CEIL TO", ("date or timestamp", "unit"), lambda ts: ts[0], _to_unit(True), "A time moved up to a unit.", "CEIL(ts TO HOUR)", words=(1,)),
    Function("TIMESTAMPADD", ("unit", "bigint", "date or timestamp"), _add_type, _add, "A time moved by n units.", "TIMESTAMPADD(DAY, 1, ts)", words=(0,)),
    Function("TIMESTAMPDIFF", ("unit", "date or timestamp", "date or timestamp"), lambda ts: t.INT.with_nullable(ts[1].nullable or ts[2].nullable), _diff, "Whole units from the first time to the second.", "TIMESTAMPDIFF(DAY, a, b)", words=(0,)),
    Function("TO_DATE", ("string", "string?"), nullable(t.DATE), lambda c: f"CAST(try_to_timestamp({', '.join(c.args)}) AS DATE)" if len(c.args) > 1 else f"try_cast({c.args[0]} AS DATE)", "A text as a date; NULL where it is none.", "TO_DATE('2026-01-31')"),
    Function("TO_TIMESTAMP", ("string", "string?"), nullable(t.timestamp(3)), _timestamp_of, "A text as a timestamp; NULL where it is none.", "TO_TIMESTAMP('2026-01-31 10:00:00')"),
    Function("TO_TIMESTAMP_LTZ", ("any", "any?", "string?"), _ltz_type, _ltz_of, "Seconds (0) or milliseconds (3) since 1970, or a text, as an instant.", "TO_TIMESTAMP_LTZ(1767225600000, 3)"),
    Function("DATE_FORMAT", ("timestamp or string", "string"), nullable(t.STRING), _format, "A time as text, by a pattern.", "DATE_FORMAT(ts, 'yyyy-MM-dd')"),
    Function("UNIX_TIMESTAMP", ("string?", "string?"), fixed(t.BIGINT), _unix, "Seconds since 1970, now or of a text.", "UNIX_TIMESTAMP('2026-01-31 10:00:00')"),
    Function("FROM_UNIXTIME", ("bigint", "string?"), nullable(t.STRING), _from_unix, "Seconds since 1970 as text.", "FROM_UNIXTIME(0)"),
)  # fmt: skip
