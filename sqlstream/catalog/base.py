"""What a catalog of another package is: a type, which ``'type'`` of CREATE CATALOG names, and the store that one of it opens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from sqlstream.core.errors import NotSupported

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sqlstream.core.options import Option

_READ_ONLY = "CREATE TEMPORARY TABLE and VIEW are of the session; another catalog keeps them."


class Store(ABC):
    """Databases with the definitions of tables and views: texts in Flink's SQL.

    A session calls its methods one at a time, from whatever thread, and keeps what they answer until it ends, but for a name that a statement is
    about to change. Whatever they raise is an error of the statement, with the catalog's name. A store that has ``save`` has ``remove`` as well.
    """

    @abstractmethod
    def databases(self) -> list[str]:
        """The names of the databases. Asked once, when the catalog is opened."""

    @abstractmethod
    def tables(self, database: str) -> list[str]:
        """The names of the tables and views of a database. Asked once, when somebody wants them all."""

    @abstractmethod
    def read(self, database: str, name: str) -> str | None:
        """The definition of a table or a view: a CREATE TABLE without LIKE and AS, or a CREATE VIEW; None where there is none.

        It has what its name in the catalog is, whatever it is called in the text. Other names without a database mean those of ``database``.
        Asked once, when a statement uses the name, and again before one changes it.
        """

    def save(self, database: str, name: str, definition: str) -> None:
        """Keep the definition of a table or a view, instead of the one that is there: CREATE, ALTER, RENAME."""
        raise NotSupported("This catalog is read-only.", hint=_READ_ONLY)

    def remove(self, database: str, name: str) -> None:
        """Forget the definition of a table or a view that is there: DROP, RENAME. The rows of the table stay."""
        raise NotSupported("This catalog is read-only.", hint=_READ_ONLY)

    def rename(self, database: str, name: str, to: str, definition: str) -> None:
        """Keep what is called ``name`` as ``to``, which is not there, with its definition: RENAME."""
        self.save(database, to, definition)
        try:
            self.remove(database, name)
        except Exception:
            with suppress(Exception):
                self.remove(database, to)
            raise

    def options(self, database: str, name: str) -> Mapping[str, str]:
        """Options that a table has, as one of this catalog, besides those of its CREATE TABLE: ``read`` gives definitions with them, ``save`` gets
        them without.
        """
        return {}

    def create_database(self, database: str) -> None:
        """Add an empty database, which is not there."""
        raise NotSupported("This catalog is read-only.", hint=_READ_ONLY)

    def drop_database(self, database: str) -> None:
        """Forget a database, with all definitions that are in it: DROP DATABASE, which without CASCADE is for empty ones."""
        raise NotSupported("This catalog is read-only.", hint=_READ_ONLY)


class CatalogType(ABC):
    """Base of types of catalogs. ``options`` exclude ``type`` and ``default-database``, which all types have."""

    name: ClassVar[str]
    summary: ClassVar[str]
    # A CREATE CATALOG.
    example: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()

    @abstractmethod
    def open(self, options: Mapping[str, str], project: Path) -> Store | None:
        """The store of a catalog with ``options``: those of ``self.options`` that are written, checked, with ``${env:NAME}`` replaced.

        Relative paths start at the folder ``project``. None for a catalog whose tables the session and the project's files keep. It writes nothing:
        also ``sqlstream check`` opens catalogs.
        """
