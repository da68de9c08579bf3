"""Interval joins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.core.changelog import ChangelogMode
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.columns import TimeAttribute
from sqlstream.plan.nodes.join import Join, JoinKind
from sqlstream.plan.properties import field, fields

if TYPE_CHECKING:
    from sqlstream.sql.expressions import Expr


@dataclass(frozen=True)
class IntervalJoin(Join):
    """A join of rows whose times are close: ``lower <= left time - right time <= upper``, in milliseconds.

    ``times`` are the time attributes of the sides, ``rest`` is ``condition`` without their bounds.
    """

    recorded: ClassVar = ("IntervalJoin", "left", "right", "kind", "condition", "hints", "times", "lower", "upper", "rest")
    by_time: ClassVar = True
    partner: ClassVar = "meets its condition, with the times that it asks for, together with one"
    waiting: ClassVar = "The interval join emits rows without a partner, and drops rows, when the watermark has passed their interval"

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

    def keeps_time(self, _side: int) -> bool:
        return True

    def explain(self) -> tuple[str, ...]:
        return ("IntervalJoin", f"joinType=[{self.kind.value}]", f"windowBounds=[{self._bounds()}]", f"where=[{text.where(self.condition)}]")

    def _bounds(self) -> str:
        places = [[f.name for f in fields(side)].index(time) for side, time in zip(self.inputs, self.times, strict=True)]
        by_row = str(field(self.left, self.times[0]).time is TimeAttribute.ROWTIME).lower()
        return f"isRowTime={by_row}, leftLowerBound={self.lower}, leftUpperBound={self.upper}, leftTimeIndex={places[0]}, rightTimeIndex={places[1]}"

    @property
    def matched(self) -> tuple[str, ...]:
        return self.times

    def changelog(self) -> ChangelogMode:
        return ChangelogMode.APPEND

    def awaits_watermark(self) -> bool:
        return True

    def lag(self) -> int:
        # A row is as old as the older of its two rows, or as a row that found no partner.
        return max(0, *self.reach) + (0 if self.kind is JoinKind.INNER else self.slack + 1)
