"""What the connectors to Kafka topics have in common: where reading starts and ends, Spark's source, the properties of Kafka's clients.

A record's partition is its split, since event time in Flink runs by partition. A stream without an end finds partitions, and with a
pattern topics, that are added while it runs (Java's KafkaTopics and KafkaSource). An end (``scan.bounded.*``) is looked up once, kept in the
job's folder, and applied as a filter, because Spark's streaming source knows none.
"""

from __future__ import annotations

import json
import re
import uuid
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from sqlstream import formats
from sqlstream.connectors.base import DEAD_LETTERS, Connector, Dataset, Metadata, Read, SourceFrame, changed, once, plain_options
from sqlstream.connectors.kafka import exactly_once, positions, skipped
from sqlstream.connectors.kafka.client_settings import properties_of
from sqlstream.connectors.kafka.offsets import EARLIEST, LATEST, Offsets, Partition, assignment, cluster, offsets_of, parse_specific, to_json
from sqlstream.connectors.kafka.records import GUARANTEE, METADATA, Layout, check_metadata, decoded, metadata_keys
from sqlstream.core import options as option_rows
from sqlstream.core import storage
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.core.java import classes
from sqlstream.core.options import Option, OptionKind, Role, Support
from sqlstream.sql.quoting import spark_string

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.connectors.base import Write
    from sqlstream.sql.tables import Table

