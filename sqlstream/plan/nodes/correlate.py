"""UNNEST, and table functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan import make
from sqlstream.plan.lineage import Effect, Lineage, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.nodes.columns import Field
from sqlstream.plan.properties import fields, unchecked
from sqlstream.sql.expressions import Call
from sqlstream.sql.text import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.sql.expressions import Expr


@dataclass(frozen=True)
class Correlate(Unary):
    """Each row with every element of its ``collection``, an ARRAY, MAP or MULTISET; a row without elements comes once, with NULLs, if ``outer``.

    Output: the input's columns, then ``columns``: those of the elements (a ROW's fields; key and value), and the element's position, from 1,
    if ``ordinality``. Only elements for which ``condition``, over ``columns``, is TRUE count; a ROW that is NULL does not.
    """

    recorded: ClassVar = ("Correlate", "input", "collection", "columns", "ordinality", "outer", "condition")
    real_time: ClassVar = True
    keeps_state: ClassVar = False

    collection: Expr
    columns: tuple[Field, ...]
    ordinality: bool = False
    outer: bool = False
    condition: Expr | None = None

    def output(self) -> tuple[Field, ...]:
        return (*fields(self.input), *(Field(f.name, f.type.null() if self.outer else f.type) for f in self.columns))

    def explain(self) -> tuple[str, ...]:
        return (
            "Correlate",
            f"invocation=[{self._invocation()}]",
            *text.listed("select", (c.name for c in self.columns)),
            f"joinType=[{'LEFT' if self.outer else 'INNER'}]",
            *(() if self.condition is None else (f"condition=[{to_text(self.condition)}]",)),
        )

    def _invocation(self) -> str:
        written = to_text(self.collection)
        if isinstance(self.collection, Call) and self.collection.function.group == "TABLE":
            return written
        return f"{'UNNEST_WITH_ORDINALITY' if self.ordinality else 'UNNEST'}({written})"

    def reads(self) -> set[str]:
        return make.columns(self.collection)

    def lineage(self) -> Lineage:
        below = lineage(self.input)
        element = below.read(self.collection, Effect.TRANSFORMATION)
        columns = {**below.columns, **{c.name: element for c in self.columns}}
        all_of = Lineage(columns, below.rows)
        return all_of.deciding(below.read(self.collection, Effect.JOIN), all_of.read(self.condition, Effect.JOIN))

    def trusted(self) -> Mapping[str, bool]:
        below = unchecked(self.input)
        of_elements = make.columns(self.collection) & {*below}
        return {**below, **dict.fromkeys((f.name for f in self.columns) if of_elements else (), False)}

    def key(self) -> tuple[str, ...] | None:
        return None

    def lost_time(self, name: str) -> str | None:
        return self.passed_time(name)
