"""json-registry: JSON that begins with the number of its schema in a schema registry, as Confluent's serializers write it.

In: a record's bytes, or columns. Out: rows, or bytes. Columns decide what is read; the schema is made of them where records are written.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import ValidationError
from sqlstream.formats import rows, schema_registry
from sqlstream.formats.base import marked_record
from sqlstream.formats.json import Json
from sqlstream.sql.quoting import spark_string

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

    from sqlstream.formats.base import Encoded, Fields
    from sqlstream.sql.types import Type

_DRAFT = "http://json-schema.org/draft-07/schema#"
_NO_PREFIX = "Unknown data format. Magic number does not match: "
_PLAIN = {
    "BOOLEAN": "boolean", "TINYINT": "integer", "SMALLINT": "integer", "INT": "integer", "BIGINT": "integer", "DECIMAL": "number",
    "FLOAT": "number", "DOUBLE": "number",
}  # fmt: skip


class JsonRegistry(Json):
    """JSON with a schema registry."""

    name = "json-registry"
    in_lines = False
    options = (*Json.options, *schema_registry.OPTIONS)

    def check(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> None:
        super().check(fields, options, at=at)
        schema_registry.check(options, at=at)
        try:
            json.loads(self._schema(fields, options))
        except ValueError as wrong:
            raise ValidationError(f"Option '{self.name}.schema' is no JSON: {wrong}.", at=at) from wrong

    def notices(self, fields: Fields, options: Mapping[str, str]) -> list[str]:
        return [*super().notices(fields, options), *schema_registry.notices(options)]

    def in_topic(self, options: dict[str, str], topic: str, part: str) -> dict[str, str]:
        return schema_registry.with_subject(options, topic, part)

    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        value = f"CAST({record.value} AS BINARY)"
        shown = marked_record(f"hex({value})")
        other = f"raise_error(concat({spark_string(_NO_PREFIX)}, {shown}, ' (', {record.origin}, ').'))"
        # An empty record is none.
        other = "X''" if self.option(options, "ignore-parse-errors") else f"CAST({other} AS BINARY)"
        body = f"if({value} IS NULL OR (startswith({value}, X'00') AND octet_length({value}) > 4), substring({value}, 6), {other})"
        return super().decode(replace(record, value=body), fields, options)

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> Column:
        from pyspark.sql.classic.column import Column

        subject = schema_registry.subject(self.name, options)
        prefix = rows.java().SchemaPrefix(schema_registry.settings(options), subject, self._schema(fields, options), "JSON")
        record: Column = Column(prefix.before(super().encode(fields, options).cast("BINARY")._jc))
        return record

    def _schema(self, fields: Fields, options: Mapping[str, str]) -> str:
        given = schema_registry.named(options, "schema")
        return given if given is not None else json.dumps({"$schema": _DRAFT, "title": "record", **_row(tuple(fields))})


def _row(fields: Fields) -> dict[str, Any]:
    required = [name for name, type_ in fields if not type_.nullable]
    return {
        "type": "object",
        "properties": {name: _value(type_) for name, type_ in fields},
        **({"required": required} if required else {}),
    }


def _value(type_: Type) -> dict[str, Any]:
    """The schema of a value, as the format writes it."""
    match type_.root:
        case "ROW":
            described = _row(tuple(zip(type_.names, type_.children, strict=True)))
        case "ARRAY":
            described = {"type": "array", "items": _value(type_.children[0])}
        case "MAP":
            described = {"type": "object", "additionalProperties": _value(type_.children[1])}
        case "MULTISET":
            described = {"type": "object", "additionalProperties": {"type": "integer"}}
        case "BINARY" | "VARBINARY":
            described = {"type": "string", "contentEncoding": "base64"}
        case root:
            described = {"type": _PLAIN.get(root, "string")}
    return {"oneOf": [{"type": "null"}, described]} if type_.nullable else described
