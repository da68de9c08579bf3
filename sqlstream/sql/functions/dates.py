"""Fields of times, and texts read as times and written from them, in Spark SQL."""

from __future__ import annotations

import re

from sqlstream.sql.functions.base import sql_string

# Fields of a wall time.
FIELDS = {
    "YEAR": "year({0})", "QUARTER": "quarter({0})", "MONTH": "month({0})", "WEEK": "weekofyear({0})", "DAY": "day({0})", "DOY": "dayofyear({0})",
    "DOW": "dayofweek({0})", "HOUR": "hour({0})", "MINUTE": "minute({0})", "SECOND": "second({0})", "ISOYEAR": "extract(YEAROFWEEK FROM {0})",
    "ISODOW": "extract(DAYOFWEEK_ISO FROM {0})", "DECADE": "floor(year({0}) / 10)", "CENTURY": "ceil(year({0}) / 100)",
    "MILLENNIUM": "ceil(year({0}) / 1000)", "EPOCH": "unix_seconds({0})", "MILLISECOND": "pmod(unix_millis({0}), 1000)",
    "MICROSECOND": "pmod(unix_micros({0}), 1000000)", "NANOSECOND": "pmod(unix_micros({0}), 1000000) * 1000",
}  # fmt: skip
# Those that a DATE has only as a timestamp.
TO_MICROS = ("HOUR", "MINUTE", "SECOND", "EPOCH", "MILLISECOND", "MICROSECOND", "NANOSECOND")

# What Flink reads without a pattern; Spark reads more.
_TEXT = r"^\d{4}-\d{1,2}-\d{1,2}( \d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,9})?)?$"
_FULL = r"^\d{4}-\d{1,2}-\d{1,2} \d{1,2}:\d{1,2}:\d{1,2}"
# A day that its month lacks is the month's last.
_LATE = r"^\d{4}-\d{2}-(29|30|31)( \d{2}:\d{2}:\d{2})?$"

_LETTERS = frozenset("GyuMLdDQqEahHkKmsSVzOXxZ")
# Letters that Spark's formatter lacks: the value and the least number of digits, by the letter's count.
_OWN = {
    # Weeks of the United States: they begin on Sunday, and that of January 1 is the first.
    "Y": "year(date_add({0}, 7 - dayofweek({0})))", "w": "(if(year(date_add({0}, 7 - dayofweek({0}))) > year({0}), 1, "
    "(dayofyear({0}) + dayofweek(trunc({0}, 'YEAR')) - 2) div 7 + 1))", "W": "((day({0}) + dayofweek(trunc({0}, 'MONTH')) - 2) div 7 + 1)",
    "e": "dayofweek({0})", "c": "dayofweek({0})",
    "u": "year({0})", "n": "pmod(unix_micros({0}), 1000000) * 1000", "A": "pmod(unix_millis({0}), 86400000)",
    "N": "pmod(unix_micros({0}), 86400000000) * 1000",
}  # fmt: skip


def as_timestamp(text: str) -> str:
    """Spark SQL for a text cast to a wall time; NULL where it is none."""
    return f"CAST(try_cast({text} AS TIMESTAMP_NTZ) AS TIMESTAMP)"


def read(text: str) -> str:
    """A text of ``yyyy-MM-dd[ HH:mm:ss[.fraction]]`` as a wall time; NULL where it is none."""
    return f"if({text} RLIKE {sql_string(_TEXT)}, {as_timestamp(text)}, NULL)"


def readable(text: str) -> str:
    """A text that begins as ``yyyy-MM-dd HH:mm:ss``, whatever follows, as a wall time in seconds."""
    return f"date_trunc('SECOND', {as_timestamp(f'regexp_extract({text}, {sql_string(_FULL)}, 0)')})"


def parsed(text: str, pattern: str | None) -> str:
    """A text as a wall time, by a pattern; what doesn't follow it is tried without."""
    if pattern is not None:
        return f"coalesce(CAST(try_to_timestamp({text}, {pattern}) AS TIMESTAMP), {read(text)})"
    clamped = f"concat(CAST(last_day(CAST(concat(left({text}, 7), '-01') AS DATE)) AS STRING), substring({text}, 11))"
    return f"coalesce({read(text)}, if({text} RLIKE {sql_string(_LATE)}, {as_timestamp(clamped)}, NULL))"


def _pieces(pattern: str) -> list[tuple[str, str]]:
    """A pattern's runs of one letter and the texts between: (letter or '', text)."""
    found = []
    for match in re.finditer(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+", pattern):
        text = match[0]
        if text.startswith("'"):
            found.append(("", match[1].replace("''", "'") or "'"))
        else:
            found.append((text[0] if text[0].isalpha() else "", text))
    return found


def unreadable(pattern: str) -> str:
    """The letters of a pattern that are not known here."""
    return "".join(sorted({letter for letter, _ in _pieces(pattern) if letter and letter not in _LETTERS and letter not in _OWN}))


def formatted(value: str, pattern: object, text: str) -> str:
    """Spark SQL for the wall time ``value`` by a pattern: ``pattern`` where it is constant, else what ``text`` gives."""
    if not isinstance(pattern, str):
        return f"date_format({value}, {text})"
    pieces = _pieces(pattern)
    if not any(letter in _OWN for letter, _ in pieces):
        return f"date_format({value}, {text})"
    parts, plain = [], ""
    for letter, run in pieces:
        if letter in _OWN:
            if plain:
                parts.append(f"date_format({value}, {sql_string(plain)})")
            plain = ""
            number = f"CAST({_OWN[letter].format(value)} AS STRING)"
            parts.append(f"lpad({number}, greatest({len(run)}, length({number})), '0')" if len(run) > 1 else number)
        else:
            plain += run if letter else "'" + run.replace("'", "''") + "'"
    if plain:
        parts.append(f"date_format({value}, {sql_string(plain)})")
    return f"concat({', '.join(parts)})"
