"""The formats of change data capture: JSON records that say what has changed in a table of a database.

In: records. Out: rows of a changelog, one or two for each change, and back. The formats differ in the names of a record's fields and of the
changes, which is data here; ``JsonChanges.java`` reads them all.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlstream.core.changelog import KIND, REMOVES, ChangelogMode, RowKind
from sqlstream.core.errors import ValidationError
from sqlstream.core.hidden import hidden
from sqlstream.core.options import Option, OptionKind, Support
from sqlstream.formats import json_read, rows
from sqlstream.formats.base import Encoded, Fields, Property
from sqlstream.formats.json import JsonBased
from sqlstream.sql.quoting import quote, spark_string
from sqlstream.sql.types import BIGINT, INT, STRING, TINYINT, array, map_of, timestamp_ltz

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

    from sqlstream.sql.types import Type

_OTHER = hidden("other_")
_NEW = (None, RowKind.INSERT)
_OLD = (RowKind.DELETE, None)
_UPDATE = (RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER)
_NO_BEFORE = ' The "before" field of '
_REPLICA_IDENTITY = (
    " message is null, if you are using Debezium Postgres Connector, please check the Postgres table has been set REPLICA IDENTITY to FULL level."
)
_TABLES = "Make it a metadata column, value.database or value.table, and filter by that."


@dataclass(frozen=True)
class Envelope:
    """How a format writes a change. ``before``, ``after`` and ``change`` are the record's fields with the rows and the change's name.

    ``kinds``: by the change's name those that the row before and the row after have in the changelog; None for a row that is not in it.
    ``partial``: the row before has only the fields that change. ``several``: both are arrays of rows. ``written``: the record of a row that is
    added, and of one that is removed, with ``%s`` for the row.
    """

    before: str
    after: str
    change: str
    kinds: Mapping[str, tuple[RowKind | None, RowKind | None]]
    written: tuple[str, str]
    partial: bool = False
    several: bool = False


class ChangeFormat(JsonBased):
    """Base of the formats of change data capture."""

    mode = ChangelogMode.RETRACT_DELETE
    title: ClassVar[str]
    shape: ClassVar[Envelope]

    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        from pyspark.sql import functions as F

        wanted = [p for key in record.properties for p in self.properties if p.key == key]
        wrapped = options.get("schema-include", "false").strip().lower() == "true"
        inner = {p.field: p.field_type for p in wanted if not (wrapped and p.outer)}
        outer = {p.field: p.field_type for p in wanted if wrapped and p.outer}
        others = tuple((_OTHER + n, t) for n, t in (inner | outer).items())
        description = {"record": self.record_type(fields, inner), "kinds": codes(self.shape), "wrapped": wrapped}
        if wrapped:
            description["record"] = _row({"payload": description["record"], **_described(outer)})
        iso = self.option(options, "timestamp-format.standard") == "iso-8601"
        ignore = self.option(options, "ignore-parse-errors")
        reader = rows.java().JsonChanges(json.dumps(description), iso, ignore)
        problem = None if ignore else f"Corrupt {self.title} JSON message"
        why = self._why(f"CAST({record.value} AS STRING)", "$.payload" if wrapped else "$")
        frame = rows.read_rows(record, reader, (*fields, *others, (KIND, TINYINT)), problem, why=why)
        metadata = [F.expr(p.sql.format(quote(_OTHER + p.field))).alias(p.key) for p in wanted]
        kept = [F.col(quote(c)) for c in [*record.frame.columns, *[n for n, _ in fields]]]
        return frame.select(*kept, *metadata, KIND)

    def _why(self, record: str, path: str) -> str:
        """SQL of what is wrong with a record that can't be read, where a database is set up so; ``path`` is that of the change in it."""
        return "''"

    def record_type(self, fields: Fields, others: Mapping[str, Type]) -> dict[str, Any]:
        """The record's type, as the reader takes it."""
        shape = self.shape
        both = {shape.before: json_read.row(fields, partial=shape.partial), shape.after: json_read.row(fields)}
        if shape.several:
            both = {name: {"root": "ARRAY", "children": [row]} for name, row in both.items()}
        return _row({**both, **_described({shape.change: STRING}), **_described(others)})

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> Column:
        from pyspark.sql import functions as F

        start, end = zip(*(text.split("%s") for text in self.shape.written), strict=True)
        if self.option(options, "encode.ignore-null-fields"):
            start, end = (tuple(re.sub(r'"\w+":null,', "", text) for text in texts) for texts in (start, end))
        first, last = (F.expr(f"if({REMOVES}, {spark_string(old)}, {spark_string(new)})") for new, old in (start, end))
        return F.concat(first, super().encode(fields, options), last)


def _row(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"root": "ROW", "names": list(fields), "children": list(fields.values())}


def _described(fields: Mapping[str, Type]) -> dict[str, Any]:
    return {name: json_read.reader_type(type_) for name, type_ in fields.items()}


def codes(shape: Envelope) -> dict[str, list[int | None]]:
    """The kinds of rows by the change's name, as the readers in Java take them."""
    return {name: [None if k is None else k.code for k in kinds] for name, kinds in shape.kinds.items()}


