"""A CREATE TABLE for a topic, from a sample of its records: JSON by the types of its values, else lines of CSV, else raw text."""

from __future__ import annotations

import csv
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlstream.sql.quoting import flink_name, flink_string

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SAMPLE = 200
_SQL_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,9})?(Z?)")
_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z?)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_CSV_TYPES = (
    ("BIGINT", r"-?\d{1,18}"),
    ("DOUBLE", r"-?\d+\.\d+"),
    ("DATE", _DATE.pattern),
    ("TIMESTAMP(3)", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,3})?"),
)
# Milliseconds since 1970, of the years 2001 to 2100.
_MILLIS = range(1_000_000_000_000, 4_102_444_800_000)
_TIME_NAME = re.compile(r"time|date|ts$|_at$|At$|stamp", re.I)
_PLAIN = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class InferredType:
    """The type of values seen at one place: ``root``, the fields of a ROW, the element of an ARRAY, how its times are written."""

    root: str
    fields: tuple[tuple[str, InferredType], ...] = ()
    element: InferredType | None = None
    standard: str = ""

    def standards(self) -> set[str]:
        inner = [k for _, k in self.fields] + ([self.element] if self.element else [])
        return {self.standard} - {""} | {s for k in inner for s in k.standards()}


NULL, STRING = InferredType("NULL"), InferredType("STRING")
# So many ROWs and ARRAYs stand in each other; a reader of JSON gives what is deeper as text.
_MOST_LEVELS = 100
_WIDER = ("INT", "BIGINT", "DOUBLE")


@dataclass(frozen=True)
class Proposal:
    """Columns, the options of their format, and lines of a comment about them."""

    columns: Sequence[str]
    options: Mapping[str, str]
    comment: str = ""


def create_table(name: str, topic: str, brokers: Mapping[str, str], values: Iterable[bytes | None], known: Proposal | None = None) -> str:
    """The statement that declares ``topic`` as the table ``name`` (as it is written). ``brokers`` are the options that lead to it.

    ``known``: what is known of the records otherwise. Where some records are no JSON objects, as most are, a comment above it says so.
    """
    found = known or of_values([v for v in values if v is not None])
    options = {
        "connector": "kafka",
        "topic": topic,
        **brokers,
        "scan.startup.mode": "earliest-offset",
        **found.options,
    }
    body = ",\n".join(f"  {c}" for c in found.columns)
    written = ",\n".join(f"  {flink_string(k)} = {flink_string(v)}" for k, v in options.items())
    return f"{found.comment}CREATE TABLE {name} (\n{body}\n) WITH (\n{written}\n)"


def watermark(column: str) -> str:
    """The usual watermark of a column."""
    return f"WATERMARK FOR {flink_name(column)} AS {flink_name(column)} - INTERVAL '5' SECOND"


def of_values(values: Iterable[bytes]) -> Proposal:
    """What the values of records themselves tell."""
    texts = [value.decode("utf-8", "replace") for value in values]
    documents, comment = _documents(texts), ""
    if 2 * len(documents) > len(texts):
        columns, options = _of_json(documents)
        if broken := len(texts) - len(documents):
            comment = f"-- {broken} of {len(texts)} records are no JSON objects.\n-- 'json.ignore-parse-errors' = 'true' leaves such records out.\n"
    elif (width := _csv_width(texts)) > 1:
        columns = [f"f{i} {_text_type([row[i] for row in csv.reader(texts)])}" for i in range(width)]
        options = {"format": "csv"}
    else:
        columns, options = ["line STRING"], {"format": "raw"}
    return Proposal(columns, options, comment)


