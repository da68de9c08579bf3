"""What Flink's json takes and Spark's does not, put right in the text: the number in quotes, the string without.

In: the text of a record that from_json marked as corrupt, and the table's fields. Out: SQL for the text in which every scalar has the form that
its type asks for; what this does not mend fails as it would in Flink. It works by names, at any depth: a name that stands for several types is
left alone. Regular expressions, and not a second parser with other types, because such code would be as long as the schema and would keep
the JVM from compiling the path of the good records.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from sqlstream.formats.base import literal
from sqlstream.formats.json_types import named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlstream.formats.base import Fields
    from sqlstream.sql.types import Type

_DIGITS = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_END = r"(?=\s*[,}\]])"
_TEXT = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'


def repaired(text: str, fields: Fields) -> str:
    """SQL for ``text`` put right."""
    for pattern, replacement in _rules(fields):
        text = f"regexp_replace({text}, {literal(pattern)}, {literal(replacement)})"
    return text


def number_in_string(fields: Fields) -> str | None:
    """A pattern for a record in which a STRING field holds a number: from_json would give 1.50 as '1.5'. None without such fields."""
    names = _names(fields, lambda t: t.is_string)
    return rf"{_key(names)}-?\d" if names else None


def comma_in_decimal(fields: Fields) -> str | None:
    """A pattern for a record in which a DECIMAL holds a comma, which Spark would drop and read on. None without such fields."""
    names = _names(fields, lambda t: t.root == "DECIMAL")
    return rf'{_key(names)}"[^",]*,' if names else None


def _names(fields: Fields, picked: object) -> list[str]:
    assert callable(picked)
    types: dict[str, set[bool]] = defaultdict(set)
    for name, type_ in named(fields):
        types[name].add(bool(picked(type_)))
    return sorted(n for n, found in types.items() if found == {True})


def _key(names: Iterable[str]) -> str:
    return rf'"(?:{"|".join(re.escape(n) for n in names)})"\s*:\s*'


def _rules(fields: Fields) -> Iterator[tuple[str, str]]:
    """Patterns and replacements, in order."""

    def rule(picked: object, pattern: str, replacement: str) -> Iterator[tuple[str, str]]:
        names = _names(fields, picked)
        if names:
            yield f"({_key(names)}){pattern}", replacement

    def integer(t: Type) -> bool:
        return t.is_integer

    def number(t: Type) -> bool:
        return t.is_approximate or t.root == "DECIMAL"

    yield from rule(lambda t: t.is_string, rf"(-?\d[\d.eE+-]*){_END}", '$1"$2"')
    yield from rule(lambda t: t.is_string, rf"(true|false){_END}", '$1"$2"')
    yield from rule(integer, r'"\s*\+?(-?)0*(\d+)\s*"', "$1$2$3")
    yield from rule(lambda t: t.root in ("INT", "BIGINT"), rf"(-?\d+)\.\d+{_END}", "$1$2")
    yield from rule(lambda t: t.root == "DECIMAL", r'"[^",]*,[^"]*"', '$1"x"')
    yield from rule(number, rf'"\s*\+?(-?)0*({_DIGITS})[fFdD]?\s*"', "$1$2$3")
    yield from rule(lambda t: t.root == "BOOLEAN", r'"\s*[tT][rR][uU][eE]\s*"', "$1true")
    yield from rule(lambda t: t.root == "BOOLEAN", rf"(?:{_TEXT}|-?\d[\d.eE+-]*{_END})", "$1false")
    for whole in sorted({t.args[0] - t.args[1] for _, t in named(fields) if t.root == "DECIMAL"}):
        # Too many digits: NULL.
        yield from rule(
            lambda t, whole=whole: t.root == "DECIMAL" and t.args[0] - t.args[1] == whole,
            rf"-?[1-9]\d{{{whole},}}(?:\.\d+)?{_END}", "$1null",
        )  # fmt: skip
