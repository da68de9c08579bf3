"""What completion knows of a session: a snapshot of its catalogs, cheap to take. What costs time is asked for when it is needed.

A snapshot lives as long as a prompt: no statement runs meanwhile, so what was looked up once stays right.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlstream.core.errors import ValidationError
from sqlstream.session.raw_topics import known_properties
from sqlstream.sql.tables import ObjectPath, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.catalog.schema import SchemaColumn
    from sqlstream.sql.types import Type
    from sqlstream.udf.declarations.lookup import UserFunctions


class Column(NamedTuple):
    """A column as completion shows it: ``type`` as text, ``fields`` those of a ROW."""

    name: str
    type: str = ""
    fields: tuple[Column, ...] = ()


class KnownRelation(NamedTuple):
    """A table or view of a database."""

    name: str
    is_view: bool
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
        options=lambda path: getattr(manager.get(path), "options", {}),
        columns=columns,
        functions=tuple(functions),
        described=functions.line,
        jobs=jobs,
        savepoints=savepoints,
        queries=lambda: sorted(p.stem for p in (project / "queries").glob("*.sql")),
        topics=brokers,
        settings=settings,
    )


def names(manager: CatalogManager) -> dict[str, dict[str, tuple[KnownRelation, ...]]]:
    """All relations of ``manager``, temporary ones included."""
    named: dict[str, dict[str, dict[str, KnownRelation]]] = {
        c: {d: {n: _relation(n, item) for n, item in database.tables.items()} for d, database in catalog.databases.items()}
        for c, catalog in manager.catalogs.items()
    }
    for path, item in manager.temporary.items():
        named.setdefault(path.catalog, {}).setdefault(path.database, {})[path.name] = _relation(path.name, item)
    return {c: {d: tuple(sorted(r.values())) for d, r in databases.items()} for c, databases in named.items()}


def _relation(name: str, item: object) -> KnownRelation:
    return KnownRelation(name, isinstance(item, View), getattr(item, "connector", ""))
