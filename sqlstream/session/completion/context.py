"""What completion knows of a session: a snapshot of its catalogs, cheap to take. What costs time is asked for when it is needed.

A snapshot lives as long as a prompt: no statement runs meanwhile, so what was looked up once stays right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.session.raw_topics import known_properties
from sqlstream.sql.tables import ObjectPath, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.catalog.schema import SchemaColumn
    from sqlstream.sql.tables import Table
    from sqlstream.sql.types import Type
    from sqlstream.udf.declarations.lookup import UserFunctions


class Column(NamedTuple):
    """A column as completion shows it: ``type`` as text, ``fields`` those of a ROW."""

    name: str
    type: str = ""
    fields: tuple[Column, ...] = ()


class KnownRelation(NamedTuple):
    """A table or view of a database; ``is_view`` is None where nobody has read its definition yet."""

    name: str
    is_view: bool | None
    connector: str = ""


Columns = tuple[Column, ...]


def _nothing(*_: object) -> tuple[()]:
    return ()


@dataclass(frozen=True)
class Context:
    """A snapshot. ``names``: catalog > database > relations. ``columns`` plans a view; ``described`` says what a function of the
    user's is. ``topics``, given options of a table, never waits for a broker."""

    catalog: str = "default_catalog"
    database: str = "default_database"
    names: Mapping[str, Mapping[str, tuple[KnownRelation, ...]]] = field(default_factory=dict)
    options: Callable[[ObjectPath], Mapping[str, str]] = lambda path: {}
    columns: Callable[[ObjectPath], Columns] = _nothing
    functions: tuple[str, ...] = ()
    described: Callable[[str], str] = lambda name: "of yours"
    jobs: Callable[[], Iterable[str]] = _nothing
    savepoints: Callable[[], Iterable[str]] = _nothing
    queries: Callable[[], Iterable[str]] = _nothing
    topics: Callable[[Mapping[str, str]], Iterable[str]] = _nothing
    settings: Mapping[str, str] = field(default_factory=dict)
    _known: dict[ObjectPath, Columns] = field(default_factory=dict)

    @cached_property
    def relations(self) -> tuple[KnownRelation, ...]:
        """Those of the current database."""
        return self.names.get(self.catalog, {}).get(self.database, ())

    def path(self, parts: tuple[str, ...]) -> ObjectPath | None:
        """The path of a relation that is there."""
        if not 1 <= len(parts) <= 3:
            return None
        path = ObjectPath(*((self.catalog, self.database)[: 3 - len(parts)] + parts))
        there = self.names.get(path.catalog, {}).get(path.database, ())
        return path if any(r.name == path.name for r in there) else None

    def columns_of(self, parts: tuple[str, ...]) -> Columns:
        """The columns of a relation; none of one that is not there or has an error."""
        path = self.path(parts)
        if path is None:
            return ()
        if path not in self._known:
            try:
                self._known[path] = self.columns(path)
            except Exception:  # a view on what is gone: its error is reported when it is queried
                self._known[path] = ()
        return self._known[path]

    def options_of(self, parts: tuple[str, ...]) -> Mapping[str, str]:
        """The options of a table."""
        path = self.path(parts)
        return self.options(path) if path is not None else {}


def column(name: str, type_: Type) -> Column:
    """A column of Flink's type."""
    fields = tuple(column(n, t) for n, t in zip(type_.names, type_.children, strict=True)) if type_.names else ()
    return Column(name, str(type_), fields)


def snapshot(
    manager: CatalogManager,
    project: Path,
    *,
    schema: Callable[[Any], Iterable[SchemaColumn]],
    functions: UserFunctions,
    settings: Mapping[str, str],
    jobs: Callable[[], Iterable[str]],
    savepoints: Callable[[], Iterable[str]],
    topics: Callable[[Mapping[str, str]], Iterable[str]],
) -> Context:
    """The catalogs as they are now. ``schema`` plans a view, ``functions`` are the user's."""

    def options(path: ObjectPath) -> Mapping[str, str]:
        try:
            return getattr(manager.get(path), "options", {})
        except SqlStreamError:  # a definition that can't be read
            return {}

    def columns(path: ObjectPath) -> Columns:
        item = manager.get(path)
        return tuple(column(c[0], c[1]) for c in (schema(item) if item is not None else ()))

    def brokers(written: Mapping[str, str]) -> Iterable[str]:
        try:
            return topics(known_properties(written, manager, settings, project))
        except ValidationError:  # a variable that is not set
            return ()

    return Context(
        manager.current_catalog,
        manager.current_database,
        names(manager),
        options=options,
        columns=columns,
        functions=tuple(functions),
        described=functions.line,
        jobs=jobs,
        savepoints=savepoints,
        queries=lambda: sorted(p.stem for p in (project / "queries").glob("*.sql")),
        topics=brokers,
        settings=settings,
    )


def names(manager: CatalogManager) -> dict[str, Mapping[str, tuple[KnownRelation, ...]]]:
    """All relations of ``manager``, temporary ones included."""
    databases: dict[str, list[str]] = {c: list(catalog.databases) for c, catalog in manager.catalogs.items()}
    for path in manager.temporary:
        databases.setdefault(path.catalog, []).append(path.database)
    return {c: _Databases(manager, c, dict.fromkeys(named)) for c, named in databases.items()}


@dataclass(frozen=True)
class _Databases(Mapping[str, tuple[KnownRelation, ...]]):
    """The databases of a catalog. A store is asked for the names in one when that one is looked at, and for no definition."""

    manager: CatalogManager
    catalog: str
    databases: Mapping[str, None]
    _listed: dict[str, tuple[KnownRelation, ...]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[str]:
        return iter(self.databases)

    def __len__(self) -> int:
        return len(self.databases)

    def __getitem__(self, name: str) -> tuple[KnownRelation, ...]:
        if name not in self.databases:
            raise KeyError(name)
        if name not in self._listed:
            self._listed[name] = self._relations(name)
        return self._listed[name]

    def _relations(self, name: str) -> tuple[KnownRelation, ...]:
        try:
            relations = self.manager.table_names(self.catalog, name)
        except SqlStreamError:  # it is reported where a statement names one of them
            return ()
        database = self.manager.find_database(self.catalog, name)
        known = dict(database.known) if database else {}
        known |= {path.name: item for path, item in self.manager.temporary.items() if path[:2] == (self.catalog, name)}
        return tuple(_relation(each, known.get(each)) for each in relations)


def _relation(name: str, item: Table | View | None) -> KnownRelation:
    return KnownRelation(name, None if item is None else isinstance(item, View), getattr(item, "connector", ""))
