"""The avro format: records without their schema, which is derived from the columns as Flink derives it; files of them.

In: bytes, or columns. Out: rows, or bytes. The schema is made here, at plan time; our own readers and writers in Java
(``Avro*.java``) convert by it, since Spark's module knows neither Flink's times nor the place of a record that it can't read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.core.options import Option, OptionKind
from sqlstream.formats import avro_schema, rows
from sqlstream.formats.base import Encoded, Fields, Format, columns_sql

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

_LTZ = "Set 'avro.timestamp_mapping.legacy' = 'false', which writes TIMESTAMP_LTZ as Avro's timestamp and TIMESTAMP as its local-timestamp."
_IN_FILES = "Declare TIMESTAMP(3): in files Flink has no other times."


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
        return avro_schema.of_row(fields, legacy=self.option(options, "timestamp_mapping.legacy"), hint=_LTZ, at=at)

    def notices(self, fields: Fields, options: Mapping[str, str]) -> list[str]:
        return avro_schema.notices(fields)

    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        text = self.option(options, "encoding") == "json"
        return rows.read_rows(record, self._records(fields, options), fields, "Failed to deserialize Avro record", text=text)

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> Column:
        return rows.written(self._records(fields, options), rows.row(fields))

    def _records(self, fields: Fields, options: Mapping[str, str]) -> Any:
        json_encoded = self.option(options, "encoding") == "json"
        return rows.java().AvroRecords(columns_sql(fields), self.schema(fields, options), json_encoded)

    def file_source(self, fields: Fields, options: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        avro_schema.of_row(fields, legacy=True, hint=_IN_FILES)
        return "sqlstream.formats.AvroFiles", {"schema": self.schema(fields, options), "codec": self.option(options, "codec")}
