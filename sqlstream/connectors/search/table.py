"""The connectors elasticsearch-7, elasticsearch-8, opensearch and opensearch-2: rows become documents of an index.

With a PRIMARY KEY a document is written and removed by its id, which is made of the key. Without one, documents are added.
``sqlstream.search`` in Java sends them, many at once, by the interface that all these releases have in common.
"""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sqlstream import formats
from sqlstream.connectors.base import Dataset, Write, plain_options
from sqlstream.connectors.keyed_sink import KeyedSink, Writers
from sqlstream.connectors.search.index_name import OPTION as INDEX
from sqlstream.connectors.search.index_name import IndexName, index_name
from sqlstream.connectors.upserts import DELETED
from sqlstream.core import options as option_rows
from sqlstream.core.changelog import ChangelogMode
from sqlstream.core.errors import ValidationError
from sqlstream.core.hidden import hidden
from sqlstream.core.java import classes
from sqlstream.core.options import Option, OptionKind, Role, Support, wrong_option
from sqlstream.formats.json import Json
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from pathlib import Path
    from urllib.parse import SplitResult

    from pyspark.sql import DataFrame, SparkSession

    from sqlstream.sql.tables import Table

_DOCUMENT = hidden("document")
_MB = 1 << 20
# What servers take at once at most, unless they are told otherwise, is twice that.
_MOST_BYTES = 50 * _MB
# A key of these has no text that is an id.
_NO_KEYS = ("ARRAY", "MAP", "MULTISET", "ROW", "BINARY", "VARBINARY", "VARIANT")
_DISABLED, _EXPONENTIAL = "disabled", "exponential"
_FAIL, _IGNORE, _RETRY = "fail", "ignore", "retry-rejected"
_WRITTEN = "documents are in the index before a micro-batch ends"


