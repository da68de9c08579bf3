"""GROUP BY."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from sqlstream.core.changelog import ChangelogMode
from sqlstream.plan import make
from sqlstream.plan.lineage import Lineage, grouped, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.nodes.columns import Field
from sqlstream.plan.properties import changelog_mode, fields, unchecked
from sqlstream.sql.functions.aggregates import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlstream.plan.nodes.base import Node
    from sqlstream.plan.nodes.columns import NamedAggregate

_BOUND = "GROUP BY window_start, window_end of a window keeps groups until it closes"
_ROWS = "; a pandas aggregate function, or one without retract over rows that are retracted, keeps all rows of a group"


@dataclass(frozen=True)
class GroupAggregate(Unary):
    """One row for each group, updated as rows arrive. ``keys`` are columns of the input; output: keys, then aggregates.

    ``upserts``: the nodes above take each row as a replacement of that of its key, and need not know what it was. ``ttl``: for how many
    milliseconds idle state is kept, if a hint says so (0: for ever).
    """

    recorded: ClassVar = ("GroupAggregate", "input", "keys", "aggregates", "upserts", "ttl")
    keeps_state: ClassVar = True
    real_time: ClassVar = True

    keys: tuple[str, ...]
    aggregates: tuple[NamedAggregate, ...]
    upserts: bool = False
    ttl: int | None = None

    def output(self) -> tuple[Field, ...]:
        types = {f.name: f.type for f in fields(self.input)}
        return (*(Field(k, types[k]) for k in self.keys), *(Field(a.name, a.call.type) for a in self.aggregates))

    def explain(self) -> tuple[str, ...]:
        return (
            "GroupAggregate",
            *text.listed("groupBy", self.keys, unless_empty=True),
            *text.listed("select", (*self.keys, *map(text.aggregate, self.aggregates))),
            *text.ttls(self.ttl),
        )

    def reads(self) -> set[str]:
        return {*self.keys}.union(*(make.columns(a.call) for a in self.aggregates))

    def lineage(self) -> Lineage:
        return grouped(lineage(self.input), self.keys, self.aggregates)

    def trusted(self) -> Mapping[str, bool]:
        return {name: made_up for name, made_up in unchecked(self.input).items() if name in self.keys}

    def changelog(self) -> ChangelogMode:
        if changelog_mode(self.input).updates:
            return ChangelogMode.UPSERT_DELETE if self.upserts else ChangelogMode.RETRACT_DELETE
        # Without aggregates (DISTINCT) a group's row never changes once it is emitted.
        return ChangelogMode.APPEND if not self.aggregates else ChangelogMode.UPSERT if self.upserts else ChangelogMode.RETRACT

    def key(self) -> tuple[str, ...] | None:
        return self.keys

    def task_keys(self) -> tuple[frozenset[str], ...] | None:
        return tuple(frozenset([key]) for key in self.keys)

    def ttl_ms(self) -> int:
        return self.ttl or 0

    def with_default_ttl(self, ms: int) -> Node:
        return replace(self, ttl=ms) if self.ttl is None else self

    def bound(self) -> str | None:
        of_rows = keeps_rows(self.aggregates)
        if not (self.keys or of_rows or any(a.call.distinct for a in self.aggregates)):
            return None
        return f"{_BOUND}{_ROWS if of_rows else ''}"


def keeps_rows(aggregates: Iterable[NamedAggregate]) -> bool:
    """Whether any of these keeps all rows of a group."""
    return any(a.call.function.name == ARGUMENTS.name for a in aggregates)
