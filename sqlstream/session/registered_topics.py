"""Topics whose records begin with the number of a schema in a schema registry: what INFER proposes for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream import connectors, formats
from sqlstream.core.options import resolve_environment
from sqlstream.formats import avro_schema, protobuf_files, protobuf_schema, schema_registry
from sqlstream.formats.avro_confluent import AvroConfluent, DebeziumAvro
from sqlstream.formats.json import Json
from sqlstream.formats.json_registry import JsonRegistry
from sqlstream.formats.proto_registry import ProtoRegistry
from sqlstream.session.inference import Proposal, of_values, watermark
from sqlstream.sql import types as t
from sqlstream.sql.quoting import flink_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlstream.sql.tables import Table
    from sqlstream.sql.types import Type

OPTION = "schema-registry.url"
_BYTES = ("record BYTES",)
_UNKNOWN = f"""-- The records begin with the number of a schema. To get its columns, name the schema registry, and write this again:
-- SET '{OPTION}' = 'http://host:8081';
"""
_ENVELOPE = {"before", "after", "op"}


def proposal(topic: str, values: Sequence[bytes | None], tables: Sequence[Table], options: Mapping[str, str]) -> Proposal | None:
    """The columns and the format of the last of these records, if most have such a number; else None. Raises SetupError, ValidationError.

    The registry is that of a table of the topic, or that of the option, or that of any table.
    """
    present = [value for value in values if value is not None]
    numbered = [(number, value) for value in present if (number := schema_registry.schema_id(value)) is not None]
    if 2 * len(numbered) <= len(present):
        return None
    latest, record = numbered[-1]
    access = _access(topic, tables, options)
    if access is None:
        return Proposal(_BYTES, {"format": "raw"}, _UNKNOWN)
    schema = schema_registry.fetched(resolve_environment(access), latest)
    match schema.kind:
        case "AVRO":
            made = _of_avro(schema)
        case "JSON":
            made = _of_json([value for _, value in numbered])
        case schema_registry.PROTOBUF:
            made = _of_protobuf(schema, schema_registry.body(record))
        case _:
            made = None
    if made is None:
        return Proposal(_BYTES, {"format": "raw"}, f"-- Schema {latest}, of the kind {schema.kind}, has no columns that a format here can read.\n")
    format_ = made.options["format"]
    return replace(made, options={**made.options, **{f"{format_}.{key}": value for key, value in access.items()}})


def _of_avro(schema: schema_registry.RegisteredSchema) -> Proposal | None:
    type_ = avro_schema.type_of(schema.text, schema.parts.values())
    if type_ is None or type_.root != "ROW":
        return None
    fields = dict(zip(type_.names, type_.children, strict=True))
    changes = fields.keys() >= _ENVELOPE and fields["after"].root == "ROW"
    if changes:
        fields = dict(zip(fields["after"].names, fields["after"].children, strict=True))
    columns = [f"{flink_name(name)} {_readable(of).full}" for name, of in fields.items()]
    time = next((name for name, of in fields.items() if of.null() == t.timestamp(3)), None)
    if time is not None and not changes:
        columns.append(watermark(time))
    return Proposal(columns, {"format": (DebeziumAvro if changes else AvroConfluent).name})


def _of_json(values: Sequence[bytes]) -> Proposal | None:
    """By the records, whose columns are what is read."""
    found = of_values(map(schema_registry.body, values))
    if found.options["format"] != Json.name:
        return None
    own = {key.replace(f"{Json.name}.", f"{JsonRegistry.name}."): text for key, text in found.options.items()}
    return replace(found, options={**own, "format": JsonRegistry.name}, comment=found.comment.replace(f"{Json.name}.", f"{JsonRegistry.name}."))


def _of_protobuf(schema: schema_registry.RegisteredSchema, body: bytes) -> Proposal | None:
    """By the message that the record is, of those of the schema."""
    message = protobuf_files.of_registry(schema, body)
    type_ = None if message is None else protobuf_schema.type_of(message)
    if type_ is None or not type_.names:
        return None
    columns = [f"{flink_name(name)} {of.full}" for name, of in zip(type_.names, type_.children, strict=True)]
    time = next((name for name, of in zip(type_.names, type_.children, strict=True) if of == protobuf_schema.TIMESTAMP), None)
    if time is not None and f"{time}_time" not in type_.names:
        of_time = flink_name(time)
        columns.append(f"{flink_name(f'{time}_time')} AS TO_TIMESTAMP_LTZ({of_time}.`seconds` * 1000 + {of_time}.`nanos` / 1000000, 3)")
        columns.append(watermark(f"{time}_time"))
    return Proposal(columns, {"format": ProtoRegistry.name})


def _readable(type_: Type) -> Type:
    """The type, with numbers where the formats read no microseconds."""
    plain = t.BIGINT.with_nullable(type_.nullable) if type_.null() == t.timestamp(6) else type_
    return replace(plain, children=tuple(map(_readable, plain.children)))


def _access(topic: str, tables: Sequence[Table], options: Mapping[str, str]) -> dict[str, str] | None:
    """The options by which a format reaches the registry."""
    known = [(topic in table.options.get("topic", "").split(";"), access) for table in tables for access in _of_table(table)]
    named = [{"url": options[OPTION]}] if OPTION in options else []
    return next(iter((*(access for of_topic, access in known if of_topic), *named, *(access for _, access in known))), None)


def _of_table(table: Table) -> Iterator[dict[str, str]]:
    keys = {option.key for option in schema_registry.ACCESS}
    for key, prefix in connectors.FORMAT_KEYS.items():
        format_ = formats.FORMATS.usable(table.options.get(key, ""))
        if format_ is not None and schema_registry.URL in format_.options:
            own = formats.own_options(format_, table.options, prefix)
            if (url := schema_registry.named(own, "url")) is not None:
                yield {"url": url, **{k: v for k, v in own.items() if k in keys or k.startswith("properties.")}}
