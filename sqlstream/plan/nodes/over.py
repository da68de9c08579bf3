"""OVER."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan import make
from sqlstream.plan.lineage import Effect, Lineage, computed, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.nodes.columns import Field, TimeAttribute
from sqlstream.plan.nodes.group_aggregate import keeps_rows
from sqlstream.plan.properties import field, fields

if TYPE_CHECKING:
    from sqlstream.plan.nodes.columns import NamedAggregate, SortKey
    from sqlstream.sql.expressions import Frame

_BOUND = "a frame, as ROWS BETWEEN 100 PRECEDING AND CURRENT ROW, keeps no more rows of a key than the frame has: functions in Python keep them"


@dataclass(frozen=True)
class Over(Unary):
    """The input's columns and those of ``aggregates`` over the rows of ``frame`` around each row in ``order``, within ``partition``."""

    recorded: ClassVar = ("Over", "input", "partition", "order", "aggregates", "frame")
    keeps_state: ClassVar = True
    waiting: ClassVar = "The OVER aggregate emits rows up to the watermark"

    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    aggregates: tuple[NamedAggregate, ...]
    frame: Frame

    def output(self) -> tuple[Field, ...]:
        return (*fields(self.input), *(Field(a.name, a.call.type) for a in self.aggregates))

    def explain(self) -> tuple[str, ...]:
        return (
            "OverAggregate",
            *text.listed("partitionBy", self.partition, unless_empty=True),
            f"orderBy=[{text.order(self.order)}]",
            f"window=[{text.frame_text(self.frame)}]",
            *text.listed("select", map(text.aggregate, self.aggregates)),
        )

    def reads(self) -> set[str]:
        return {*self.partition, *(k.name for k in self.order)}.union(*(make.columns(a.call) for a in self.aggregates))

    def lineage(self) -> Lineage:
        below = lineage(self.input)
        window = below.of((*self.partition, *(k.name for k in self.order)), Effect.WINDOW)
        return Lineage({**below.columns, **{a.name: computed(a.call, below.columns) | window for a in self.aggregates}}, below.rows)

    def awaits_watermark(self) -> bool:
        return bool(self.order) and field(self.input, self.order[0].name).time is TimeAttribute.ROWTIME

    def bound(self) -> str | None:
        return _BOUND if self.frame.first is None and keeps_rows(self.aggregates) else None

    def lost_time(self, name: str) -> str | None:
        return self.passed_time(name)