def _millis(key: str, field: str, *, outer: bool = False) -> Property:
    return Property(key, timestamp_ltz(3), field, BIGINT, "timestamp_millis({})", outer)


def _plain(key: str, type_: Type, field: str, *, outer: bool = False) -> Property:
    return Property(key, type_, field, type_, "{}", outer)


def _written(key: str, field: str) -> Property:
    """A time as GoldenGate writes it, in UTC, of which Flink reads the milliseconds."""
    wrong = f"if({{0}} IS NULL, NULL, CAST(raise_error(concat('{field} is not a time: ', {{0}})) AS TIMESTAMP))"
    return Property(key, timestamp_ltz(6), field, STRING, f"coalesce(date_trunc('MILLISECOND', CAST({{0}} AS TIMESTAMP)), {wrong})")


def _source(key: str, type_: Type, sql: str) -> Property:
    return Property(key, type_, "source", map_of(STRING, STRING), sql)


def no_row_before(record: str, path: str = "$") -> str:
    """SQL of what is wrong where ``record``, SQL of what Debezium says of a change at ``path``, lacks the row before it; else of an empty text."""
    op = f"get_json_object({record}, '{path}.op')"
    change = f"CASE {op} WHEN 'u' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' END"
    told = f"concat({spark_string(_NO_BEFORE)}, {change}, {spark_string(_REPLICA_IDENTITY)})"
    return f"if(get_json_object({record}, '{path}.before') IS NULL, coalesce({told}, ''), '')"


class Debezium(ChangeFormat):
    """What Debezium writes."""

    name = "debezium-json"
    title = "Debezium"
    options = (
        Option("schema-include", OptionKind.BOOLEAN, "false", "The record has its schema beside it: Kafka Connect's schemas.enable."),
        *JsonBased.options,
    )
    properties = (
        _plain("schema", STRING, "schema", outer=True),
        _millis("ingestion-timestamp", "ts_ms"),
        _source("source.timestamp", timestamp_ltz(3), "timestamp_millis(CAST({}['ts_ms'] AS BIGINT))"),
        _source("source.database", STRING, "{}['db']"),
        _source("source.schema", STRING, "{}['schema']"),
        _source("source.table", STRING, "{}['table']"),
        _source("source.properties", map_of(STRING, STRING), "{}"),
    )
    shape = Envelope(
        "before", "after", "op", {"c": _NEW, "r": _NEW, "u": _UPDATE, "d": _OLD},
        ('{"before":null,"after":%s,"op":"c"}', '{"before":%s,"after":null,"op":"d"}'),
    )  # fmt: skip

    def _why(self, record: str, path: str) -> str:
        return no_row_before(record, path)

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> Column:
        if self.option(options, "schema-include"):
            raise ValidationError("Debezium JSON serialization doesn't support 'debezium-json.schema-include' option been set to true.")
        return super().encode(fields, options)


class Canal(ChangeFormat):
    """What Canal writes."""

    name = "canal-json"
    title = "Canal"
    options = (
        *JsonBased.options,
        Option("database.include", use=Support.REFUSED, why=_TABLES),
        Option("table.include", use=Support.REFUSED, why=_TABLES),
    )
    properties = (
        _plain("database", STRING, "database"),
        _plain("table", STRING, "table"),
        _plain("sql-type", map_of(STRING, INT), "sqlType"),
        _plain("pk-names", array(STRING), "pkNames"),
        _millis("ingestion-timestamp", "ts"),
        _millis("event-timestamp", "es"),
    )
    shape = Envelope(
        "old", "data", "type", {"INSERT": _NEW, "UPDATE": _UPDATE, "DELETE": (None, RowKind.DELETE), "CREATE": (None, None)},
        ('{"data":[%s],"type":"INSERT"}', '{"data":[%s],"type":"DELETE"}'), partial=True, several=True,
    )  # fmt: skip


class Maxwell(ChangeFormat):
    """What Maxwell writes."""

    name = "maxwell-json"
    title = "Maxwell"
    properties = (
        _plain("database", STRING, "database"),
        _plain("table", STRING, "table"),
        _plain("primary-key-columns", array(STRING), "primary_key_columns"),
        Property("ingestion-timestamp", timestamp_ltz(3), "ts", BIGINT, "timestamp_seconds({})"),
    )
    shape = Envelope(
        "old", "data", "type", {"insert": _NEW, "update": _UPDATE, "delete": (None, RowKind.DELETE)},
        ('{"data":%s,"type":"insert"}', '{"data":%s,"type":"delete"}'), partial=True,
    )  # fmt: skip


class Ogg(ChangeFormat):
    """What Oracle GoldenGate writes."""

    name = "ogg-json"
    title = "Ogg"
    properties = (
        _plain("table", STRING, "table"),
        _plain("primary-keys", array(STRING), "primary_keys"),
        _written("ingestion-timestamp", "current_ts"),
        _written("event-timestamp", "op_ts"),
    )
    shape = Envelope(
        "before", "after", "op_type", {"I": _NEW, "U": _UPDATE, "D": _OLD},
        ('{"before":null,"after":%s,"op_type":"I"}', '{"before":%s,"after":null,"op_type":"D"}'),
    )  # fmt: skip
