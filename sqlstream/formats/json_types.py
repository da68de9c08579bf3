"""How json reads a type: in which Spark type from_json gives it, and what is converted afterwards.

from_json reads DATE, TIME and TIMESTAMP by rules of its own (numbers are days or seconds, forms are lenient): they come as strings, and are
converted above, which costs nothing where a column is not used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlstream.formats.base import Fields, changes, literal, map_leaves, truncated
from sqlstream.sql.types import Type, quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column

CORRUPT = "__sqlstream_corrupt"
PARSER = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": CORRUPT,
    # Flink's parser takes raw control characters in strings, and neither 'single quotes' nor bare NaN.
    "allowUnquotedControlChars": "true",
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}
_DATE = r"\d{4}-\d\d-\d\d"
_TIME = r"\d\d:\d\d:\d\d(\.\d{0,9})?"
_ISO_TIME = r"\d\d:\d\d(:\d\d(\.\d{0,9})?)?"
_PATTERNS = {
    ("DATE", "sql"): f"^{_DATE}$",
    ("DATE", "iso-8601"): f"^{_DATE}$",
    ("TIME", "sql"): f"^{_TIME}$",
    ("TIME", "iso-8601"): f"^{_TIME}$",
    ("TIMESTAMP", "sql"): f"^{_DATE} {_TIME}$",
    ("TIMESTAMP", "iso-8601"): f"^{_DATE}T{_ISO_TIME}$",
    ("TIMESTAMP_LTZ", "sql"): f"^{_DATE} {_TIME}Z$",
    ("TIMESTAMP_LTZ", "iso-8601"): f"^{_DATE}T{_ISO_TIME}Z$",
}

Leaf = Callable[[str, Type], "str | None"]
Fail = Callable[[str], str]


def failure(text: str, origin: str) -> Fail:
    """A function from a type to the SQL that fails the job, and is of that type as far as Spark is concerned."""

    def fail(type_: str) -> str:
        parts = f"'Failed to deserialize JSON \\'', {text}, '\\' (', {origin}, ').'"
        return f"CAST(raise_error(concat({parts})) AS {type_})"

    return fail


def schema(fields: Fields, leaf: Callable[[Type], str]) -> str:
    """Spark's schema of ``fields`` whose scalars are read as ``leaf`` says, and of the column for corrupt records."""
    return ", ".join([*(f"{quote(n)} {nested(t, leaf)}" for n, t in fields), f"{CORRUPT} STRING"])


def nested(type_: Type, leaf: Callable[[Type], str]) -> str:
    """The Spark type of ``type_`` with its scalars as ``leaf`` says."""
    match type_.root:
        case "ARRAY":
            return f"ARRAY<{nested(type_.children[0], leaf)}>"
        case "MAP":
            return f"MAP<STRING,{nested(type_.children[1], leaf)}>"
        case "MULTISET":
            return f"MAP<STRING,{leaf(Type('INT'))}>"
        case "ROW":
            fields = zip(type_.names, type_.children, strict=True)
            return f"STRUCT<{', '.join(f'{quote(n)}: {nested(c, leaf)}' for n, c in fields)}>"
    return leaf(type_)


def raw(type_: Type) -> str:
    """The Spark type in which from_json reads a scalar that is as it should be."""
    return "STRING" if type_.root in ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ") else type_.spark


def raw_struct(fields: Fields) -> str:
    """The Spark type of a row before conversion."""
    return f"STRUCT<{', '.join(f'{quote(n)}: {nested(t, raw)}' for n, t in fields)}>"


def named(fields: Fields) -> Iterator[tuple[str, Type]]:
    """All fields with their names, those of rows at any depth included."""
    for name, type_ in fields:
        yield name, type_
        yield from named(_rows_in(type_))


def _rows_in(type_: Type) -> Fields:
    if type_.root == "ROW":
        return tuple(zip(type_.names, type_.children, strict=True))
    return tuple(f for c in type_.children for f in _rows_in(c))


def converter(standard: str, fail: Fail | None) -> Leaf:
    """From the string of a DATE, TIME or TIMESTAMP to its value; what is none is NULL where there is no ``fail``."""

    def leaf(x: str, type_: Type) -> str | None:
        pattern = _PATTERNS.get((type_.root, standard))
        if pattern is None:
            return None
        value = f"if({x} RLIKE {literal(pattern)}, try_cast({x} AS {type_.spark}), NULL)"
        if type_.is_timestamp:
            value = truncated(value, type_.args[0])
        elif type_.root == "TIME":
            value = f"time_trunc('{'SECOND' if type_.args[0] == 0 else 'MILLISECOND'}', {value})"
        return f"coalesce({value}, if({x} IS NULL, NULL, {fail(type_.spark)}))" if fail else value

    return leaf


def column(x: str, type_: Type, leaf: Leaf) -> Column:
    """``map_leaves`` as a column. In a row, fields that change are replaced: Spark then leaves out those that no one asks for, which
    it can't do with a row that is built anew behind a test for NULL."""
    from pyspark.sql import functions as F

    if type_.root != "ROW":
        return F.expr(map_leaves(x, type_, leaf))
    out = F.expr(x)
    for name, child in zip(type_.names, type_.children, strict=True):
        if changes(child, leaf):
            out = out.withField(quote(name), column(f"{x}.{quote(name)}", child, leaf))
    return out
