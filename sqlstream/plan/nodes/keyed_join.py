"""What runs a regular join of streams."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan.lineage import Lineage, lineage
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.nodes.co_group import SIDE
from sqlstream.plan.properties import changelog_mode, fields, unchecked, upsert_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.core.changelog import ChangelogMode
    from sqlstream.plan.nodes.base import Node
    from sqlstream.plan.nodes.columns import Field
    from sqlstream.plan.nodes.join import Join
    from sqlstream.sql.expressions import Expr

_BOUND = "an interval join, BETWEEN times of both sides, keeps rows no longer than these need"


@dataclass(frozen=True)
class KeyedJoin(Unary):
    """A regular join of streams as one operator over the rows of both sides: SIDE is 0 for the left, 1 for the right.

    ``join`` is the join that it runs; of its inputs only the columns and changelog modes matter. ``keys`` are the columns of the input
    that must be equal, NULL to NULL where ``null_safe``; ``columns`` those that hold the sides' columns. ``condition`` is what else
    has to hold, over the join's columns.
    """

    recorded: ClassVar = ("KeyedJoin", "input", "join", "keys", "null_safe", "columns", "condition")
    keeps_state: ClassVar = True
    real_time: ClassVar = True

    join: Join
    keys: tuple[str, ...]
    null_safe: tuple[bool, ...]
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    condition: Expr | None

    def output(self) -> tuple[Field, ...]:
        return fields(self.join)

    def explain(self) -> tuple[str, ...]:
        return self.join.explain()

    def reads(self) -> set[str]:
        return {SIDE, *self.keys}.union(*self.columns)

    def lineage(self) -> Lineage:
        # Its inputs are those of the join, with other names.
        return lineage(self.join)

    def trusted(self) -> Mapping[str, bool]:
        return unchecked(self.join)

    def changelog(self) -> ChangelogMode:
        return changelog_mode(self.join)

    def key(self) -> tuple[str, ...] | None:
        return upsert_key(self.join)

    def task_keys(self) -> tuple[frozenset[str], ...] | None:
        pairs = self.join.equal_columns
        return tuple(map(frozenset, pairs)) if len(pairs) == len(self.keys) else None

    def ttl_ms(self) -> int:
        # Rows of both sides are kept together, so the longer time counts.
        ttls = [ttl or 0 for ttl in self.join.hints.ttl]
        return max(ttls) if all(ttls) else 0

    def with_default_ttl(self, ms: int) -> Node:
        left, right = (ms if ttl is None else ttl for ttl in self.join.hints.ttl)
        return replace(self, join=replace(self.join, hints=replace(self.join.hints, ttl=(left, right))))

    def bound(self) -> str | None:
        return _BOUND
