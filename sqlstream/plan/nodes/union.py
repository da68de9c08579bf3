"""UNION ALL."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan.lineage import Lineage, either, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Node
from sqlstream.plan.nodes.columns import Field
from sqlstream.plan.nodes.expand import of_any
from sqlstream.plan.properties import fields, unchecked

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Union(Node):
    """UNION ALL: columns by position, named as the first input's."""

    recorded: ClassVar = ("Union", "branches")
    real_time: ClassVar = True
    keeps_state: ClassVar = False

    branches: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.branches

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return self if all(a is b for a, b in zip(inputs, self.branches, strict=True)) else replace(self, branches=inputs)

    def output(self) -> tuple[Field, ...]:
        return tuple(_field(column) for column in zip(*(fields(b) for b in self.branches), strict=True))

    def explain(self) -> tuple[str, ...]:
        return ("Union", "all=[true]", f"union=[{text.names(self)}]")

    def reads(self) -> set[str]:
        return set()

    def lineage(self) -> Lineage:
        names = [f.name for f in fields(self)]
        below = [lineage(branch) for branch in self.branches]
        renamed = [{n: of.columns[f.name] for n, f in zip(names, fields(b), strict=True)} for of, b in zip(below, self.branches, strict=True)]
        return Lineage(either(renamed)).deciding(*(of.rows for of in below))

    def trusted(self) -> Mapping[str, bool]:
        names = [f.name for f in fields(self)]
        renamed = [dict(zip((f.name for f in fields(b)), names, strict=True)) for b in self.branches]
        return of_any([{to[n]: made_up for n, made_up in unchecked(b).items()} for to, b in zip(renamed, self.branches, strict=True)])

    def lost_time(self, name: str) -> str | None:
        position = [f.name for f in fields(self)].index(name)
        named = [(b, fields(b)[position]) for b in self.branches]
        if any(f.time is not None for _, f in named):
            return f"'{name}' is not a time attribute in every branch of UNION ALL."
        return next((lost for b, f in named if (lost := b.lost_time(f.name))), None)


def _field(column: tuple[Field, ...]) -> Field:
    first = column[0]
    same_time = all(f.time is first.time for f in column)
    nullable = any(f.type.nullable for f in column)
    return Field(first.name, first.type.with_nullable(nullable), first.time if same_time else None)
