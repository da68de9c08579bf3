"""Temporal joins: FOR SYSTEM_TIME AS OF a rowtime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlstream.core.changelog import ChangelogMode
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.join import Join
from sqlstream.plan.properties import fields


@dataclass(frozen=True)
class TemporalJoin(Join):
    """Each row of the left with the version of the right that held at its time: the latest up to then with its ``key``. Inner or left.

    ``times`` are the rowtimes of the sides. The right's rows are versions, and rows of kind -D end one; ``key`` are the right's columns for each of
    which ``condition`` has an equality with the left.
    """

    recorded: ClassVar = ("TemporalJoin", "left", "right", "kind", "condition", "hints", "times", "key")
    partner: ClassVar = "had, at its time, a version"
    waiting: ClassVar = "The temporal join emits a row when the watermark has reached its time"

    times: tuple[str, str]
    version_key: tuple[str, ...]

    def keeps_time(self, side: int) -> bool:
        # The times of versions are values: a row has the time of the left side.
        return side == 0

    def explain(self) -> tuple[str, ...]:
        return ("TemporalJoin", f"joinType=[{self.kind.value}]", f"where=[{text.where(self.condition)}]", f"time=[{', '.join(self.times)}]")

    def reads(self) -> set[str]:
        return super().reads().union(self.times, self.version_key)

    @property
    def matched(self) -> tuple[str, ...]:
        return (*self.times, *self.version_key)

    def changelog(self) -> ChangelogMode:
        return ChangelogMode.APPEND

    def awaits_watermark(self) -> bool:
        return True

    def lost_time(self, name: str) -> str | None:
        if name in {f.name for f in fields(self.right)}:
            return f"'{name}' is the time of a version in a temporal join, whose rows have the time of the left side."
        return super().lost_time(name)
