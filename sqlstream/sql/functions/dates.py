"""Fields of times in Spark SQL."""

from __future__ import annotations

# Fields of a date.
OF_DATE = {
    "YEAR": "year({0})", "QUARTER": "quarter({0})", "MONTH": "month({0})", "WEEK": "weekofyear({0})", "DAY": "day({0})", "DOY": "dayofyear({0})",
    "DOW": "dayofweek({0})", "ISOYEAR": "extract(YEAROFWEEK FROM {0})", "ISODOW": "extract(DAYOFWEEK_ISO FROM {0})", "DECADE": "floor(year({0}) / 10)",
    "CENTURY": "ceil(year({0}) / 100)", "MILLENNIUM": "ceil(year({0}) / 1000)",
}  # fmt: skip
# Fields of a timestamp. Like Flink's they count towards 1970: those of an earlier time are negative, and its date is the one after it.
OF_CLOCK = {
    "HOUR": "unix_millis({0}) % 86400000L div 3600000L", "MINUTE": "unix_millis({0}) % 3600000L div 60000L", "SECOND": "unix_millis({0}) % 60000L div 1000L",
    "EPOCH": "unix_millis({0}) div 1000L", "MILLISECOND": "unix_millis({0}) % 1000L",
    "MICROSECOND": "unix_millis({0}) % 1000L * 1000L + pmod(unix_micros({0}), 1000L)",
    "NANOSECOND": "unix_millis({0}) % 1000L * 1000000L + pmod(unix_micros({0}), 1000L) * 1000L",
}  # fmt: skip


def date_of(wall: str) -> str:
    """The date whose fields a timestamp has."""
    return f"date_from_unix_date(CAST(unix_millis({wall}) div 86400000L AS INT))"
