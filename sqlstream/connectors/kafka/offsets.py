"""Which records of Kafka a table means: partitions, startup and bounded modes as the offsets that Spark's source takes.

In: typed options and an admin client of Kafka's (reached through Spark's JVM). Out: dicts of (topic, partition) to offset, where
EARLIEST and LATEST stand for themselves, and their JSON.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import SetupError, ValidationError
from sqlstream.core.options import parse_whole
from sqlstream.core.patience import Impatient, await_answer
from sqlstream.core.secrets import masked_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyspark.sql import SparkSession

LATEST = -1
EARLIEST = -2
Partition = tuple[str, int]
Offsets = dict[Partition, int]
_TIMEOUT_MS = "20000"
# Kafka's Uuid.ZERO_UUID.
_NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
# Words of Kafka's of a client that may not come in: by its login, its mechanism, its rights.
_REFUSED = ("AuthenticationException", "AuthorizationException", "SaslState", "SaslMechanism")


def parse_specific(text: str) -> dict[int, int]:
    """Partition to offset of ``partition:0,offset:42;partition:1,offset:300``. Raises ValueError."""
    return dict(parse_records(text))


def parse_records(text: str) -> list[tuple[int, int]]:
    """The same, of which a partition may have several. Raises ValueError."""
    offsets = []
    for part in filter(None, (p.strip() for p in text.split(";"))):
        match = re.fullmatch(r"partition\s*:\s*(\d+)\s*,\s*offset\s*:\s*(\d+)", part, re.ASCII)
        if not match:
            raise ValueError(f"'{part}' is not of the form 'partition:0,offset:42'")
        offsets.append((parse_whole(match[1]), parse_whole(match[2], 64)))
    return offsets


def to_json(offsets: Mapping[Partition, int]) -> str:
    """``offsets`` as Spark's Kafka source takes them."""
    topics: dict[str, dict[str, int]] = defaultdict(dict)
    for (topic, partition), offset in sorted(offsets.items()):
        topics[topic][str(partition)] = offset
    return json.dumps(topics)


def offsets_of(text: str) -> Offsets:
    """What ``to_json`` gave."""
    return {(topic, int(number)): offset for topic, of in json.loads(text).items() for number, offset in of.items()}


def assignment(partitions: Iterable[Partition]) -> str:
    """``partitions`` as Spark's option ``assign`` takes them."""
    topics: dict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(partitions):
        topics[topic].append(partition)
    return json.dumps(topics)


