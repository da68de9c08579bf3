"""MATCH_RECOGNIZE."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from sqlstream.plan.nodes.rows import SortKey, Unary

if TYPE_CHECKING:
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
