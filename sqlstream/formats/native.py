"""parquet and orc: read and written by Spark's own file sources; a TIMESTAMP in a file is TIMESTAMP_NTZ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.errors import NotSupported
from sqlstream.formats.base import Encoded, Fields, Format, refuse_types
from sqlstream.options import Kind, Option, Use

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame


class Native(Format):
    """A file format of Spark's."""

    records = False
    files = True

    def check(self, fields: Fields, given: Mapping[str, str], *, at: Any = None) -> None:
        refuse_types(self.name, fields, lambda t: t.is_interval or t.root in ("VARIANT", "NULL"), at=at)

    def decode(self, record: Encoded, fields: Fields, given: Mapping[str, str]) -> DataFrame:
        raise NotSupported(f"Format '{self.name}' is one of files: it has no records of its own.")

    def encode(self, fields: Fields, given: Mapping[str, str], *, lines: bool = False) -> Column:
        raise NotSupported(f"Format '{self.name}' is one of files: it has no records of its own.")

    def file_source(self, fields: Fields, given: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        return self.name, {"compression": self.option(given, self.options[0].key)}


class Parquet(Native):
    """Parquet files."""

    name = "parquet"
    options = (
        Option("compression", Kind.STRING, "snappy", "Compression of what is written."),
        Option("utc-timezone", Kind.BOOLEAN, "false", use=Use.NOTICE, why="TIMESTAMP is read as it was written, in no zone"),
        Option("timestamp.time.unit", use=Use.NOTICE, why="the files say which unit they hold"),
        Option("write.int64.timestamp", use=Use.NOTICE, why="TIMESTAMP is written as INT64 microseconds"),
        Option("batch-size", use=Use.NOTICE, why="Spark sizes its batches itself"),
        Option("*", use=Use.REFUSED, why="Set 'spark.sql.parquet.*' or 'spark.hadoop.parquet.*' instead."),
    )


class Orc(Native):
    """ORC files."""

    name = "orc"
    options = (
        Option("compress", Kind.STRING, "zstd", "Compression of what is written."),
        Option("*", use=Use.REFUSED, why="Set 'spark.sql.orc.*' or 'spark.hadoop.orc.*' instead."),
    )
