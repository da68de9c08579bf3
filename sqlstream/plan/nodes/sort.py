"""ORDER BY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan.lineage import Effect, Lineage, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.nodes.columns import TimeAttribute
from sqlstream.plan.properties import field, fields, static

if TYPE_CHECKING:
    from sqlstream.plan.nodes.columns import Field, SortKey


@dataclass(frozen=True)
class Sort(Unary):
    """ORDER BY: of a stream by a time attribute, ascending, and further columns."""

    recorded: ClassVar = ("Sort", "input", "keys")
    keeps_state: ClassVar = True
    waiting: ClassVar = "ORDER BY emits rows up to the watermark"

    keys: tuple[SortKey, ...]

    def output(self) -> tuple[Field, ...]:
        return fields(self.input)

    def explain(self) -> tuple[str, ...]:
        return ("TemporalSort" if self.awaits_watermark() and not static(self) else "Sort", f"orderBy=[{text.order(self.keys)}]")

    def reads(self) -> set[str]:
        return {k.name for k in self.keys}

    def lineage(self) -> Lineage:
        below = lineage(self.input)
        return below.deciding(below.of((k.name for k in self.keys), Effect.SORT))

    def awaits_watermark(self) -> bool:
        return bool(self.keys) and field(self.input, self.keys[0].name).time is TimeAttribute.ROWTIME

    def lost_time(self, name: str) -> str | None:
        return self.passed_time(name)
