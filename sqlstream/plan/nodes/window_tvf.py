"""Window functions in FROM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan.lineage import Effect, Lineage, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.nodes.columns import Field
from sqlstream.plan.nodes.windows import WINDOW_COLUMNS, WINDOW_END, WINDOW_START, WINDOW_TIME, Windowing
from sqlstream.plan.properties import fields
from sqlstream.sql.types import timestamp, timestamp_ltz

if TYPE_CHECKING:
    from sqlstream.plan.nodes.windows import Window


@dataclass(frozen=True)
class WindowTvf(Unary):
    """The input's columns and window_start, window_end, window_time: a row for each window that the input row falls into."""

    recorded: ClassVar = ("WindowTvf", "input", "window", "zone")
    keeps_state: ClassVar = False
    by_time: ClassVar = True

    window: Window
    zone: str

    def output(self) -> tuple[Field, ...]:
        windowed = fields(self.input)
        time = next(f for f in windowed if f.name == self.window.time)
        attribute = timestamp_ltz(3) if time.type.root == "TIMESTAMP_LTZ" else timestamp(3)
        return (
            *(Field(f.name, f.type) for f in windowed),
            Field(WINDOW_START, timestamp(3).not_null()),
            Field(WINDOW_END, timestamp(3).not_null()),
            Field(WINDOW_TIME, attribute.not_null(), time.time),
        )

    def explain(self) -> tuple[str, ...]:
        return ("WindowTableFunction", f"window=[{text.window_text(self.window)}]")

    def reads(self) -> set[str]:
        return {self.window.time, *(self.window.keys or ())}

    def lineage(self) -> Lineage:
        below = lineage(self.input)
        keys = below.of(self.window.keys or (), Effect.WINDOW)
        window = below.of([self.window.time], Effect.TRANSFORMATION) | keys
        return Lineage({**below.columns, **dict.fromkeys(WINDOW_COLUMNS, window)}, below.rows)

    def windowing(self) -> Windowing | None:
        return Windowing(self.window, self.zone, {c: c for c in WINDOW_COLUMNS}, False, frozenset({self.window.time}))

    def lost_time(self, name: str) -> str | None:
        if name == self.window.time:
            return f"'{name}' was the time of a window function, whose result has the time attribute 'window_time'."
        return self.passed_time(name)
