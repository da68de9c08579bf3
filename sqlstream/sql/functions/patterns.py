"""Texts that Spark reads as regular expressions or replacements, and patterns of dates."""

from __future__ import annotations

from sqlstream.sql.quoting import spark_string

_META = frozenset("\\^$.|?*+()[]{}-&#~")


def quoted(text: str) -> str:
    """A regular expression that matches ``text``; of one character or two, so that Java splits without compiling it, where it can be."""
    return "".join("\\" + c if c in _META else c for c in text)


def literal_pattern(value: object, text: str) -> str:
    """Spark SQL for a regular expression that matches an argument literally: ``value`` if it is constant, else what ``text`` gives."""
    if isinstance(value, str):
        return spark_string(quoted(value))
    return f"concat('\\\\Q', replace({text}, '\\\\E', '\\\\E\\\\\\\\E\\\\Q'), '\\\\E')"
