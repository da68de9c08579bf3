"""The kafka connector: Spark's Kafka source and sink, with Flink's options.

A record's partition is its split, since event time in Flink runs by partition. Partitions are those that exist when the job starts.
An end (``scan.bounded.*``) is looked up once, kept in the job's folder, and applied as a filter, because Spark's streaming source knows none.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlstream import formats
from sqlstream import options as option_rows
from sqlstream.connectors.base import SPLIT, Connector, Metadata, Read, Source, Write
from sqlstream.connectors.kafka_offsets import EARLIEST, LATEST, Offsets, Partition, assignment, cluster, parse_specific, to_json
from sqlstream.errors import NotSupported, ValidationError
from sqlstream.formats.base import Encoded, Fields, Format, literal
from sqlstream.options import Kind, Option, Use
from sqlstream.sql.types import BIGINT, BYTES, INT, STRING, map_of, quote, timestamp_ltz

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.sql.tables import Table

_STARTUPS = ("group-offsets", "earliest-offset", "latest-offset", "timestamp", "specific-offsets")
# Spark's source asks the broker for the topic's bounds after each poll, and forgets what else was fetched: polls should be few.
_FETCHES = {"max.poll.records": "100000", "max.partition.fetch.bytes": str(4 << 20)}
_ENDS = ("unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
_AT_LEAST_ONCE = "Spark's Kafka sink is at-least-once: after a failure records of the last batch can come twice"
# Consumer properties that Spark's source sets by itself.
_OWN = ("auto.offset.reset", "group.id", "enable.auto.commit", "key.deserializer", "value.deserializer", "key.serializer",
        "value.serializer", "interceptor.classes")  # fmt: skip
_TIMESTAMP_TYPES = "element_at(array('NoTimestampType', 'CreateTime', 'LogAppendTime'), timestampType + 2)"
# Metadata key to its SQL over the columns of Spark's source.
_METADATA = {
    "topic": "topic",
    "partition": "partition",
    "headers": "map_from_entries(coalesce(headers, array()))",
    "offset": "offset",
    "timestamp": "timestamp",
    "timestamp-type": _TIMESTAMP_TYPES,
}


class Kafka(Connector):
    """Topics of Kafka."""

    name = "kafka"
    summary = "Topics of Apache Kafka, read from any offset and appended to."
    is_source = True
    is_sink = True
    metadata = (
        Metadata("topic", STRING),
        Metadata("partition", INT),
        Metadata("headers", map_of(STRING, BYTES), writable=True),
        Metadata("offset", BIGINT),
        Metadata("timestamp", timestamp_ltz(3), writable=True),
        Metadata("timestamp-type", STRING),
    )
    options = (
        Option("topic", Kind.LIST, summary="Topics to read, separated by ;, or the topic to write."),
        Option("topic-pattern", Kind.STRING, summary="A regular expression; all topics it matches are read."),
        Option("properties.bootstrap.servers", Kind.STRING, required=True, summary="Comma-separated brokers, host:port."),
        Option("properties.group.id", Kind.STRING, summary="The group whose committed offsets 'group-offsets' means."),
        Option("properties.auto.offset.reset", Kind.ENUM, summary="Where group-offsets starts with nothing committed.",
               values=("earliest", "latest", "none")),
        Option("properties.*", Kind.STRING, summary="Any other property of Kafka's clients."),
        Option("format", Kind.STRING, summary="The value's format; the same as value.format."),
        Option("value.format", Kind.STRING, summary="The value's format."),
        Option("key.format", Kind.STRING, summary="The key's format."),
        Option("key.fields", Kind.LIST, summary="The columns that form the key, separated by ;."),
        Option("key.fields-prefix", Kind.STRING, "", "What the names of key columns begin with, beyond the key's own names."),
        Option("value.fields-include", Kind.ENUM, "all", "Whether key columns are in the value too.", values=("all", "except_key")),
        Option("scan.startup.mode", Kind.ENUM, "group-offsets", "Where reading starts.", values=_STARTUPS),
        Option("scan.startup.specific-offsets", Kind.STRING, summary="partition:0,offset:42;partition:1,offset:300"),
        Option("scan.startup.timestamp-millis", Kind.LONG, summary="Milliseconds since 1970."),
        Option("scan.bounded.mode", Kind.ENUM, "unbounded", "Where reading ends.", values=_ENDS),
        Option("scan.bounded.specific-offsets", Kind.STRING, summary="partition:0,offset:42;partition:1,offset:300"),
        Option("scan.bounded.timestamp-millis", Kind.LONG, summary="Milliseconds since 1970."),
        Option("scan.topic-partition-discovery.interval", Kind.DURATION, "5 min", use=Use.NOTICE,
               why="partitions are those that exist when the job starts or restarts"),
        Option("scan.parallelism", Kind.INT, use=Use.NOTICE, why="there is one task a partition"),
        Option("scan.watermark.idle-timeout", use=Use.REFUSED, why="Set table.exec.source.idle-timeout."),
        Option("sink.parallelism", Kind.INT, use=Use.NOTICE, why="each task of the query writes by itself"),
        Option("sink.partitioner", Kind.STRING, "default", "default, or fixed and round-robin, which Kafka's own partitioner replaces."),
        Option("sink.delivery-guarantee", Kind.ENUM, "at-least-once", _AT_LEAST_ONCE + ".",
               values=("at-least-once", "exactly-once", "none")),
        Option("sink.semantic", use=Use.REFUSED, why="Flink has dropped it, too: write 'sink.delivery-guarantee'."),
        Option("sink.transactional-id-prefix", use=Use.NOTICE, why=_AT_LEAST_ONCE),
        Option("sink.transaction-naming-strategy", use=Use.NOTICE, why=_AT_LEAST_ONCE),
    )  # fmt: skip

    def check(self, table: Table) -> list[str]:
        layout = _layout(table)
        given = {k: v for k, v in table.options.items() if k != "connector"}
        rows = self.options + formats.declared(layout.value, layout.value_prefix)
        if layout.key is not None:
            rows += formats.declared(layout.key, "key.")
        notices = option_rows.check(self.name, given, rows)
        option = self._option(table)
        if ("topic" in given) == ("topic-pattern" in given):
            raise ValidationError(
                "Option 'topic' and 'topic-pattern' shouldn't be set together."
                if "topic" in given
                else "Either 'topic' or 'topic-pattern' must be set."
            )
        for side in ("startup", "bounded"):
            mode = option(f"scan.{side}.mode")
            for needed, key in (("specific-offsets", "specific-offsets"), ("timestamp", "timestamp-millis")):
                name = f"scan.{side}.{key}"
                if mode == needed and name not in given:
                    raise ValidationError(f"'{name}' is required in '{mode}' {side} mode but missing.")
            if mode == "specific-offsets":
                _specific(given, side)
            # The startup mode has group-offsets for its default, which a table that is only written needs no group for.
            if f"scan.{side}.mode" in given and mode == "group-offsets" and "properties.group.id" not in given:
                raise ValidationError(f"'properties.group.id' is required in 'group-offsets' {side} mode but missing.")
        layout.value.check(layout.value_fields, formats.given(layout.value, table.options, layout.value_prefix))
        if layout.key is not None:
            layout.key.check(layout.key_format_fields, formats.given(layout.key, table.options, "key."))
        if option("sink.delivery-guarantee") == "exactly-once":
            notices.append(f"Option 'sink.delivery-guarantee' of 'kafka': {_AT_LEAST_ONCE}.")
        partitioner = option("sink.partitioner")
        if partitioner not in ("default", "fixed", "round-robin"):
            raise NotSupported(
                f"Option 'sink.partitioner' can't name a class: '{partitioner}'.",
                hint="Set 'properties.partitioner.class' to a Kafka partitioner.",
            )
        if partitioner != "default":
            notices.append("Option 'sink.partitioner' of 'kafka' has no effect: Kafka's default partitioner is used.")
        _check_metadata(table, self.metadata)
        return notices

    def _option(self, table: Table) -> Any:
        return lambda key: option_rows.value(table.options, self.options, key)

    def bounded(self, table: Table) -> bool:
        return bool(self._option(table)("scan.bounded.mode") != "unbounded")

    def read(self, request: Read) -> Source:
        table = request.table
        option = self._option(table)
        properties = _properties(table)
        topics = option("topic") or ()
        mode = option("scan.startup.mode")
        base = {f"kafka.{k}": v for k, v in (_FETCHES | properties).items()}
        with cluster(request.spark, properties) as kafka:
            partitions = kafka.partitions(topics, option("topic-pattern"))
            start = self._start(kafka, table, partitions, mode)
            end = self._end(kafka, request, partitions)
            if not request.streaming:
                start = kafka.resolved(start)
                end = kafka.resolved(end if end is not None else dict.fromkeys(partitions, LATEST))
        options = {**base, "assign": assignment(partitions), "startingOffsets": to_json(start)}
        if any(m.key == "headers" for m in table.metadata):
            options["includeHeaders"] = "true"
        if request.streaming:
            frame = request.spark.readStream.name(request.name).format("kafka").options(**options).load()
            frame = frame if end is None else frame.where(_before(end))
        else:
            assert end is not None
            # A range that ends before it starts is an error for Spark; for Flink it is empty.
            stop = {p: max(end[p], start[p]) for p in partitions}
            frame = request.spark.read.format("kafka").options(**options, endingOffsets=to_json(stop)).load()
        if request.splits and len(partitions) > 1:
            return Source(_decoded(frame, table, _split(partitions)), len(partitions))
        return Source(_decoded(frame, table))

    def _start(self, kafka: Any, table: Table, partitions: list[Partition], mode: str) -> Offsets:
        option = self._option(table)
        match mode:
            case "earliest-offset":
                return dict.fromkeys(partitions, EARLIEST)
            case "latest-offset":
                return dict.fromkeys(partitions, LATEST)
            case "timestamp":
                return dict(kafka.at_time(option("scan.startup.timestamp-millis"), partitions))
            case "specific-offsets":
                offsets = _specific(table.options, "startup")
                return {p: offsets.get(p[1], EARLIEST) for p in partitions}
        return _group_offsets(kafka, table, partitions, option("properties.auto.offset.reset"))

    def _end(self, kafka: Any, request: Read, partitions: list[Partition]) -> Offsets | None:
        """The offsets at which reading stops; None where it does not. The same ones when a job restarts."""
        mode = self._option(request.table)("scan.bounded.mode")
        if mode == "unbounded":
            return None
        kept = request.state / f"{request.name}.end.json" if request.state is not None and request.streaming else None
        if kept is not None and kept.exists():
            return {(t, int(p)): o for t, ps in json.loads(kept.read_text()).items() for p, o in ps.items()}
        match mode:
            case "latest-offset":
                end: Offsets = kafka.resolved(dict.fromkeys(partitions, LATEST))
            case "timestamp":
                end = kafka.at_time(self._option(request.table)("scan.bounded.timestamp-millis"), partitions)
            case "specific-offsets":
                offsets = _specific(request.table.options, "bounded")
                end = {p: offsets.get(p[1], 0) for p in partitions}
                for (topic, partition), last in kafka.resolved(dict.fromkeys(partitions, LATEST)).items():
                    if end[topic, partition] > last:
                        raise NotSupported(
                            f"'scan.bounded.specific-offsets' ends partition {partition} of topic '{topic}' at offset "
                            f"{end[topic, partition]}, but it has no more than {last} yet, and a job that ends does not wait.",
                            hint=f"Run it when the records are there, or end at offset {last}.",
                        )
            case _:
                end = _group_offsets(kafka, request.table, partitions, None)
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(to_json(end))
        return end

    def write_stream(self, request: Write) -> DataStreamWriter:
        return _encoded(request).writeStream.format("kafka").options(**self._sink_options(request.table))

    def write_batch(self, request: Write) -> None:
        if request.overwrite:
            raise ValidationError("INSERT OVERWRITE requires that the underlying table supports it; 'kafka' doesn't.")
        _encoded(request).write.format("kafka").options(**self._sink_options(request.table)).save()

    def _sink_options(self, table: Table) -> dict[str, str]:
        topics = self._option(table)("topic")
        if not topics or len(topics) != 1:
            raise ValidationError("The Kafka sink only supports a single 'topic'; topic lists and patterns are for sources.")
        return {**{f"kafka.{k}": v for k, v in _properties(table).items()}, "topic": topics[0]}


@dataclass(frozen=True)
class _Layout:
    """Which columns are in the key and the value, and in which formats. ``key_names`` maps a key column to its name in the key."""

    value: Format
    value_prefix: str
    value_fields: Fields
    key: Format | None
    key_fields: Fields
    key_names: Mapping[str, str]

    @property
    def key_format_fields(self) -> Fields:
        return tuple((self.key_names[n], t) for n, t in self.key_fields)


def _layout(table: Table) -> _Layout:
    options = table.options
    if "format" in options and "value.format" in options:
        raise ValidationError("'format' and 'value.format' mean the same: give one of them.")
    prefix = "value." if "value.format" in options else ""
    value_name = options.get("value.format", options.get("format"))
    if value_name is None:
        raise ValidationError(
            "One or more required options are missing.\n\nMissing required options are:\n\nformat",
            hint="Kafka needs 'format' or 'value.format'.",
        )
    value = _record_format(value_name)
    names = option_rows.value(options, Kafka.options, "key.fields") or ()
    prefix_of_key = options.get("key.fields-prefix", "")
    fields: Fields = tuple((c.name, c.type) for c in table.physical)
    known = {n for n, _ in fields}
    key = _record_format(options["key.format"]) if "key.format" in options else None
    if key is None and names:
        raise ValidationError("The option 'key.fields' can only be declared if a key format is defined using 'key.format'.")
    if key is not None and not names:
        raise ValidationError(
            "A key format 'key.format' requires the declaration of one or more of key fields using 'key.fields'."
        )
    for name in names:
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
    all_in_value = option_rows.value(options, Kafka.options, "value.fields-include") == "all"
    if prefix_of_key and all_in_value:
        raise ValidationError("A key prefix is not allowed when option 'value.fields-include' is set to 'ALL'. "
                              "Set it to 'EXCEPT_KEY' instead to avoid field overlaps.")  # fmt: skip
    by_name = dict(fields)
    return _Layout(
        value=value,
        value_prefix=prefix,
        value_fields=fields if all_in_value else tuple(f for f in fields if f[0] not in names),
        key=key,
        key_fields=tuple((n, by_name[n]) for n in names),
        key_names={n: n[len(prefix_of_key) :] for n in names},
    )


def _record_format(name: str) -> Format:
    found = formats.find(name)
    if found.native:
        raise ValidationError(f"Format '{name}' is one of files; a Kafka record can't hold it.", hint="Use json, csv or raw.")
    return found


def _check_metadata(table: Table, known: tuple[Metadata, ...]) -> None:
    keys = {m.key: m for m in known}
    for column in table.metadata:
        if column.key in ("leader-epoch", "header-list"):
            raise NotSupported(f"Metadata key '{column.key}' of column '{column.name}' can't be read: Spark's Kafka source has none.")
        if column.key not in keys:
            raise ValidationError(
                f"Invalid metadata key '{column.key}' in column '{column.name}' of table '{table.path}'. The connector "
                f"supports the following metadata keys for reading:\n" + "\n".join(sorted(keys))
            )


def _specific(options: Mapping[str, str], side: str) -> dict[int, int]:
    key = f"scan.{side}.specific-offsets"
    try:
        return parse_specific(options[key])
    except ValueError as e:
        raise ValidationError(f"Invalid value for option '{key}': {e}.") from None


def _properties(table: Table) -> dict[str, str]:
    """The properties for Kafka's clients, those taken out that Spark sets by itself."""
    start = "properties."
    given = {k[len(start) :]: v for k, v in table.options.items() if k.startswith(start)}
    return {k: v for k, v in given.items() if k not in _OWN}


