"""The types of catalogs, known by name, and how one is opened; CATALOGS has them all, and those of other packages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlstream.catalog import ddl, declare
from sqlstream.catalog.base import CatalogType, Store
from sqlstream.catalog.entries import Catalog, Database
from sqlstream.catalog.iceberg.catalog import Iceberg
from sqlstream.catalog.jdbc import Jdbc
from sqlstream.catalog.schema import NOTHING
from sqlstream.catalog.stored import GuardedStore, StoredTables, guarded, placed, refused_definition
from sqlstream.core.errors import Location, NotSupported, SqlStreamError, ValidationError, did_you_mean
from sqlstream.core.options import Option, check_options, resolve_environment
from sqlstream.core.registry import Registry
from sqlstream.core.secrets import is_secret
from sqlstream.sql.quoting import quote
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import ObjectPath, Table, View

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.sql.bind import Scope

TYPE = "type"
DEFAULT_DATABASE = Option("default-database", summary="The database that USE CATALOG makes the current one.")


class InMemory(CatalogType):
    """The session has its objects, and the project's files."""

    name = "generic_in_memory"
    summary = "What is declared in it is kept in the project's folder catalog/."
    example = "CREATE CATALOG archive WITH ('type' = 'generic_in_memory', 'default-database' = 'old');"
    options = (Option("property-version", summary="The version of its options."),)

    def open(self, options: Mapping[str, str], project: Path) -> None:
        return None


CATALOGS: Registry[CatalogType] = Registry(CatalogType, (InMemory(), Iceberg(), Jdbc()), kind="catalog")
_DECLARE = "Use 'type' = 'generic_in_memory' and CREATE TABLE, or keep the tables in catalog/*.sql."
# Types of Flink's that are not here, with what to use instead.
REFUSED: Mapping[str, str] = dict.fromkeys(("fluss", "hive", "hudi", "paimon"), _DECLARE)


def find_type(name: str, at: Any = None) -> CatalogType:
    """The type of catalogs called ``name``. Raises SetupError for a plug-in that can't be used, NotSupported for any other that is not there."""
    if (found := CATALOGS.find(name, at)) is not None:
        return found
    names = CATALOGS.names()
    if name in REFUSED:
        raise NotSupported(f"Catalog type '{name}' is not supported.", at=at, hint=REFUSED[name])
    raise NotSupported(
        f"Catalog type '{name}' is not supported.\n\nAvailable types are:\n\n" + "\n".join(names),
        at=at,
        hint=did_you_mean(name, names) or _DECLARE,
    )


def declared_options(written: Mapping[str, str]) -> tuple[Option, ...]:
    """The options that a catalog with the options ``written`` can have, besides its type; those of all catalogs where that is not known."""
    type_ = CATALOGS.usable(written.get(TYPE, ""))
    return (DEFAULT_DATABASE, *(type_.options if type_ else ()))


def opened(
    manager: CatalogManager,
    name: str,
    options: Mapping[str, str],
    comment: str | None = None,
    *,
    scope: Scope = NOTHING,
    project: Path | None = None,
    at: Any = None,
) -> Catalog:
    """The catalog ``name`` of a CREATE CATALOG, for ``manager``. ``scope`` is that of its definitions, ``project`` the project's folder.

    Raises ValidationError for wrong options, SetupError where its store fails, NotSupported for a type that is not there.
    """
    if TYPE not in options:
        raise ValidationError("Catalog options do not contain an option key 'type' for discovering a catalog.", at=at)
    type_ = find_type(options[TYPE], at)
    own = {k: v for k, v in options.items() if k != TYPE}
    check_options(type_.name, own, (DEFAULT_DATABASE, *type_.options), at=at)
    with placed(at):
        resolved = resolve_environment(own)
        default = resolved.pop(DEFAULT_DATABASE.key, None)
        secrets = tuple(v for k, v in resolved.items() if is_secret(k))
        with guarded(name, "be opened", secrets):
            store = type_.open(resolved, project or Path())
        if store is None:
            return Catalog(default or "default", {default or "default": Database()}, comment, dict(options))
        if not isinstance(store, Store):
            raise NotSupported(
                f"Catalog '{name}' can't be opened: what its type '{type_.name}' opens is no Store.",
                hint="Its plugin has to return an object with the methods of sqlstream.catalog.base.Store.",
            )
        guarding = GuardedStore(name, store, secrets, lambda path, text: _defined(path, text, manager, scope), lambda item: _written(item, manager))
        databases = guarding.databases()
        if default is not None and default not in databases:
            raise ValidationError(f"Catalog '{name}' has no database '{default}'.", hint=did_you_mean(default, databases))
        default = default or ("default" if "default" in databases or not databases else databases[0])
        tables = {d: Database(tables=StoredTables(guarding, d, writes=manager.writes)) for d in databases}
        return Catalog(default, tables, comment, dict(options), store=guarding)


def _defined(path: ObjectPath, text: str, manager: CatalogManager, scope: Scope) -> Table | View:
    """The table or view ``path`` that ``text`` defines. Raises ValidationError."""
    statements = split(text)
    if len(statements) != 1:
        raise refused_definition(path, f"it has {len(statements)} statements, not one.")
    try:
        node = parse(statements[0])
        names = manager.within(path.catalog, path.database)
        match node:
            case ast.CreateTable() if not node.temporary and node.like_clause is None and node.query is None:
                return declare.table(node, path, names, None, scope)
            case ast.CreateView() if not node.temporary:
                return declare.stored_view(node, path, names)
    except SqlStreamError as error:
        place = Location.of(text, None, statements[0].start + (error.offset or 0))
        raise refused_definition(path, f"{error.message.rstrip('.')} ({place}).", error.hint) from error
    raise refused_definition(path, "it is neither a CREATE TABLE without LIKE and AS nor a CREATE VIEW.")


def _written(item: Table | View, manager: CatalogManager) -> str:
    """The statement that defines ``item`` in its catalog, for any session. Raises NotSupported for one with a secret in plain text."""
    if secrets := ddl.secrets_of(item):
        where = f"Option '{secrets[0]}'" if secrets[0] else "The text"
        raise NotSupported(
            f"{where} contains a secret in plain text, which catalog '{item.path.catalog}' would keep.",
            hint="Write ${env:NAME} there, and set the variable NAME.",
        )
    name = quote(item.path.name)
    if isinstance(item, Table):
        return ddl.create_table_file(item, name)
    readable = declare.says_the_same(item, manager.within(item.path.catalog, item.path.database), ddl.view_query_text(item))
    return ddl.create_view_file(item if readable else replace(item, text=""), name)
