"""Logical nodes. Each is a frozen value; its schema, changelog mode and bounds are functions of it in ``plan/properties``.

Column names are unique within a node's output; expressions refer to the input's columns by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from sqlstream.changelog import ChangelogMode

if TYPE_CHECKING:
    from sqlstream.sql.expressions import AggregateCall, ColumnRef, Expr, Frame
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

    ``table`` has the options of a hint merged in. ``bounded``, ``static`` and ``mode`` are the connector's answers for it; in batch mode
    every table is static.
    """

    table: Table
    bounded: bool
    static: bool
    mode: ChangelogMode = ChangelogMode.APPEND


@dataclass(frozen=True)
class ChangelogNormalize(Unary):
    """The changes of a table with primary key ``keys``, in full, of which the input tells only what the latest row of a key is."""

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
    """Several rows for each row, one a projection; the projections' columns have the same names, and types but for NOT NULL.

    A projection gives a row where its condition, if there are any, is TRUE.
    """

    projections: tuple[tuple[Named, ...], ...]
    conditions: tuple[Expr | None, ...] = ()


@dataclass(frozen=True)
class Correlate(Unary):
    """Each row with every element of its ``collection``, an ARRAY, MAP or MULTISET; one whose collection has none once with NULLs where ``outer``.

    Output: the input's columns, then ``columns``: those of the elements (a ROW's fields; key and value), and the element's place, from 1,
    where ``ordinality``. An element counts where ``condition``, over ``columns``, is TRUE; a ROW that is NULL does not.
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

    ``current`` is the name of a further column with the watermark that has been reached, if something reads it.
    """

    column: str
    expression: Expr
    current: str | None = None


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


WINDOW_START, WINDOW_END, WINDOW_TIME = WINDOW_COLUMNS = ("window_start", "window_end", "window_time")


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
    """One row a group, updated as rows come. ``keys`` are columns of the input; output: keys, then aggregates.

    ``upserts``: what is above takes each row for one that replaces that of its key, and need not know what it was. ``ttl``: a hint says that
    a group's state is kept for so many milliseconds (0: for ever).
    """

    keys: tuple[str, ...]
    aggregates: tuple[NamedAggregate, ...]
    upserts: bool = False
    ttl: int | None = None


@dataclass(frozen=True)
class WindowAggregate(Unary):
    """One row a group and window, when the window closes. The input has the columns of ``window``'s TVF.

    ``keys`` as in GroupAggregate; those among them that are window columns are ``start``, ``end`` and ``time`` (the input's
    names, ``time`` is always there, also where it is no key). ``attached``: the windows are those of an operator below, which are
    closed when they come. Output: keys, then aggregates.
    """

    window: Window
    zone: str
    keys: tuple[str, ...]
    aggregates: tuple[NamedAggregate, ...]
    start: str
    end: str
    time: str
    attached: bool = False


@dataclass(frozen=True)
class SortKey:
    """A column to order by, and where its NULLs go."""

    name: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Over(Unary):
    """The input's columns and those of ``aggregates`` over the rows of ``frame`` around each row in ``order``, within ``partition``."""

    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    aggregates: tuple[NamedAggregate, ...]
    frame: Frame


@dataclass(frozen=True)
class WindowRank(Unary):
    """The rows of ranks ``first`` to ``last`` in ``order``, of each ``partition`` and window, when the window closes.

    Of equal rows the earlier comes first, or the later where ``latest``. Output: the input's columns, then ``rank`` (BIGINT, from 1).
    """

    window: Window
    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    rank: str
    first: int
    last: int
    start: str
    end: str
    time: str
    latest: bool = False


@dataclass(frozen=True)
class Rank(Unary):
    """The rows of ranks ``first`` to ``last`` in ``order`` of each ``partition``, updated as rows come: Top-N and deduplication.

    Of equal rows the earlier comes first, or the later where ``latest``. ``once``: the first row that comes of a partition stays it. ``ttl``:
    for how many milliseconds state without new rows is kept (0: for ever). Output: the input's columns, then ``rank`` (BIGINT, from 1), if it
    has a name.
    """

    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    rank: str | None
    first: int
    last: int
    latest: bool = False
    once: bool = False
    ttl: int | None = None


