"""Several projections of each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan import make
from sqlstream.plan.lineage import Effect, Lineage, computed, either, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.nodes.columns import Field
from sqlstream.plan.nodes.project import projected, time_of
from sqlstream.plan.properties import fields, unchecked, windowing
from sqlstream.sql.expressions import ColumnRef

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlstream.plan.nodes.columns import Named, TimeAttribute
    from sqlstream.plan.nodes.windows import Windowing
    from sqlstream.sql.expressions import Expr


@dataclass(frozen=True)
class Expand(Unary):
    """One row for each projection of each row; the projections' columns have the same names, and the same types apart from NOT NULL.

    If there are conditions, a projection emits a row where its condition is TRUE.
    """

    recorded: ClassVar = ("Expand", "input", "projections", "conditions")
    real_time: ClassVar = True
    keeps_state: ClassVar = False

    projections: tuple[tuple[Named, ...], ...]
    conditions: tuple[Expr | None, ...] = ()

    def output(self) -> tuple[Field, ...]:
        times = {f.name: f.time for f in fields(self.input)}
        return tuple(_field(column, times) for column in zip(*self.projections, strict=True))

    def explain(self) -> tuple[str, ...]:
        each = ("{" + ", ".join(map(text.aliased, p)) + "}" for p in self.projections)
        return ("Expand", *text.listed("projects", each), *text.listed("where", map(text.where, self.conditions), unless_empty=True))

    def reads(self) -> set[str]:
        exprs = [*(c.expr for p in self.projections for c in p), *(c for c in self.conditions if c is not None)]
        return {name for expr in exprs for name in make.columns(expr)}

    def lineage(self) -> Lineage:
        below = lineage(self.input)
        rows = [{c.name: computed(c.expr, below.columns) for c in projection} for projection in self.projections]
        return Lineage(either(rows), below.rows).deciding(*(below.read(condition, Effect.FILTER) for condition in self.conditions))

    def trusted(self) -> Mapping[str, bool]:
        return of_any([projected(unchecked(self.input), p) for p in self.projections])

    def key(self) -> tuple[str, ...] | None:
        return None

    def windowing(self) -> Windowing | None:
        below = windowing(self.input)
        same = (column[0] for column in zip(*self.projections, strict=True) if len({c.expr for c in column}) == 1)
        return below and below.passed({c.name: c.expr.name for c in same if isinstance(c.expr, ColumnRef)})


def of_any(branches: Iterable[Mapping[str, bool]]) -> Mapping[str, bool]:
    """``unchecked`` of rows that are of any of several kinds."""
    branches = list(branches)
    return {name: any(b.get(name, False) for b in branches) for branch in branches for name in branch}


def _field(column: tuple[Named, ...], times: Mapping[str, TimeAttribute | None]) -> Field:
    first = column[0]
    nullable = any(c.expr.type.nullable for c in column)
    kept = all(c.expr == first.expr for c in column)
    return Field(first.name, first.expr.type.with_nullable(nullable), time_of(first.expr, times) if kept else None)
