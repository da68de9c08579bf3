"""The option ``index``: a name, or one with a value of the row in it: ``sales-{shop}``, ``sales-{ts|yyyy-MM-dd}``, ``sales-{now()|yyyy}``.

In: the option and the table's columns. Out: an IndexName, which Java's ``IndexName`` evaluates by row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core.options import wrong_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlstream.core.errors import ValidationError
    from sqlstream.sql.tables import PhysicalColumn

OPTION = "index"
_VALUE = re.compile(r"\{[^{}]+\}?")
_TIMED = re.compile(r"\{.+\|.*\}", re.DOTALL)
_NOW = re.compile(r"\{\s*(now\(\s*\)|NOW\(\s*\)|current_timestamp|CURRENT_TIMESTAMP)\s*\|.*\}", re.DOTALL)
# Flink's types of a value, each with the pattern of a time that names none.
_PATTERNS = {
    "DATE": "yyyy_MM_dd",
    "TIME": "HH_mm_ss",
    "TIMESTAMP": "yyyy_MM_dd_HH_mm_ss",
    "TIMESTAMP_LTZ": "yyyy_MM_dd_HH_mm_ssX",
}
_AS_THEY_ARE = ("VARCHAR", "CHAR", "TINYINT", "INT", "BIGINT")


@dataclass(frozen=True)
class IndexName:
    """``before`` and ``after`` stand around the value of ``column``, or of the time at which a document is written where ``now`` is set; ``pattern``
    is how Java writes a time, None where the value is written as it is.
    """

    before: str
    after: str = ""
    column: str | None = None
    pattern: str | None = None
    now: bool = False


def index_name(text: str, columns: Sequence[PhysicalColumn]) -> IndexName:
    """What the option's ``text`` says. Raises ValidationError."""
    if not text:
        raise wrong_option(OPTION, f"'{OPTION}' must not be empty")
    found = _VALUE.findall(text)
    if len(found) > 1:
        raise _wrong(f"Chaining dynamic index pattern {text} is not supported, only support single dynamic index pattern.")
    if not found:
        return IndexName(text)
    begin, end = text.find("{"), text.rfind("}") + 1
    if end <= begin:
        raise _wrong(f"The index pattern '{text}' has no '}}'.")
    before, inside, after = text[:begin], text[begin + 1 : end - 1], text[end:]
    name, _, pattern = inside.partition("|")
    if _NOW.search(text):
        return IndexName(before, after, pattern=pattern or _PATTERNS["TIMESTAMP_LTZ"], now=True)
    column = next((c for c in columns if c.name == name), None)
    if column is None:
        raise _wrong(f"Unknown field '{name}' in index pattern '{text}', please check the field name.")
    root = column.type.root
    if not _TIMED.search(text):
        if root not in (*_PATTERNS, *_AS_THEY_ARE):
            raise _wrong(f"Unsupported type {column.type} of index field, Supported types are: {', '.join((*_PATTERNS, *_AS_THEY_ARE))}.")
        return IndexName(before, after, name)
    if root not in _PATTERNS:
        raise _wrong(
            f"Unsupported type '{column.type}' found in dynamic index field, time-related pattern only support types are: DATE,TIME,TIMESTAMP."
        )
    return IndexName(before, after, name, pattern or _PATTERNS[root])


def _wrong(message: str) -> ValidationError:
    return wrong_option(OPTION, message, hint="Write 'sales', 'sales-{column}', 'sales-{column|yyyy-MM-dd}' or 'sales-{now()|yyyy-MM-dd}'.")