def _group_offsets(kafka: Any, table: Table, partitions: list[Partition], reset: str | None) -> Offsets:
    group = table.options.get("properties.group.id")
    committed = kafka.committed(group, partitions) if group else {}
    missing = [p for p in partitions if p not in committed]
    if missing and reset not in ("earliest", "latest"):
        shown = ", ".join(f"{t}-{p}" for t, p in missing)
        raise ValidationError(
            f"Undefined offset with no reset policy for partitions: [{shown}]: "
            + (f"group '{group}' has committed none." if group else "there is no 'properties.group.id'."),
            hint="Set 'scan.startup.mode' = 'earliest-offset', or 'properties.auto.offset.reset' = 'earliest'.",
        )
    default = EARLIEST if reset == "earliest" else LATEST
    return {p: committed.get(p, default) for p in partitions}


def _before(end: Offsets) -> str:
    """SQL: whether a record stands before the end of its partition."""
    cases = " ".join(f"WHEN topic = {literal(t)} AND partition = {p} THEN offset < {o}L" for (t, p), o in end.items())
    return f"CASE {cases} ELSE false END"


def _split(partitions: list[Partition]) -> str:
    """SQL: the number of a record's split."""
    topics = dict.fromkeys(topic for topic, _ in partitions)
    if len(topics) == 1 and [p for _, p in partitions] == list(range(len(partitions))):
        return "__kafka_partition"
    cases = " ".join(f"WHEN __kafka_topic = {literal(t)} AND __kafka_partition = {p} THEN {i}" for i, (t, p) in enumerate(partitions))
    return f"CASE {cases} END"


