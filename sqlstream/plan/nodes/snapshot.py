"""FOR SYSTEM_TIME AS OF, before rules make a join of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan.lineage import Lineage, lineage
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.properties import fields

if TYPE_CHECKING:
    from sqlstream.plan.nodes.columns import Field


@dataclass(frozen=True)
class Retry:
    """How often a key without a row is looked up again, and after how many milliseconds each time."""

    delay: int
    attempts: int


@dataclass(frozen=True)
class Snapshot(Unary):
    """FOR SYSTEM_TIME AS OF: the input's rows as of ``time``, a time attribute of the left of the join whose right this is.

    ``retry`` says how rows are looked up again. Rules make a lookup or temporal join of the join, so no optimized plan has this node.
    """

    recorded: ClassVar = ("Snapshot", "input", "time", "retry")
    keeps_state: ClassVar = False

    time: str
    retry: Retry | None = None

    def output(self) -> tuple[Field, ...]:
        return fields(self.input)

    def explain(self) -> tuple[str, ...]:
        return ("Snapshot", f"period=[{self.time}]")

    def reads(self) -> set[str]:
        return set()

    def lineage(self) -> Lineage:
        return lineage(self.input)
