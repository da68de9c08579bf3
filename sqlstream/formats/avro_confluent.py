"""avro-confluent and debezium-avro-confluent: records of Avro that begin with the number of their schema in a schema registry.

In: bytes, or columns. Out: rows, or bytes. ``RegisteredAvro.java`` reads a record by the schema that it was written with and the one of the columns,
which are those of Flink; ``AvroChanges.java`` reads what Debezium writes.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from sqlstream.core.changelog import KIND, REMOVES, ChangelogMode
from sqlstream.core.errors import ValidationError
from sqlstream.formats import avro_schema, rows, schema_registry
from sqlstream.formats.base import Encoded, Fields, Format, columns_sql
from sqlstream.formats.changes import Debezium, codes
from sqlstream.sql import types as t
from sqlstream.sql.types import STRING, TINYINT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

_NO_LTZ = "Declare it TIMESTAMP(3): Flink's schemas of a registry have no TIMESTAMP_LTZ."


class Registered(Format):
    """Base of the formats of Avro whose schemas are in a registry."""

    in_lines = False
    options = schema_registry.OPTIONS
    mismatch: ClassVar[str]

    def check(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> None:
        schema_registry.check(options, at=at)
        self.schema(fields, options, at=at)

    def notices(self, fields: Fields, options: Mapping[str, str]) -> list[str]:
        return [*avro_schema.notices(fields), *schema_registry.notices(options)]

    def in_topic(self, options: dict[str, str], topic: str, part: str) -> dict[str, str]:
        return schema_registry.with_subject(options, topic, part)

    def schema(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> str:
        """The schema of a record, as JSON: the one that is given, or that of the columns. Raises ValidationError, NotSupported."""
        type_ = self._type(fields)
        given = schema_registry.named(options, "schema")
        if given is None:
            return avro_schema.of_type(type_, hint=_NO_LTZ, at=at)
        try:
            described = avro_schema.type_of(given)
        except ValueError as wrong:
            raise ValidationError(f"Option '{self.name}.schema' is no schema of Avro: {wrong}.", at=at) from wrong
        if described is None or not self._fits(described, type_):
            hint = None if described is None else f"The schema is that of {described.full}, the table that of {type_.full}."
            raise ValidationError(f"Schema provided for '{self.name}' format {self.mismatch}: {given}", at=at, hint=hint)
        return given

    @abstractmethod
    def _type(self, fields: Fields) -> t.Type:
        """The type of a record."""

    def _fits(self, described: t.Type, type_: t.Type) -> bool:
        return described == type_

    def _records(self, fields: Fields, options: Mapping[str, str], *, written: bool) -> Any:
        subject = schema_registry.subject(self.name, options) if written else None
        type_ = self._type(fields)
        settings = schema_registry.settings(options)
        columns = columns_sql(tuple(zip(type_.names, type_.children, strict=True)))
        return rows.java().RegisteredAvro(columns, self.schema(fields, options), settings, subject)


class AvroConfluent(Registered):
    """Apache Avro with a schema registry."""

    name = "avro-confluent"
    mismatch = "does not match the table schema"

    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        return rows.read_rows(record, self._records(fields, options, written=False), fields, "Failed to deserialize Avro record", text=False)

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> Column:
        return rows.written(self._records(fields, options, written=True), rows.row(fields))

    def _type(self, fields: Fields) -> t.Type:
        return avro_schema.row(fields).not_null()

    def _fits(self, described: t.Type, type_: t.Type) -> bool:
        return described.same(type_)


class DebeziumAvro(Registered):
    """What Debezium writes with Avro's converter."""

    name = "debezium-avro-confluent"
    mode = ChangelogMode.RETRACT_DELETE
    mismatch = (
        "must be a nullable record type with fields 'before', 'after', 'op' and schema of fields 'before' and 'after' must match the table schema"
    )

    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        reader = rows.java().AvroChanges(self._records(fields, options, written=False), json.dumps(codes(Debezium.shape)))
        return rows.read_rows(record, reader, (*fields, (KIND, TINYINT)), "Can't deserialize Debezium Avro message", text=False)

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> Column:
        from pyspark.sql import functions as F

        row, none = rows.row(fields), F.lit(None)
        removed = F.expr(REMOVES)
        change = F.struct(
            F.when(removed, row).otherwise(none).alias("before"),
            F.when(removed, none).otherwise(row).alias("after"),
            F.when(removed, F.lit("d")).otherwise(F.lit("c")).alias("op"),
        )
        return rows.written(self._records(fields, options, written=True), change)

    def _type(self, fields: Fields) -> t.Type:
        row = avro_schema.row(fields)
        return t.row(("before", "after", "op"), (row, row, STRING))
