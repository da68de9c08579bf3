"""Topics without tables: their latest records as rows, and tables proposed for them."""

from __future__ import annotations

import datetime
import zoneinfo
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.connectors.kafka.client import KafkaClient
from sqlstream.connectors.kafka.client_settings import PREFIX, properties_of
from sqlstream.connectors.kafka.connector import OWN, matches
from sqlstream.core.environment import KAFKA_BOOTSTRAP, development_broker, variable
from sqlstream.core.errors import SetupError, ValidationError
from sqlstream.core.options import resolve_environment
from sqlstream.session import registered_topics, results
from sqlstream.session.inference import SAMPLE, create_table
from sqlstream.sql.quoting import quote
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sqlstream.catalog.namespaces import CatalogManager

OPTION = "kafka.bootstrap.servers"
USUAL_COUNT = 10
_SERVERS = "properties.bootstrap.servers"
_SAYS_HOW = ("properties.security.protocol", "properties.sasl.jaas.config")
_DEVELOPMENT = "localhost:9092"


@dataclass(frozen=True)
class TopicBrokers:
    """Where a topic is: the properties of a client, and the options by which a table names them."""

    properties: Mapping[str, str]
    options: Mapping[str, str]

    @property
    def client(self) -> KafkaClient:
        return KafkaClient(self.properties)


def peeked(node: ast.Peek, catalog: CatalogManager, options: Mapping[str, str], project: Path) -> results.Rows:
    """The answer of PEEK. Raises SqlStreamError."""
    count = node.limit
    client = brokers(catalog, options, project, node.this.name).client
    records = client.latest(node.this.name, USUAL_COUNT if count is None else count)
    rows = [(str(r.partition), str(r.offset), time_of(r.timestamp), text_of(r.key), text_of(r.value)) for r in records]
    return results.text_rows(("partition", "offset", "timestamp", "key", "value"), rows)


def proposed(node: ast.Infer, catalog: CatalogManager, options: Mapping[str, str], project: Path) -> str:
    """The CREATE TABLE that INFER proposes, with whatever secrets a table of the brokers has. Raises SqlStreamError."""
    topic = node.topic.name
    there = brokers(catalog, options, project, topic)
    records = there.client.latest(topic, SAMPLE)
    if not any(r.value is not None for r in records):
        hint = "INFER reads the latest records: run it again when some have come, or write CREATE TABLE."
        raise ValidationError(f"The topic '{topic}' has no records to infer a table from.", at=node.topic, hint=hint)
    name = ".".join(quote(p) for p in ast.parts(node.this)) if node.this is not None else quote(topic)
    values = [r.value for r in records]
    return create_table(name, topic, there.options, values, registered_topics.proposal(topic, values, list(_tables(catalog)), options))


def brokers(catalog: CatalogManager, options: Mapping[str, str], project: Path, topic: str | None = None) -> TopicBrokers:
    """The brokers of ``topic``: those of a table of it, of the option, of the environment, of the project's development broker.

    A table that has these brokers says how to log in. Raises SetupError, ValidationError.
    """
    tables = [t.options for t in _tables(catalog) if _SERVERS in t.options]
    for table in tables:
        if topic is not None and topic in table.get("topic", "").split(";"):
            return _of_table(table)
    written = _written(options, project)
    servers = resolve_environment({_SERVERS: written})[_SERVERS]
    for table in tables:
        if _resolved(table[_SERVERS]) == servers:
            return _of_table({**table, _SERVERS: written})
    return TopicBrokers({"bootstrap.servers": servers}, {_SERVERS: written})


@dataclass(frozen=True)
class Cluster:
    """Brokers that are named together. ``servers``: as a client takes them; ``tables``: those that name them, of which the first that says how to
    log in says so for all. ``own``: how a table names brokers that no table has.
    """

    servers: str
    tables: tuple[Table, ...] = ()
    own: str | None = None

    def brokers(self, topic: str | None = None) -> TopicBrokers:
        """How a client reaches them: as a table of ``topic`` says, where there is one. Raises ValidationError."""
        of_topic = [table for table in self.tables if topic is not None and has_topic(table, topic)]
        saying_how = [table for table in self.tables if any(key in table.options for key in _SAYS_HOW)]
        if (table := next(iter((*of_topic, *saying_how, *self.tables)), None)) is not None:
            return _of_table(table.options)
        return TopicBrokers({"bootstrap.servers": self.servers}, {_SERVERS: self.own or self.servers})

    def tables_of(self, topic: str) -> tuple[Table, ...]:
        """The tables that read the topic, or write it."""
        return tuple(table for table in self.tables if has_topic(table, topic))


