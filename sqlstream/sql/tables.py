"""Tables and views as values: what a CREATE statement declares. Column and watermark expressions are still syntax here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from sqlstream.sql.types import Type


class ObjectPath(NamedTuple):
    """catalog.database.name of a table, view or function."""

    catalog: str
    database: str
    name: str

    def __str__(self) -> str:
        return ".".join(self)

    @property
    def quoted(self) -> str:
        return ".".join(quote(part) for part in self)


@dataclass(frozen=True)
class PhysicalColumn:
    """``name TYPE``: read from and written to the connector."""

    name: str
    type: Type
    comment: str | None = None


@dataclass(frozen=True)
class MetadataColumn:
    """``name TYPE METADATA [FROM 'key'] [VIRTUAL]``; ``key`` is the name where FROM is absent."""

    name: str
    type: Type
    key: str
    virtual: bool = False
    comment: str | None = None


@dataclass(frozen=True)
class ComputedColumn:
    """``name AS expression``."""

    name: str
    expression: exp.Expression
    comment: str | None = None


Column = PhysicalColumn | MetadataColumn | ComputedColumn


@dataclass(frozen=True)
class WatermarkStrategy:
    """``WATERMARK FOR column AS expression``."""

    column: str
    expression: exp.Expression


@dataclass(frozen=True)
class PrimaryKey:
    """``[CONSTRAINT name] PRIMARY KEY (columns) NOT ENFORCED``."""

    columns: tuple[str, ...]
    name: str | None = None


@dataclass(frozen=True)
class Distribution:
    """``DISTRIBUTED BY [HASH|RANGE](columns) [INTO n BUCKETS]``."""

    kind: str | None
    columns: tuple[str, ...]
    buckets: int | None


@dataclass(frozen=True)
class Table:
    """A table. ``options`` as written (``${env:NAME}`` unresolved); ``partition_keys`` names of physical columns."""

    path: ObjectPath
    columns: tuple[Column, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    watermark: WatermarkStrategy | None = None
    primary_key: PrimaryKey | None = None
    partition_keys: tuple[str, ...] = ()
    distribution: Distribution | None = None
    comment: str | None = None
    temporary: bool = False

    @property
    def connector(self) -> str:
        return self.options.get("connector", "")

    @property
    def physical(self) -> tuple[PhysicalColumn, ...]:
        return tuple(c for c in self.columns if isinstance(c, PhysicalColumn))

    @property
    def metadata(self) -> tuple[MetadataColumn, ...]:
        return tuple(c for c in self.columns if isinstance(c, MetadataColumn))

    @property
    def persisted(self) -> tuple[PhysicalColumn | MetadataColumn, ...]:
        """The columns that INSERT writes, in order: physical ones and metadata that is not VIRTUAL."""
        return tuple(c for c in self.columns if isinstance(c, PhysicalColumn) or (isinstance(c, MetadataColumn) and not c.virtual))


@dataclass(frozen=True)
class View:
    """A view. ``query`` is syntax; its names are resolved in the catalog and database in which it was created.

    ``given``: the columns that the query gave when the view was created, which are those of the view, whatever ``*`` means later; empty
    where that is not known.
    """

    path: ObjectPath
    query: exp.Query
    columns: tuple[str, ...] = ()
    comment: str | None = None
    temporary: bool = False
    text: str = ""
    given: tuple[str, ...] = ()
