"""What the namespaces contain besides tables and views: catalogs, databases, user functions; and the checks on them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlstream.catalog.stored import GuardedStore, StoredTables
from sqlstream.core.errors import AlreadyThere, ValidationError
from sqlstream.sql.tables import ObjectPath, Table, View

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

BUILTIN_CATALOG = "default_catalog"
BUILTIN_DATABASE = "default_database"


@dataclass(frozen=True)
class UserFunction:
    """A function of the user's: a name and what implements it. ``resources`` are paths of USING JAR or ARTIFACT."""

    path: ObjectPath
    identifier: str
    language: str = "JAVA"
    resources: tuple[str, ...] = ()
    temporary: bool = False
    system: bool = False
    options: Mapping[str, str] = field(default_factory=dict)


CatalogObject = Table | View | UserFunction


@dataclass
class Database:
    """A database of a catalog. Function names are lower case. ``tables`` are StoredTables where a store keeps the catalog."""

    comment: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    tables: MutableMapping[str, Table | View] = field(default_factory=dict)
    functions: dict[str, UserFunction] = field(default_factory=dict)

    @property
    def known(self) -> Mapping[str, Table | View]:
        """The tables and views without those whose definitions a store would have to be asked for."""
        return self.tables.known if isinstance(self.tables, StoredTables) else self.tables

    def isolated(self) -> Database:
        """The same objects in a database of its own, which no store keeps."""
        tables = self.tables.isolated() if isinstance(self.tables, StoredTables) else dict(self.tables)
        return replace(self, tables=tables, functions=dict(self.functions))


@dataclass
class Catalog:
    """A catalog. ``described`` is false for the built-in one, which has no metadata to show. ``store``: what keeps what is in it, where that
    is neither the session nor the project's files."""

    default_database: str
    databases: dict[str, Database]
    comment: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    described: bool = True
    store: GuardedStore | None = None


def already_exists(path: ObjectPath, at: Any = None) -> ValidationError:
    """The error for a table or view that is there already."""
    return AlreadyThere(f"Table (or view) {path.database}.{path.name} already exists in Catalog {path.catalog}.", at=at)


def check_reset(kind: str, keys: tuple[str, ...] | None, fixed: str, at: Any = None) -> None:
    """The checks on RESET's keys: of a TABLE or a CATALOG, where ``fixed`` can't be reset."""
    if keys is not None and not keys:
        raise ValidationError(f"ALTER {kind} RESET does not support empty key", at=at)
    if fixed in (keys or ()):
        raise ValidationError(f"ALTER {kind} RESET does not support changing '{fixed}'", at=at)
