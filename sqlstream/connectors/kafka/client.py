"""Kafka without a JVM, by librdkafka: topics and their records, with no consumer group and nothing committed.

In come properties of Java's clients, as tables have them. An answer is also the proof that a broker is up: a port that is open proves nothing.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from sqlstream.connectors.kafka.client_settings import TOKENS, settings
from sqlstream.core.errors import SetupError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

TIMEOUT_S = 10.0
# Calls into the library are this short, so that Ctrl-C and its reports are noticed.
_SLICE_S = 0.2
# The first address of a host may refuse, and the next one take the connection.
_GRACE_S = 1.0
_DELIVERY_S = 60
_LARGEST = 1_000_000_000
_INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata")
_QUIET: Mapping[str, Any] = {"log_level": 0, "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 200}
_READING = {
    "group.id": "sqlstream", "enable.auto.commit": False, "enable.partition.eof": True, "auto.offset.reset": "earliest",
    "isolation.level": "read_committed", "fetch.wait.max.ms": 100, "queued.max.messages.kbytes": 16384,
}  # fmt: skip
# Large batches that wait a little: 3 times as fast. Records of a key stay in order, and are where Java's producers put them.
_WRITING = {
    "linger.ms": 20, "batch.size": 262144, "compression.type": "lz4", "enable.idempotence": True, "partitioner": "murmur2_random",
    "message.max.bytes": _LARGEST, "message.timeout.ms": _DELIVERY_S * 1000, "topic.metadata.propagation.max.ms": 10000,
    "delivery.report.only.error": True,
}  # fmt: skip
_HANDSHAKE = "The Kafka broker at {servers} ends the TLS handshake."
_CERTIFICATE = "Check 'properties.ssl.*': it may ask for a certificate, 'properties.ssl.keystore.location'."
# What the library reports, the most specific first: the name of the error, a part of its text, the message, the hint.
_REPORTS = (
    ("UNSUPPORTED_SASL_MECHANISM", "", "Kafka at {servers} does not know the mechanism {mechanism}.", "Check 'properties.sasl.mechanism'."),
    ("_AUTHENTICATION", "nsupported SASL mechanism", "Kafka at {servers} does not know the mechanism {mechanism}.",
     "Check 'properties.sasl.mechanism'."),
    ("_AUTHENTICATION", "OAUTHBEARER token", "There is no token for Kafka at {servers}: {endpoint} does not give one.",
     "Check 'properties.sasl.oauthbearer.token.endpoint.url', and clientId and clientSecret in 'properties.sasl.jaas.config'."),
    ("_AUTHENTICATION", "", "Kafka at {servers} refuses the login{user}.", "Check 'properties.sasl.jaas.config' and 'properties.sasl.mechanism'."),
    ("_SSL", "verif", "The certificate of the Kafka broker at {servers} cannot be verified.",
     "Check 'properties.ssl.truststore.location'. The host of 'properties.bootstrap.servers' must be one that the certificate names."),
    ("", "PLAINTEXT broker listener", "The Kafka broker at {servers} does not speak TLS.", "Check 'properties.security.protocol' and the port."),
    ("", "SSL listener", "No Kafka broker answers at {servers} without TLS.", "Check 'properties.security.protocol' and the port."),
    ("_SSL", "", _HANDSHAKE, _CERTIFICATE),
    ("", "SSL alert", _HANDSHAKE, _CERTIFICATE),
    ("_RESOLVE", "", "No Kafka broker answers at {servers}: the host is not known.", "Check 'properties.bootstrap.servers'."),
)  # fmt: skip
_SILENCE = ("", "", "No Kafka broker answers at {servers}.", "Check that it runs, 'properties.bootstrap.servers' and 'properties.security.protocol'.")
# Errors of one request.
_REASONS = {
    "TOPIC_AUTHORIZATION_FAILED": "the user is not authorized",
    "CLUSTER_AUTHORIZATION_FAILED": "the user is not authorized",
    "MSG_SIZE_TOO_LARGE": "a record is larger than the broker allows",
    "UNKNOWN_TOPIC_OR_PART": "it does not exist, and the broker does not create topics",
    "_UNKNOWN_TOPIC": "it does not exist, and the broker does not create topics",
    "_MSG_TIMED_OUT": f"no broker has accepted the records within {_DELIVERY_S} s",
    "_TIMED_OUT": "the broker of a partition does not answer",
    "_TRANSPORT": "the broker of a partition does not answer",
    "_BAD_COMPRESSION": "a compressed batch is broken",
    "_BAD_MSG": "a batch is broken",
    "INVALID_PARTITIONS": "the number of partitions is not allowed",
    "INVALID_CONFIG": "its configuration is not allowed",
    "POLICY_VIOLATION": "the broker's policy forbids it",
}


class BrokerError(SetupError):
    """The broker does not answer, or refuses."""


@dataclass(frozen=True)
class Record:
    """A record of a topic; ``timestamp`` in milliseconds since 1970, negative where it has none."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True)
