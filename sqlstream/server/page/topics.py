"""The topics of the brokers that the project knows: how much is in them, who uses them, and what their last records are. Spark is asked nothing."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from sqlstream.connectors.kafka.client import KafkaClient
from sqlstream.core.depth import deeply
from sqlstream.core.errors import SqlStreamError
from sqlstream.core.secrets import masked_value
from sqlstream.plan.nodes import scans
from sqlstream.server.answers import NotThere
from sqlstream.server.page.lately import Lately
from sqlstream.server.page.looks import Look, Looks
from sqlstream.server.page.query import address_of
from sqlstream.session import raw_topics, registered_topics
from sqlstream.session.inference import create_table
from sqlstream.session.seen_records import LONGEST_BYTES, Seen, seen
from sqlstream.sql.masking import masked_text
from sqlstream.sql.quoting import quote as quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlstream.connectors.kafka.client import Spans
    from sqlstream.server.server import Server
    from sqlstream.session.raw_topics import Cluster
    from sqlstream.sql.tables import ObjectPath

_CATALOG_SECONDS = 3.0
# Brokers are looked at so often while somebody looks, and a page waits so long for them; a look that is older says nothing of a rate.
_EVERY_SECONDS = 5.0
_PATIENCE_SECONDS = 3.0
_OLD_SECONDS = 60.0
# A topic that a look this old does not have may be there since.
_NEW_SECONDS = 1.0
_TIMEOUT_SECONDS = 5.0
# Records that are read to infer a table, and those that are shown of them.
_READ, _SHOWN = 50, 20
_OPENED_SECONDS = 2.0


@dataclass(frozen=True)
class Offsets:
    """What brokers have said of their topics. ``at``: when, by the monotonic clock; ``rates``: records a second by topic and partition."""

    at: float
    topics: Mapping[str, Spans]
    rates: Mapping[tuple[str, int], float]


@dataclass(frozen=True)
class TopicRow:
    """A topic in the list. None: not known."""

    name: str
    address: str
    partitions: int
    records: int | None
    rate: float | None
    tables: tuple[ObjectPath, ...]
    problem: str | None


@dataclass(frozen=True)
class ClusterShown:
    """Brokers with their topics; ``answered`` is False where they have said nothing yet."""

    servers: str
    topics: tuple[TopicRow, ...] = ()
    answered: bool = True
    problem: SqlStreamError | None = None


@dataclass(frozen=True)
class PartitionRow:
    """A partition of a topic: offsets, records, records a second. None: not known."""

    number: int
    begin: int | None
    end: int | None
    records: int | None
    rate: float | None


@dataclass(frozen=True)
class Reader:
    """A job of this server that reads a topic, and how many records it has yet to read there; None where that is not known."""

    job: str
    lag: int | None


@dataclass(frozen=True)
class Content:
    """The last records of a topic, newest first, with the columns of ``table`` by which they are decoded, those of ``numbers`` among them, and the
    CREATE TABLE that they suggest, without secrets.
    """

    records: tuple[Seen, ...] = ()
    columns: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    table: ObjectPath | None = None
    proposal: str | None = None

    @property
    def longest(self) -> int:
        """So many bytes a value may have that tells of a table."""
        return LONGEST_BYTES

    @property
    def editor(self) -> str | None:
        """The address of an editor with the proposal; None where there is none, or it is too long for one."""
        return None if self.proposal is None else address_of(self.proposal)


@dataclass(frozen=True)
class TopicShown:
    """A topic. ``problem``: why its records could not be read; ``silent``: why no more is known of it than before; ``others``: the addresses of
    topics of the same name at other brokers.
    """

    row: TopicRow
    servers: str
    partitions: tuple[PartitionRow, ...]
    readers: tuple[Reader, ...]
    content: Content | None
    problem: SqlStreamError | None
    silent: SqlStreamError | None
    others: tuple[tuple[str, str], ...]


class TopicPages:
    """What is said of topics, by clients that only look."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._clusters: Lately[None, list[Cluster]] = Lately(_CATALOG_SECONDS)
        self._offsets: Looks[str, Offsets] = Looks(server.project)
        self._contents: Looks[tuple[str, str], Content] = Looks(server.project)

    def listed(self) -> tuple[ClusterShown, ...]:
        """The topics of all brokers."""
        return tuple(_shown(cluster, look) for cluster, look in self._looked())

    def topic(self, name: str, servers: str | None, *, opened: bool) -> TopicShown:
        """A topic of the brokers ``servers``, None: of the first that have it. ``opened``: its records are read anew. Raises NotThere, and what the
        brokers answer.
        """
        for seconds in (_EVERY_SECONDS, _NEW_SECONDS):
            looked = [(cluster, look) for cluster, look in self._looked(seconds) if servers is None or cluster.servers == servers]
            having = [(cluster, look.value, look.problem) for cluster, look in looked if look.value is not None and name in look.value.topics]
            if having:
                break
        if not having:
            for _, look in looked:
                if look.problem is not None:
                    raise look.problem
            raise NotThere(f"There is no topic '{name}' at the brokers that the project knows.")
        cluster, offsets, silent = having[0]
        content = self._contents.get(
            (cluster.servers, name),
            lambda _: _content(cluster, name),
            seconds=_OPENED_SECONDS if opened else float("inf"),
            patience=_PATIENCE_SECONDS if opened else 0.0,
            anew=opened,
        )
        row = _row(cluster, name, offsets)
        spans = sorted(offsets.topics[name].partitions.items())
        return TopicShown(
            row,
            masked_value(cluster.servers),
            tuple(PartitionRow(number, span.begin, span.end, span.records, offsets.rates.get((name, number))) for number, span in spans),
            tuple(self._readers(cluster, name)),
            content.value,
            content.problem,
            silent,
            tuple((masked_value(other.servers), _address(other, name)) for other, *_ in having[1:]),
        )

    def _looked(self, seconds: float = _EVERY_SECONDS) -> list[tuple[Cluster, Look[Offsets]]]:
        """All brokers, each asked at the same time as the others. Looks that are older than so many ``seconds`` are taken anew, and awaited where
        that is less than usual.
        """
        clusters = self._clusters.get(None, self._known)
        for cluster in clusters:
            self._look(cluster, 0.0, seconds)
        end = time.monotonic() + _PATIENCE_SECONDS
        return [(cluster, self._look(cluster, max(end - time.monotonic(), 0.0), seconds)) for cluster in clusters]

    def _look(self, cluster: Cluster, patience: float, seconds: float) -> Look[Offsets]:
        anew = seconds < _EVERY_SECONDS
        return self._offsets.get(cluster.servers, lambda before: _offsets(cluster, before.value), seconds=seconds, patience=patience, anew=anew)

    def _known(self) -> list[Cluster]:
        with closing(self._server.looking_session(lambda line: None)) as session:
            return raw_topics.clusters(session.context.catalog, session.context.options, self._server.project)

    def _readers(self, cluster: Cluster, topic: str) -> Iterator[Reader]:
        for job in list(self._server.jobs):
            if not job.lives:
                continue
            reads, lags = False, []
            for sink, query in zip(job.sinks, job.metrics.queries, strict=False):
                tables = [scan.table for scan in scans(sink)]
                if any(raw_topics.servers_of(table) == cluster.servers and raw_topics.has_topic(table, topic) for table in tables):
                    reads = True
                    lags += [p.lag for one in query.inputs for p in one.partitions if p.name.rpartition("-")[0] == topic]
            if reads:
                yield Reader(job.name, sum(lags) if lags else None)


