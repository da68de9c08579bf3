"""Records of Kafka: which of a table's columns are in the key, the value and the metadata, and how they get in and out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream import formats
from sqlstream.connectors.base import SPLIT, Metadata
from sqlstream.connectors.kafka.client_settings import PREFIX
from sqlstream.core.changelog import KIND, RowKind
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.core.hidden import hidden
from sqlstream.core.options import meant
from sqlstream.formats.base import Encoded, Fields, Format
from sqlstream.sql.generated_names import bound
from sqlstream.sql.quoting import quote, spark_string
from sqlstream.sql.types import BIGINT, BYTES, INT, STRING, map_of, timestamp_ltz

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

    from sqlstream.connectors.base import Read
    from sqlstream.sql.tables import Table

METADATA = (
    Metadata("topic", STRING),
    Metadata("partition", INT),
    Metadata("headers", map_of(STRING, BYTES), writable=True),
    Metadata("offset", BIGINT),
    Metadata("timestamp", timestamp_ltz(3), writable=True),
    Metadata("timestamp-type", STRING),
)
_KAFKA, _META, _KEY, _VALUE = hidden("kafka_"), hidden("meta_"), hidden("key_"), hidden("value_")
_SENT, _HEADERS, _TIME = hidden("value"), hidden("headers"), hidden("timestamp")
GUARANTEE = "sink.delivery-guarantee"
# The header that says which query has written a record, in which micro-batch: Java's Uncommitted reads it.
_WRITER, _MARK = "sqlstream.batch", "sqlstream_micro_batch()"
# Metadata key to its SQL over the columns of Spark's source.
_METADATA = {
    "topic": "topic",
    "partition": "partition",
    "headers": "map_from_entries(coalesce(headers, array()))",
    "offset": "offset",
    "timestamp": "timestamp",
    "timestamp-type": "element_at(array('NoTimestampType', 'CreateTime', 'LogAppendTime'), timestampType + 2)",
}
# What the metadata keys of the value's format begin with.
_OF_VALUE = "value."
_PROPERTY = "property: "
_LARGEST, _LARGEST_BYTES = "max.request.size", 1_048_576
# What Kafka's client counts of a record besides its key, its value and the lengths of these: of its batch 61, of itself 21, of its headers 1.
_OVERHEAD_BYTES = 83


@dataclass(frozen=True)
class Layout:
    """Which columns are in the key and the value, and in which formats. ``key_names`` maps a key column to its name in the key.

    ``upserts``: a record replaces the row that has its key, and removes it where the value is NULL.
    """

    value: Format
    value_prefix: str
    value_fields: Fields
    key: Format | None
    key_fields: Fields
    key_names: Mapping[str, str]
    upserts: bool = False

    @property
    def key_format_fields(self) -> Fields:
        return tuple((self.key_names[n], t) for n, t in self.key_fields)

    def value_options(self, options: Mapping[str, str]) -> dict[str, str]:
        """The options of the value's format, of a table's."""
        return self.value.in_topic(formats.own_options(self.value, options, self.value_prefix), options.get("topic", ""), "value")

    def key_options(self, options: Mapping[str, str]) -> dict[str, str]:
        """The options of the key's format, of a table's."""
        assert self.key is not None
        return self.key.in_topic(formats.own_options(self.key, options, "key."), options.get("topic", ""), "key")

    def check(self, table: Table) -> None:
        """Check what the formats require of their columns. Raises ValidationError."""
        self.value.check(self.value_fields, self.value_options(table.options))
        if self.key is not None:
            self.key.check(self.key_format_fields, self.key_options(table.options))

    def notices(self, table: Table) -> list[str]:
        """The notices of the formats about their columns, each once."""
        notices = self.value.notices(self.value_fields, self.value_options(table.options))
        if self.key is not None:
            notices += self.key.notices(self.key_format_fields, self.key_options(table.options))
        return list(dict.fromkeys(notices))


def layout(table: Table, key_columns: tuple[str, ...], *, upserts: bool = False) -> Layout:
    """Where the columns of ``table`` are, with ``key_columns`` in the key. Raises ValidationError, NotSupported."""
    options = table.options
    # Of both, 'format' counts, and its options.
    prefix = "value." if "format" not in options else ""
    value_name = options.get("format", options.get("value.format"))
    if value_name is None:
        raise ValidationError(
            "One or more required options are missing.\n\nMissing required options are:\n\nformat",
            hint=meant("format", options) or "Kafka needs 'format' or 'value.format'.",
        )
    value = _record_format(value_name)
    prefix_of_key = options.get("key.fields-prefix", "")
    fields: Fields = tuple((c.name, c.type) for c in table.physical)
    known = {n for n, _ in fields}
    key = _record_format(options["key.format"]) if "key.format" in options else None
    if key is None and key_columns:
        raise ValidationError("The option 'key.fields' can only be declared if a key format is defined using 'key.format'.")
    if key is not None and not key_columns:
        raise ValidationError("A key format 'key.format' requires the declaration of one or more of key fields using 'key.fields'.")
    for name in key_columns:
        if name not in known:
            raise ValidationError(
                f"Could not find the field '{name}' in the table schema for usage in the key format. "
                f"A key field must be a regular, physical column. The following columns can be selected in the "
                f"'key.fields' option: {sorted(known)}"
            )
        if not name.startswith(prefix_of_key):
            raise ValidationError(
                f"All fields in 'key.fields' must be prefixed with '{prefix_of_key}' when option 'key.fields-prefix' is set "
                f"but field '{name}' is not prefixed."
            )
    all_in_value = options.get("value.fields-include", "all").strip().lower() == "all"
    if prefix_of_key and all_in_value:
        raise ValidationError("A key prefix is not allowed when option 'value.fields-include' is set to 'ALL'. "
                              "Set it to 'EXCEPT_KEY' instead to avoid field overlaps.")  # fmt: skip
    by_name = dict(fields)
    return Layout(
        value=value,
        value_prefix=prefix,
        value_fields=fields if all_in_value else tuple(f for f in fields if f[0] not in key_columns),
        key=key,
        key_fields=tuple((n, by_name[n]) for n in key_columns),
        key_names={n: n[len(prefix_of_key) :] for n in key_columns},
        upserts=upserts,
    )


def _record_format(name: str) -> Format:
    record_format = formats.find_format(name)
    if not record_format.records:
        raise ValidationError(f"Format '{name}' is for files; a Kafka record can't hold it.", hint="Use json, csv, avro or raw.")
    return record_format


def metadata_keys(how: Layout) -> tuple[Metadata, ...]:
    """Kafka's metadata keys and those of the value's format."""
    return (*(Metadata(_OF_VALUE + p.key, p.type) for p in how.value.properties), *METADATA)


def check_metadata(table: Table, known: tuple[Metadata, ...]) -> None:
    """Check the keys of metadata columns. Raises ValidationError, NotSupported."""
    keys = {m.key for m in known}
    for column in table.metadata:
        if column.key in ("leader-epoch", "header-list"):
            raise NotSupported(
                f"Metadata key '{column.key}' of column '{column.name}' can't be read: Spark's Kafka source has none.",
                hint=f"These can be: {', '.join(m.key for m in known)}.",
            )
        if column.key not in keys:
            raise ValidationError(
                f"Invalid metadata key '{column.key}' in column '{column.name}' of table '{table.path}'. The connector "
                f"supports the following metadata keys for reading:\n" + "\n".join(m.key for m in known)
            )


def decoded(frame: DataFrame, request: Read, how: Layout, split: Column | None = None) -> DataFrame:
    """The table's columns out of the columns of Spark's Kafka source, SPLIT where it is given, and KIND where records carry kinds."""
    from pyspark.sql import functions as F

    table = request.table
    source = [F.col(c).alias(_KAFKA + c) for c in frame.columns]
    if split is not None:
        source.append(split.alias(SPLIT))
    metadata = [F.expr(sql).alias(_META + key) for key, sql in _METADATA.items() if any(c.key == key for c in table.metadata)]
    origin = f"concat('topic ', {_KAFKA}topic, ', partition ', {_KAFKA}partition, ', offset ', {_KAFKA}offset)"
    out = frame.select(*source, *metadata)
    columns: dict[str, str] = {}
    if how.key is not None:
        out = _with(how.key, Encoded(out, _KAFKA + "key", origin, unread=request.unread), how.key_format_fields, how.key_options(table.options), _KEY)
        columns = {n: quote(_KEY + how.key_names[n]) for n, _ in how.key_fields}
    properties = tuple(dict.fromkeys(c.key[len(_OF_VALUE) :] for c in table.metadata if c.key not in _METADATA))
    value = Encoded(out, _KAFKA + "value", origin, properties=properties, nulls=how.upserts, unread=request.unread)
    out = _with(how.value, value, how.value_fields, how.value_options(table.options), _VALUE)
    for name, _ in how.value_fields:
        own = quote(_VALUE + name)
        columns[name] = f"if({_KAFKA}value IS NULL, {columns[name]}, {own})" if how.upserts and name in columns else own
    for c in table.metadata:
        name = _META + c.key if c.key in _METADATA else f"{_VALUE}{_PROPERTY}{c.key[len(_OF_VALUE) :]}"
        columns[c.name] = f"CAST({quote(name)} AS {c.type.spark})"
    more = [] if split is None else [F.col(SPLIT)]
    if how.upserts:
        more.append(F.expr(f"if({_KAFKA}value IS NULL, {RowKind.DELETE.spark}, {RowKind.UPDATE_AFTER.spark})").alias(KIND))
    elif how.value.mode.carries_kinds:
        more.append(F.col(KIND))
    return out.select(*[F.expr(columns[c.name]).alias(c.name) for c in table.columns if c.name in columns], *more)


def _with(format_: Format, record: Encoded, fields: Fields, options: Mapping[str, str], start: str) -> DataFrame:
    """``record.frame`` with the decoded ``fields`` and properties, their names behind ``start``, and KIND."""
    made = format_.decode(record, fields, options)
    names = [start + n for n, _ in fields] + [f"{start}{_PROPERTY}{p}" for p in record.properties]
    return made.toDF(*record.frame.columns, *names, *([KIND] if format_.mode.carries_kinds else []))


def encoded(
    frame: DataFrame, table: Table, how: Layout, removed: str | None = None, *, marked: bool = False, timed: bool = False,
    partitions: int | None = None,
) -> DataFrame:  # fmt: skip
    """The columns that a Kafka sink takes; the value is NULL where ``removed`` (SQL) is true. ``marked``: as of Write. ``timed``: it takes the time
    of a record, as Spark's does not. ``partitions``: each task has one of so many.
    """
    from pyspark.sql import functions as F

    written = {c.key: c for c in table.metadata if not c.virtual}
    if "timestamp" in written and not timed:
        name = written["timestamp"].name
        raise NotSupported(
            f"Metadata column '{name}' can't be written: Spark's Kafka sink sets the record's time itself.",
            hint=f"'{GUARANTEE}' = 'exactly-once' has a sink that takes it. Or declare the column VIRTUAL: it is then only read.",
        )
    value = how.value.encode(how.value_fields, how.value_options(table.options))
    columns = [(value if removed is None else F.when(~F.expr(removed), value)).alias(_SENT)]
    sent = [F.col(_SENT).alias("value")]
    headers = []
    if "headers" in written:
        # One that was read with a row of another topic says nothing of this one.
        others = bound(lambda key, value: f"{key} <> {spark_string(_WRITER)}")
        pair = bound(lambda e: f"named_struct('key', {e}.key, 'value', {e}.value)")
        given = quote(written["headers"].name)
        headers.append(f"transform(map_entries({f'map_filter({given}, {others})' if marked else given}), {pair})")
    if marked:
        headers.append(f"array(named_struct('key', {spark_string(_WRITER)}, 'value', {_MARK}))")
    if headers:
        columns.append(F.expr(headers[0] if len(headers) == 1 else f"concat(coalesce({headers[0]}, array()), {headers[1]})").alias(_HEADERS))
        sent.append(F.col(_HEADERS).alias("headers"))
    if "timestamp" in written:
        columns.append(F.expr(f"CAST({quote(written['timestamp'].name)} AS TIMESTAMP)").alias(_TIME))
        sent.append(F.col(_TIME).alias("timestamp"))
    if partitions is not None:
        sent.append(F.expr(f"spark_partition_id() % {partitions}").alias("partition"))
    if how.key is not None:
        # The key's fields have their names in the key, which may be those of other columns in the value.
        columns += [F.col(quote(n)).alias(how.key_names[n]) for n, _ in how.key_fields]
        key = how.key.encode(how.key_format_fields, how.key_options(table.options))
        sent.append(key.alias("key"))
    return frame.select(*columns).select(*sent).withColumn("value", _small_enough(table, keyed=how.key is not None))


def _small_enough(table: Table, *, keyed: bool) -> Column:
    """The value of a record, an error that shows the record where Kafka's client would refuse to send one of its size, and not say which."""
    from pyspark.sql import functions as F

    said = table.options.get(f"{PREFIX}{_LARGEST}", "")
    most = int(said) if said.isdecimal() else _LARGEST_BYTES
    size = " + ".join(f"coalesce(octet_length({part}), 0)" for part in (["key", "value"] if keyed else ["value"]))
    key = "' with the key ', left(CAST(key AS STRING), 100), " if keyed else ""
    larger = spark_string(f" bytes is larger than {most}, which is the value of '{PREFIX}{_LARGEST}'. It begins with ")
    problem = f"concat('The record', {key}' of ', {size}, {larger}, coalesce(left(CAST(value AS STRING), 100), 'NULL'))"
    return F.expr(f"if({size} > {most - _OVERHEAD_BYTES}, raise_error({problem}), value)")
