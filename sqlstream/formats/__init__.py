"""The formats, known by name; FORMATS has them all, and those of other packages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlstream.core.changelog import ChangelogMode
from sqlstream.core.errors import NotSupported, ValidationError, did_you_mean
from sqlstream.core.registry import Registry
from sqlstream.formats.avro import Avro
from sqlstream.formats.avro_confluent import AvroConfluent, DebeziumAvro
from sqlstream.formats.base import Format
from sqlstream.formats.changes import Canal, Debezium, Maxwell, Ogg
from sqlstream.formats.csv import Csv
from sqlstream.formats.json import Json
from sqlstream.formats.json_registry import JsonRegistry
from sqlstream.formats.native import Orc, Parquet
from sqlstream.formats.proto_registry import ProtoRegistry
from sqlstream.formats.protobuf import Protobuf
from sqlstream.formats.raw import Raw

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.core.options import Option

FORMATS: Registry[Format] = Registry(
    Format,
    (
        Avro(),
        AvroConfluent(),
        Canal(),
        Csv(),
        Debezium(),
        DebeziumAvro(),
        Json(),
        JsonRegistry(),
        Maxwell(),
        Ogg(),
        Orc(),
        Parquet(),
        ProtoRegistry(),
        Protobuf(),
        Raw(),
    ),
)
# Formats that Flink has and sqlstream has not, with the reason.
REFUSED: Mapping[str, str] = {
    "avro-glue": "AWS Glue's registry is asked by its own client; a registry with Confluent's interface by 'avro-confluent'",
    "json-glue": "AWS Glue's registry is asked by its own client; a registry with Confluent's interface by 'json-registry'",
}


def find_format(name: str, *, at: Any = None) -> Format:
    """The format called ``name``. Raises SetupError for a plug-in that can't be used, NotSupported for one of Flink's that is not there,
    ValidationError for any other."""
    if (format_ := FORMATS.find(name, at)) is not None:
        return format_
    if name in REFUSED:
        raise NotSupported(f"Format '{name}' is not supported.", at=at, hint=f"{REFUSED[name]}.".capitalize())
    names = FORMATS.names()
    raise ValidationError(
        f"There is no format '{name}'. There are: {', '.join(names)}.",
        at=at,
        hint=did_you_mean(name, [*names, *REFUSED]),
    )


def writable_changes(format_: Format) -> tuple[ChangelogMode, ...]:
    """The kinds of changes that can be written in ``format_``: its records say whether a row is added or removed, or all are new rows."""
    if format_.mode is ChangelogMode.APPEND:
        return (ChangelogMode.APPEND,)
    return (ChangelogMode.APPEND, ChangelogMode.RETRACT, ChangelogMode.RETRACT_DELETE)


def table_options(format_: Format, prefix: str = "", *, files: bool = False) -> tuple[Option, ...]:
    """The options of ``format_`` for records, or for ``files`` of its own, under their names in a table: ``[prefix]json.ignore-parse-errors``."""
    of_others = format_.of_records if files else format_.of_files
    return tuple(replace(o, key=f"{prefix}{format_.name}.{o.key}") for o in format_.options if o.key not in of_others)


def own_options(format_: Format, options: Mapping[str, str], prefix: str = "") -> dict[str, str]:
    """The options of ``format_`` among a table's, without their prefix."""
    start = f"{prefix}{format_.name}."
    return {k[len(start) :]: v for k, v in options.items() if k.startswith(start)}
