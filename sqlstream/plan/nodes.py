"""Logical nodes. Each is a frozen value; its schema, changelog mode and bounds are functions of it in ``plan/properties``.

Column names are unique within a node's output; expressions refer to the input's columns by name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlstream.sql.expressions import AggregateCall, Expr
    from sqlstream.sql.tables import Table
    from sqlstream.sql.types import Type


class TimeAttribute(Enum):
    """What makes a column a time attribute."""

    ROWTIME = "ROWTIME"
    PROCTIME = "PROCTIME"


@dataclass(frozen=True)
class Field:
    """One column of a node's output."""

    name: str
    type: Type
    time: TimeAttribute | None = None


@dataclass(frozen=True)
class Node:
    """Base of logical nodes."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        assert not inputs
        return self


@dataclass(frozen=True)
class Unary(Node):
    """Base of nodes with one input."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return replace(self, input=inputs[0])


@dataclass(frozen=True)
class Scan(Node):
    """The physical and metadata columns of a table, under their declared names and types.

    ``table`` has the options of a hint merged in. ``bounded`` and ``static`` are the connector's answers for it.
    """

    table: Table
    bounded: bool
    static: bool


@dataclass(frozen=True)
class Values(Node):
    """Constant rows."""

    rows: tuple[tuple[Expr, ...], ...]
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Named:
    """An expression and the name of its column."""

    name: str
    expr: Expr


@dataclass(frozen=True)
class Project(Unary):
    """One column for each expression."""

    columns: tuple[Named, ...]


@dataclass(frozen=True)
class Expand(Unary):
    """Several rows for each row, one a projection; the projections' columns have the same names, and types but for NOT NULL."""

    projections: tuple[tuple[Named, ...], ...]


@dataclass(frozen=True)
class Filter(Unary):
    """The rows for which the condition is TRUE."""

    condition: Expr


@dataclass(frozen=True)
class Watermark(Unary):
    """Declares ``column`` a rowtime attribute; ``expression`` gives each row's watermark."""

    column: str
    expression: Expr


class WindowKind(Enum):
    """The window table-valued functions."""

    TUMBLE = "TUMBLE"
    HOP = "HOP"
    CUMULATE = "CUMULATE"
    SESSION = "SESSION"


@dataclass(frozen=True)
class Window:
    """A window specification: milliseconds. ``time`` is the attribute's column.

    ``slide`` is the size for TUMBLE, the step for CUMULATE. For SESSION ``size`` is the gap, and ``keys`` the columns that have sessions of
    their own; None where they are those that the aggregate above groups by.
    """

    kind: WindowKind
    time: str
    size: int
    slide: int
    offset: int = 0
    keys: tuple[str, ...] | None = ()


WINDOW_START, WINDOW_END, WINDOW_TIME = "window_start", "window_end", "window_time"


@dataclass(frozen=True)
class WindowTvf(Unary):
    """The input's columns and window_start, window_end, window_time: a row for each window that the input row falls into."""

    window: Window
    zone: str


@dataclass(frozen=True)
class NamedAggregate:
    """An aggregate call and the name of its column."""

    name: str
    call: AggregateCall


@dataclass(frozen=True)
class GroupAggregate(Unary):
    """One row a group, updated as rows come. ``keys`` are columns of the input; output: keys, then aggregates."""

    keys: tuple[str, ...]
    aggregates: tuple[NamedAggregate, ...]


@dataclass(frozen=True)
class WindowAggregate(Unary):
    """One row a group and window, when the window closes. The input has the columns of ``window``'s TVF.

    ``keys`` as in GroupAggregate; those among them that are window columns are ``start``, ``end`` and ``time`` (the input's
    names, ``time`` is always there, also where it is no key). Output: keys, then aggregates.
    """

    window: Window
    zone: str
    keys: tuple[str, ...]
    aggregates: tuple[NamedAggregate, ...]
    start: str
    end: str
    time: str


@dataclass(frozen=True)
class Union(Node):
    """UNION ALL: columns by position, named as the first input's."""

    branches: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.branches

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return replace(self, branches=inputs)


@dataclass(frozen=True)
class Limit(Unary):
    """The first ``count`` rows (None: all), after ``offset``."""

    count: int | None
    offset: int = 0


@dataclass(frozen=True)
class Sort(Unary):
    """ORDER BY: (column, descending) pairs. Only over bounded static input."""

    keys: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Sink(Unary):
    """INSERT INTO a table: the input's columns are the table's persisted ones, in order.

    A row with a NULL for a NOT NULL column fails the job, or is left out where ``drop_nulls``.
    """

    table: Table
    overwrite: bool = False
    partition: tuple[tuple[str, str], ...] = ()
    drop_nulls: bool = False
