"""WATERMARK FOR of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan import make
from sqlstream.plan.lineage import Effect, Lineage, lineage
from sqlstream.plan.nodes.base import OneByOne
from sqlstream.plan.nodes.columns import Field, TimeAttribute
from sqlstream.plan.properties import field, fields
from sqlstream.sql.text import to_text

if TYPE_CHECKING:
    from sqlstream.sql.expressions import Expr


@dataclass(frozen=True)
class Watermark(OneByOne):
    """Declares ``column`` a rowtime attribute; ``expression`` gives each row's watermark.

    ``current`` is the name of an additional column with the current watermark, if something reads it.
    """

    recorded: ClassVar = ("Watermark", "input", "column", "expression", "current")
    by_time: ClassVar = True

    column: str
    expression: Expr
    current: str | None = None

    def output(self) -> tuple[Field, ...]:
        marked = tuple(Field(f.name, f.type, TimeAttribute.ROWTIME if f.name == self.column else f.time) for f in fields(self.input))
        return marked if self.current is None else (*marked, Field(self.current, field(self.input, self.column).type.null()))

    def explain(self) -> tuple[str, ...]:
        return ("WatermarkAssigner", f"rowtime=[{self.column}]", f"watermark=[{to_text(self.expression)}]")

    def reads(self) -> set[str]:
        return {self.column, *make.columns(self.expression)}

    def lineage(self) -> Lineage:
        below = lineage(self.input)
        current = {} if self.current is None else {self.current: below.read(self.expression, Effect.AGGREGATION)}
        return Lineage({**below.columns, **current}, below.rows)
