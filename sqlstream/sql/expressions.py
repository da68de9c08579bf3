"""Typed scalar expressions: what a resolved expression is, in the plan and on its way to Spark SQL.

Every node is frozen and knows its Flink type. All operators and functions are rows of ``sql/functions``; a Call names its row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlstream.sql.functions.base import VARIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlstream.sql.functions.base import Function
    from sqlstream.sql.types import Type


@dataclass(frozen=True)
class Expr:
    """Base of typed expressions."""

    type: Type

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        assert not children
        return self

    def walk(self) -> Iterator[Expr]:
        """This node and all below it, parents first."""
        waiting: list[Expr] = [self]
        while waiting:
            yield (one := waiting.pop())
            waiting += reversed(one.children)

    def transform(self, rewrite: Callable[[Expr], Expr | None]) -> Expr:
        """A copy in which each node for which ``rewrite`` gives an expression is that one; its children are not visited."""
        rewritten = rewrite(self)
        if rewritten is not None:
            return rewritten
        return self.with_children(tuple(c.transform(rewrite) for c in self.children)) if self.children else self


@dataclass(frozen=True)
class ColumnRef(Expr):
    """A column of the node's input, by its (unique) name."""

    name: str


@dataclass(frozen=True)
class Literal(Expr):
    """A constant. ``value``: None, bool, int, Decimal, float, str, bytes, date, time, naive datetime (TIMESTAMP), and int for
    intervals: months for INTERVAL_MONTHS, milliseconds for INTERVAL_MILLIS."""

    value: Any


@dataclass(frozen=True)
class Keyword(Expr):
    """A word of SQL among a call's arguments: a unit of time, LEADING."""

    text: str


def constant(expr: Expr) -> Any:
    """The value of a constant, also below a cast from number to number; a word's text; those of an array, VARIES of another expression."""
    if isinstance(expr, Cast) and isinstance(expr.operand, Literal) and expr.type.is_numeric and expr.operand.type.is_numeric:
        return expr.operand.value
    if isinstance(expr, Keyword):
        return expr.text
    if isinstance(expr, Call) and expr.function.name == "ARRAY":
        cells = tuple(constant(a) for a in expr.args)
        return VARIES if VARIES in cells else cells
    return expr.value if isinstance(expr, Literal) else VARIES


@dataclass(frozen=True)
class Call(Expr):
    """A scalar function or operator, CASE included (condition, value, ..., else). ``at``: where it is written, as errors have it; None if nowhere."""

    function: Function
    args: tuple[Expr, ...]
    at: Any = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args

    def with_children(self, children: tuple[Expr, ...]) -> Call:
        return replace(self, args=children)


@dataclass(frozen=True)
class Cast(Expr):
    """CAST to ``type``; TRY_CAST where ``safe``. Implicit casts are made explicit when an expression is bound: they have no ``at``, see Call."""

    operand: Expr
    safe: bool = False
    at: Any = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.operand,)

    def with_children(self, children: tuple[Expr, ...]) -> Cast:
        return replace(self, operand=children[0])


@dataclass(frozen=True)
class FieldAccess(Expr):
    """``operand.name`` of a ROW."""

    operand: Expr
    name: str

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.operand,)

    def with_children(self, children: tuple[Expr, ...]) -> FieldAccess:
        return replace(self, operand=children[0])


@dataclass(frozen=True)
class AggregateCall(Expr):
    """An aggregate function: COUNT(*) has no args. ``filter`` is the condition of FILTER (WHERE ..)."""

    function: Function
    args: tuple[Expr, ...]
    distinct: bool = False
    filter: Expr | None = None

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args if self.filter is None else (*self.args, self.filter)

    def with_children(self, children: tuple[Expr, ...]) -> AggregateCall:
        if self.filter is None:
            return replace(self, args=children)
        return replace(self, args=children[:-1], filter=children[-1])


@dataclass(frozen=True)
class Frame:
    """Which rows a call of OVER sees, from ``first`` to ``last``: places counted from the current row where ``rows`` (-1: the one before it), else
    milliseconds of the order's time, 0 with all rows of the current one's place; None: without a bound.
    """

    rows: bool
    first: int | None
    last: int | None


@dataclass(frozen=True)
class OverCall(Expr):
    """An aggregate or ranking function over the rows of ``frame`` around each row, in ``order``, of its ``partition``.

    ``descending`` and ``nulls_first`` belong to the expressions of ``order``.
    """

    call: AggregateCall
    partition: tuple[Expr, ...]
    order: tuple[Expr, ...]
    descending: tuple[bool, ...]
    nulls_first: tuple[bool, ...]
    frame: Frame

    @property
    def window(self) -> tuple[object, ...]:
        """All but the function: equal where two calls have one window."""
        return (self.partition, self.order, self.descending, self.nulls_first, self.frame)

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.call, *self.partition, *self.order)

    def with_children(self, children: tuple[Expr, ...]) -> OverCall:
        call, *others = children
        assert isinstance(call, AggregateCall)
        partition, order = tuple(others[: len(self.partition)]), tuple(others[len(self.partition) :])
        return replace(self, call=call, partition=partition, order=order)