class Skip(Enum):
    """Where the next match may begin: behind a match, behind its first row, or at a row of one of its variables."""

    PAST_LAST_ROW = "PAST LAST ROW"
    TO_NEXT_ROW = "TO NEXT ROW"
    TO_FIRST = "TO FIRST"
    TO_LAST = "TO LAST"


@dataclass(frozen=True)
class PatternVariable:
    """A variable of a pattern and how many rows it takes; ``high`` is None for any number. ``greedy``: as many as it can."""

    name: str
    low: int
    high: int | None
    greedy: bool

    @property
    def varies(self) -> bool:
        return self.low != self.high


@dataclass(frozen=True)
class RowValue:
    """A column of a row of a match: ``offset`` rows behind the first of those of ``variable`` (None: of all), or before the ``last``.

    NULL where there is none.
    """

    name: str
    variable: str | None
    last: bool
    offset: int
    column: ColumnRef


@dataclass(frozen=True)
class RowsValue:
    """An aggregate over the rows of ``variable`` (None: of all) in a match."""

    name: str
    variable: str | None
    call: AggregateCall


MatchValue = RowValue | RowsValue


@dataclass(frozen=True)
class Match(Unary):
    """One row for each match of ``pattern`` in the rows of each ``partition`` in ``order``, whose first column is the time.

    ``define``: conditions over a row and over ``values`` of the match so far, in which the row is taken for one of the variable. Output: the
    partition's columns, ``measures``, and ``time``, that of the match's last row. ``within`` are milliseconds, 0 for no bound.
    """

    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    pattern: tuple[PatternVariable, ...]
    define: tuple[tuple[str, Expr], ...]
    values: tuple[MatchValue, ...]
    measures: tuple[MatchValue, ...]
    skip: Skip
    target: str | None
    within: int
    time: str


class JoinKind(Enum):
    """Which rows a join gives."""

    INNER = "InnerJoin"
    LEFT = "LeftOuterJoin"
    RIGHT = "RightOuterJoin"
    FULL = "FullOuterJoin"
    SEMI = "LeftSemiJoin"
    ANTI = "LeftAntiJoin"

    @property
    def left_optional(self) -> bool:
        return self in (JoinKind.RIGHT, JoinKind.FULL)

    @property
    def right_optional(self) -> bool:
        return self in (JoinKind.LEFT, JoinKind.FULL)

    @property
    def left_only(self) -> bool:
        return self in (JoinKind.SEMI, JoinKind.ANTI)


@dataclass(frozen=True)
class JoinHints:
    """What hints say of a join's inputs: for how many milliseconds a row's state is kept (0: for ever), and Spark's name of how they are joined."""

    ttl: tuple[int | None, int | None] = (None, None)
    strategies: tuple[str | None, str | None] = (None, None)


NO_HINTS = JoinHints()


@dataclass(frozen=True)
class Join(Node):
    """Pairs of rows for which the condition is TRUE. Column names differ between the inputs. Output: the left's, then the right's.

    ``keeps_times``: rows come in an order in which time attributes stay such. In a regular join they come in any order.
    """

    keeps_times: ClassVar[bool] = False

    left: Node
    right: Node
    kind: JoinKind
    condition: Expr | None
    hints: JoinHints = field(default=NO_HINTS, kw_only=True)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return replace(self, left=inputs[0], right=inputs[1])


@dataclass(frozen=True)
class WindowJoin(Join):
    """A join of rows of the same window, when it closes. ``keys`` are the pairs of columns that are equal, ``condition`` what is asked for besides.

    ``times`` are the inputs' columns with the window's last millisecond, ``bounds`` those with its start and those with its end.
    """

    keeps_times: ClassVar[bool] = True

    window: Window
    keys: tuple[tuple[str, str], ...]
    times: tuple[str, str]
    bounds: tuple[tuple[str, str], tuple[str, str]]


