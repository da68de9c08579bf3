"""Column lineage: which columns of tables each column of a plan is made of, and which ones decide what its rows are.

A node answers for itself (``Node.lineage``) from the answers of its inputs; here is what they have in common: the effects that a column can have,
and those of an expression.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from sqlstream.plan.properties import once
from sqlstream.sql.expressions import AggregateCall, Call, Cast, ColumnRef, FieldAccess, OverCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sqlstream.plan.nodes.base import Node
    from sqlstream.plan.nodes.columns import NamedAggregate
    from sqlstream.sql.expressions import Expr
    from sqlstream.sql.tables import Table


class Effect(Enum):
    """What a column of a table does to a column, or to all rows, of a plan. The names are OpenLineage's."""

    # Its values are in the column. Each of these three hides the ones before it.
    IDENTITY = "IDENTITY"
    TRANSFORMATION = "TRANSFORMATION"
    AGGREGATION = "AGGREGATION"
    # Its values only decide.
    JOIN = "JOIN"
    GROUP_BY = "GROUP_BY"
    FILTER = "FILTER"
    SORT = "SORT"
    WINDOW = "WINDOW"
    CONDITIONAL = "CONDITIONAL"

    @property
    def direct(self) -> bool:
        """Whether values of the column get into the result."""
        return self in _DIRECT


_DIRECT = (Effect.IDENTITY, Effect.TRANSFORMATION, Effect.AGGREGATION)


@dataclass(frozen=True)
class Origin:
    """A column of a table, or a field in one: the names from the column on."""

    table: Table
    column: tuple[str, ...]

    def __hash__(self) -> int:
        # The options of a table are a dict.
        return hash((self.table.path, self.column))


Influences: TypeAlias = "frozenset[tuple[Origin, Effect]]"
NONE: Influences = frozenset()


@dataclass(frozen=True)
class Lineage:
    """``columns``: by the name of each column of a node what it comes from. ``rows``: what decides which rows there are, or how they are ordered."""

    columns: Mapping[str, Influences]
    rows: Influences = NONE

    def of(self, names: Iterable[str], effect: Effect) -> Influences:
        """What has this effect where the columns ``names`` have it."""
        return through(effect, *(self.columns[name] for name in names))

    def read(self, expr: Expr | None, effect: Effect) -> Influences:
        """What has this effect where ``expr``, over the columns, has it."""
        return NONE if expr is None else through(effect, computed(expr, self.columns))

    def deciding(self, *influences: Influences) -> Lineage:
        """The same columns, of rows that these decide on as well."""
        return Lineage(self.columns, self.rows.union(*influences))


@once
def lineage(node: Node) -> Lineage:
    """That of the columns and rows of ``node``."""
    return node.lineage()


def through(effect: Effect, *influences: Influences) -> Influences:
    """``influences`` on a value, as they are on what that value has ``effect`` on."""
    return frozenset((origin, _through(effect, inner)) for each in influences for origin, inner in each)


def _through(effect: Effect, inner: Effect) -> Effect:
    if not effect.direct:
        return effect
    return max(effect, inner, key=_DIRECT.index) if inner.direct else inner


def grouped(below: Lineage, keys: Iterable[str], aggregates: Iterable[NamedAggregate]) -> Lineage:
    """One row for each group: the keys, then the aggregates."""
    keys = tuple(keys)
    columns = {**{k: below.columns[k] for k in keys}, **{a.name: computed(a.call, below.columns) for a in aggregates}}
    return Lineage(columns, below.rows | below.of(keys, Effect.GROUP_BY))


def either(branches: Iterable[Mapping[str, Influences]]) -> Mapping[str, Influences]:
    """The columns of rows that are of any of several kinds."""
    merged: dict[str, Influences] = {}
    for branch in branches:
        for name, influences in branch.items():
            merged[name] = merged.get(name, NONE) | influences
    return merged


def computed(expr: Expr, below: Mapping[str, Influences]) -> Influences:
    """What the value of ``expr`` comes from, where its columns come from what is ``below``."""
    match expr:
        case ColumnRef(name=name):
            return below[name]
        case FieldAccess(operand=operand, name=name):
            return frozenset(_field(origin, name, effect) for origin, effect in computed(operand, below))
        case Cast(operand=operand) if operand.type.same(expr.type):
            return computed(operand, below)
        case Call(function=function, args=args) if function.name in _CHOICES:
            values, conditions = _CHOICES[function.name](args)
            chosen = (computed(value, below) for value in values)
            return frozenset().union(*chosen) | through(Effect.CONDITIONAL, *(computed(c, below) for c in conditions))
        case AggregateCall(function=function, args=args, filter=condition):
            effect = Effect.TRANSFORMATION if function.name in _OF_ONE_ROW else Effect.AGGREGATION
            of_filter = NONE if condition is None else through(Effect.CONDITIONAL, computed(condition, below))
            return through(effect, *(computed(a, below) for a in args)) | of_filter
        case OverCall(call=call, partition=partition, order=order):
            return computed(call, below) | through(Effect.WINDOW, *(computed(e, below) for e in (*partition, *order)))
        case Call(function=function) if function.name == "CURRENT_WATERMARK":
            # It is of all rows so far.
            return through(Effect.AGGREGATION, *(computed(child, below) for child in expr.children))
    return through(Effect.TRANSFORMATION, *(computed(child, below) for child in expr.children))


def _field(origin: Origin, name: str, effect: Effect) -> tuple[Origin, Effect]:
    """A field of a ROW: of one that is a table's as it is, the field of that."""
    return (Origin(origin.table, (*origin.column, name)) if effect is Effect.IDENTITY else origin, effect)


_Args: TypeAlias = "tuple[Expr, ...]"


def _case(args: _Args) -> tuple[_Args, _Args]:
    return (*args[1::2], args[-1]) if len(args) % 2 else args[1::2], args[:-1:2] if len(args) % 2 else args[::2]


def _first_of(args: _Args) -> tuple[_Args, _Args]:
    return args, args[:-1]


# Of functions that choose: which arguments may be the result, and which ones decide.
_CHOICES: Mapping[str, Callable[[_Args], tuple[_Args, _Args]]] = {
    "CASE": _case,
    "IF": lambda args: (args[1:], args[:1]),
    "COALESCE": _first_of,
    "IFNULL": _first_of,
    "NULLIF": lambda args: (args[:1], args),
}
# Functions over several rows whose result is the value of one of them.
_OF_ONE_ROW = ("LAG", "LEAD")