class SearchIndex(KeyedSink):
    """Base of the connectors of search servers, which differ by their names."""

    options = (
        Option("hosts", OptionKind.LIST, required=True, summary="The servers: http://host:9200;http://other:9200.", role=Role.PLACE,
               sample="http://localhost:9200"),
        Option(INDEX, required=True, role=Role.PLACE, sample="sales",
               summary="The index: sales, by a column sales-{shop}, by a time sales-{ts|yyyy-MM-dd} or sales-{now()|yyyy-MM-dd}."),
        Option("username", summary="The user.", role=Role.TUNING),
        Option("password", summary="The user's password.", role=Role.TUNING),
        Option("format", OptionKind.ENUM, "json", "The format of documents.", values=("json",)),
        Option("document-id.key-delimiter", default="_", summary="What stands between the columns of the key in a document's id."),
        Option("sink.bulk-flush.max-actions", OptionKind.INT, "1000", "How many documents are sent at once; 0: no limit.", role=Role.TUNING, least=0),
        Option("sink.bulk-flush.max-size", OptionKind.MEMORY, "2mb", "How much is sent at once; 0: 50 MB.", role=Role.TUNING),
        Option("sink.bulk-flush.interval", OptionKind.DURATION, "1 s", use=Support.NOTICE, why="a micro-batch is written as a whole"),
        Option("sink.bulk-flush.backoff.strategy", OptionKind.ENUM, _DISABLED, "Whether what the servers have no room for is sent again.",
               values=(_DISABLED, "constant", _EXPONENTIAL), role=Role.TUNING),
        Option("sink.bulk-flush.backoff.max-retries", OptionKind.INT, "8", "How often.", role=Role.TUNING, least=1),
        Option("sink.bulk-flush.backoff.delay", OptionKind.DURATION, "50 ms", "After how long; exponential: twice as long each time.",
               role=Role.TUNING),
        Option("failure-handler", OptionKind.ENUM, _FAIL, values=(_FAIL, _IGNORE, _RETRY), role=Role.TUNING,
               summary="What a document that is refused does: it fails the job, is left out, or is sent again where there was no room."),
        Option("connection.path-prefix", summary="What stands before the paths of all requests: /v1.", role=Role.TUNING),
        Option("connection.timeout", OptionKind.DURATION, "5 s", "How long a connection may take to be made.", role=Role.TUNING, least=1),
        Option("connection.request-timeout", OptionKind.DURATION, use=Support.NOTICE, why="no connection is waited for"),
        Option("socket.timeout", OptionKind.DURATION, "60 s", "How long an answer may take.", role=Role.TUNING, least=1),
        Option("ssl.certificate-fingerprint", summary="The SHA-256 of the certificate that is trusted.", role=Role.TUNING),
        Option("allow-insecure", OptionKind.BOOLEAN, "false", "Whether any certificate is trusted.", role=Role.TUNING),
        Option("connection.skip-verify-ssl", OptionKind.BOOLEAN, "false", "The same as allow-insecure.", role=Role.TUNING),
        Option("sink.delivery-guarantee", OptionKind.ENUM, "at-least-once", "Each row is written at least once; with a PRIMARY KEY as if once.",
               values=("none", "at-least-once"), role=Role.TUNING),
        Option("sink.parallelism", OptionKind.INT, summary="How many tasks write.", role=Role.TUNING, least=1),
        Option("sink.flush-on-checkpoint", OptionKind.BOOLEAN, "true", use=Support.NOTICE, why=_WRITTEN),
        Option("document-type", use=Support.NOTICE, why="documents have no types since Elasticsearch 7"),
    )  # fmt: skip

    def check(self, table: Table) -> list[str]:
        json_ = Json()
        notices = option_rows.check_options(self.name, plain_options(table), self.options + formats.table_options(json_))
        if table.metadata:
            raise ValidationError(f"The '{self.name}' connector has no metadata columns.")
        self._servers(table)
        _index(table)
        fields = tuple((c.name, c.type) for c in table.physical)
        own = formats.own_options(json_, table.options)
        json_.check(fields, own)
        keys = () if table.primary_key is None else table.primary_key.columns
        if illegal := [f"'{n}' {t}" for n, t in fields if n in keys and t.root in _NO_KEYS]:
            raise ValidationError(f"The table has a primary key on columns of illegal types: {', '.join(illegal)}.")
        size = self.option(table, "sink.bulk-flush.max-size")
        if size % _MB:
            raise wrong_option("sink.bulk-flush.max-size", f"'sink.bulk-flush.max-size' must be in MB granularity. Got: {size} bytes")
        if table.options.get("username") and not table.options.get("password"):
            raise wrong_option("username", "'username' and 'password' must be set at the same time.")
        return [*notices, *json_.notices(fields, own)]

    def _servers(self, table: Table) -> list[SplitResult]:
        """The addresses of the servers. Raises ValidationError."""
        servers = [urlsplit(text.rstrip("/")) for text in self.option(table, "hosts")]
        for url in servers:
            wrong = f"Could not parse host '{url._replace(netloc=url.netloc.rpartition('@')[2]).geturl()}' in option 'hosts'."
            form = "It should follow the format 'http://host_name:port'."
            try:
                port = url.port
            except ValueError:
                raise wrong_option("hosts", f"{wrong} {form}") from None
            if url.scheme not in ("http", "https") or not url.hostname or url.path or url.query:
                raise wrong_option("hosts", f"{wrong} {form}", hint="'connection.path-prefix' has a path." if url.path else None)
            if "@" in url.netloc:
                raise wrong_option("hosts", f"{wrong} {form}", hint="'username' and 'password' say who writes.")
            if port is None:
                raise wrong_option("hosts", f"{wrong} Missing port.", hint=form)
        if not servers:
            raise wrong_option("hosts", "'hosts' must not be empty")
        return servers

    def sink_modes(self, table: Table) -> tuple[ChangelogMode, ...]:
        # A row that changes is not found in an index that is named by the time at which it was written.
        return (ChangelogMode.APPEND,) if _index(table).now else super().sink_modes(table)

    def datasets(self, table: Table, project: Path) -> tuple[Dataset, ...]:
        return (Dataset(f"elasticsearch://{self._servers(table)[0].netloc}", table.options[INDEX]),)

    def writers(self, spark: SparkSession) -> Writers:
        java = classes(spark).search
        return Writers(java.DocumentWriter, java.DocumentStream)

    def as_written(self, rows: DataFrame, request: Write) -> DataFrame:
        from pyspark.sql import functions as F

        table = request.table
        types = {c.name: c.type.stored for c in table.physical}
        keys = list(table.primary_key.columns) if table.primary_key else []
        named_by = _index(table).column
        values = [*keys, *([] if named_by is None else [named_by])]
        json_ = Json()
        document = json_.encode(tuple((c.name, c.type) for c in table.physical), formats.own_options(json_, table.options))
        return rows.select(
            *(F.expr(f"CAST({quote(name)} AS {types[name]})").alias(hidden(f"value{i}")) for i, name in enumerate(values)),
            document.alias(_DOCUMENT),
            *([F.col(DELETED)] if keys else []),
        )

    def how(self, request: Write) -> tuple[str, str]:
        table = request.table
        index = _index(table)
        asked = {
            "keys": len(table.primary_key.columns) if table.primary_key else 0,
            "delimiter": self.option(table, "document-id.key-delimiter"),
            "valued": index.column is not None,
            "index": {**{k: v for k, v in asdict(index).items() if k != "column"}, "zone": request.zone},
            "together": self.option(table, "sink.bulk-flush.max-actions"),
            "bytes": self.option(table, "sink.bulk-flush.max-size") or _MOST_BYTES,
        }
        return json.dumps(self._cluster(table), sort_keys=True), json.dumps(asked)

    def _cluster(self, table: Table) -> dict[str, Any]:
        strategy, handler = self.option(table, "sink.bulk-flush.backoff.strategy"), self.option(table, "failure-handler")
        again = strategy != _DISABLED or handler == _RETRY
        prefix = (self.option(table, "connection.path-prefix") or "").strip("/")
        found = {
            "urls": [url.geturl() + (f"/{prefix}" if prefix else "") for url in self._servers(table)],
            "connect_ms": self.option(table, "connection.timeout"),
            "answer_ms": self.option(table, "socket.timeout"),
            "retries": self.option(table, "sink.bulk-flush.backoff.max-retries") if again else 0,
            "delay_ms": self.option(table, "sink.bulk-flush.backoff.delay"),
            "grows": strategy != "constant",
            "ignores": handler == _IGNORE,
        }
        if user := table.options.get("username"):
            found["authorization"] = "Basic " + base64.b64encode(f"{user}:{table.options['password']}".encode()).decode()
        if self.option(table, "allow-insecure") or self.option(table, "connection.skip-verify-ssl"):
            found["trusted"] = "*"
        elif fingerprint := table.options.get("ssl.certificate-fingerprint"):
            found["trusted"] = fingerprint
        return found


