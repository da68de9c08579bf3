"""Connectors: what a table's rows are read from and written to. One module each; CONNECTORS has them all, and those of other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream import formats
from sqlstream.connectors.base import Connector
from sqlstream.connectors.blackhole import Blackhole
from sqlstream.connectors.cdc.mysql import MysqlCdc
from sqlstream.connectors.cdc.postgres import PostgresCdc
from sqlstream.connectors.datagen import Datagen
from sqlstream.connectors.delta.table import Delta
from sqlstream.connectors.faker import Faker
from sqlstream.connectors.files.filesystem import Filesystem
from sqlstream.connectors.iceberg.table import Iceberg
from sqlstream.connectors.jdbc.table import Jdbc
from sqlstream.connectors.kafka.table import Kafka
from sqlstream.connectors.kafka.upsert_kafka import UpsertKafka
from sqlstream.connectors.print import Print
from sqlstream.connectors.savepoint.table import Savepoint
from sqlstream.connectors.search.table import Elasticsearch7, Elasticsearch8, OpenSearch, OpenSearch2
from sqlstream.core.errors import NotSupported, ValidationError, did_you_mean, nearest
from sqlstream.core.options import Role, Support, find_option, meant, option_doubts
from sqlstream.core.registry import Registry
from sqlstream.core.secrets import is_secret

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlstream.core.options import Option
    from sqlstream.formats.base import ProjectFiles
    from sqlstream.sql.tables import Table

CONNECTORS: Registry[Connector] = Registry(
    Connector,
    (
        Blackhole(),
        Datagen(),
        Delta(),
        Elasticsearch7(),
        Elasticsearch8(),
        Faker(),
        Filesystem(),
        Iceberg(),
        Jdbc(),
        Kafka(),
        MysqlCdc(),
        OpenSearch(),
        OpenSearch2(),
        PostgresCdc(),
        Print(),
        Savepoint(),
        UpsertKafka(),
    ),
)
# The names of those that are here in each project.
BUILTIN = frozenset(row.name for row in CONNECTORS.builtin)
# Connectors of Flink's that are not here, with what to use instead.
_CDC = "Changes of this database are not read: capture them into Kafka, and read the topic with 'kafka'."
_LOADS = "Write into a topic of 'kafka', from which the database loads by itself (routine load)."
_SINK = "Write into a Delta table, and load from there."
_POSTGRES, _MYSQL = (f"'jdbc' reads and writes a table of the database, '{name}-cdc' reads its changes." for name in ("postgres", "mysql"))
_DATABASES: Mapping[str, str] = {
    "postgres": _POSTGRES, "postgresql": _POSTGRES, "mysql": _MYSQL, "mariadb": _MYSQL,
}  # fmt: skip
REFUSED: Mapping[str, str] = {
    "dynamic-kafka": "Use 'kafka', with 'topic-pattern' where topics come and go.",
    "hive": "Use 'filesystem' or 'delta' on the table's folder.",
    "hudi": "Use 'delta'.",
    "paimon": "Use 'delta'.",
    "elasticsearch-6": "Elasticsearch 7 and newer are written: 'elasticsearch-7', 'elasticsearch-8'.",
    "hbase-2.2": _SINK,
    "mongodb": _SINK,
    "dynamodb": _SINK,
    "firehose": _SINK,
    "kinesis": "Use 'kafka'.",
    "pulsar": "Use 'kafka'.",
    "starrocks": _LOADS,
    "doris": _LOADS,
    "fluss": "Use 'kafka', or 'delta'.",
    "redis": _SINK,
    "rabbitmq": "Use 'kafka'.",
    **dict.fromkeys(("oracle-cdc", "db2-cdc", "tidb-cdc", "oceanbase-cdc", "vitess-cdc"), _CDC),
    "sqlserver-cdc": _CDC,
    "mongodb-cdc": _CDC,
}


def doubts(options: Mapping[str, str]) -> Iterator[str]:
    """Notices of what is wrong in the options of a table that is declared: Flink checks them where it is read or written."""
    name = options.get("connector")
    if name is None:
        if hint := meant("connector", options):
            yield hint
        return
    if CONNECTORS.usable(name) is None:
        if name in REFUSED:
            yield f"Connector '{name}' is not supported: a query of the table will be refused. {REFUSED[name]}"
        elif hint := _near(name, CONNECTORS.names()):
            yield f"There is no connector '{name}'. {hint}"
        return
    named = {key: options[key] for key in FORMAT_KEYS if key in options}
    unknown = {key: format_ for key, format_ in named.items() if formats.FORMATS.usable(format_) is None}
    for key, format_ in unknown.items():
        if format_ in formats.REFUSED:
            yield f"Format '{format_}' for '{key}' is not supported: a query of the table will be refused."
        elif near := nearest(format_, formats.FORMATS.names()):
            yield f"There is no format '{format_}' for '{key}'. Did you mean '{near}'?"
    if not unknown:
        own = {key: text for key, text in options.items() if key != "connector"}
        yield from option_doubts(f"connector '{name}'", own, declared_options(options))


def _near(name: str, names: Sequence[str]) -> str | None:
    """A hint that names the connectors which are meant."""
    return _DATABASES.get(name.lower()) or did_you_mean(name, names)


def find_connector(name: str, at: Any = None) -> Connector:
    """The connector called ``name``. Raises SetupError for a plug-in that can't be used, NotSupported for one of Flink's that is not there,
    ValidationError for any other."""
    if (connector := CONNECTORS.find(name, at)) is not None:
        return connector
    if not name:
        raise ValidationError("The table has no option 'connector'.", at=at)
    if name in REFUSED:
        raise NotSupported(f"Connector '{name}' is not supported.", at=at, hint=REFUSED[name])
    names = CONNECTORS.names()
    raise ValidationError(
        f"There is no connector '{name}'. There are: {', '.join(names)}.",
        at=at,
        hint=_near(name, [*names, *REFUSED]),
    )


# The keys that name a format, and what its options begin with.
FORMAT_KEYS = {"format": "", "value.format": "value.", "key.format": "key."}


def declared_options(written: Mapping[str, str]) -> tuple[Option, ...]:
    """The options that a table with the options ``written`` can have, its formats' included; none without a connector that is known."""
    connector = CONNECTORS.usable(written.get("connector", ""))
    if connector is None:
        return ()
    rows = list(connector.options)
    for key, prefix in FORMAT_KEYS.items():
        by_default = next((o.default for o in connector.options if o.key == key), None)
        if format_ := formats.FORMATS.usable(written.get(key, by_default or "")):
            rows += formats.table_options(format_, prefix)
    return tuple(rows)


def with_files(written: Mapping[str, str], files: ProjectFiles) -> dict[str, str]:
    """The options ``written`` of a table with what files of the project say of its records. Raises ValidationError, SetupError."""
    found = dict(written)
    for key, prefix in FORMAT_KEYS.items():
        if format_ := formats.FORMATS.usable(written.get(key, "")):
            own = format_.with_files(formats.own_options(format_, written, prefix), files)
            found |= {f"{prefix}{format_.name}.{k}": text for k, text in own.items()}
    return found


def lasting_options(table: Table) -> dict[str, str]:
    """The options of ``table`` that say what is read or written: without those that only say how or have no effect, and without secrets."""
    connector = CONNECTORS.find(table.connector)
    own = () if connector is None else connector.options
    rows = (*own, *(row for row in declared_options(table.options) if row.role is Role.TUNING))

    def lasts(key: str) -> bool:
        row = find_option(rows, key)
        return not is_secret(key) and (row is None or not (row.role is Role.TUNING or row.use is Support.NOTICE))

    return {key: value for key, value in table.options.items() if lasts(key)}
