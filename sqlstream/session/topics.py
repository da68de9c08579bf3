"""Topics without tables: their latest records as rows, and tables proposed for them."""

from __future__ import annotations

import datetime
import json
import os
import zoneinfo
from typing import TYPE_CHECKING

from sqlstream.connectors.kafka import fetch
from sqlstream.core.errors import SetupError, ValidationError
from sqlstream.session import results
from sqlstream.session.inference import SAMPLE, create_table
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import Table
from sqlstream.sql.types import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sqlstream.catalog.namespaces import CatalogManager

OPTION = "kafka.bootstrap.servers"
VARIABLE = "KAFKA_BOOTSTRAP"
USUAL_COUNT = 10
_SERVERS, _PROTOCOL = "properties.bootstrap.servers", "properties.security.protocol"


def peeked(node: ast.Peek, catalog: CatalogManager, options: Mapping[str, str], project: Path) -> results.Rows:
    """The answer of PEEK. Raises SetupError."""
    count = node.args.get("limit")
    servers, _ = bootstrap(node.this.name, catalog, options, project)
    records = fetch.latest(servers, node.this.name, USUAL_COUNT if count is None else count)
    rows = [(str(r.partition), str(r.offset), _time(r.timestamp), _shown(r.key), _shown(r.value)) for r in records]
    return results.text_rows(("partition", "offset", "timestamp", "key", "value"), rows, cut=True)


def proposed(node: ast.Infer, catalog: CatalogManager, options: Mapping[str, str], project: Path) -> str:
    """The CREATE TABLE that INFER proposes. Raises SetupError, ValidationError."""
    topic = node.args["topic"].name
    servers, written = bootstrap(topic, catalog, options, project)
    records = fetch.latest(servers, topic, SAMPLE)
    if not any(r.value is not None for r in records):
        raise ValidationError(f"The topic '{topic}' has no record to tell a table from.", at=node.args["topic"])
    name = ".".join(quote(p) for p in ast.parts(node.this)) if node.this is not None else quote(topic)
    return create_table(name, topic, written, [r.value for r in records])


def bootstrap(topic: str, catalog: CatalogManager, options: Mapping[str, str], project: Path) -> tuple[str, str]:
    """The brokers of ``topic``, and how a table of it names them: those of a table of the topic, of the option, of the environment, of the
    project's development broker. Raises SetupError."""
    from sqlstream.core.options import resolve_environment

    for table in _tables(catalog):
        if _SERVERS in table.options and topic in table.options.get("topic", "").split(";"):
            given = resolve_environment(table.options)
            if given.get(_PROTOCOL, "PLAINTEXT").upper() != "PLAINTEXT":
                hint = "SELECT from the table reads it."
                raise SetupError(f"The brokers of the topic '{topic}' ask for {given[_PROTOCOL]}, which PEEK and INFER can't speak.", hint=hint)
            return given[_SERVERS], table.options[_SERVERS]
    if OPTION in options:
        return options[OPTION], options[OPTION]
    if os.environ.get(VARIABLE):
        return os.environ[VARIABLE], f"${{env:{VARIABLE}}}"
    try:
        port = json.loads((project / ".sqlstream" / "kafka" / "settings.json").read_text("utf-8"))["port"]
        return f"localhost:{port}", f"localhost:{port}"
    except (OSError, ValueError, KeyError, TypeError):
        hint = f"Set the variable {VARIABLE}, or SET '{OPTION}' = 'host:port' (in sqlstream.toml too), or declare a table of the topic."
        raise SetupError("No Kafka broker is known.", hint=hint) from None


def _tables(catalog: CatalogManager) -> Iterator[Table]:
    for one in catalog.catalogs.values():
        for database in one.databases.values():
            yield from (t for t in database.tables.values() if isinstance(t, Table))
    yield from (t for t in catalog.temporary.values() if isinstance(t, Table))


def _time(millis: int) -> str:
    made = datetime.datetime.fromtimestamp(millis / 1000, zoneinfo.ZoneInfo("UTC"))
    return made.strftime("%Y-%m-%d %H:%M:%S.") + f"{made.microsecond // 1000:03d}Z"


def _shown(data: bytes | None) -> str | None:
    """Text as it is on one line, other bytes as a literal."""
    if data is None:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return f"x'{data.hex()}'"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
