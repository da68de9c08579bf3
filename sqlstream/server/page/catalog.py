"""The catalog of the project: its tables and views, and of each what is declared, where, and who uses it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sqlstream.catalog.project import ObjectKey
from sqlstream.connectors.delta import log
from sqlstream.connectors.paths import resolve
from sqlstream.core import storage
from sqlstream.core.errors import SetupError, SqlStreamError
from sqlstream.core.options import resolve_environment
from sqlstream.core.secrets import masked_option
from sqlstream.server.answers import NotThere
from sqlstream.server.page import functions
from sqlstream.server.page.in_git import InGit, place_of
from sqlstream.server.page.lately import Lately
from sqlstream.server.page.query import address_of
from sqlstream.session import results
from sqlstream.session.dependents import of_object
from sqlstream.sql.tables import ObjectPath, Table, View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.connectors.delta.log import DeltaTable
    from sqlstream.server.page.functions import FunctionEntry, FunctionShown
    from sqlstream.server.server import Server
    from sqlstream.session.dependents import Dependent
    from sqlstream.session.session import Session

# What is shown is as old as this at most: files of the catalog may have been edited.
_SECONDS = 3.0
# The kind of key under which files keep tables and views.
_RELATION = "RELATION"
_SAMPLE_ROWS = 20
_DELTA = "delta"
_VERSIONS = 20
_PATH = "table-path"


@dataclass(frozen=True)
class Entry:
    """A table or a view in the list. ``file``: where it is declared, from the project's folder on; None where a store or a session keeps it."""

    path: ObjectPath
    kind: str
    connector: str
    comment: str
    file: str | None


@dataclass(frozen=True)
class Namespace:
    """A database with what is in it. ``store``: the type of the catalog where a store keeps it, whose definitions are read when one is used."""

    catalog: str
    database: str
    entries: tuple[Entry, ...]
    store: str | None = None


@dataclass(frozen=True)
class Listed:
    """The whole catalog, the project's functions in Python, and what of its files could not be read."""

    namespaces: tuple[Namespace, ...]
    functions: tuple[FunctionEntry, ...]
    errors: tuple[str, ...]

    @property
    def declared(self) -> int:
        """How many tables and views there are."""
        return sum(len(namespace.entries) for namespace in self.namespaces)


@dataclass(frozen=True)
class DeltaShown:
    """What the log of a Delta table says: ``table`` is None where there is none yet, or ``why`` says why it can't be told."""

    table: DeltaTable | None = None
    why: str | None = None


@dataclass(frozen=True)
class TableShown:
    """A table or a view: ``headers`` and ``rows`` are those of DESCRIBE, ``ddl`` is what SHOW CREATE writes, without secrets.
    ``sample`` is the address of an editor with a query of its first rows; None for a name that is too long for one.
    ``delta`` is of Delta tables alone.
    """

    entry: Entry
    headers: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    ddl: str
    options: tuple[tuple[str, str], ...] = ()
    partitions: tuple[str, ...] = ()
    uses: tuple[Dependent, ...] = ()
    sample: str | None = None
    delta: DeltaShown | None = None
    git: InGit | None = None


class CatalogPages:
    """What is said of the catalog, by sessions that only look."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._listed: Lately[None, Listed] = Lately(_SECONDS)
        self._tables: Lately[ObjectPath, TableShown] = Lately(_SECONDS)
        self._functions: Lately[str, FunctionShown] = Lately(_SECONDS)

    def listed(self) -> Listed:
        """All of it."""
        return self._listed.get(None, self._list)

    def table(self, path: ObjectPath) -> TableShown:
        """A table or a view. Raises NotThere, and what a store of a catalog answers."""
        return self._tables.get(path, lambda: self._shown(path))

    def function(self, name: str) -> FunctionShown:
        """A function in Python. Raises NotThere."""
        return self._functions.get(name, lambda: functions.shown(self._server, name))

    def _list(self) -> Listed:
        errors: list[str] = []
        with closing(self._server.looking_session(errors.append)) as session:
            return Listed(tuple(_namespaces(session)), functions.listed(session), tuple(errors))

    def _shown(self, path: ObjectPath) -> TableShown:
        with closing(self._server.looking_session(lambda line: None)) as session:
            item = session.context.catalog.get(path)
            if item is None:
                raise NotThere(f"There is no table or view {path}.", hint="SHOW TABLES lists those of a database.")
            described = _rows(session, f"DESCRIBE {path.quoted}")
            (ddl,) = _rows(session, f"SHOW CREATE {'VIEW' if isinstance(item, View) else 'TABLE'} {path.quoted}").rows
            entry = _entry(path, item, session)
            return TableShown(
                entry, tuple(c.name for c in described.columns), described.rows, ddl[0] or "",
                tuple((key, masked_option(key, value)) for key, value in sorted(item.options.items())) if isinstance(item, Table) else (),
                item.partition_keys if isinstance(item, Table) else (),
                tuple(of_object(path, session.context.catalog, self._server.jobs, self._server.project)),
                address_of(f"SELECT * FROM {path.quoted} LIMIT {_SAMPLE_ROWS};"),
                _delta(item, self._server.project) if isinstance(item, Table) and item.connector == _DELTA else None,
                None if entry.file is None else place_of(self._server.project, entry.file),
            )  # fmt: skip


def _namespaces(session: Session) -> Iterator[Namespace]:
    for name, catalog in sorted(session.context.catalog.catalogs.items()):
        store = catalog.options.get("type") if catalog.store is not None else None
        for database, content in sorted(catalog.databases.items()):
            entries = (_entry(ObjectPath(name, database, table), item, session) for table, item in sorted(content.known.items()))
            yield Namespace(name, database, tuple(entries), store)


def _entry(path: ObjectPath, item: Table | View, session: Session) -> Entry:
    files = session.planner.files
    source = files.sources.get(ObjectKey(_RELATION, path))
    kind, connector = ("view", "") if isinstance(item, View) else ("table", item.connector)
    return Entry(path, kind, connector, item.comment or "", None if source is None else files.shown(source.file))


def _delta(table: Table, project: Path) -> DeltaShown:
    """What its log says, of a table on this machine: others would be asked over a network while somebody waits for the page."""
    try:
        location = resolve(resolve_environment({_PATH: table.options.get(_PATH, "")})[_PATH], project)
        folder = storage.place(location, project, storage.Hadoop(_no_engine))
        if not isinstance(folder, Path):
            return DeltaShown(why=f"It is on {storage.scheme(location)}. The page shows the history of tables on this machine.")
        return DeltaShown(log.read(folder, _VERSIONS))
    except SqlStreamError as error:
        return DeltaShown(why=f"{error.code}: {error.message} {error.hint or ''}".rstrip())
    except (OSError, ValueError) as error:
        return DeltaShown(why=f"Its log can't be read: {getattr(error, 'strerror', None) or error}.")


def _no_engine() -> NoReturn:
    raise SetupError("Spark is not started for a look at a table.")


def _rows(session: Session, statement: str) -> results.Rows:
    (outcome,) = session.run(statement)
    assert isinstance(outcome, results.Rows)
    return outcome
