"""Joins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan.nodes.rows import Named, Node, Unary
from sqlstream.sql.generated_names import generated

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlstream.plan.nodes.aggregates import NamedAggregate
    from sqlstream.plan.nodes.windows import Window
    from sqlstream.sql.expressions import Expr


class JoinKind(Enum):
    """Which rows a join emits."""

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
    """What hints say about a join's inputs: for how many milliseconds their state is kept (0: for ever), and Spark's name for the join strategy."""

    ttl: tuple[int | None, int | None] = (None, None)
    strategies: tuple[str | None, str | None] = (None, None)


NO_HINTS = JoinHints()


@dataclass(frozen=True)
class Join(Node):
    """Pairs of rows for which the condition is TRUE. Column names differ between the inputs. Output: the left's, then the right's.

    ``keeps_times``: the order of the output is such that time attributes stay time attributes. A regular join emits rows in any order.
    """

    keeps_times: ClassVar[bool] = False

    left: Node
    right: Node
    kind: JoinKind
    condition: Expr | None
    hints: JoinHints = field(default=NO_HINTS, kw_only=True)
    # Where an error of the join is.
    at: exp.Expr | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return self if inputs[0] is self.left and inputs[1] is self.right else replace(self, left=inputs[0], right=inputs[1])


@dataclass(frozen=True)
class WindowJoin(Join):
    """A join of rows of the same window, emitted when it closes.

    ``keys`` are the pairs of columns that are equal, ``condition`` is what else has to hold. ``times`` are
    the inputs' columns with the window's last millisecond, ``bounds`` those with its start and those with its end.
    """

    keeps_times: ClassVar[bool] = True

    window: Window
    keys: tuple[tuple[str, str], ...]
    times: tuple[str, str]
    bounds: tuple[tuple[str, str], tuple[str, str]]


@dataclass(frozen=True)
class IntervalJoin(Join):
    """A join of rows whose times are close: ``lower <= left time - right time <= upper``, in milliseconds.

    ``times`` are the time attributes of the sides, ``rest`` is ``condition`` without their bounds.
    """

    keeps_times: ClassVar[bool] = True

    times: tuple[str, str]
    lower: int
    upper: int
    rest: Expr | None

    @property
    def reach(self) -> tuple[int, int]:
        """For how long after its own time a row of each side can find a partner, in milliseconds."""
        return -self.lower, self.upper

    @property
    def slack(self) -> int:
        """For how much longer rows are kept than they can find a partner that is not late, in milliseconds."""
        return max(0, sum(self.reach) // 2)


@dataclass(frozen=True)
class TemporalJoin(Join):
    """Each row of the left with the version of the right that held at its time: the latest up to then with its ``key``. Inner or left.

    ``times`` are the rowtimes of the sides. The right's rows are versions, and rows of kind -D end one; ``key`` are the right's columns for each of
    which ``condition`` has an equality with the left.
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
class Snapshot(Unary):
    """FOR SYSTEM_TIME AS OF: the input's rows as of ``time``, a time attribute of the left of the join whose right this is.

    ``retry`` says how rows are looked up again. Rules make a lookup or temporal join of the join, so no optimized plan has this node.
    """

    time: str
    retry: Retry | None = None
    # Where an error of the join is.
    at: exp.Expr | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class LookupJoin(Unary):
    """Each row of the input with the rows that ``table`` has for it when it arrives. Output: the input's columns, then the table's.

    ``table`` is a static Scan under projections and filters; its columns are not named as any of the input's. ``keys`` are expressions over the
    input and the columns of ``table`` that they are equal to, ``condition`` is what else has to hold. ``kind`` is INNER or LEFT.
    """

    table: Node
    kind: JoinKind
    keys: tuple[tuple[Expr, str], ...] = ()
    condition: Expr | None = None
    retry: Retry | None = None


SIDE = generated("side")


class Collected(Enum):
    """What the aggregate of a CoGroup collects from a side: its rows, its distinct rows, or one row of aggregates."""

    ROWS = "rows"
    DISTINCT = "distinct rows"
    AGGREGATES = "aggregates"


@dataclass(frozen=True)
class JoinSide:
    """One side of a CoGroup. ``columns`` are those of the CoGroup's input that hold the side's rows, or the arguments of its aggregates.

    With AGGREGATES the side has one row for each group: ``row``, over the results of ``aggregates`` and the join's keys.
    """

    collected: Collected
    columns: tuple[str, ...]
    aggregates: tuple[NamedAggregate, ...] = ()
    row: tuple[Named, ...] = ()


@dataclass(frozen=True)
class CoGroup(Unary):
    """A window join as one aggregate over the rows of both sides: SIDE is 0 for the left, 1 for the right.

    ``join`` is the join that it runs; of its inputs only the columns matter. ``time``, ``bounds`` and ``keys`` are columns of the input.
    """

    join: WindowJoin
    time: str
    bounds: tuple[str, str]
    keys: tuple[str, ...]
    sides: tuple[JoinSide, JoinSide]


@dataclass(frozen=True)
class KeyedJoin(Unary):
    """A regular join of streams as one operator over the rows of both sides: SIDE is 0 for the left, 1 for the right.

    ``join`` is the join that it runs; of its inputs only the columns and changelog modes matter. ``keys`` are the columns of the input
    that must be equal, NULL to NULL where ``null_safe``; ``columns`` those that hold the sides' columns. ``condition`` is what else
    has to hold, over the join's columns.
    """

    join: Join
    keys: tuple[str, ...]
    null_safe: tuple[bool, ...]
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    condition: Expr | None
