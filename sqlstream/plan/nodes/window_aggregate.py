"""GROUP BY window_start, window_end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan import make
from sqlstream.plan.lineage import Effect, Lineage, grouped, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.nodes.columns import Field
from sqlstream.plan.nodes.windows import WINDOW_END, WINDOW_START, WINDOW_TIME, Windowing
from sqlstream.plan.properties import fields, unchecked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.plan.nodes.columns import NamedAggregate
    from sqlstream.plan.nodes.windows import Window


@dataclass(frozen=True)
class WindowAggregate(Unary):
    """One row for each group and window, emitted when the window closes. The input has the columns of ``window``'s TVF.

    ``keys`` as in GroupAggregate; those among them that are window columns are ``start``, ``end`` and ``time`` (the input's
    names, ``time`` is always there, also where it is not a key). ``attached``: the windows are those of an operator below, and
    have closed when its rows arrive. Output: keys, then aggregates.
    """

    recorded: ClassVar = ("WindowAggregate", "input", "window", "zone", "keys", "aggregates", "start", "end", "time", "attached")
    keeps_state: ClassVar = True

    window: Window
    zone: str
    keys: tuple[str, ...]
    aggregates: tuple[NamedAggregate, ...]
    start: str
    end: str
    time: str
    attached: bool = False

    def output(self) -> tuple[Field, ...]:
        below = {f.name: f for f in fields(self.input)}
        return (*(below[k] for k in self.keys), *(Field(a.name, a.call.type) for a in self.aggregates))

    def explain(self) -> tuple[str, ...]:
        return (
            "WindowAggregate",
            *text.listed("groupBy", (k for k in self.keys if k not in (self.start, self.end, self.time)), unless_empty=True),
            f"window=[{text.window_text(self.window)}]",
            *text.listed("select", (*self.keys, *map(text.aggregate, self.aggregates))),
        )

    def reads(self) -> set[str]:
        return {*self.keys, self.start, self.end, self.time}.union(*(make.columns(a.call) for a in self.aggregates))

    def lineage(self) -> Lineage:
        below = grouped(lineage(self.input), self.keys, self.aggregates)
        return below.deciding(lineage(self.input).of((self.start, self.end, self.time), Effect.GROUP_BY))

    def trusted(self) -> Mapping[str, bool]:
        return {name: made_up for name, made_up in unchecked(self.input).items() if name in self.keys}

    def key(self) -> tuple[str, ...] | None:
        return self.keys

    def windowing(self) -> Windowing | None:
        roles = {self.start: WINDOW_START, self.end: WINDOW_END, self.time: WINDOW_TIME}
        return Windowing(self.window, self.zone, {k: roles[k] for k in self.keys if k in roles}, attached=True)

    def awaits_watermark(self) -> bool:
        return True

    def lost_time(self, name: str) -> str | None:
        return self.input.lost_time(name) if name in self.keys else None
