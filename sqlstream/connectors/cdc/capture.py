"""What the connectors of change data capture have in common: tables whose changes an engine of Debezium reads from a database's log.

``Capture.java`` has the engine, one for all queries of a job that read the table, and keeps what it tells in files below the job's folder until all
have read it. So a micro-batch can be read again, and a database is asked for nothing twice.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from sqlstream.connectors.base import Connector, Dataset, Read, SourceFrame, plain_options, shared_name
from sqlstream.core import jars, storage
from sqlstream.core import options as option_rows
from sqlstream.core.changelog import KIND, ChangelogMode, RowKind
from sqlstream.core.errors import ValidationError
from sqlstream.core.hidden import hidden
from sqlstream.core.java import classes
from sqlstream.core.options import Option, OptionKind, Role, Support
from sqlstream.formats import changes, rows
from sqlstream.formats.base import Encoded, refuse_types
from sqlstream.sql.quoting import quote
from sqlstream.sql.types import STRING, TINYINT, map_of

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.sql.tables import Table

_CHUNKS = "the rows that are there at the beginning are read in one query"
_SOURCE = hidden("source")
_KINDS = " ".join(f"WHEN {kind.code} THEN '{kind.value}'" for kind in RowKind)
# Metadata keys to their SQL over what Debezium says of the place of a change.
_METADATA = {
    "database_name": f"{_SOURCE}['db']",
    "schema_name": f"{_SOURCE}['schema']",
    "table_name": f"{_SOURCE}['table']",
    # As in Flink CDC, rows that were there at the beginning have no time.
    "op_ts": f"timestamp_millis(IF({_SOURCE}['snapshot'] = 'false', CAST({_SOURCE}['ts_ms'] AS BIGINT), 0L))",
    "row_kind": f"CASE {KIND} {_KINDS} END",
}
# How values are told: JSON without schemas, which CapturedValues.java reads.
_TOLD = {
    "topic.prefix": "sqlstream",
    "key.converter.schemas.enable": "false",
    "value.converter.schemas.enable": "false",
    "tombstones.on.delete": "false",
    "time.precision.mode": "microseconds",
    "decimal.handling.mode": "string",
    "value.converter.decimal.format": "NUMERIC",
    "binary.handling.mode": "base64",
    "interval.handling.mode": "string",
}
_TUNED = {"poll.interval.ms": "50", "max.batch.size": "4096", "max.queue.size": "16384", "max.queue.size.in.bytes": "67108864"}
_OURS = (
    *_TOLD, "name", "connector.class", "offset.", "schema.history.", "database.history.", "transforms", "predicates", "notification.", "converters",
)  # fmt: skip


def without_effect(*keys: str, why: str = _CHUNKS) -> tuple[Option, ...]:
    """Options of Flink CDC that say how it reads, by their keys."""
    return tuple(Option(key, use=Support.NOTICE, why=why) for key in keys)


LOGIN = (
    Option("hostname", required=True, summary="The database's host.", role=Role.PLACE),
    Option("username", required=True, summary="The user, who may read the table and the log.", role=Role.TUNING),
    Option("password", required=True, summary="The user's password.", role=Role.TUNING),
)
OTHERS = (
    Option("connect.timeout", OptionKind.DURATION, "30 s", "How long a connection may take to be made.", role=Role.TUNING),
    Option("scan.snapshot.fetch.size", OptionKind.INT, "1024", "How many rows are fetched at a time at the beginning.", role=Role.TUNING, least=1),
    Option("debezium.*", summary="A property of Debezium's connector.", role=Role.TUNING),
    *without_effect(
        "scan.incremental.snapshot.enabled", "scan.incremental.snapshot.chunk.size", "scan.incremental.snapshot.chunk.key-column",
        "scan.incremental.snapshot.backfill.skip", "scan.incremental.snapshot.unbounded-chunk-first.enabled",
        "scan.incremental.close-idle-reader.enabled", "chunk-meta.group.size", "chunk-key.even-distribution.factor.upper-bound",
        "chunk-key.even-distribution.factor.lower-bound", "split-key.even-distribution.factor.upper-bound",
        "split-key.even-distribution.factor.lower-bound",
    ),
    *without_effect("connect.max-retries", why="Debezium connects again until it can"),
    *without_effect("connection.pool.size", why="there is one connection"),
    Option("scan.read-changelog-as-append-only.enabled", use=Support.REFUSED, why="TO_CHANGELOG(input => TABLE t) makes rows of the changes."),
    Option("jdbc.properties.*", use=Support.REFUSED, why="Write 'debezium.driver.NAME' instead."),
)  # fmt: skip


class ChangeCapture(Connector):
    """Base of the connectors of change data capture; LOGIN and OTHERS are among their options."""

    is_source = True
    reads_in_parts = True
    bounded_by = "take the connector 'jdbc', which reads the rows that are there"
    # The scheme of OpenLineage's namespace.
    scheme: ClassVar[str]

    @abstractmethod
    def properties(self, request: Read) -> dict[str, str]:
        """Debezium's properties for the table, but for those that all have. Raises JobFailed."""

    @abstractmethod
    def zone(self, request: Read) -> str:
        """In which zone a time of the database that has one becomes a TIMESTAMP."""

    @abstractmethod
    def named(self, table: Table) -> tuple[str, ...]:
        """The values that name the table in the database's server, each a regular expression."""

    def why(self, change: str) -> str:
        """SQL of what is said behind ``change``, SQL of one that does not fit."""
        return "''"

    def upserts(self, table: Table) -> bool:
        """Whether changes come without the rows before them."""
        return False

    def check(self, table: Table) -> list[str]:
        notices = option_rows.check_options(self.name, plain_options(table), self.options)
        refuse_types(self.name, tuple((c.name, c.type) for c in table.physical), lambda t: t.is_interval or t.root in ("MULTISET", "NULL", "VARIANT"))
        for key in table.options:
            name = key.removeprefix("debezium.")
            if name != key and name.startswith(_OURS):
                raise option_rows.wrong_option(key, f"Option '{key}' can't be set: sqlstream sets it, and reads by it.")
        if table.options.get("debezium.snapshot.mode", "initial") not in ("initial", "never", "no_data"):
            raise option_rows.wrong_option(
                "debezium.snapshot.mode", "The value of 'debezium.snapshot.mode' has to be 'initial', 'never' or 'no_data'.",
                hint="To read a table as it is, take the connector 'jdbc'.",
            )  # fmt: skip
        if self.upserts(table) and table.primary_key is None:
            raise ValidationError("Primary key must be present when upsert mode is selected.")
        return notices

    def source_mode(self, table: Table) -> ChangelogMode:
        return ChangelogMode.UPSERT_DELETE if self.upserts(table) else ChangelogMode.RETRACT_DELETE

    def datasets(self, table: Table, project: Path) -> tuple[Dataset, ...]:
        address = f"{self.scheme}://{table.options['hostname']}:{self.option(table, 'port')}"
        return (Dataset(address, ".".join(self.named(table))),)

    def read(self, request: Read) -> SourceFrame:
        from pyspark.sql import functions as F

        table, spark = request.table, request.spark
        assert request.shared is not None
        folder = request.shared / shared_name(table, "captured", " ".join(self.places(table)))
        java = classes(spark).capture
        java.Capture.declare(
            spark._jsparkSession, storage.uri(folder), [str(jar) for jar in jars.ensure("debezium")], self._settings(request), request.readers
        )
        source = spark.readStream.name(request.name).format("sqlstream.capture.CaptureSource").option("capture", storage.uri(folder)).load()
        told = source.select(F.col("value").alias(_VALUE), F.col("file").alias(_FILE), F.col("number").alias(_NUMBER))
        frame = self._decoded(Encoded(told, _VALUE, f"concat('change ', {_NUMBER}, ' of ', {_FILE})"), request)
        metadata = [F.expr(_METADATA[c.key]).alias(c.name) for c in table.metadata]
        return SourceFrame(frame.select(*[F.col(quote(c.name)) for c in table.physical], *metadata, KIND))

    def _decoded(self, record: Encoded, request: Read) -> Any:
        """The columns of the changes, KIND, and _SOURCE where metadata may be of it."""
        table = request.table
        fields = tuple((c.name, c.type) for c in table.physical)
        source = {"source": map_of(STRING, STRING)} if table.metadata else {}
        told = changes.Debezium()
        kinds = changes.codes(told.shape)
        if self.upserts(table):
            kinds["u"] = [None, RowKind.UPDATE_AFTER.code]
        description = {"record": told.record_type(fields, source), "kinds": kinds, "wrapped": False, "zone": self.zone(request)}
        reader = rows.java().CapturedChanges(json.dumps(description))
        problem = f"A change of table '{table.path.name}' does not fit its columns:"
        found = (*fields, *((_SOURCE, type_) for type_ in source.values()), (KIND, TINYINT))
        return rows.read_rows(record, reader, found, problem, why=self.why(_VALUE))

    def _settings(self, request: Read) -> dict[str, str]:
        options = request.table.options
        own = {k.removeprefix("debezium."): v for k, v in options.items() if k.startswith("debezium.")}
        return {
            **_TUNED,
            "database.hostname": options["hostname"],
            "database.port": str(self.option(request.table, "port")),
            "database.user": options["username"],
            "database.password": options["password"],
            "snapshot.fetch.size": str(self.option(request.table, "scan.snapshot.fetch.size")),
            **self.properties(request),
            **own,
            **_TOLD,
        }  # fmt: skip


_VALUE, _FILE, _NUMBER = hidden("change"), hidden("file_of_change"), hidden("number_of_change")
