"""What names mean while a query is built: relations, common table expressions, and where tables come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from sqlglot import exp

from sqlstream.plan.nodes import Join, JoinKind
from sqlstream.plan.properties import fields
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
    """What of the session a plan depends on besides tables: its options, and the user's functions by name."""

    zone: str = "UTC"
    database: str = ""
    batch: bool = False
    dynamic_options: bool = True
    not_null_enforcer: str = "ERROR"
    changes_twice: bool = False
    state_ttl: int = 0
    dry: bool = False
    functions: Mapping[str, Function] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Hint:
    """What hints say about an item of FROM: for how many milliseconds the state of its rows is kept, Spark's name of how it is joined, how
    often it is looked up."""

    ttl: int | None = None
    strategy: str | None = None
    retry: Retry | None = None


@dataclass(frozen=True)
class Relation:
    """A node and how its columns are called in expressions: (qualifier or None, name) for each column, in order.

    Of the columns that NATURAL JOIN and USING make equal, ``merged`` are the places of those that stand for both, and ``hidden`` of those
    that only a qualifier names. ``repeated`` are the places of those whose name another column of the same item has. ``hint`` is of a single
    item.
    """

    node: Node
    names: tuple[tuple[str | None, str], ...]
    merged: tuple[int, ...] = ()
    hidden: frozenset[int] = frozenset()
    hint: Hint = Hint()
    repeated: frozenset[int] = frozenset()

    @classmethod
    def of(cls, node: Node, qualifier: str | None, names: Sequence[str] | None = None) -> Relation:
        """An item of FROM. ``names`` are what its columns are called, where these are not those of ``node``."""
        shown = [f.name for f in fields(node)] if names is None else names
        repeated = frozenset(i for i, name in enumerate(shown) if shown.count(name) > 1)
        return cls(node, tuple((qualifier, name) for name in shown), repeated=repeated)

    @property
    def visible(self) -> tuple[int, ...]:
        """The places of the columns that SELECT * gives, in its order."""
        return (*self.merged, *(i for i in range(len(self.names)) if i not in self.merged and i not in self.hidden))

    def beside(self, right: Relation) -> Relation:
        """The columns of both, whose node is a cross join."""
        width = len(self.names)
        merged, hidden = (*self.merged, *(width + i for i in right.merged)), self.hidden | {width + i for i in right.hidden}
        repeated = self.repeated | {width + i for i in right.repeated}
        return Relation(Join(self.node, right.node, JoinKind.INNER, None), (*self.names, *right.names), merged, hidden, repeated=repeated)

    def scope(self, settings: PlanSettings) -> Scope:
        """What the binder resolves columns against."""
        columns = tuple(
            ScopeColumn(qualifier, name, ColumnRef(f.type, f.name), place in self.hidden)
            for place, ((qualifier, name), f) in enumerate(zip(self.names, fields(self.node), strict=True))
        )
        return Scope(columns, zone=settings.zone, functions=settings.functions, database=settings.database)


@dataclass(frozen=True)
class Environment:
    """Everything outside of a query that its names can mean. ``table_function`` gives those of the user's by name.

    ``written`` has what the columns of each SELECT are called where several have one name, by the identity of its syntax tree. ``views`` are
    those around the query: each is read by the one before it. ``reads`` has the places of the tables that were read, each as often as it was.
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

    def names(self, query: exp.Expr, plan: Node) -> tuple[str, ...]:
        """What ``query``, whose plan is ``plan``, calls its columns: several may have one name, which those of ``plan`` never have."""
        while isinstance(query, exp.Subquery | exp.SetOperation):
            query = query.this
        _, written = self.written.get(id(query), (query, None))
        return tuple(f.name for f in fields(plan)) if written is None else written
