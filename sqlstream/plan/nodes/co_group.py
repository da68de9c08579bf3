"""What runs a window join."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from sqlstream.core.changelog import ChangelogMode
from sqlstream.plan.lineage import Lineage, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.properties import fields, unchecked, windowing
from sqlstream.sql.generated_names import generated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.plan.nodes.columns import Field, Named, NamedAggregate
    from sqlstream.plan.nodes.window_join import WindowJoin
    from sqlstream.plan.nodes.windows import Windowing

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

    recorded: ClassVar = ("CoGroup", "input", "join", "time", "bounds", "keys", "sides")
    keeps_state: ClassVar = True

    join: WindowJoin
    time: str
    bounds: tuple[str, str]
    keys: tuple[str, ...]
    sides: tuple[JoinSide, JoinSide]

    def output(self) -> tuple[Field, ...]:
        return fields(self.join)

    def explain(self) -> tuple[str, ...]:
        return (*self.join.explain(), *text.listed("collects", (s.collected.value for s in self.sides)))

    def reads(self) -> set[str]:
        return {SIDE, self.time, *self.bounds, *self.keys}.union(*(s.columns for s in self.sides))

    def lineage(self) -> Lineage:
        # Its inputs are those of the join, with other names.
        return lineage(self.join)

    def trusted(self) -> Mapping[str, bool]:
        return unchecked(self.join)

    def changelog(self) -> ChangelogMode:
        return ChangelogMode.APPEND

    def key(self) -> tuple[str, ...] | None:
        return None

    def windowing(self) -> Windowing | None:
        return windowing(self.join)

    def awaits_watermark(self) -> bool:
        return True
