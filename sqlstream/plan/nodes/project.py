"""Projections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan import make
from sqlstream.plan.lineage import Lineage, computed, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import OneByOne
from sqlstream.plan.nodes.columns import Field, Named, TimeAttribute
from sqlstream.plan.properties import field, fields, unchecked
from sqlstream.sql.expressions import Call, Cast, ColumnRef
from sqlstream.sql.text import to_text
from sqlstream.sql.types import INTEGERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlstream.plan.nodes.base import Node
    from sqlstream.sql.expressions import Expr


@dataclass(frozen=True)
class Project(OneByOne):
    """One column for each expression."""

    recorded: ClassVar = ("Project", "input", "columns")
    real_time: ClassVar = True

    columns: tuple[Named, ...]

    def output(self) -> tuple[Field, ...]:
        times = {f.name: f.time for f in fields(self.input)}
        return tuple(Field(c.name, c.expr.type, time_of(c.expr, times)) for c in self.columns)

    def explain(self) -> tuple[str, ...]:
        return ("Calc", *text.listed("select", map(text.aliased, self.columns)))

    def reads(self) -> set[str]:
        return {name for c in self.columns if c.name not in self.sources for name in make.columns(c.expr)}

    def lineage(self) -> Lineage:
        below = lineage(self.input)
        return Lineage({c.name: computed(c.expr, below.columns) for c in self.columns}, below.rows)

    @cached_property
    def sources(self) -> Mapping[str, str]:
        return {c.name: c.expr.name for c in self.columns if isinstance(c.expr, ColumnRef)}

    @property
    def distinct(self) -> Mapping[str, str]:
        return {c.name: source for c in self.columns if (source := _distinct(c.expr)) is not None}

    def carrying(self, source: Node, name: str, new: str) -> tuple[Project, str]:
        return Project(source, (*self.columns, Named(new, make.ref(field(source, name))))), new

    def trusted(self) -> Mapping[str, bool]:
        return projected(unchecked(self.input), self.columns)

    def lost_time(self, name: str) -> str | None:
        if name in self.sources:
            return super().lost_time(name)
        expr = next(c.expr for c in self.columns if c.name == name)
        attribute = next((c for c in sorted(make.columns(expr)) if field(self.input, c).time is not None), None)
        return attribute and f"'{name}' is {to_text(expr)}: a function or cast of the time attribute '{attribute}' is not one."


def time_of(expr: Expr, times: Mapping[str, TimeAttribute | None]) -> TimeAttribute | None:
    """Which time attribute ``expr`` is, over columns that are these."""
    match expr:
        case ColumnRef(name=name):
            return times[name]
        case Call(function=function) if function.name == "PROCTIME":
            return TimeAttribute.PROCTIME
    return None


def projected(below: Mapping[str, bool], columns: Iterable[Named]) -> Mapping[str, bool]:
    """``unchecked`` of a projection over rows of which it is ``below``."""
    columns = tuple(columns)
    computes = any(not isinstance(c.expr, ColumnRef) for c in columns)
    read = {c.name: make.columns(c.expr) & {*below} for c in columns}
    return {name: computes or any(below[n] for n in names) for name, names in read.items() if names}


def _distinct(expr: Expr) -> str | None:
    """The column whose distinct values stay distinct in ``expr``: the column itself, or a cast to a wider type."""
    if isinstance(expr, Cast) and isinstance(expr.operand, ColumnRef) and {expr.type.root, expr.operand.type.root} <= set(INTEGERS):
        return expr.operand.name if INTEGERS.index(expr.operand.type.root) <= INTEGERS.index(expr.type.root) else None
    return expr.name if isinstance(expr, ColumnRef) else None
