"""parquet and orc: read and written by Spark's own file sources.

Flink's TIME in parquet is an INT32 of milliseconds, which Spark takes for a number; its TIMESTAMP and TIMESTAMP_LTZ are INT96 or an INT64 in no
zone. Whichever of the two a file has is read as Spark's TIMESTAMP.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import NotSupported
from sqlstream.core.options import Option, OptionKind, Support
from sqlstream.formats.base import Encoded, Fields, Format, refuse_types
from sqlstream.sql.generated_names import bound
from sqlstream.sql.quoting import quote
from sqlstream.sql.types import INT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import Column, DataFrame

    from sqlstream.sql.types import Type

_OF_RECORDS = "A record of Kafka has a format as 'json', 'csv', 'avro' or 'raw'."


class Native(Format):
    """A file format of Spark's."""

    records = False
    files = True

    def check(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> None:
        refuse_types(self.name, fields, lambda t: t.is_interval or t.root in ("VARIANT", "NULL"), at=at)

    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        raise NotSupported(f"Format '{self.name}' is for files: it has no records of its own.", hint=_OF_RECORDS)

    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> Column:
        raise NotSupported(f"Format '{self.name}' is for files: it has no records of its own.", hint=_OF_RECORDS)

    def file_source(self, fields: Fields, options: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        # The library of the files reads the others' names from Hadoop's settings.
        own = {f"{self.name}.{o.key}": options[o.key] for o in self.options if o.summary == _OWN and o.key in options}
        return self.name, {"compression": self.option(options, self.options[0].key), **own}


_OWN = "As in the format's own library."


def _own(*keys: str) -> tuple[Option, ...]:
    return tuple(Option(key, summary=_OWN) for key in keys)


class Parquet(Native):
    """Parquet files."""

    name = "parquet"
    options = (
        Option("compression", OptionKind.ENUM, "snappy", "Compression of what is written.",
               values=("uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "zstd")),
        Option("utc-timezone", OptionKind.BOOLEAN, "false", "INT96 times are in UTC, whatever its value."),
        Option("write.int64.timestamp", OptionKind.BOOLEAN, "false", "Times are written as INT64, in no zone; else as INT96."),
        Option("timestamp.time.unit", OptionKind.ENUM, "micros", "The unit of INT64: micros.", values=("nanos", "micros", "millis")),
        Option("batch-size", use=Support.NOTICE, why="Spark sizes its batches itself"),
        *_own("block.size", "page.size", "page.row.count.limit", "dictionary.page.size", "enable.dictionary", "writer.version", "writer.max-padding"),
        Option("*", use=Support.REFUSED, why="Set 'spark.sql.parquet.*' or 'spark.hadoop.parquet.*' instead."),
    )  # fmt: skip

    def check(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> None:
        super().check(fields, options, at=at)
        unit = self.option(options, "timestamp.time.unit")
        if self.option(options, "write.int64.timestamp") and unit != "micros":
            raise NotSupported(f"Option 'parquet.timestamp.time.unit' can't be '{unit}'.", at=at, hint="Leave it out: times are written in micros.")

    def notices(self, fields: Fields, options: Mapping[str, str]) -> list[str]:
        notices = super().notices(fields, options)
        if options.get("utc-timezone", "true").strip().lower() == "false":
            notices.append("Option 'parquet.utc-timezone' has no effect: times are in UTC, as Flink's on a machine in UTC.")
        return notices

    def file_type(self, type_: Type) -> str:
        return _mapped(type_, _in_file).spark

    def from_file(self, x: str, type_: Type) -> str:
        return f"CAST({_times(x, type_, 'time_from_millis')} AS {type_.spark})"

    def to_file(self, x: str, type_: Type, options: Mapping[str, str]) -> str:
        held = _mapped(type_, _in_file)
        # Spark writes its TIMESTAMP as INT96 and TIMESTAMP_NTZ as INT64.
        spark = held.stored if self.option(options, "write.int64.timestamp") else held.spark
        return f"CAST({_times(x, type_, 'time_to_millis')} AS {spark})"


def _in_file(type_: Type) -> Type:
    match type_.root:
        case "TIME":
            return INT
        case "TIMESTAMP_LTZ":
            return replace(type_, root="TIMESTAMP")
    return type_


def _mapped(type_: Type, one: Callable[[Type], Type]) -> Type:
    return replace(one(type_), children=tuple(_mapped(c, one) for c in type_.children))


def _times(x: str, type_: Type, function: str) -> str:
    """SQL for ``x`` with ``function`` of each TIME in it."""
    if all(t.root != "TIME" for t in type_.parts):
        return x
    match type_.root:
        case "ARRAY":
            return f"transform({x}, {bound(lambda e: _times(e, type_.children[0], function))})"
        case "MAP" | "MULTISET":
            key, value = (*type_.children, INT)[:2]
            entry = bound(lambda e: f"struct({_times(f'{e}.key', key, function)}, {_times(f'{e}.value', value, function)})")
            return f"map_from_entries(transform(map_entries({x}), {entry}))"
        case "ROW":
            pairs = zip(type_.names, type_.children, strict=True)
            cells = ", ".join(_times(f"{x}.{quote(n)}", t, function) for n, t in pairs)
            return f"if({x} IS NULL, NULL, struct({cells}))"
    return f"{function}({x})"


class Orc(Native):
    """ORC files."""

    name = "orc"
    options = (
        Option("compress", OptionKind.STRING, "zstd", "Compression of what is written."),
        *_own("stripe.size", "row.index.stride", "create.index", "compress.size", "bloom.filter.columns", "bloom.filter.fpp"),
        Option("*", use=Support.REFUSED, why="Set 'spark.sql.orc.*' or 'spark.hadoop.orc.*' instead."),
    )
