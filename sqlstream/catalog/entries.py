"""What the namespaces contain besides tables and views: catalogs, databases, user functions; and the checks on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.sql.tables import ObjectPath, Table, View

if TYPE_CHECKING:
    from collections.abc import Mapping

BUILTIN_CATALOG = "default_catalog"
BUILTIN_DATABASE = "default_database"
CATALOG_OPTIONS = ("default-database", "property-version")


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
    """A database of a catalog. Function names are lower case."""

    comment: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    tables: dict[str, Table | View] = field(default_factory=dict)
    functions: dict[str, UserFunction] = field(default_factory=dict)


@dataclass
class Catalog:
    """A catalog. ``described`` is false for the built-in one, which has no metadata to show."""

    default_database: str
    databases: dict[str, Database]
    comment: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    described: bool = True


def already_exists(path: ObjectPath, at: Any = None) -> ValidationError:
    """The error for a table or view that is there already."""
    return ValidationError(f"Table (or view) {path.database}.{path.name} already exists in Catalog {path.catalog}.", at=at)


def check_reset(kind: str, keys: tuple[str, ...] | None, fixed: str, at: Any = None) -> None:
    """The checks on RESET's keys: of a TABLE or a CATALOG, where ``fixed`` can't be reset."""
    if keys is not None and not keys:
        raise ValidationError(f"ALTER {kind} RESET does not support empty key", at=at)
    if fixed in (keys or ()):
        raise ValidationError(f"ALTER {kind} RESET does not support changing '{fixed}'", at=at)


def check_catalog_options(options: Mapping[str, str], at: Any = None) -> None:
    """The checks on the options of a catalog, of which only the in-memory type exists."""
    kind = options.get("type")
    if kind is None:
        raise ValidationError("Catalog options do not contain an option key 'type' for discovering a catalog.", at=at)
    if kind != "generic_in_memory":
        raise NotSupported(
            f"Catalog type '{kind}' is not supported.",
            at=at,
            hint="Use 'type' = 'generic_in_memory' and CREATE TABLE, or keep the tables in catalog/*.sql.",
        )
    unknown = sorted(k for k in options if k != "type" and k not in CATALOG_OPTIONS)
    if unknown:
        raise ValidationError(
            "Unsupported options found for 'generic_in_memory'.\n\nUnsupported options:\n\n"
            + "\n".join(unknown)
            + "\n\nSupported options:\n\n"
            + "\n".join(CATALOG_OPTIONS),
            at=at,
        )