@dataclass(frozen=True)
class IntervalJoin(Join):
    """A join of rows whose times are near: ``lower <= left time - right time <= upper``, in milliseconds.

    ``times`` are the attribute of each side, ``rest`` is what ``condition`` asks for besides.
    """

    keeps_times: ClassVar[bool] = True

    times: tuple[str, str]
    lower: int
    upper: int
    rest: Expr | None

    @property
    def reach(self) -> tuple[int, int]:
        """How long after its own time a row of each side can find one of the other, in milliseconds."""
        return -self.lower, self.upper

    @property
    def slack(self) -> int:
        """How much longer rows are kept than they can find one that is not late, in milliseconds."""
        return max(0, sum(self.reach) // 2)


@dataclass(frozen=True)
class TemporalJoin(Join):
    """Each row of the left with the version of the right that held at its time: the latest up to then, of its ``key``. Inner, or left.

    ``times`` are the rowtime of each side. The right gives versions, whose ends are rows of kind -D; ``key`` are columns of it, for each of which
    ``condition`` has an equality with the left.
    """

    keeps_times: ClassVar[bool] = True

    times: tuple[str, str]
    key: tuple[str, ...]


@dataclass(frozen=True)
class Retry:
    """How often a key without a row is looked up again, and after how many milliseconds each time."""

    delay: int
    attempts: int


@dataclass(frozen=True)
class LookupJoin(Unary):
    """Each row of the input with the rows that ``table`` has for it when it comes. Output: the input's columns, then the table's.

    ``table`` is a static Scan under projections and filters; its columns' names are none of the input's. ``keys`` are expressions over the
    input and the columns of ``table`` that they are equal to, ``condition`` is what is asked for besides. ``kind`` is INNER or LEFT.
    """

    table: Node
    kind: JoinKind
    keys: tuple[tuple[Expr, str], ...] = ()
    condition: Expr | None = None
    retry: Retry | None = None


SIDE = "$side"


class Collected(Enum):
    """What an aggregate that is a window join collects of a side: its rows, its distinct rows, or one row of aggregates."""

    ROWS = "rows"
    DISTINCT = "distinct rows"
    AGGREGATES = "aggregates"


@dataclass(frozen=True)
class JoinSide:
    """One side of a CoGroup. ``columns`` are those of the CoGroup's input that hold the side's rows, or the arguments of its aggregates.

    With AGGREGATES the side has one row a group: ``row``, over the results of ``aggregates`` and the join's keys.
    """

    collected: Collected
    columns: tuple[str, ...]
    aggregates: tuple[NamedAggregate, ...] = ()
    row: tuple[Named, ...] = ()


@dataclass(frozen=True)
class CoGroup(Unary):
    """A window join as one aggregate over the rows of both sides: SIDE is 0 for the left, 1 for the right.

    ``join`` is the join that it stands for; of its inputs only the columns count. ``time``, ``bounds`` and ``keys`` are columns of the input.
    """

    join: WindowJoin
    time: str
    bounds: tuple[str, str]
    keys: tuple[str, ...]
    sides: tuple[JoinSide, JoinSide]


@dataclass(frozen=True)
class KeyedJoin(Unary):
    """A regular join of streams as one operator over the rows of both sides: SIDE is 0 for the left, 1 for the right.

    ``join`` is the join that it stands for; of its inputs only the columns and changelog modes count. ``keys`` are the columns of the input
    that must be equal, NULL to NULL where ``null_safe``; ``columns`` those that hold the sides' columns. ``condition`` is what is asked for
    besides, over the join's columns.
    """

    join: Join
    keys: tuple[str, ...]
    null_safe: tuple[bool, ...]
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    condition: Expr | None


# The operators that give rows as windows close, which they learn from a watermark. After rewriting no WindowJoin is left.
CLOSES_WINDOWS = (WindowAggregate, WindowRank, CoGroup)

# All operators that wait for a watermark.
AWAITS_TIME = (*CLOSES_WINDOWS, IntervalJoin, TemporalJoin, Match)


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
    """ORDER BY: of a stream by a time attribute, ascending, and further columns."""

    keys: tuple[SortKey, ...]


@dataclass(frozen=True)
class Sink(Unary):
    """INSERT INTO a table: the input's columns are the table's persisted ones, in order.

    A row with a NULL for a NOT NULL column fails the job, or is left out where ``drop_nulls``.
    """

    table: Table
    overwrite: bool = False
    partition: tuple[tuple[str, str], ...] = ()
    drop_nulls: bool = False
