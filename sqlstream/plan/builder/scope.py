"""The meaning of names while a query is built: relations, common table expressions, and where tables come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from sqlglot import exp

from sqlstream.core.spark_releases import INSTALLED, RELEASES, Release
from sqlstream.formats.base import ProjectFiles
from sqlstream.plan.nodes import Join, JoinKind
from sqlstream.plan.places import placed
from sqlstream.plan.properties import fields
from sqlstream.plan.real_time import RealTime
from sqlstream.sql.bind import Scope, ScopeColumn
from sqlstream.sql.expressions import ColumnRef

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlstream.plan.nodes import Node, Retry
    from sqlstream.sql.functions import Function
    from sqlstream.sql.tables import ObjectPath, Table, View


class Resolver(Protocol):
    """The catalog, as the planner sees it."""

    def resolve(self, parts: tuple[str, ...], *, at: Any = None) -> Table | View:
        """The table or view of a one- to three-part name. Raises ValidationError."""
        ...

    def within(self, catalog: str, database: str) -> Resolver:
        """The same catalog, with another current catalog and database: a view's names are resolved where it was created."""
        ...


@dataclass(frozen=True)
class PlanSettings:
    """What a plan depends on in the session apart from tables: options, and the user's functions by name."""

    zone: str = "UTC"
    database: str = ""
    batch: bool = False
    dynamic_options: bool = True
    drop_nulls: bool = False
    dead_letters: str | None = None
    require_on_conflict: bool | None = None
    changes_twice: bool = False
    state_ttl: int = 0
    real_time: RealTime = RealTime.FALSE
    release: Release = RELEASES[INSTALLED]
    dry: bool = False
    warehouse: str | None = None
    files: ProjectFiles = field(default_factory=ProjectFiles, compare=False)
    functions: Mapping[str, Function] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Hint:
    """The hints about an item of FROM: for how many milliseconds the state of its rows is kept, Spark's name for its join strategy, and how often it
    is looked up."""

    ttl: int | None = None
    strategy: str | None = None
    retry: Retry | None = None


@dataclass(frozen=True)
class Relation:
    """A node and the names of its columns in expressions: (qualifier or None, name) for each column, in order.

    Of the columns that NATURAL JOIN and USING make equal, ``merged`` are the positions of those that stand for both, and ``hidden`` of those that
    need a qualifier. ``repeated`` are the positions of columns whose name another column of the same item has. Only a single item has a ``hint``.
    """

    node: Node
    names: tuple[tuple[str | None, str], ...]
    merged: tuple[int, ...] = ()
    hidden: frozenset[int] = frozenset()
    hint: Hint = Hint()
    repeated: frozenset[int] = frozenset()

    @classmethod
    def of(cls, node: Node, qualifier: str | None, names: Sequence[str] | None = None) -> Relation:
        """An item of FROM. ``names`` are the names of its columns, where they differ from those of ``node``."""
        shown = [f.name for f in fields(node)] if names is None else names
        repeated = frozenset(i for i, name in enumerate(shown) if shown.count(name) > 1)
        return cls(node, tuple((qualifier, name) for name in shown), repeated=repeated)

    @property
    def visible(self) -> tuple[int, ...]:
        """The positions of the columns of SELECT *, in order."""
        return (*self.merged, *(i for i in range(len(self.names)) if i not in self.merged and i not in self.hidden))

    def beside(self, right: Relation) -> Relation:
        """The columns of both sides, over a cross join."""
        width = len(self.names)
        merged, hidden = (*self.merged, *(width + i for i in right.merged)), self.hidden | {width + i for i in right.hidden}
        repeated = self.repeated | {width + i for i in right.repeated}
        return Relation(Join(self.node, right.node, JoinKind.INNER, None), (*self.names, *right.names), merged, hidden, repeated=repeated)

    def scope(self, settings: PlanSettings) -> Scope:
        """The scope in which the binder resolves columns."""
        columns = tuple(
            ScopeColumn(qualifier, name, ColumnRef(f.type, f.name), place in self.hidden)
            for place, ((qualifier, name), f) in enumerate(zip(self.names, fields(self.node), strict=True))
        )
        return Scope(columns, zone=settings.zone, functions=settings.functions, database=settings.database)


@dataclass(frozen=True)
class Environment:
    """Everything outside of a query that its names can refer to. ``table_function`` finds the user's table functions by name.

    ``written`` has the names of the columns of each SELECT in which several share one, by the identity of its syntax tree. ``views`` are those around
    the query, each read by the one before it. ``reads`` has the place of each table that was read, once for each time.
    ``view_at`` is where the statement names the outermost of the views around the query.
    """

    resolver: Resolver
    settings: PlanSettings
    ctes: Mapping[str, Node] = field(default_factory=dict)
    table_function: Callable[[exp.Expr, str], Function | None] = lambda at, name: None
    notices: list[str] = field(default_factory=list)
    written: dict[int, tuple[exp.Expr, tuple[str, ...]]] = field(default_factory=dict)
    views: tuple[ObjectPath, ...] = ()
    reads: list[exp.Expr] = field(default_factory=list)
    view_at: exp.Expr | None = None

    def place(self, clause: exp.Expr) -> exp.Expr:
        """Where in the statement an error of ``clause`` is: the text of a view has no place in it."""
        return self.view_at or clause

    def placed(self, node: Node, clause: exp.Expr) -> Node:
        """``node``, of which ``clause`` made what has no place yet."""
        return placed(node, self.place(clause))

    def names(self, query: exp.Expr, plan: Node) -> tuple[str, ...]:
        """The names of the columns of ``query``, whose plan is ``plan``: several may have the same name, unlike in ``plan``."""
        while isinstance(query, exp.Subquery | exp.SetOperation):
            query = query.this
        _, written = self.written.get(id(query), (query, None))
        return tuple(f.name for f in fields(plan)) if written is None else written
