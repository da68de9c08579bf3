"""The protobuf format: messages of Protobuf, as Flink's format reads and writes them.

In: bytes, or columns. Out: rows, or bytes. What a message is, files of the project say: see ``protobuf_files.py``. ``ProtobufRecords.java`` reads
and writes it by the Protobuf that is in Spark, so nothing is asked for where jobs run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.core.options import Option, OptionKind, Role
from sqlstream.formats import protobuf_files, protobuf_schema, rows
from sqlstream.formats.base import Encoded, Fields, Format, ProjectFiles, columns_sql

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

_NAME, _FILES = "message-class-name", "descriptors"


class Protobuf(Format):
    """Protocol Buffers."""

    name = "protobuf"
    in_lines = False
    ignores_fields = False
    options = (
        Option(_NAME, OptionKind.STRING, required=True, summary="The class of the message in Java, as com.shop.Shop$Order, or its name in Protobuf."),
        Option("ignore-parse-errors", OptionKind.BOOLEAN, "false", "Leave out records that can't be read."),
        Option("read-default-values", OptionKind.BOOLEAN, "false", "What a message has not is its default value, else NULL. Values of messages of"
               " proto3 that are neither messages nor repeated are never NULL."),
        Option("write-null-string-literal", OptionKind.STRING, "", "What is written for a NULL in an array or a map of strings."),
        Option(_FILES, OptionKind.STRING, summary="The definition of the message: a FileDescriptorSet as data URL. Without it the message is looked"
               f" for in {protobuf_files.FOLDER}/ and in the jars of 'pipeline.jars'.", role=Role.TUNING),
    )  # fmt: skip

    def with_files(self, options: dict[str, str], files: ProjectFiles) -> dict[str, str]:
        if _NAME not in options or _FILES in options:
            return options
        return {**options, _FILES: protobuf_files.find(options[_NAME], files).data}

    def check(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> None:
        protobuf_schema.check(_message(options).descriptor, fields, at)

    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        return rows.read_rows(record, self._records(fields, options), fields, "Failed to deserialize PB object", text=False)

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> Column:
        return rows.written(self._records(fields, options), rows.row(fields))

    def _records(self, fields: Fields, options: Mapping[str, str]) -> Any:
        message = _message(options)
        ignored, defaults, null = (self.option(options, key) for key in ("ignore-parse-errors", "read-default-values", "write-null-string-literal"))
        return rows.java().ProtobufRecords(columns_sql(fields), message.files, message.name, ignored, defaults, null)


def _message(options: Mapping[str, str]) -> protobuf_files.Message:
    return protobuf_files.of_data(options[_NAME], options[_FILES])
