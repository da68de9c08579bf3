"""Top-N of each window."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan.lineage import Effect, Lineage, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.nodes.columns import Field
from sqlstream.plan.properties import fields, windowing
from sqlstream.sql.types import BIGINT

if TYPE_CHECKING:
    from sqlstream.plan.nodes.columns import SortKey
    from sqlstream.plan.nodes.windows import Window, Windowing


@dataclass(frozen=True)
class WindowRank(Unary):
    """The rows of ranks ``first`` to ``last`` in ``order``, of each ``partition`` and window, emitted when the window closes.

    Of equal rows the earlier comes first, or the later where ``latest``. Output: the input's columns, then ``rank`` (BIGINT, from 1).
    """

    recorded: ClassVar = ("WindowRank", "input", "window", "partition", "order", "rank", "first", "last", "start", "end", "time", "latest")
    keeps_state: ClassVar = True

    window: Window
    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    rank: str
    first: int
    last: int
    start: str
    end: str
    time: str
    latest: bool = False

    def output(self) -> tuple[Field, ...]:
        return (*fields(self.input), Field(self.rank, BIGINT.not_null()))

    def explain(self) -> tuple[str, ...]:
        return (
            "WindowRank",
            f"window=[{text.window_text(self.window)}]",
            f"rankRange=[rankStart={self.first}, rankEnd={self.last}]",
            *text.listed("partitionBy", self.partition),
            f"orderBy=[{text.order(self.order)}]",
        )

    def reads(self) -> set[str]:
        return {*self.partition, *(k.name for k in self.order), self.start, self.end, self.time}

    def lineage(self) -> Lineage:
        below = lineage(self.input)
        window = below.of((*self.partition, *(k.name for k in self.order), self.start, self.end, self.time), Effect.WINDOW)
        return Lineage({**below.columns, self.rank: window}, below.rows | window)

    def windowing(self) -> Windowing | None:
        below = windowing(self.input)
        return below and replace(below, attached=True)

    def awaits_watermark(self) -> bool:
        return True

    def lost_time(self, name: str) -> str | None:
        return self.passed_time(name)
