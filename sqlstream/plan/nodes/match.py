"""MATCH_RECOGNIZE."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan import make
from sqlstream.plan.lineage import Effect, Influences, Lineage, computed, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.nodes.columns import Field
from sqlstream.plan.properties import fields, unchecked
from sqlstream.sql.text import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.plan.nodes.columns import SortKey
    from sqlstream.sql.expressions import AggregateCall, ColumnRef, Expr


class Skip(Enum):
    """Where the next match may begin: after a match, after its first row, or at a row of one of its variables."""

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
    """A column of a row of a match: ``offset`` rows after the first of those of ``variable`` (None: of all), or before the ``last``.

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

    ``define``: conditions over a row and over ``values`` of the match so far, under which a row is mapped to the variable. Output: the
    partition's columns, ``measures``, and ``time``, that of the match's last row. ``within`` are milliseconds, 0 for no bound.
    """

    recorded: ClassVar = (
        "Match", "input", "partition", "order", "pattern", "define", "values", "measures", "skip", "target", "within", "time",
    )  # fmt: skip
    keeps_state: ClassVar = True
    waiting: ClassVar = "MATCH_RECOGNIZE looks at rows up to the watermark"

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

    def output(self) -> tuple[Field, ...]:
        below = {f.name: f for f in fields(self.input)}
        ordered = below[self.order[0].name]
        return (
            *(Field(k, below[k].type) for k in self.partition),
            *(Field(m.name, m.column.type.null() if isinstance(m, RowValue) else m.call.type) for m in self.measures),
            Field(self.time, ordered.type.not_null(), ordered.time),
        )

    def explain(self) -> tuple[str, ...]:
        values = {v.name: _value(v) for v in self.values}
        defined = (f"{name}={to_text(make.renamed(c, {n: values.get(n, n) for n in make.columns(c)}))}" for name, c in self.define)
        return (
            "Match",
            *text.listed("partitionBy", self.partition, unless_empty=True),
            f"orderBy=[{text.order(self.order)}]",
            *text.listed("measures", (f"{_value(m)} AS {m.name}" for m in self.measures)),
            "rowsPerMatch=[ONE ROW PER MATCH]",
            f"after=[SKIP {self.skip.value}{f' {self.target}' if self.target else ''}]",
            f"pattern=[{' '.join(map(_variable, self.pattern))}]",
            *((f"within=[{text.duration(self.within)}]",) if self.within else ()),
            *text.listed("define", defined),
        )

    def reads(self) -> set[str]:
        read = {*self.partition, *(k.name for k in self.order)}
        for value in (*self.values, *self.measures):
            read |= {value.column.name} if isinstance(value, RowValue) else make.columns(value.call)
        for _, condition in self.define:
            read |= make.columns(condition)
        # Conditions read ``values`` as well.
        return read & {f.name for f in fields(self.input)}

    def lineage(self) -> Lineage:
        below = lineage(self.input)
        values, measures = ({v.name: _influences(v, below) for v in of} for of in (self.values, self.measures))
        columns = {**{k: below.columns[k] for k in self.partition}, **measures, self.time: below.columns[self.order[0].name]}
        # Conditions read values of the match as well.
        known = Lineage({**below.columns, **values})
        conditions = (known.read(condition, Effect.FILTER) for _, condition in self.define)
        rows = below.of((*self.partition, *(k.name for k in self.order)), Effect.WINDOW)
        return Lineage(columns, below.rows).deciding(rows, *conditions)

    def trusted(self) -> Mapping[str, bool]:
        return {name: made_up for name, made_up in unchecked(self.input).items() if name in self.partition}

    def key(self) -> tuple[str, ...] | None:
        return None

    def awaits_watermark(self) -> bool:
        return True


def _influences(value: MatchValue, below: Lineage) -> Influences:
    """What a value of a match comes from."""
    return computed(value.column if isinstance(value, RowValue) else value.call, below.columns)


def _value(value: MatchValue) -> str:
    """A value of a match as Flink's plans write it: ``LAST(A.x, 0)``."""
    owner = f"{value.variable or '*'}."
    if isinstance(value, RowValue):
        return f"{'LAST' if value.last else 'FIRST'}({owner}{value.column.name}, {value.offset})"
    return to_text(make.renamed(value.call, {n: owner + n for n in make.columns(value.call)}))


def _variable(variable: PatternVariable) -> str:
    low, high = variable.low, variable.high
    known = {(1, 1): "", (0, None): "*", (1, None): "+", (0, 1): "?"}
    quantifier = known.get((low, high), f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}")
    return f"{variable.name}{quantifier}{'?' if variable.varies and not variable.greedy and (low, high) != (0, 1) else ''}"
