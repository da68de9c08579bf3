"""Conditions on single rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan import make
from sqlstream.plan.lineage import Effect, Lineage, lineage
from sqlstream.plan.nodes.base import OneByOne
from sqlstream.plan.properties import fields
from sqlstream.sql.text import to_text

if TYPE_CHECKING:
    from sqlstream.plan.nodes.base import Node
    from sqlstream.plan.nodes.columns import Field
    from sqlstream.sql.expressions import Expr


@dataclass(frozen=True)
class Filter(OneByOne):
    """The rows for which the condition is TRUE."""

    recorded: ClassVar = ("Filter", "input", "condition")
    real_time: ClassVar = True
    leaves_out: ClassVar = True

    condition: Expr

    def output(self) -> tuple[Field, ...]:
        return fields(self.input)

    def explain(self) -> tuple[str, ...]:
        return ("Calc", f"where=[{to_text(self.condition)}]")

    def reads(self) -> set[str]:
        return make.columns(self.condition)

    def lineage(self) -> Lineage:
        below = lineage(self.input)
        return below.deciding(below.read(self.condition, Effect.FILTER))


def filtered(node: Node, condition: Expr | None) -> Node:
    """The rows of ``node`` for which ``condition``, if there is one, is TRUE."""
    return node if condition is None else Filter(node, condition)
