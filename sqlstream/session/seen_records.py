"""Records of a topic as a person reads them, without Spark: by the columns of a table where its format is text, else as PEEK shows them."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlstream.connectors import find_connector
from sqlstream.connectors.kafka.connector import TopicConnector
from sqlstream.core import foreign_json
from sqlstream.core.errors import SqlStreamError
from sqlstream.session.raw_topics import seconds, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlstream.connectors.kafka.client import Record
    from sqlstream.connectors.kafka.records import Layout
    from sqlstream.formats.base import Fields
    from sqlstream.sql.tables import Table

# Of a key and a value so many bytes are looked at, and of a cell so many characters shown.
LONGEST_BYTES = 32_768
_LONGEST_CELL = 300
_FORMATS = ("json", "csv", "raw")


@dataclass(frozen=True)
class Seen:
    """A record: ``time`` is in seconds since 1970, None where it has none; ``cells`` are those of the columns, None where the record is none of the
    table's format.
    """

    partition: int
    offset: int
    time: float | None
    key: str | None
    value: str | None
    cells: tuple[str | None, ...] | None = None


def seen(records: Sequence[Record], table: Table | None) -> tuple[Fields, tuple[Seen, ...]]:
    """The columns of ``table`` that are told from the values of records, none where they can't be, and the records."""
    layout = _layout(table)
    fields = () if layout is None else tuple(layout.value_fields)
    options = {} if table is None else table.options
    return fields, tuple(
        Seen(r.partition, r.offset, seconds(r.timestamp), _text(r.key), _text(r.value), None if layout is None else _cells(r.value, layout, options))
        for r in records
    )


def _layout(table: Table | None) -> Layout | None:
    if table is None:
        return None
    try:
        connector = find_connector(table.connector)
        layout = connector.layout(table) if isinstance(connector, TopicConnector) else None
    except SqlStreamError:
        # A declaration that nothing can read says nothing of its records.
        return None
    return layout if layout is not None and layout.value.name in _FORMATS and layout.value_fields else None


def _cells(value: bytes | None, layout: Layout, options: Any) -> tuple[str | None, ...] | None:
    if value is None:
        return None
    names = [name for name, _ in layout.value_fields]
    if layout.value.name == "raw":
        return (_text(value),)
    try:
        text = value.decode("utf-8")
        if layout.value.name == "csv":
            (row,) = csv.reader([text.rstrip("\r\n")], delimiter=options.get(f"{layout.value_prefix}csv.field-delimiter", ","))
            return tuple(_cut(cell) for cell in row) if len(row) == len(names) else None
        document = foreign_json.read(text)
    except (ValueError, TypeError, csv.Error):
        return None
    if not isinstance(document, dict):
        return None
    return tuple(_of_json(document.get(name)) for name in names)


def _of_json(value: Any) -> str | None:
    if value is None:
        return None
    return _cut(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _text(data: bytes | None) -> str | None:
    """What PEEK shows of it, cut."""
    if data is None:
        return None
    if len(data) >= LONGEST_BYTES:
        # The last character may have been cut through.
        data = data[:LONGEST_BYTES].decode("utf-8", "ignore").encode() if _is_text(data[: LONGEST_BYTES - 4]) else data
    return _cut(text_of(data) or "")


def _is_text(data: bytes) -> bool:
    for less in range(4):
        try:
            data[: len(data) - less].decode("utf-8")
            return True
        except UnicodeDecodeError:
            continue
    return False


def _cut(text: str) -> str:
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text[: _LONGEST_CELL + 1])
    return plain if len(text) <= _LONGEST_CELL else f"{plain[:_LONGEST_CELL]} ..."
