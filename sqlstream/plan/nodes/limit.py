"""LIMIT and OFFSET."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan.lineage import Lineage, lineage
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.properties import fields

if TYPE_CHECKING:
    from sqlstream.plan.nodes.columns import Field


@dataclass(frozen=True)
class Limit(Unary):
    """The first ``count`` rows (None: all), after ``offset``."""

    recorded: ClassVar = ("Limit", "input", "count", "offset")
    keeps_state: ClassVar = True

    count: int | None
    offset: int = 0

    def output(self) -> tuple[Field, ...]:
        return fields(self.input)

    def explain(self) -> tuple[str, ...]:
        offset = (f"offset=[{self.offset}]",) if self.offset else ()
        return ("Limit", *offset, *(() if self.count is None else (f"fetch=[{self.count}]",)))

    def reads(self) -> set[str]:
        return set()

    def lineage(self) -> Lineage:
        return lineage(self.input)