def _index(table: Table) -> IndexName:
    """Raises ValidationError."""
    return index_name(table.options[INDEX], table.physical)


def _example(connector: str) -> str:
    return (
        "CREATE TABLE totals (item STRING, total BIGINT, PRIMARY KEY (item) NOT ENFORCED)\n"
        f"WITH ('connector' = '{connector}', 'hosts' = 'http://localhost:9200', 'index' = 'totals');"
    )


def _summary(server: str) -> str:
    return f"Indexes of {server}: documents are added or, with a PRIMARY KEY, written and removed by it."


class Elasticsearch7(SearchIndex):
    """Indexes of Elasticsearch 7."""

    name = "elasticsearch-7"
    summary = _summary("Elasticsearch 7")
    example = _example(name)


class Elasticsearch8(SearchIndex):
    """Indexes of Elasticsearch 8."""

    name = "elasticsearch-8"
    summary = _summary("Elasticsearch 8 and newer")
    example = _example(name)


class OpenSearch(SearchIndex):
    """Indexes of OpenSearch 1."""

    name = "opensearch"
    summary = _summary("OpenSearch")
    example = _example(name)


class OpenSearch2(SearchIndex):
    """Indexes of OpenSearch 2."""

    name = "opensearch-2"
    summary = _summary("OpenSearch 2 and newer")
    example = _example(name)