def _documents(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Those that are JSON objects."""
    documents = []
    for text in texts:
        with suppress(ValueError, RecursionError):
            document = json.loads(text)
            if isinstance(document, dict):
                documents.append(document)
    return documents


def _of_json(documents: Sequence[dict[str, Any]]) -> tuple[list[str], dict[str, str]]:
    kind = _merged([_kind(d) for d in documents])
    options = {"format": "json"}
    standards = kind.standards()
    if len(standards) > 1:  # one option says how all times are written
        kind = _as_strings(kind)
    elif standards == {"ISO-8601"}:
        options["json.timestamp-format.standard"] = "ISO-8601"
    columns = [f"{flink_name(n)} {_sql(k)}" for n, k in kind.fields]
    time = next((n for n, k in kind.fields if k.root.startswith("TIMESTAMP")), None)
    if time is None and (millis := _millis(kind, documents)) is not None:
        time = f"{millis}_ltz"
        columns.append(f"{flink_name(time)} AS TO_TIMESTAMP_LTZ({flink_name(millis)}, 3)")
    if time is not None:
        columns.append(watermark(time))
    return columns, options


def _kind(value: Any, levels: int = _MOST_LEVELS) -> InferredType:
    """The kind of a value; what is nested deeper than this many levels is the text of its JSON."""
    if levels == 0 and isinstance(value, dict | list):
        return STRING
    match value:
        case None:
            return NULL
        case bool():
            return InferredType("BOOLEAN")
        case int():
            return InferredType("INT" if -(2**31) <= value < 2**31 else "BIGINT" if -(2**63) <= value < 2**63 else "DECIMAL(38, 0)")
        case float():
            return InferredType("DOUBLE")
        case dict():
            return InferredType("ROW", tuple((k, _kind(v, levels - 1)) for k, v in value.items())) if value else InferredType("MAP")
        case list():
            return InferredType("ARRAY", element=_merged([_kind(v, levels - 1) for v in value]))
    for standard, pattern in (("SQL", _SQL_TIME), ("ISO-8601", _ISO_TIME)):
        if match := pattern.fullmatch(value):
            return InferredType("TIMESTAMP_LTZ(3)" if match[2] else "TIMESTAMP(3)", standard=standard)
    return InferredType("DATE") if _DATE.fullmatch(value) else STRING


def _merged(kinds: Sequence[InferredType]) -> InferredType:
    """The one kind that all of the values have."""
    some = [k for k in kinds if k is not NULL]
    if not some:
        return NULL
    roots = {k.root for k in some}
    if roots == {"ROW"} or roots == {"ROW", "MAP"}:
        names = dict.fromkeys(n for k in some for n, _ in k.fields)
        return InferredType("ROW", tuple((n, _merged([f for k in some for m, f in k.fields if m == n])) for n in names))
    if roots == {"ARRAY"}:
        return InferredType("ARRAY", element=_merged([k.element for k in some if k.element is not None]))
    if len(roots) == 1 and len({k.standard for k in some}) == 1:
        return some[0]
    if roots <= set(_WIDER):
        return InferredType(max(roots, key=_WIDER.index))
    return STRING


def _as_strings(kind: InferredType) -> InferredType:
    """``kind`` with texts in place of times."""
    if kind.standard:
        return STRING
    return InferredType(kind.root, tuple((n, _as_strings(k)) for n, k in kind.fields), _as_strings(kind.element) if kind.element else None)


def _millis(kind: InferredType, documents: Sequence[dict[str, Any]]) -> str | None:
    """The column of milliseconds since 1970 that the name says is a time."""
    for name, column in kind.fields:
        values = [d[name] for d in documents if d.get(name) is not None]
        if column.root == "BIGINT" and _TIME_NAME.search(name) and all(v in _MILLIS for v in values):
            return name
    return None


def _sql(kind: InferredType) -> str:
    match kind.root:
        case "ROW":
            return f"ROW<{', '.join(f'{flink_name(n)} {_sql(k)}' for n, k in kind.fields)}>"
        case "ARRAY":
            return f"ARRAY<{_sql(kind.element or NULL)}>"
        case "MAP":
            return "MAP<STRING, STRING>"
        case "NULL":
            return "STRING"
    return kind.root


def _csv_width(texts: Sequence[str]) -> int:
    """The number of columns that all lines have; 0 if they are not CSV."""
    if not texts or texts[0].startswith(("[", "{")) or any("\n" in t.strip() or not t.strip().isprintable() for t in texts):
        return 0
    widths = {len(row) for row in csv.reader(texts)}
    return widths.pop() if len(widths) == 1 else 0


def _text_type(cells: Sequence[str]) -> str:
    filled = [c for c in cells if c]
    return next((type_ for type_, pattern in _CSV_TYPES if filled and all(re.fullmatch(pattern, c) for c in filled)), "STRING")
