"""Joins of the same window."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from sqlstream.core.changelog import ChangelogMode
from sqlstream.plan import make
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.join import Join
from sqlstream.plan.properties import windowing
from sqlstream.sql.text import to_text

if TYPE_CHECKING:
    from sqlstream.plan.nodes.windows import Window, Windowing


@dataclass(frozen=True)
class WindowJoin(Join):
    """A join of rows of the same window, emitted when it closes.

    ``keys`` are the pairs of columns that are equal, ``condition`` is what else has to hold. ``times`` are
    the inputs' columns with the window's last millisecond, ``bounds`` those with its start and those with its end.
    """

    recorded: ClassVar = ("WindowJoin", "left", "right", "kind", "condition", "hints", "window", "keys", "times", "bounds")
    partner: ClassVar = ""

    window: Window
    keys: tuple[tuple[str, str], ...]
    times: tuple[str, str]
    bounds: tuple[tuple[str, str], tuple[str, str]]

    def keeps_time(self, side: int) -> bool:
        # A row that is filled with NULLs has no window.
        return not (self.kind.left_optional, self.kind.right_optional)[side]

    def explain(self) -> tuple[str, ...]:
        pairs = [f"{a} = {b}" for a, b in (*self.bounds, *self.keys)]
        pairs += [] if self.condition is None else [to_text(self.condition)]
        return (
            "WindowJoin", f"joinType=[{self.kind.value}]", f"window=[{text.window_text(self.window)}]", f"where=[{' AND '.join(pairs)}]",
        )  # fmt: skip

    def reads(self) -> set[str]:
        condition = set() if self.condition is None else make.columns(self.condition)
        return condition.union(self.times, *self.bounds, *self.keys)

    @property
    def matched(self) -> tuple[str, ...]:
        return (*self.times, *(name for pair in (*self.bounds, *self.keys) for name in pair))

    def changelog(self) -> ChangelogMode:
        return ChangelogMode.APPEND

    def key(self) -> tuple[str, ...] | None:
        return None

    def windowing(self) -> Windowing | None:
        a, b = (windowing(side) for side in self.inputs)
        assert a is not None and b is not None
        kind = self.kind
        columns = {**({} if kind.left_optional else a.columns), **({} if kind.right_optional or kind.left_only else b.columns)}
        return replace(a, columns=columns, attached=True, times=frozenset()) if columns else None

    def lost_time(self, _name: str) -> str | None:
        return None