class Span:
    """The offsets that a partition has: of its first record, and behind its last one. None where they can't be had now, as without a leader."""

    begin: int | None
    end: int | None

    @property
    def records(self) -> int | None:
        """How many lie between them."""
        return None if self.begin is None or self.end is None else max(self.end - self.begin, 0)


@dataclass(frozen=True)
class Spans:
    """The partitions of a topic, by their numbers. ``problem``: why something of them is not known."""

    partitions: Mapping[int, Span]
    problem: str | None = None


@dataclass(frozen=True)
class KafkaClient:
    """A client of the cluster named by ``properties``; a call takes at most ``timeout`` seconds. All methods raise SqlStreamError."""

    properties: Mapping[str, str]
    timeout: float = TIMEOUT_S
    _reports: list[Any] = field(default_factory=list)

    @property
    def servers(self) -> str:
        return self.properties.get("bootstrap.servers", "")

    def topics(self) -> dict[str, int]:
        """The topics, but for Kafka's own, and the number of partitions of each."""
        from confluent_kafka.admin import AdminClient

        return {name: len(numbers) for name, numbers in self._topics(self._opened(AdminClient, {})).items()}

    def create_topic(self, name: str, partitions: int, config: Mapping[str, str]) -> None:
        """Create a topic, with the broker's default number of replicas; an existing one is left alone."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient
        from confluent_kafka.cimpl import NewTopic

        admin = self._opened(AdminClient, {})
        self._topics(admin)
        try:
            made = admin.create_topics([NewTopic(name, partitions, -1, config=dict(config))], operation_timeout=self.timeout)
            made[name].result(self.timeout)
        except (KafkaException, ValueError, TimeoutError) as error:
            if _name(error) != "TOPIC_ALREADY_EXISTS":
                raise BrokerError(f"The topic '{name}' cannot be created: {_reason(error)}.") from error

    def spans(self) -> dict[str, Spans]:
        """The topics, but for Kafka's own, with the offsets of their partitions."""
        with self._consumer() as consumer:
            topics = self._metadata(consumer).topics
            return {name: self._spans(consumer, name, topics[name]) for name in sorted(topics) if name not in _INTERNAL}

    def _spans(self, consumer: Any, topic: str, known: Any) -> Spans:
        numbers = sorted(known.partitions)
        nothing = dict.fromkeys(numbers, Span(None, None))
        if known.error is not None:
            return Spans(nothing, f"{_reason(known.error)[:1].upper()}{_reason(known.error)[1:]}.")
        # Without a leader there is nobody to ask.
        led = [number for number in numbers if known.partitions[number].leader >= 0]
        lost = [str(number) for number in numbers if number not in led]
        problem = f"Without a leader now: partition {', '.join(lost[:10])}." if lost else None
        try:
            begins, ends = (self._offsets(consumer, topic, led, when) if led else {} for when in (-2, -1))
        except BrokerError as error:
            return Spans(nothing, error.message)
        return Spans(nothing | {number: Span(begins.get(number), ends.get(number)) for number in led}, problem)

    def latest(self, topic: str, count: int, *, longest: int | None = None) -> list[Record]:
        """The last ``count`` records of a topic, by time, from all of its partitions; of keys and values the first ``longest`` bytes."""
        with self._consumer() as consumer:
            numbers = self._partitions(consumer, topic)
            ends = self._offsets(consumer, topic, numbers, -1)
            begins = self._offsets(consumer, topic, numbers, -2)
            read: dict[int, deque[Record]] = {}
            # Offsets may have gaps (compaction, transactions): it looks further back until there are enough.
            wanted = {p: max(begins[p], ends[p] - count) for p in numbers if count}
            span = count
            while wanted:
                read |= self._read(consumer, topic, {p: range(at, ends[p]) for p, at in wanted.items()}, count, longest)
                span *= 4
                wanted = {p: max(begins[p], ends[p] - span) for p, at in wanted.items() if len(read[p]) < count and at > begins[p]}
        records = sorted((r for one in read.values() for r in one), key=lambda r: (r.timestamp, r.partition, r.offset))
        return records[-count:] if count else []

    def records(self, topic: str, *, from_beginning: bool, idle_s: float | None = None) -> Iterator[Record]:
        """The records of a topic as they come; they end where none came for ``idle_s``."""
        from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, TopicPartition

        with self._consumer() as consumer:
            start = OFFSET_BEGINNING if from_beginning else OFFSET_END
            consumer.assign([TopicPartition(topic, p, start) for p in self._partitions(consumer, topic)])
            quiet = time.monotonic()
            while idle_s is None or time.monotonic() - quiet < idle_s:
                for message in consumer.consume(1000, _SLICE_S):
                    if _is_record(message, topic):
                        yield _record(message)
                        quiet = time.monotonic()

    def produce(self, topic: str, records: Iterable[tuple[bytes | None, bytes]]) -> int:
        """Send keys and values; how many, once the broker has them all. Those before an error of ``records`` itself are sent, too."""
        from confluent_kafka import Producer

        own = {k: v for k, v in self.properties.items() if k == "compression.type"}
        producer = self._opened(Producer, {**_WRITING, **own})
        self._metadata(producer)
        failed: list[Any] = []

        def check() -> None:
            if failed:
                raise BrokerError(f"The records could not all be sent to '{topic}': {_reason(failed[0])}.")

        count = 0
        try:
            for key, value in records:
                self._send(producer, topic, key, value, lambda error, _: failed.append(error))
                count += 1
                if not count % 1000:
                    producer.poll(0)
                    check()
        except SetupError:
            producer.flush(self.timeout)
            raise
        while producer.flush(_SLICE_S):
            check()
        check()
        return count

    def _send(self, producer: Any, topic: str, key: bytes | None, value: bytes, report: Callable[[Any, Any], None]) -> None:
        from confluent_kafka import KafkaException

        while True:
            try:
                producer.produce(topic, value=value, key=key, on_delivery=report)
                return
            except BufferError:  # as much waits to be sent as may
                producer.poll(_SLICE_S)
            except KafkaException as error:
                raise BrokerError(f"The records could not all be sent to '{topic}': {_reason(error)}.") from error

    def _opened(self, kind: Callable[[dict[str, Any]], Any], more: Mapping[str, Any]) -> Any:
        from confluent_kafka import KafkaException

        self._reports.clear()
        configuration = settings(self.properties)
        try:
            return kind({**_QUIET, **configuration, **more, "error_cb": self._reports.append})
        except (KafkaException, ValueError, TypeError) as error:
            hint = "Check 'properties.ssl.*', its files and their passwords." if "ssl." in str(error) else "Check the table's 'properties.*'."
            raise BrokerError(f"No Kafka client could be created for {self.servers}.", hint=hint) from error

    @contextmanager
    def _consumer(self) -> Iterator[Any]:
        from confluent_kafka import Consumer

        consumer = self._opened(Consumer, _READING)
        try:
            yield consumer
        finally:
            consumer.close()

    def _metadata(self, handle: Any) -> Any:
        """What the brokers know."""
        from confluent_kafka import KafkaException

        end = time.monotonic() + self.timeout
        while True:
            try:
                metadata = handle.list_topics(timeout=min(_SLICE_S, self.timeout))
                if metadata.brokers:
                    return metadata
            except KafkaException as error:
                if error.args[0].name() not in ("_TRANSPORT", "_TIMED_OUT", "_ALL_BROKERS_DOWN"):
                    self._reports.append(error.args[0])
            handle.poll(0)
            if self._reports:
                end = min(end, time.monotonic() + _GRACE_S)
            if time.monotonic() >= end:
                self._fail()

    def _fail(self) -> NoReturn:
        """Raise the error that the reports describe."""
        reports = [(r.name(), r.str()) for r in self._reports]
        rows = (row for row in _REPORTS for name, text in reports if row[0] in ("", name) and row[1] in text)
        _, _, message, hint = next(rows, _SILENCE)
        configuration = settings(self.properties)
        user = f" of '{configuration['sasl.username']}'" if "sasl.username" in configuration else ""
        what = {"servers": self.servers, "user": user, "mechanism": configuration.get("sasl.mechanism"), "endpoint": configuration.get(TOKENS)}
        raise BrokerError(message.format(**what), hint=hint)

    def _topics(self, handle: Any) -> dict[str, list[int]]:
        """The partitions of all topics; those without a leader are not there."""
        topics = self._metadata(handle).topics
        return {name: sorted(topics[name].partitions) for name in sorted(topics) if name not in _INTERNAL}

    def _partitions(self, consumer: Any, topic: str) -> list[int]:
        known = self._metadata(consumer).topics
        if topic not in known:
            names = sorted(name for name in known if name not in _INTERNAL)
            hint = did_you_mean(topic, names) or f"There are: {', '.join(names) or 'none'}."
            raise BrokerError(f"There is no topic '{topic}' at {self.servers}.", hint=hint)
        partitions = known[topic].partitions
        for number, partition in partitions.items():
            if partition.leader < 0:
                raise BrokerError(f"Partition {number} of '{topic}' has no leader now.", hint="Try again when its broker is back.")
        return sorted(partitions)

    def _offsets(self, consumer: Any, topic: str, partitions: Iterable[int], when: int) -> dict[int, int]:
        """The first offset (``when`` is -2), or that behind the last (-1), of each partition."""
        from confluent_kafka import KafkaException, TopicPartition

        try:
            offsets = consumer.offsets_for_times([TopicPartition(topic, p, when) for p in partitions], timeout=self.timeout)
        except KafkaException as error:
            raise _unreadable(topic, error) from error
        for one in offsets:
            if one.error is not None:
                raise _unreadable(topic, one.error)
        return {one.partition: one.offset for one in offsets}

    def _read(self, consumer: Any, topic: str, ranges: Mapping[int, range], most: int, longest: int | None) -> dict[int, deque[Record]]:
        """The last records of each partition's range of offsets, ``most`` of them."""
        from confluent_kafka import KafkaError, TopicPartition

        records: dict[int, deque[Record]] = {p: deque(maxlen=most) for p in ranges}
        left = {p for p, offsets in ranges.items() if offsets}
        consumer.assign([TopicPartition(topic, p, ranges[p].start) for p in left])
        quiet = time.monotonic()
        while left:
            for message in consumer.consume(1000, _SLICE_S / 4):
                quiet = time.monotonic()
                number = message.partition()
                if message.error() is not None and message.error().code() == KafkaError._PARTITION_EOF:
                    left.discard(number)
                elif _is_record(message, topic):
                    if message.offset() in ranges[number]:
                        records[number].append(_record(message, longest))
                    if message.offset() >= ranges[number].stop - 1:
                        left.discard(number)
            if time.monotonic() - quiet > self.timeout:
                self._fail()
        return records