def _decoded(frame: DataFrame, table: Table, split: str | None = None) -> DataFrame:
    """The table's columns out of the columns of Spark's Kafka source, and SPLIT where its SQL is given."""
    from pyspark.sql import functions as F

    layout = _layout(table)
    source = [F.col(c).alias(f"__kafka_{c}") for c in frame.columns]
    metadata = [F.expr(f"CAST({_METADATA[c.key]} AS {c.type.spark})").alias(f"__meta_{c.name}") for c in table.metadata]
    origin = "concat('topic ', __kafka_topic, ', partition ', __kafka_partition, ', offset ', __kafka_offset)"
    out = frame.select(*source, *metadata)
    names: dict[str, str] = {}
    if layout.key is not None:
        out = _with(layout.key, out, "__kafka_key", origin, layout.key_format_fields, table.options, "key.", "__key_")
        names = {n: f"__key_{layout.key_names[n]}" for n, _ in layout.key_fields}
    prefix = layout.value_prefix
    out = _with(layout.value, out, "__kafka_value", origin, layout.value_fields, table.options, prefix, "__value_")
    names |= {n: f"__value_{n}" for n, _ in layout.value_fields}
    names |= {c.name: f"__meta_{c.name}" for c in table.metadata}
    wanted = [c.name for c in table.columns if c.name in names]
    splits = [] if split is None else [F.expr(split).alias(SPLIT)]
    return out.select(*[F.col(quote(names[n])).alias(n) for n in wanted], *splits)