# Spark's source asks the broker for the topic's bounds after each poll, and forgets what else was fetched: polls should be few.
_FETCHES = {"max.poll.records": "100000", "max.partition.fetch.bytes": str(4 << 20)}
_ENDS = ("unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
SOURCE, SINK = "sqlstream.kafka.KafkaSource", "kafka"
MOST_RECORDS = "scan.micro-batch.max-records"
PREFIX_OF_IDS = "sink.transactional-id-prefix"
# Clients tell brokers of their figures: each poll formats a line of it, 2 % of the time of a query in real time.
_QUIET = {"enable.metrics.push": "false"}
# Consumer properties that Spark's source sets by itself.
OWN = ("auto.offset.reset", "group.id", "enable.auto.commit", "key.deserializer", "value.deserializer", "key.serializer",
       "value.serializer", "interceptor.classes")  # fmt: skip
IDLE_TIMEOUT = "scan.watermark.idle-timeout"
TOPICS = (
    Option("topic", OptionKind.LIST, summary="Topics to read, separated by ;, or the topic to write.", role=Role.PLACE),
    Option("topic-pattern", OptionKind.STRING, summary="A regular expression; all topics it matches are read.", role=Role.PLACE),
    Option(
        "properties.bootstrap.servers",
        OptionKind.STRING,
        required=True,
        summary="Comma-separated brokers, host:port.",
        role=Role.TUNING,
        sample="host:9092",
    ),
    Option("properties.group.id", OptionKind.STRING, summary="The group whose committed offsets 'group-offsets' means."),
    Option("properties.*", OptionKind.STRING, summary="Any other property of Kafka's clients.", role=Role.TUNING),
)
ENDS = (
    Option("scan.bounded.mode", OptionKind.ENUM, "unbounded", "Where reading ends.", values=_ENDS),
    Option("scan.bounded.specific-offsets", OptionKind.STRING, summary="partition:0,offset:42;partition:1,offset:300"),
    Option("scan.bounded.timestamp-millis", OptionKind.LONG, summary="Milliseconds since 1970."),
    Option(
        "scan.topic-partition-discovery.interval",
        OptionKind.DURATION,
        "5 min",
        "How often a stream looks for partitions that were added; 0 for never.",
    ),
    Option(
        MOST_RECORDS,
        OptionKind.LONG,
        "5000000",
        "The most records that a micro-batch reads, of all partitions together; the others wait for the next ones.",
        least=1,
        role=Role.TUNING,
    ),
    DEAD_LETTERS,
    Option("scan.parallelism", OptionKind.INT, use=Support.NOTICE, why="there is one task a partition"),
    Option(
        IDLE_TIMEOUT,
        OptionKind.DURATION,
        summary="After how long without records a partition no longer holds the watermark back; table.exec.source.idle-timeout for this table.",
        role=Role.TUNING,
    ),
    Option("scan.watermark.emit.strategy", use=Support.NOTICE, why="the watermark moves with each micro-batch"),
    *(
        Option(f"scan.watermark.alignment.{name}", use=Support.NOTICE, why="a micro-batch reads all partitions")
        for name in ("group", "max-drift", "update-interval")
    ),
)
WRITING = (
    Option("sink.parallelism", OptionKind.INT, use=Support.NOTICE, why="each task of the query writes on its own"),
    Option(
        GUARANTEE,
        OptionKind.ENUM,
        "at-least-once",
        "After a failure, records of the last micro-batch can come twice; exactly-once: not, for readers of committed records.",
        values=("at-least-once", "exactly-once", "none"),
    ),
    Option(PREFIX_OF_IDS, OptionKind.STRING, summary="What transactional ids begin with, and the groups that say what was committed."),
    Option("sink.transaction-naming-strategy", use=Support.NOTICE, why="an id is the prefix, the query's id and the task's number"),
)


# Places: a topic, and all that match a pattern.
_TOPIC = "Kafka topic "
_TOPICS = "Kafka topics as "


class TopicConnector(Connector):
    """Base of the connectors on Kafka's topics."""

    is_source = True
    reads_in_real_time = True
    bounded_by = "'scan.bounded.mode' = 'latest-offset'"
    is_sink = True
    metadata = METADATA

    @abstractmethod
    def layout(self, table: Table) -> Layout:
        """Which columns are where in a record. Raises ValidationError, NotSupported."""

    @abstractmethod
    def startup(self, table: Table) -> str:
        """Where reading starts, as 'scan.startup.mode' says it."""

    def check(self, table: Table) -> list[str]:
        layout = self.layout(table)
        options = plain_options(table)
        rows = self.options + formats.table_options(layout.value, layout.value_prefix)
        if layout.key is not None:
            rows += formats.table_options(layout.key, "key.")
        notices = option_rows.check_options(self.name, options, rows)
        if ("topic" in options) == ("topic-pattern" in options):
            raise ValidationError(
                "Option 'topic' and 'topic-pattern' shouldn't be set together."
                if "topic" in options
                else "Either 'topic' or 'topic-pattern' must be set."
            )
        self.check_offsets(table, "bounded", self.option(table, "scan.bounded.mode"))
        if self.is_exactly_once(table) and not self.option(table, PREFIX_OF_IDS):
            raise ValidationError(f"{PREFIX_OF_IDS} must be specified when using DeliveryGuarantee.EXACTLY_ONCE.")
        layout.check(table)
        notices += layout.notices(table)
        check_metadata(table, metadata_keys(layout))
        return notices

    def datasets(self, table: Table, project: Path) -> tuple[Dataset, ...]:
        # Brokers are one cluster: the first one names it. A listener's protocol is no part of it.
        first = table.options.get("properties.bootstrap.servers", "").split(",")[0].strip()
        address = first.rpartition("://")[2].rpartition("@")[2]
        topics = [t.strip() for t in table.options.get("topic", table.options.get("topic-pattern", "")).split(";")]
        return tuple(Dataset(f"kafka://{address}", topic) for topic in topics if topic)

    def check_offsets(self, table: Table, side: str, mode: str) -> None:
        """Check what ``mode`` asks for, of the start or the end. Raises ValidationError."""
        options = table.options
        for needed, key in (("specific-offsets", "specific-offsets"), ("timestamp", "timestamp-millis")):
            name = f"scan.{side}.{key}"
            if mode == needed and name not in options:
                raise ValidationError(f"'{name}' is required in '{mode}' {side} mode but missing.")
        if mode == "specific-offsets":
            _specific(options, side)
        # The startup mode has group-offsets for its default, which a table that is only written needs no group for.
        if f"scan.{side}.mode" in options and mode == "group-offsets":
            _require_group(table)

    def check_source(self, table: Table) -> None:
        if "group-offsets" in (self.startup(table), self.option(table, "scan.bounded.mode")):
            _require_group(table)

    def idle_timeout(self, table: Table) -> int | None:
        said: int | None = self.option(table, IDLE_TIMEOUT)
        return said

    def places(self, table: Table, *, written: bool = False) -> tuple[str, ...]:
        # A cluster may move: it is known by the ids of its topics.
        topics, pattern = self.option(table, "topic") or (), self.option(table, "topic-pattern")
        return (*(f"{_TOPIC}{topic}" for topic in sorted(set(topics))), *([f"{_TOPICS}{pattern}"] if pattern is not None else []))

    def reads(self, place: str, places: Collection[str]) -> bool:
        return place in places or (place.startswith(_TOPIC) and _read(place.removeprefix(_TOPIC), places))

    def offsets(self, table: Table, before: str) -> str:
        places = self.places(table)
        return json.dumps({topic: of for topic, of in json.loads(before).items() if _read(topic, places)})

    def metadata_keys(self, table: Table) -> tuple[Metadata, ...]:
        return metadata_keys(self.layout(table))

    def bounded(self, table: Table) -> bool:
        return bool(self.option(table, "scan.bounded.mode") != "unbounded")

    def read(self, request: Read) -> SourceFrame:
        table = request.table
        properties = client_properties(table)
        topics, pattern = self.option(table, "topic") or (), self.option(table, "topic-pattern")
        every = self.option(table, "scan.topic-partition-discovery.interval")
        growing = request.streaming and not self.bounded(table)
        mode = self.startup(table)
        base = {f"kafka.{k}": v for k, v in (_FETCHES | properties).items()}
        with cluster(request.spark, properties) as kafka:
            partitions = kafka.partitions(topics, pattern)
            if not partitions and not (growing and every):
                raise ValidationError(f"No Kafka topic matches the pattern '{pattern}'.")
            ids = _known_ids(kafka, request, {topic for topic, _ in partitions})
            began = offsets_of(once(request, "start", lambda: to_json(self._start(kafka, table, partitions, mode))))
            start = {p: began.get(p, EARLIEST) for p in partitions}
            end = self._end(kafka, request, partitions)
            if not request.streaming:
                start = kafka.resolved(start)
                end = kafka.resolved(end if end is not None else dict.fromkeys(partitions, LATEST))
        options = {**base, "assign": assignment(partitions), "startingOffsets": to_json(start)}
        if any(m.key == "headers" for m in table.metadata):
            options["includeHeaders"] = "true"
        if not request.streaming:
            assert end is not None
            # A range that ends before it starts is an error for Spark; for Flink it is empty.
            stop = {p: max(end[p], start[p]) for p in partitions}
            frame = request.spark.read.format("kafka").options(**options, endingOffsets=to_json(stop)).load()
            return SourceFrame(decoded(frame, request, self.layout(table)))
        if not self.bounded(table):
            # The input of a bounded one ends with its first micro-batch.
            options["most"] = str(self.option(table, MOST_RECORDS))
        known = _topics(request.spark, topics, pattern, options["assign"], every if growing else 0, properties, ids)
        if request.pause is not None:
            options["pause"] = storage.uri(request.pause)
        frame = request.spark.readStream.name(request.name).format(SOURCE).options(**options, topics=known.id()).load()
        frame = frame if end is None else frame.where(_before(end))
        if (left_out := skipped.condition(request.shared, {topic for topic, _ in partitions})) is not None:
            frame = frame.where(left_out)
        split = _split(known) if request.splits else None
        names = tuple(f"{topic}-{number}" for topic, number in sorted(partitions))
        return SourceFrame(decoded(frame, request, self.layout(table), split), names, known)

    def positions(self, request: Read, wanted: Mapping[str, str], zone: str) -> Mapping[str, Mapping[int, int | None]]:
        table = request.table
        topics, pattern = self.option(table, "topic") or (), self.option(table, "topic-pattern")
        found: dict[str, dict[int, int | None]] = {}
        with cluster(request.spark, client_properties(table)) as kafka:
            partitions = kafka.partitions(topics, pattern)
            for topic in sorted({topic for topic, _ in partitions} & set(wanted)):
                found[topic] = {n: None for of, n in partitions if of == topic} | positions.offsets_of(wanted[topic], topic, kafka, zone)
            ids = kafka.ids(sorted(found))
        before: dict[str, str] = {}

        def known(kept: str) -> str:
            before.update(json.loads(kept))
            return json.dumps(before | ids)

        changed(request, "topics", known)
        for topic, of in found.items():
            # A topic that was created again: the job resumes with the new one.
            if before.get(topic) not in (None, ids.get(topic)) and (left := [str(number) for number, offset in of.items() if offset is None]):
                raise ValidationError(
                    f"Kafka topic '{topic}' was deleted and created again: what was read of its partition {left[0]} says nothing of the new one.",
                    hint="ALTER JOB .. SET OFFSETS has to name all of its partitions, or where all of them are read from, as 'earliest'.",
                )
        return found

    def _start(self, kafka: Any, table: Table, partitions: list[Partition], mode: str) -> Offsets:
        match mode:
            case "earliest-offset":
                return dict.fromkeys(partitions, EARLIEST)
            case "latest-offset":
                return dict(kafka.resolved(dict.fromkeys(partitions, LATEST)))
            case "timestamp":
                return dict(kafka.at_time(self.option(table, "scan.startup.timestamp-millis"), partitions))
            case "specific-offsets":
                offsets = _specific(table.options, "startup")
                return {p: offsets.get(p[1], EARLIEST) for p in partitions}
        return _group_offsets(kafka, table, partitions, self.option(table, "properties.auto.offset.reset"))

    def _end(self, kafka: Any, request: Read, partitions: list[Partition]) -> Offsets | None:
        """The offsets at which reading stops; None where it does not."""
        if not self.bounded(request.table):
            return None
        return offsets_of(once(request, "end", lambda: to_json(self._last(kafka, request, partitions))))

    def _last(self, kafka: Any, request: Read, partitions: list[Partition]) -> Offsets:
        match self.option(request.table, "scan.bounded.mode"):
            case "latest-offset":
                end: Offsets = kafka.resolved(dict.fromkeys(partitions, LATEST))
            case "timestamp":
                end = kafka.at_time(self.option(request.table, "scan.bounded.timestamp-millis"), partitions)
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
        return end

    def is_exactly_once(self, table: Table) -> bool:
        """Whether ``table`` is written in transactions."""
        return bool(self.option(table, GUARANTEE) == "exactly-once")

    def needs_micro_batches(self, table: Table) -> tuple[str, str] | None:
        return (GUARANTEE, "exactly-once") if self.is_exactly_once(table) else None

    def sink_topic(self, table: Table) -> str:
        """The topic that is written. Raises ValidationError."""
        topics = self.option(table, "topic")
        if not topics or len(topics) != 1:
            raise ValidationError("The Kafka sink only supports a single 'topic'; topic lists and patterns are for sources.")
        return str(topics[0])

    def write_stream(self, request: Write) -> DataStreamWriter:
        if self.is_exactly_once(request.table):
            return self.in_transactions(request)
        return self.at_least_once(request)

    @abstractmethod
    def in_transactions(self, request: Write) -> DataStreamWriter:
        """``write_stream`` of a table that is written exactly once."""

    @abstractmethod
    def at_least_once(self, request: Write) -> DataStreamWriter:
        """``write_stream`` of another one."""

    @abstractmethod
    def records(self, rows: DataFrame, request: Write) -> DataFrame:
        """The records of static ``rows`` of ``request.frame``, as Spark's Kafka sink takes them."""

    def write_batch(self, request: Write) -> None:
        if request.overwrite:
            raise ValidationError(f"INSERT OVERWRITE requires that the underlying table supports it; '{self.name}' doesn't.")
        records, options = self.records(request.frame, request), self.sink_options(request)
        if self.is_exactly_once(request.table):
            exactly_once.write_batch(records, options, request.version or (uuid.uuid4().hex, 0))
        else:
            records.write.format(SINK).options(**options).save()

    def landed(self, request: Write, query: str, batch: int) -> bool | None:
        if not self.is_exactly_once(request.table):
            return None
        table = request.table
        return exactly_once.landed(request.spark, client_properties(table), self.sink_topic(table), query, batch)

    def forget(self, request: Write, writer: str) -> None:
        if self.is_exactly_once(request.table):
            exactly_once.forget(request.spark, client_properties(request.table), writer)

    def sink_options(self, request: Write) -> dict[str, str]:
        """The options of Spark's Kafka sink, or of the one that writes exactly once."""
        table = request.table
        client, more = client_properties(table), {}
        if self.is_exactly_once(table):
            client, more = exactly_once.producer_properties(client), {"prefix": str(self.option(table, PREFIX_OF_IDS))}
        return {**{f"kafka.{k}": v for k, v in client.items()}, **more, "topic": self.sink_topic(table)}


def _read(topic: str, places: Collection[str]) -> bool:
    """Whether a table of ``places`` reads the topic."""
    patterns = (place.removeprefix(_TOPICS) for place in places if place.startswith(_TOPICS))
    return f"{_TOPIC}{topic}" in places or any(matches(pattern, topic) for pattern in patterns)


def matches(pattern: str, topic: str) -> bool:
    """Whether a 'topic-pattern' reads the topic, as far as Python knows patterns."""
    try:
        return re.fullmatch(pattern, topic) is not None
    except re.error:
        return False  # Java's alone


def _require_group(table: Table) -> None:
    if "properties.group.id" not in table.options:
        raise ValidationError(
            "Property group.id is required when using committed offset for offsets initializer.",
            hint="Reading begins with the offsets of a group unless 'scan.startup.mode' says otherwise: 'earliest-offset' reads all that is there.",
        )


def _specific(options: Mapping[str, str], side: str) -> dict[int, int]:
    key = f"scan.{side}.specific-offsets"
    try:
        return parse_specific(options[key])
    except ValueError as e:
        raise ValidationError(f"Invalid value for option '{key}': {e}.") from None


def client_properties(table: Table) -> dict[str, str]:
    """The properties for Kafka's clients, those taken out that Spark sets by itself."""
    return _QUIET | {k: v for k, v in properties_of(table.options).items() if k not in OWN}


def _group_offsets(kafka: Any, table: Table, partitions: list[Partition], reset: str | None) -> Offsets:
    group = table.options.get("properties.group.id")
    committed = kafka.committed(group, partitions) if group else {}
    missing = [p for p in partitions if p not in committed]
    if missing and reset not in ("earliest", "latest"):
        shown = ", ".join(f"{t}-{p}" for t, p in missing)
        raise ValidationError(
            f"Undefined offset with no reset policy for partitions: [{shown}]: group '{group}' has committed none.",
            hint="Set 'scan.startup.mode' = 'earliest-offset', or 'properties.auto.offset.reset' = 'earliest'.",
        )
    default = EARLIEST if reset == "earliest" else LATEST
    return {p: committed.get(p, default) for p in partitions}


def _known_ids(kafka: Any, request: Read, topics: set[str]) -> dict[str, str]:
    """The ids of ``topics``, which are kept with a job. Raises ValidationError where one is another topic of the same name by now."""
    if not request.streaming or request.shared is None:
        return {}
    ids: dict[str, str] = kafka.ids(sorted(topics))
    kept = json.loads(once(request, "topics", lambda: json.dumps(ids), of_name=True))
    for topic, id_ in ids.items():
        if kept.get(topic, id_) != id_:
            raise ValidationError(
                f"Kafka topic '{topic}' was deleted and created again since the job began: what it has read is gone, and offsets mean other records.",
                hint=f"ALTER JOB .. SET OFFSETS ('{topic}' = 'earliest') resumes with the new one.",
            )
    if ids.keys() - kept.keys():
        changed(request, "topics", lambda known: json.dumps(ids | json.loads(known)))
    return ids


def _topics(
    spark: SparkSession, topics: Sequence[str], pattern: str | None, start: str, every: int, properties: Mapping[str, str], ids: Mapping[str, str]
) -> Any:
    """Java's KafkaTopics, whose arguments these are; ``properties`` are those of a client."""
    assert spark._jvm is not None
    named, known = spark._jvm.java.util.ArrayList(), spark._jvm.java.util.HashMap()
    for topic in topics:
        named.add(topic)
    for topic, id_ in ids.items():
        known.put(topic, id_)
    return classes(spark).kafka.KafkaTopics(named, pattern, start, every, properties.get("bootstrap.servers", ""), known)


def _split(topics: Any) -> Column:
    """The number of the split of a record of Spark's source."""
    from pyspark.sql import functions as F
    from pyspark.sql.classic.column import Column

    return Column(topics.splits().number(F.col("topic")._jc, F.col("partition")._jc))


def _before(end: Offsets) -> str:
    """SQL: whether a record is before the end of its partition."""
    cases = " ".join(f"WHEN topic = {spark_string(t)} AND partition = {p} THEN offset < {o}L" for (t, p), o in end.items())
    return f"CASE {cases} ELSE false END"
