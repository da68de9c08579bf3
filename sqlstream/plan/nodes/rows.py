"""Nodes that look at one row at a time, sources, and sinks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from sqlstream.core.changelog import ChangelogMode

if TYPE_CHECKING:
    from sqlstream.sql.expressions import Expr
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
        return self if inputs[0] is self.input else replace(self, input=inputs[0])


@dataclass(frozen=True)
class Scan(Node):
    """The physical and metadata columns of a table, under their declared names and types.

    ``table`` has the options of a hint merged in. ``bounded``, ``static`` and ``mode`` are the connector's answers for it; in batch mode
    every table is static.
    """

    table: Table
    bounded: bool
    static: bool
    mode: ChangelogMode = ChangelogMode.APPEND


@dataclass(frozen=True)
class ChangelogNormalize(Unary):
    """The full changes of a table with primary key ``keys``, whose input has only the latest row of each key."""

    keys: tuple[str, ...]


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
    """One row for each projection of each row; the projections' columns have the same names, and the same types apart from NOT NULL.

    If there are conditions, a projection emits a row where its condition is TRUE.
    """

    projections: tuple[tuple[Named, ...], ...]
    conditions: tuple[Expr | None, ...] = ()


@dataclass(frozen=True)
class Correlate(Unary):
    """Each row with every element of its ``collection``, an ARRAY, MAP or MULTISET; a row without elements comes once, with NULLs, if ``outer``.

    Output: the input's columns, then ``columns``: those of the elements (a ROW's fields; key and value), and the element's position, from 1,
    if ``ordinality``. Only elements for which ``condition``, over ``columns``, is TRUE count; a ROW that is NULL does not.
    """

    collection: Expr
    columns: tuple[Field, ...]
    ordinality: bool = False
    outer: bool = False
    condition: Expr | None = None


@dataclass(frozen=True)
class Filter(Unary):
    """The rows for which the condition is TRUE."""

    condition: Expr


@dataclass(frozen=True)
class Watermark(Unary):
    """Declares ``column`` a rowtime attribute; ``expression`` gives each row's watermark.

    ``current`` is the name of an additional column with the current watermark, if something reads it.
    """

    column: str
    expression: Expr
    current: str | None = None


@dataclass(frozen=True)
class Union(Node):
    """UNION ALL: columns by position, named as the first input's."""

    branches: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.branches

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return self if all(a is b for a, b in zip(inputs, self.branches, strict=True)) else replace(self, branches=inputs)


@dataclass(frozen=True)
class Limit(Unary):
    """The first ``count`` rows (None: all), after ``offset``."""

    count: int | None
    offset: int = 0


@dataclass(frozen=True)
class SortKey:
    """A column to order by, and where its NULLs go."""

    name: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Sort(Unary):
    """ORDER BY: of a stream by a time attribute, ascending, and further columns."""

    keys: tuple[SortKey, ...]


@dataclass(frozen=True)
class Sink(Unary):
    """INSERT INTO a table: the input's columns are the table's persisted ones, in order.

    A row with a NULL for a NOT NULL column fails the job, or is dropped if ``drop_nulls``.
    """

    table: Table
    overwrite: bool = False
    partition: tuple[tuple[str, str], ...] = ()
    drop_nulls: bool = False
