"""Constant rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan.lineage import NONE, Lineage
from sqlstream.plan.nodes.base import Node
from sqlstream.sql.text import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.plan.nodes.columns import Field
    from sqlstream.sql.expressions import Expr


@dataclass(frozen=True)
class Values(Node):
    """Constant rows."""

    recorded: ClassVar = ("Values", "rows", "fields")
    keeps_state: ClassVar = False

    rows: tuple[tuple[Expr, ...], ...]
    fields: tuple[Field, ...]

    def output(self) -> tuple[Field, ...]:
        return self.fields

    def explain(self) -> tuple[str, ...]:
        tuples = ", ".join("{ " + ", ".join(to_text(cell) for cell in row) + " }" for row in self.rows)
        return ("Values", f"tuples=[[{tuples}]]")

    def reads(self) -> set[str]:
        return set()

    def lineage(self) -> Lineage:
        return Lineage({f.name: NONE for f in self.fields})

    def trusted(self) -> Mapping[str, bool]:
        return {}
