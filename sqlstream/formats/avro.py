"""The avro format: records without their schema, which is derived from the columns as Flink derives it; files of them.

In: bytes, or columns. Out: rows, or bytes. The schema is made here, at plan time; our own readers and writers in Java
(``Avro*.java``) convert by it, since Spark's module knows neither Flink's times nor the place of a record that it can't read.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.core.options import Option, OptionKind
from sqlstream.formats import rows
from sqlstream.formats.base import Encoded, Fields, Format, columns_sql
from sqlstream.sql.quoting import quote
from sqlstream.sql.types import INT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

    from sqlstream.sql.types import Type

_RECORD = "org.apache.flink.avro.generated.record"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LTZ = "Set 'avro.timestamp_mapping.legacy' = 'false', which writes TIMESTAMP_LTZ as Avro's timestamp and TIMESTAMP as its local-timestamp."
_IN_FILES = "Declare TIMESTAMP(3): in files Flink has no other times."
_PLAIN = {
    "BOOLEAN": "boolean", "TINYINT": "int", "SMALLINT": "int", "INT": "int", "BIGINT": "long", "FLOAT": "float", "DOUBLE": "double",
    "CHAR": "string", "VARCHAR": "string", "BINARY": "bytes", "VARBINARY": "bytes",
}  # fmt: skip


class Avro(Format):
    """Apache Avro."""

    name = "avro"
    files = True
    of_records = ("encoding",)
    of_files = ("codec",)
    options = (
        Option("encoding", OptionKind.ENUM, "binary", "How a Kafka record is encoded; json: Avro's JSON encoding.", values=("binary", "json")),
        Option("codec", OptionKind.STRING, "snappy", "Compression of files: null, deflate, snappy, bzip2, xz, zstandard."),
        Option("timestamp_mapping.legacy", OptionKind.BOOLEAN, "true", "TIMESTAMP is Avro's timestamp-millis; else its local-timestamp, and "
               "TIMESTAMP_LTZ its timestamp."),
    )  # fmt: skip

    def check(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> None:
        self.schema(fields, options, at=at)

    def schema(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> str:
        """The schema of a record, as JSON. Raises ValidationError, NotSupported."""
        return json.dumps(_Derivation(at, _LTZ).record(_RECORD, fields, legacy=self.option(options, "timestamp_mapping.legacy")))

    def notices(self, fields: Fields, options: Mapping[str, str]) -> list[str]:
        precise = (n for n, t in fields if any(p.is_timestamp and p.args[0] > 3 for p in t.parts))
        return [f"Column '{n}': as Flink's, avro's times are kept to the millisecond; further digits are cut off." for n in precise]

    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        text = self.option(options, "encoding") == "json"
        return rows.read_rows(record, self._records(fields, options), fields, "Failed to deserialize Avro record", text=text)

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> Column:
        from pyspark.sql import functions as F
        from pyspark.sql.classic.column import Column

        record: Column = Column(self._records(fields, options).written(F.struct(*[F.col(quote(n)) for n, _ in fields])._jc))
        return record

    def _records(self, fields: Fields, options: Mapping[str, str]) -> Any:
        json_encoded = self.option(options, "encoding") == "json"
        return rows.java().AvroRecords(columns_sql(fields), self.schema(fields, options), json_encoded)

    def file_source(self, fields: Fields, options: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        _Derivation(None, _IN_FILES).record(_RECORD, fields, legacy=True)
        return "sqlstream.formats.AvroFiles", {"schema": self.schema(fields, options), "codec": self.option(options, "codec")}


class _Derivation:
    """Avro's schema of a type."""

    def __init__(self, at: Any, hint: str) -> None:
        self.at = at
        self.hint = hint

    def record(self, name: str, fields: Fields, *, legacy: bool) -> dict[str, Any]:
        space, _, own = name.rpartition(".")
        return {
            "type": "record",
            "name": own,
            **({"namespace": space} if space else {}),
            "fields": [self._field(name, n, t, legacy=legacy) for n, t in fields],
        }

    def _field(self, record: str, name: str, type_: Type, *, legacy: bool) -> dict[str, Any]:
        if not _NAME.fullmatch(name):
            where = "character in" if _NAME.match(name) else "initial character"
            hint = "A name in Avro consists of letters, digits and _, and does not begin with a digit."
            raise ValidationError(f"Illegal {where}: {name}", at=self.at, hint=hint)
        default = {"default": None} if type_.nullable else {}
        return {"name": name, "type": self.of(type_, f"{record}_{name}", legacy=legacy), **default}

    def of(self, type_: Type, name: str, *, legacy: bool) -> Any:
        schema = self._of(type_, name, legacy=legacy)
        return ["null", schema] if type_.nullable else schema

    def _of(self, type_: Type, name: str, *, legacy: bool) -> Any:
        match type_.root:
            case "TIMESTAMP" | "TIMESTAMP_LTZ":
                return {"type": "long", "logicalType": self._timestamp(type_, legacy=legacy)}
            case "DATE":
                return {"type": "int", "logicalType": "date"}
            case "TIME":
                return {"type": "int", "logicalType": "time-millis"}
            case "DECIMAL":
                return {"type": "bytes", "logicalType": "decimal", "precision": type_.args[0], "scale": type_.args[1]}
            case "ROW":
                return self.record(name, tuple(zip(type_.names, type_.children, strict=True)), legacy=legacy)
            case "ARRAY":
                # As in Flink, what is in collections has the legacy mapping and its row the collection's name.
                return {"type": "array", "items": self.of(type_.children[0], name, legacy=True)}
            case "MAP" | "MULTISET":
                key = type_.children[0]
                if not key.is_string:
                    raise ValidationError(f"Avro format doesn't support non-string as key type of map. The key type is: {key.full}", at=self.at)
                value = type_.children[1] if type_.root == "MAP" else INT
                return {"type": "map", "values": self.of(value, name, legacy=True)}
        if type_.root not in _PLAIN:
            raise NotSupported(f"Unsupported to derive Schema for type: {type_}", at=self.at, hint="CAST it to STRING, or to a type that Avro has.")
        return _PLAIN[type_.root]

    def _timestamp(self, type_: Type, *, legacy: bool) -> str:
        (precision,) = type_.args
        zoned = type_.root == "TIMESTAMP_LTZ"
        if legacy and zoned:
            raise ValidationError(f"Unsupported to derive Schema for type: {type_}", at=self.at, hint=self.hint)
        if precision > (3 if legacy else 6):
            what = "TIMESTAMP" if zoned or legacy else "LOCAL TIMESTAMP"
            raise ValidationError(
                f"Avro does not support {what} type with precision: {precision}, it only supports precision less than {3 if legacy else 6}.",
                at=self.at,
                hint="Declare TIMESTAMP(3).",
            )
        unit = "millis" if precision <= 3 else "micros"
        return f"timestamp-{unit}" if legacy or zoned else f"local-timestamp-{unit}"