def clusters(catalog: CatalogManager, options: Mapping[str, str], project: Path) -> list[Cluster]:
    """Those that tables name, and those for topics without a table."""
    found: dict[str, list[Table]] = {}
    for table in _tables(catalog):
        if _SERVERS in table.options:
            found.setdefault(_resolved(table.options[_SERVERS]), []).append(table)
    made = [Cluster(servers, tuple(tables)) for servers, tables in found.items()]
    try:
        written = _written(options, project)
    except SetupError:
        return made
    servers = _resolved(written)
    return made if servers in found else [*made, Cluster(servers, own=written)]


def servers_of(table: Table) -> str | None:
    """The brokers that a table names, as a client takes them."""
    return _resolved(table.options[_SERVERS]) if _SERVERS in table.options else None


def has_topic(table: Table, topic: str) -> bool:
    """Whether a table of these brokers reads the topic, or writes it."""
    names, pattern = table.options.get("topic", ""), table.options.get("topic-pattern")
    return topic in (name.strip() for name in names.split(";")) or (pattern is not None and matches(pattern, topic))


def known_properties(written_options: Mapping[str, str], catalog: CatalogManager, options: Mapping[str, str], project: Path) -> dict[str, str]:
    """The properties of a client for the options of a table that is being written: where it says no more than its brokers, those of a table of
    theirs; where it says none, those of the first table that has brokers, or of topics without one. Raises ValidationError."""
    properties = properties_of(written_options)
    for other in (t.options for t in _tables(catalog) if _SERVERS in t.options):
        if _SERVERS not in written_options or (len(properties) == 1 and _resolved(other[_SERVERS]) == _resolved(written_options[_SERVERS])):
            return dict(_of_table(other).properties)
    if _SERVERS in written_options:
        return properties_of(resolve_environment(written_options))
    try:
        return dict(brokers(catalog, options, project).properties)
    except SetupError:
        return {"bootstrap.servers": _DEVELOPMENT}


def client_of_table(name: str, catalog: CatalogManager) -> KafkaClient:
    """A client of the brokers of a table. Raises ValidationError."""
    table = catalog.resolve(tuple(name.split(".")))
    if not isinstance(table, Table) or _SERVERS not in table.options:
        raise ValidationError(f"'{name}' is not a table of a Kafka topic.")
    return _of_table(table.options).client


def _of_table(options: Mapping[str, str]) -> TopicBrokers:
    own = {k: v for k, v in options.items() if k.startswith(PREFIX) and k.removeprefix(PREFIX) not in OWN}
    return TopicBrokers(properties_of(resolve_environment(own)), own)


def _resolved(servers: str) -> str:
    """The brokers that a table names; its text where a variable is not set."""
    try:
        return resolve_environment({_SERVERS: servers})[_SERVERS]
    except ValidationError:
        return servers


def _written(options: Mapping[str, str], project: Path) -> str:
    """The brokers for topics without a table, as a table would name them."""
    if OPTION in options:
        return options[OPTION]
    if variable(KAFKA_BOOTSTRAP):
        return f"${{env:{KAFKA_BOOTSTRAP}}}"
    if (broker := development_broker(project)) is not None:
        return broker
    hint = f"Set the variable {KAFKA_BOOTSTRAP}, or SET '{OPTION}' = 'host:port' (in sqlstream.toml too), or declare a table of the topic."
    raise SetupError("No Kafka broker is known.", hint=hint)


def _tables(catalog: CatalogManager) -> Iterator[Table]:
    for one in catalog.catalogs.values():
        for database in one.databases.values():
            yield from (t for t in database.known.values() if isinstance(t, Table))
    yield from (t for t in catalog.temporary.values() if isinstance(t, Table))


def seconds(millis: int) -> float | None:
    """The moment of a record, in milliseconds since 1970, in seconds; None where it has none."""
    return None if millis < 0 else millis / 1000


def time_of(millis: int) -> str | None:
    """The same as text."""
    at = seconds(millis)
    if at is None:
        return None
    made = datetime.datetime.fromtimestamp(at, zoneinfo.ZoneInfo("UTC"))
    return made.strftime("%Y-%m-%d %H:%M:%S.") + f"{made.microsecond // 1000:03d}Z"


def text_of(data: bytes | None) -> str | None:
    """Text as it is on one line, other bytes as a literal."""
    if data is None:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return f"x'{data.hex()}'"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
