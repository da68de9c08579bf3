"""The catalogs of a session: catalog > database > tables, views, functions; temporary objects shadow permanent ones.

Values go in (Table, View, UserFunction) and come out; nothing here reads syntax, files or options of connectors. The
one mutable thing of this package: the session owns one CatalogManager. Messages are Flink's.
"""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlstream.catalog.entries import (
    BUILTIN_CATALOG,
    BUILTIN_DATABASE,
    Catalog,
    CatalogObject,
    Database,
    UserFunction,
    already_exists,
    check_reset,
)
from sqlstream.catalog.stored import StoredTables, UnusableDefinition, placed
from sqlstream.core.errors import AlreadyThere, NotSupported, SqlStreamError, ValidationError, did_you_mean
from sqlstream.sql.tables import ObjectPath, Table, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def keeps_no_options(catalog: str, at: Any) -> NotSupported:
    """The refusal of comments and options of a database where a store keeps the catalog."""
    return NotSupported(f"Catalog {catalog} keeps no comments and options of databases.", at=at, hint="Leave them out: what it keeps is the name.")


class CatalogManager:
    """All namespaces of a session, and which catalog and database are current."""

    def __init__(self, catalog: str = BUILTIN_CATALOG, database: str = BUILTIN_DATABASE) -> None:
        self.catalogs: dict[str, Catalog] = {catalog: Catalog(database, {database: Database()}, described=False)}
        self.current_catalog = catalog
        self.current_database = database
        self.temporary: dict[ObjectPath, Table | View] = {}
        self.temporary_functions: dict[ObjectPath, UserFunction] = {}
        self.system_functions: dict[str, UserFunction] = {}
        self.overridden: set[Any] = set()
        """Keys of the project's objects that a script has redefined for this session."""
        self.writes = True
        """Whether stores of catalogs keep what is declared in them."""

    # Names

    def path(self, parts: tuple[str, ...], at: Any = None) -> ObjectPath:
        """``[catalog.][database.]name`` with what is missing taken from the current ones."""
        if not 1 <= len(parts) <= 3:
            raise ValidationError("Object identifier must consist of 1 to 3 parts.", at=at)
        return ObjectPath(*((self.current_catalog, self.current_database)[: 3 - len(parts)] + parts))

    def get(self, path: ObjectPath, at: Any = None) -> Table | View | None:
        """The table or view at ``path``, a temporary one first. Raises SqlStreamError where a store that keeps it fails."""
        return self.temporary.get(path) or self.permanent(path, at)

    def permanent(self, path: ObjectPath, at: Any = None) -> Table | View | None:
        """The permanent table or view at ``path``. Raises SqlStreamError where a store that keeps it fails."""
        database = self.find_database(path.catalog, path.database)
        with placed(at):
            return database.tables.get(path.name) if database else None

    def resolve(self, parts: tuple[str, ...], at: Any = None) -> Table | View:
        """The table or view that a query means by ``parts``. Raises Flink's error where there is none."""
        item = self.get(self.path(parts, at), at) if len(parts) <= 3 else None
        if item is not None:
            return item
        raise self._unknown(parts, at)

    def within(self, catalog: str, database: str) -> CatalogManager:
        """The same namespaces, with another current catalog and database."""
        other = copy(self)
        other.current_catalog, other.current_database = catalog, database
        return other

    def isolated_copy(self) -> CatalogManager:
        """The same objects in namespaces of their own: changes there are not seen here, nor kept by stores."""
        other = copy(self)
        other.catalogs = {name: replace(c, databases={n: d.isolated() for n, d in c.databases.items()}) for name, c in self.catalogs.items()}
        other.writes = False
        other.temporary, other.temporary_functions = dict(self.temporary), dict(self.temporary_functions)
        other.system_functions, other.overridden = dict(self.system_functions), set(self.overridden)
        return other

    def sink(self, parts: tuple[str, ...], at: Any = None) -> Table:
        """The table that INSERT INTO means by ``parts``."""
        path = self.path(parts, at)
        item = self.get(path, at)
        if item is None:
            raise ValidationError(
                f"Cannot find table '{path.quoted}' in any of the catalogs [{', '.join(sorted(self.catalogs))}], nor as a temporary table.",
                at=at,
                hint=self.meant(path),
            )
        if isinstance(item, View):
            raise ValidationError(f"'{path.quoted}' is a view: nothing can be inserted into it.", at=at)
        return item

    def described(self, parts: tuple[str, ...], at: Any = None) -> Table | View:
        """The table or view that DESCRIBE and SHOW COLUMNS mean by ``parts``."""
        path = self.path(parts, at)
        item = self.get(path, at)
        if item is None:
            raise ValidationError(
                f"Tables or views with the identifier '{path}' doesn't exist.",
                at=at,
                hint=self.meant(path),
            )
        return item

    def meant(self, path: ObjectPath, lists: str = "SHOW TABLES") -> str | None:
        """The hint where there is nothing at ``path``."""
        return did_you_mean(path.name, self._names(path), lists)

    def _unknown(self, parts: tuple[str, ...], at: Any) -> ValidationError:
        """Calcite's message names the first part that is not found, and what it looked in."""
        in_current = self.find_database(self.current_catalog, parts[0])
        if len(parts) == 1:
            return ValidationError(f"Object '{parts[0]}' not found", at=at, hint=did_you_mean(parts[0], self._names(self.path(parts)), "SHOW TABLES"))
        if len(parts) == 2 and in_current is not None:
            path = self.path(parts)
            within = f"{path.catalog}.{path.database}"
            return ValidationError(
                f"Object '{path.name}' not found within '{within}'",
                at=at,
                hint=self.meant(path),
            )
        catalog = self.catalogs.get(parts[0])
        if len(parts) != 3 or catalog is None:
            known = [*self.catalogs, *self.catalogs[self.current_catalog].databases]
            return ValidationError(f"Object '{parts[0]}' not found", at=at, hint=did_you_mean(parts[0], known, "SHOW CATALOGS"))
        if parts[1] not in catalog.databases:
            return ValidationError(
                f"Object '{parts[1]}' not found within '{parts[0]}'",
                at=at,
                hint=did_you_mean(parts[1], catalog.databases, "SHOW DATABASES"),
            )
        path = ObjectPath(*parts)
        return ValidationError(
            f"Object '{path.name}' not found within '{parts[0]}.{parts[1]}'",
            at=at,
            hint=self.meant(path),
        )

    def find_database(self, catalog: str, database: str) -> Database | None:
        known_catalog = self.catalogs.get(catalog)
        return known_catalog.databases.get(database) if known_catalog else None

    def _names(self, path: ObjectPath) -> list[str]:
        """The names that may have been meant by that of ``path``."""
        try:
            return self.table_names(path.catalog, path.database) if self.find_database(path.catalog, path.database) else []
        except SqlStreamError:  # of a store: a hint is less than the error that it is for
            return []

    # Catalogs

    def use_catalog(self, name: str, at: Any = None) -> None:
        """USE CATALOG."""
        catalog = self._catalog_to_use(name, at)
        if name != self.current_catalog:
            self.current_catalog, self.current_database = name, catalog.default_database

    def _catalog_to_use(self, name: str, at: Any) -> Catalog:
        if name not in self.catalogs:
            raise ValidationError(f"A catalog with name [{name}] does not exist.", at=at, hint=did_you_mean(name, self.catalogs, "SHOW CATALOGS"))
        return self.catalogs[name]

    def create_catalog(self, name: str, opened: Callable[[], Catalog], *, if_not_exists: bool = False, at: Any = None) -> None:
        """CREATE CATALOG: what ``opened`` gives."""
        if name in self.catalogs:
            if if_not_exists:
                return
            raise AlreadyThere(f"Catalog {name} already exists.", at=at)
        self.catalogs[name] = opened()

    def drop_catalog(self, name: str, *, if_exists: bool = False, at: Any = None) -> None:
        """DROP CATALOG."""
        if name not in self.catalogs:
            if if_exists:
                return
            raise ValidationError(f"Catalog {name} does not exist.", at=at, hint=did_you_mean(name, self.catalogs, "SHOW CATALOGS"))
        if name == self.current_catalog:
            raise ValidationError("Cannot drop a catalog which is currently in use.", at=at, hint="USE CATALOG another one first.")
        del self.catalogs[name]

    def catalog_metadata(self, name: str, at: Any = None) -> Catalog:
        """The catalog that DESCRIBE CATALOG and SHOW CREATE CATALOG mean; the built-in one has no metadata, as in
        Flink."""
        catalog = self.catalogs.get(name)
        if catalog is None or not catalog.described:
            raise ValidationError(f"Cannot obtain metadata information from Catalog {name}.", at=at)
        return catalog

    def alter_catalog(
        self,
        name: str,
        opened: Callable[[Mapping[str, str]], Catalog],
        *,
        set_options: Mapping[str, str] | None = None,
        reset: tuple[str, ...] | None = None,
        comment: str | None = None,
        at: Any = None,
    ) -> None:
        """ALTER CATALOG: SET, RESET or COMMENT. One that a store keeps is ``opened`` with its new options; of others they are descriptive only: the
        databases stay what they are."""
        check_reset("CATALOG", reset, "type", at)
        catalog = self.catalogs.get(name)
        if catalog is None or not catalog.described:
            raise ValidationError(f"Catalog {name} does not exist in the catalog store.", at=at)
        options = {k: v for k, v in (catalog.options | dict(set_options or {})).items() if k not in (reset or ())}
        if set_options or (reset and catalog.store):
            other = opened(options)
            if catalog.store or other.store:
                catalog.databases, catalog.default_database, catalog.store = other.databases, other.default_database, other.store
        catalog.options = options
        if comment is not None:
            catalog.comment = comment

    # Databases

    def use_database(self, parts: tuple[str, ...], at: Any = None) -> None:
        """USE [catalog.]database."""
        if len(parts) > 2:
            raise ValidationError("use database identifier format error", at=at, hint="Write USE [catalog.]database.")
        name = parts[0] if len(parts) == 2 else self.current_catalog
        catalog = self._catalog_to_use(name, at)
        if parts[-1] not in catalog.databases:
            raise ValidationError(
                f"A database with name [{parts[-1]}] does not exist in the catalog: [{name}].",
                at=at,
                hint=did_you_mean(parts[-1], catalog.databases, "SHOW DATABASES"),
            )
        self.current_catalog, self.current_database = name, parts[-1]

    def database_path(self, parts: tuple[str, ...], what: str = "create", at: Any = None) -> tuple[str, str]:
        """(catalog, database) of ``[catalog.]database``. ``what`` is create, drop or alter."""
        if len(parts) > 2:
            raise ValidationError(f"{what} database identifier format error", at=at, hint="Write [catalog.]database.")
        return (parts[0], parts[1]) if len(parts) == 2 else (self.current_catalog, parts[0])

    def catalog(self, name: str, at: Any = None) -> Catalog:
        """The catalog ``name``, where a statement addresses something inside it."""
        if name not in self.catalogs:
            raise ValidationError(f"Catalog {name} does not exist", at=at, hint=did_you_mean(name, self.catalogs, "SHOW CATALOGS"))
        return self.catalogs[name]

    def create_database(
        self,
        parts: tuple[str, ...],
        comment: str | None = None,
        options: Mapping[str, str] | None = None,
        *,
        if_not_exists: bool = False,
        at: Any = None,
    ) -> None:
        """CREATE DATABASE."""
        catalog_name, name = self.database_path(parts, "create", at)
        catalog = self.catalog(catalog_name, at)
        if name in catalog.databases:
            if if_not_exists:
                return
            raise AlreadyThere(f"Database {name} already exists in Catalog {catalog_name}.", at=at)
        database = Database(comment, dict(options or {}))
        if catalog.store is not None:
            if comment or options:
                raise keeps_no_options(catalog_name, at)
            with placed(at):
                database.tables = catalog.store.create_database(name, writes=self.writes)
        catalog.databases[name] = database

    def drop_database(self, parts: tuple[str, ...], *, if_exists: bool = False, cascade: bool = False, at: Any = None) -> tuple[ObjectPath, ...]:
        """DROP DATABASE; returns the paths of the objects that were dropped with it."""
        catalog_name, name = self.database_path(parts, "drop", at)
        if catalog_name not in self.catalogs:
            raise ValidationError(f"Catalog {catalog_name} does not exist.", at=at, hint=did_you_mean(catalog_name, self.catalogs, "SHOW CATALOGS"))
        catalog = self.catalogs[catalog_name]
        if name not in catalog.databases:
            if if_exists:
                return ()
            raise ValidationError(
                f"Database {name} does not exist in Catalog {catalog_name}.",
                at=at,
                hint=did_you_mean(name, catalog.databases, "SHOW DATABASES"),
            )
        if (catalog_name, name) == (self.current_catalog, self.current_database):
            raise ValidationError("Cannot drop a database which is currently in use.", at=at, hint="USE another one first.")
        database = catalog.databases[name]
        with placed(at):
            objects = (*database.tables, *database.functions)
        if objects and not cascade:
            raise ValidationError(
                f"Database {name} in catalog {catalog_name} is not empty.",
                at=at,
                hint="DROP DATABASE ... CASCADE drops what is in it too.",
            )
        if catalog.store is not None:
            with placed(at):
                catalog.store.drop_database(name, writes=self.writes)
        del catalog.databases[name]
        return tuple(ObjectPath(catalog_name, name, n) for n in objects)

    def database(self, parts: tuple[str, ...], what: str = "alter", at: Any = None) -> Database:
        """The database that ALTER DATABASE and DESCRIBE DATABASE mean."""
        catalog_name, name = self.database_path(parts, what, at)
        catalog = self.catalog(catalog_name, at)
        if name not in catalog.databases:
            raise ValidationError(
                f"Database {name} does not exist in Catalog {catalog_name}.",
                at=at,
                hint=did_you_mean(name, catalog.databases, "SHOW DATABASES"),
            )
        return catalog.databases[name]

    # Tables and views

    def create(self, item: Table | View, *, if_not_exists: bool = False, replace_existing: bool = False, at: Any = None) -> bool:
        """Register ``item``; False where IF NOT EXISTS left an existing one in place.

        A temporary object needs no database. ``replace_existing`` puts it over an existing one.
        """
        path = item.path
        if item.temporary:
            if path in self.temporary and not replace_existing:
                if if_not_exists:
                    return False
                raise AlreadyThere(f"Temporary table '{path.quoted}' already exists", at=at)
            self.temporary[path] = item
            return True
        tables = self.database_for(path, at).tables
        self._renew(path, at)
        with placed(at):
            if path.name in tables and not replace_existing:
                if if_not_exists:
                    return False
                raise already_exists(path, at)
            tables[path.name] = item
        return True

    def database_for(self, path: ObjectPath, at: Any) -> Database:
        if path.catalog not in self.catalogs:
            raise ValidationError(f"Catalog {path.catalog} does not exist.", at=at, hint=did_you_mean(path.catalog, self.catalogs, "SHOW CATALOGS"))
        databases = self.catalogs[path.catalog].databases
        if path.database not in databases:
            raise ValidationError(
                f"Database {path.database} does not exist in Catalog {path.catalog}.",
                at=at,
                hint=did_you_mean(path.database, databases, "SHOW DATABASES"),
            )
        return databases[path.database]

    def drop(
        self,
        path: ObjectPath,
        kind: type[Table] | type[View],
        *,
        temporary: bool = False,
        if_exists: bool = False,
        at: Any = None,
    ) -> bool:
        """DROP [TEMPORARY] TABLE or VIEW; False where IF EXISTS found nothing."""
        word = "Table" if kind is Table else "View"
        shadow = self.temporary.get(path)
        if temporary:
            if isinstance(shadow, kind):
                del self.temporary[path]
                return True
            if if_exists:
                return False
            hint = did_you_mean(path.name, [p.name for p in self.temporary], "SHOW TABLES")
            raise ValidationError(f"Temporary table or view with identifier '{path}' does not exist.", at=at, hint=hint)
        if isinstance(shadow, kind):
            low = word.lower()
            raise ValidationError(
                f"Temporary {low} with identifier '{path.quoted}' exists. Drop it first before removing the permanent {low}.",
                at=at,
                hint=f"DROP TEMPORARY {word.upper()} {path.quoted}",
            )
        self._renew(path, at)
        try:
            present = self.permanent(path, at)
        except UnusableDefinition:
            # It can be dropped, whichever it is.
            present = None
            found = True
        else:
            found = isinstance(present, kind)
        if found:
            with placed(at):
                del self.catalogs[path.catalog].databases[path.database].tables[path.name]
            return True
        if if_exists:
            return False
        other = "VIEW" if kind is Table else "TABLE"
        hint = self.meant(path) if present is None else f"It is a {other.lower()}: DROP {other} {path.quoted}"
        raise ValidationError(f"{word} with identifier '{path}' does not exist.", at=at, hint=hint)

    def to_alter(self, path: ObjectPath, kind: type[Table] | type[View], *, if_exists: bool = False, at: Any = None) -> Table | View | None:
        """The permanent table or view that ALTER means; None where IF EXISTS found nothing."""
        word = "Table" if kind is Table else "View"
        if path not in self.temporary:
            self._renew(path, at)
        item = None if path in self.temporary else self.permanent(path, at)
        if item is None:
            if if_exists:
                return None
            raise ValidationError(
                f"{word} {path.quoted} doesn't exist or is a temporary {word.lower()}.",
                at=at,
                hint=self.meant(path),
            )
        if not isinstance(item, kind):
            other = "view" if kind is Table else "table"
            raise ValidationError(f"ALTER {word.upper()} for a {other} is not allowed", at=at)
        return item

    def put(self, item: Table | View, at: Any = None) -> None:
        """Register the altered ``item`` in place of the one of its path."""
        if item.temporary:
            self.temporary[item.path] = item
        else:
            with placed(at):
                self.database_for(item.path, at).tables[item.path.name] = item

    def rename(self, item: Table | View, name: str, at: Any = None) -> Table | View:
        """ALTER TABLE or VIEW ... RENAME TO: within its database, as in Flink."""
        path = item.path._replace(name=name)
        tables = self.database_for(path, at).tables
        self._renew(path, at)
        with placed(at):
            if name in tables:
                raise already_exists(path, at)
            renamed = replace(item, path=path)
            if isinstance(tables, StoredTables):
                tables.rename(item.path.name, renamed)
            else:
                tables[name] = renamed
                del tables[item.path.name]
        return renamed

    def table_names(self, catalog: str, database: str, at: Any = None) -> list[str]:
        """Names of the tables and views in a database, temporary ones included, sorted."""
        known_database = self.find_database(catalog, database)
        with placed(at):
            names = set(known_database.tables if known_database else ()) | {p.name for p in self.temporary if p[:2] == (catalog, database)}
        return sorted(names)

    def view_names(self, catalog: str, database: str, at: Any = None) -> list[str]:
        """Names of the views in a database, temporary ones included, sorted. All definitions are read; one that can't be used is none of a view."""
        names = []
        for name in self.table_names(catalog, database, at):
            with suppress(UnusableDefinition):
                if isinstance(self.get(ObjectPath(catalog, database, name), at), View):
                    names.append(name)
        return names

    def _renew(self, path: ObjectPath, at: Any) -> None:
        """Look again in the store that keeps what is at ``path``, which is about to be changed."""
        database = self.find_database(path.catalog, path.database)
        if database is not None and isinstance(database.tables, StoredTables):
            with placed(at):
                database.tables.renew(path.name)

    def objects(self) -> Iterator[CatalogObject]:
        """All permanent tables, views and functions; of those that a store keeps what has been read."""
        for catalog in self.catalogs.values():
            for database in catalog.databases.values():
                yield from database.known.values()
                yield from database.functions.values()