def _with(
    format_: Format, frame: DataFrame, value: str, origin: str, fields: Fields, options: Mapping[str, str], prefix: str, start: str
) -> DataFrame:
    """``frame`` with the decoded ``fields``, their names behind ``start``."""
    decoded = format_.decode(Encoded(frame, value, origin), fields, formats.given(format_, options, prefix))
    return decoded.toDF(*frame.columns, *[start + n for n, _ in fields])


def _encoded(request: Write) -> DataFrame:
    """The columns that Spark's Kafka sink takes."""
    from pyspark.sql import functions as F

    table = request.table
    layout = _layout(table)
    written = {c.key: c for c in table.metadata if not c.virtual}
    if "timestamp" in written:
        raise NotSupported(
            f"Metadata column '{written['timestamp'].name}' can't be written: Spark's Kafka sink sets the record's time itself.",
            hint=f"Declare it VIRTUAL: {written['timestamp'].name} TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL.",
        )
    value = layout.value.encode(layout.value_fields, formats.given(layout.value, table.options, layout.value_prefix))
    columns = [F.expr(value).alias("__value")]
    sent = [F.col("__value").alias("value")]
    if "headers" in written:
        pairs = f"transform(map_entries({quote(written['headers'].name)}), e -> named_struct('key', e.key, 'value', e.value))"
        columns.append(F.expr(pairs).alias("__headers"))
        sent.append(F.col("__headers").alias("headers"))
    if layout.key is not None:
        # The key's fields have their names in the key, which may be those of other columns in the value.
        columns += [F.col(quote(n)).alias(layout.key_names[n]) for n, _ in layout.key_fields]
        key = layout.key.encode(layout.key_format_fields, formats.given(layout.key, table.options, "key."))
        sent.append(F.expr(key).alias("key"))
    return request.frame.select(*columns).select(*sent)