class Cluster:
    """Metadata from the brokers. Every method raises SetupError if they don't answer."""

    def __init__(self, spark: SparkSession, admin: Any, servers: str) -> None:
        self._jvm = spark._jvm
        self._admin = admin
        self._servers = servers
        assert self._jvm is not None
        self._classes = self._jvm.org.apache.kafka

    def partitions(self, topics: Iterable[str], pattern: str | None) -> list[Partition]:
        """All partitions of ``topics``, or of the topics that match ``pattern``, one of Java. Raises ValidationError for a topic that is missing."""
        if pattern is not None:
            assert self._jvm is not None
            matches = self._jvm.java.util.regex.Pattern.matches
            topics = sorted(str(t) for t in self._get(self._admin.listTopics().names()) if matches(pattern, t))
        return [(topic, int(p.partition())) for topic in topics for p in self._described(topic).partitions()]

    def ids(self, topics: Iterable[str]) -> dict[str, str]:
        """The id of each of ``topics``, which a topic that is created again does not have. Brokers of long ago have none."""
        ids = {topic: str(self._described(topic).topicId().toString()) for topic in topics}
        return {topic: id_ for topic, id_ in ids.items() if id_ != _NO_ID}

    def _described(self, topic: str) -> Any:
        return self._get(self._admin.describeTopics(self._list([topic])).topicNameValues().get(topic), topic)

    def committed(self, group: str, partitions: Iterable[Partition]) -> Offsets:
        """The group's committed offsets, of those partitions that have one."""
        committed = self._get(self._admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata())
        wanted = set(partitions)
        offsets: Offsets = {}
        for entry in committed.entrySet():
            key = (str(entry.getKey().topic()), int(entry.getKey().partition()))
            if key in wanted and entry.getValue() is not None:
                offsets[key] = int(entry.getValue().offset())
        return offsets

    def resolved(self, offsets: Mapping[Partition, int]) -> Offsets:
        """``offsets`` with EARLIEST and LATEST replaced by what they are now."""
        specs = {LATEST: self._classes.clients.admin.OffsetSpec.latest, EARLIEST: self._classes.clients.admin.OffsetSpec.earliest}
        latest_or_earliest = {p: specs[o]() for p, o in offsets.items() if o in specs}
        return {**offsets, **self._ask(latest_or_earliest)}

    def at_time(self, millis: int, partitions: Iterable[Partition]) -> Offsets:
        """The first offset at or after ``millis`` of each partition; its end where there is none."""
        partitions = list(partitions)
        spec = self._classes.clients.admin.OffsetSpec
        offsets = self._ask({p: spec.forTimestamp(millis) for p in partitions})
        missing = {p: LATEST for p in partitions if offsets[p] < 0}
        return {**offsets, **self.resolved(missing)}

    def _ask(self, specs: Mapping[Partition, Any]) -> Offsets:
        if not specs:
            return {}
        assert self._jvm is not None
        request = self._jvm.java.util.HashMap()
        keys = {p: self._classes.common.TopicPartition(*p) for p in specs}
        for partition, spec in specs.items():
            request.put(keys[partition], spec)
        answer = self._get(self._admin.listOffsets(request).all())
        return {p: int(answer.get(keys[p]).offset()) for p in specs}

    def _list(self, items: Iterable[str]) -> Any:
        assert self._jvm is not None
        out = self._jvm.java.util.ArrayList()
        for item in items:
            out.add(item)
        return out

    def _get(self, future: Any, topic: str | None = None) -> Any:
        from py4j.protocol import Py4JJavaError

        try:
            return await_answer(lambda seconds: self._answer(future, seconds), f"Kafka at {self._servers}")
        except Impatient as error:
            raise SetupError(f"Kafka at {self._servers} has not answered: the wait was interrupted.") from error
        except Py4JJavaError as error:
            text = str(error.java_exception)
            if "UnknownTopicOrPartition" in text and topic is not None:
                raise ValidationError(
                    f"Kafka topic '{topic}' does not exist at {self._servers}.",
                    hint="Create it, or write to it first.",
                ) from error
            if any(refused in text for refused in _REFUSED):
                raise SetupError(
                    f"Kafka at {self._servers} refuses the client: {_innermost(error).rstrip('.')}.",
                    hint="Check 'properties.sasl.*' and the user's rights.",
                ) from error
            raise SetupError(
                f"Kafka at {self._servers} does not answer: {_innermost(error).rstrip('.')}.",
                hint="Check 'properties.bootstrap.servers' and that the broker runs.",
            ) from error

    def _answer(self, future: Any, seconds: float) -> Any:
        """The value of ``future``; None where it has none after so long."""
        from py4j.protocol import Py4JJavaError

        assert self._jvm is not None
        try:
            return future.get(int(seconds * 1000), self._jvm.java.util.concurrent.TimeUnit.MILLISECONDS)
        except Py4JJavaError as error:
            # Kafka's own is the cause of an ExecutionException.
            if error.java_exception.getClass().getName() == "java.util.concurrent.TimeoutException":
                return None
            raise


def _innermost(error: Any) -> str:
    """The message of the innermost cause, its secrets masked."""
    cause = error.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    return masked_value(str(cause.getMessage() or cause.toString()))


@contextmanager
def cluster(spark: SparkSession, properties: Mapping[str, str]) -> Iterator[Cluster]:
    """The cluster named by ``properties`` of a Kafka client."""
    from py4j.protocol import Py4JJavaError

    jvm = spark._jvm
    assert jvm is not None
    config = jvm.java.util.HashMap()
    for key, value in {"default.api.timeout.ms": _TIMEOUT_MS, "request.timeout.ms": _TIMEOUT_MS, **properties}.items():
        config.put(key, value)
    servers = properties.get("bootstrap.servers", "")
    try:
        admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(config)
    except Py4JJavaError as error:
        cause = _innermost(error)
        wrong = "sasl.jaas.config" if re.search(r"jaas|LoginModule", cause, re.I) else "*"
        raise SetupError(f"No Kafka client for {servers}: {cause.rstrip('.')}.", hint=f"Check the table's 'properties.{wrong}'.") from error
    try:
        yield Cluster(spark, admin, servers)
    finally:
        # What was asked, and is not waited for any more, would hold it up.
        admin.close(jvm.java.time.Duration.ZERO)