def _is_record(message: Any, topic: str) -> bool:
    """Whether a message is a record; raises what is wrong with the topic. The rest passes: brokers come back, and there may be no right to the
    group, which is nothing but a name."""
    error = message.error()
    if error is None:
        return True
    if message.topic() != topic or error.name() == "_PARTITION_EOF":
        return False
    raise _unreadable(topic, error)


def _record(message: Any, longest: int | None = None) -> Record:
    key, value = (None if data is None else data[:longest] for data in (message.key(), message.value()))
    return Record(message.partition(), message.offset(), message.timestamp()[1], key, value)


def _unreadable(topic: str, error: Any) -> BrokerError:
    reach = "The addresses by which the brokers announce themselves (advertised.listeners) must be reachable from here."
    silent = _name(error) in ("_TIMED_OUT", "_TRANSPORT")
    return BrokerError(f"The topic '{topic}' cannot be read: {_reason(error)}.", hint=reach if silent else None)


def _error(error: Any) -> Any:
    """The library's error in an exception, or what it is itself."""
    return error.args[0] if isinstance(error, Exception) and error.args else error


def _name(error: Any) -> str:
    name = getattr(_error(error), "name", None)
    return name() if name is not None else ""


def _reason(error: Any) -> str:
    """Why a request failed, in a few words."""
    inner = _error(error)
    text = inner.str() if hasattr(inner, "str") else str(inner)
    for start in ("Broker: ", "Local: "):
        text = text.removeprefix(start)
    return _REASONS.get(_name(error)) or text.rstrip(".")