def rates(before: Offsets | None, at: float, topics: Mapping[str, Spans]) -> dict[tuple[str, int], float]:
    """Records a second by topic and partition since the look of ``before``; none of what was not there, or has begun anew."""
    if before is None or not 0 < at - before.at < _OLD_SECONDS:
        return {}
    found = {}
    for topic, spans in topics.items():
        known = before.topics[topic].partitions if topic in before.topics else {}
        for number, span in spans.partitions.items():
            last = known[number].end if number in known else None
            if last is not None and span.end is not None and span.end >= last:
                found[topic, number] = (span.end - last) / (at - before.at)
    return found


def _offsets(cluster: Cluster, before: Offsets | None) -> Offsets:
    """What the brokers say now. Raises SqlStreamError."""
    topics = _client(cluster).spans()
    at = time.monotonic()
    return Offsets(at, topics, rates(before, at, topics))


def _client(cluster: Cluster, topic: str | None = None) -> KafkaClient:
    return KafkaClient(cluster.brokers(topic).properties, timeout=_TIMEOUT_SECONDS)


def _content(cluster: Cluster, topic: str) -> Content:
    """The last records of a topic. Raises SqlStreamError."""
    records = _client(cluster, topic).latest(topic, _READ, longest=LONGEST_BYTES)
    # What is cut off is no document that could be told from.
    values = [r.value for r in records if r.value is not None and len(r.value) < LONGEST_BYTES]
    proposal = deeply(lambda: _proposal(cluster, topic, values)) if values else None
    table = next(iter(cluster.tables_of(topic)), None)
    fields, last = seen(records[: -_SHOWN - 1 : -1], table)
    columns, numbers = tuple(name for name, _ in fields), tuple(name for name, type_ in fields if type_.is_numeric)
    return Content(last, columns, numbers, table.path if table is not None and columns else None, proposal)


def _proposal(cluster: Cluster, topic: str, values: list[bytes]) -> str | None:
    """The CREATE TABLE of a topic; None where a schema registry that knows more of it does not answer."""
    try:
        known = registered_topics.proposal(topic, values, cluster.tables, {})
    except SqlStreamError:
        return None
    return f"{masked_text(create_table(quoted(topic), topic, cluster.brokers(topic).options, values, known))};"


def _shown(cluster: Cluster, look: Look[Offsets]) -> ClusterShown:
    servers = masked_value(cluster.servers)
    if look.value is None or look.problem is not None:
        return ClusterShown(servers, answered=look.problem is not None, problem=look.problem)
    return ClusterShown(servers, tuple(_row(cluster, topic, look.value) for topic in look.value.topics))


def _row(cluster: Cluster, topic: str, offsets: Offsets) -> TopicRow:
    spans = offsets.topics[topic]
    counts = [span.records for span in spans.partitions.values()]
    known = [offsets.rates[topic, number] for number in spans.partitions if (topic, number) in offsets.rates]
    return TopicRow(
        topic,
        _address(cluster, topic),
        len(counts),
        None if any(count is None for count in counts) else sum(count or 0 for count in counts),
        sum(known) if known else None,
        tuple(table.path for table in cluster.tables_of(topic)),
        spans.problem,
    )


def _address(cluster: Cluster, topic: str) -> str:
    return f"/topics/{quote(topic)}?servers={quote(cluster.servers, safe='')}"
