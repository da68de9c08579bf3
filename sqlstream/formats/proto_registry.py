"""proto-registry: messages of Protobuf that begin with the number of their schema in a schema registry, as Confluent's serializers write them.

In: bytes, or columns. Out: rows, or bytes. ``RegisteredProtobuf.java`` reads a message by the schema that it was written with; columns find their
fields by name. The schema of what is written is made of the columns.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlstream.core.options import Option, OptionKind
from sqlstream.formats import protobuf_files, protobuf_schema, rows, schema_registry
from sqlstream.formats.base import Encoded, Fields, Format, columns_sql

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

# Behind the number of a schema: that the message is the first one in it.
_FIRST = b"\0"


class ProtoRegistry(Format):
    """Protocol Buffers with a schema registry."""

    name = "proto-registry"
    in_lines = False
    ignores_fields = False
    options = (
        Option("ignore-parse-errors", OptionKind.BOOLEAN, "false", "Leave out records that can't be read."),
        *schema_registry.OPTIONS,
    )

    def check(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> None:
        schema_registry.check(options, at=at)
        schema = self._schema(fields, options, at)
        if schema_registry.named(options, "schema") is not None:
            protobuf_schema.check(_message(schema).descriptor, fields, at)

    def notices(self, fields: Fields, options: Mapping[str, str]) -> list[str]:
        return schema_registry.notices(options)

    def in_topic(self, options: dict[str, str], topic: str, part: str) -> dict[str, str]:
        return schema_registry.with_subject(options, topic, part)

    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        ignored = self.option(options, "ignore-parse-errors")
        reader = rows.java().RegisteredProtobuf(columns_sql(fields), schema_registry.settings(options), ignored)
        return rows.read_rows(record, reader, fields, "Failed to deserialize Protobuf message", text=False)

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> Column:
        from pyspark.sql import functions as F
        from pyspark.sql.classic.column import Column

        schema = self._schema(fields, options, None)
        message = _message(schema)
        writer = rows.java().ProtobufRecords(columns_sql(fields), message.files, message.name, False, False, "")
        prefix = rows.java().SchemaPrefix(schema_registry.settings(options), schema_registry.subject(self.name, options), schema, "PROTOBUF")
        written = F.concat(F.lit(_FIRST), rows.written(writer, rows.row(fields)))
        record: Column = Column(prefix.before(written._jc))
        return record

    def _schema(self, fields: Fields, options: Mapping[str, str], at: Any) -> str:
        given = schema_registry.named(options, "schema")
        return given if given is not None else protobuf_schema.of_row(fields, at)


@lru_cache(maxsize=64)
def _message(schema: str) -> protobuf_files.Message:
    return protobuf_files.of_text(schema)
