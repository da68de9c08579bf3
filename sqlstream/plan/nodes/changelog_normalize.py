"""The latest row of each key, made into changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.core.changelog import ChangelogMode
from sqlstream.plan.lineage import Lineage, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.properties import fields

if TYPE_CHECKING:
    from sqlstream.plan.nodes.columns import Field


@dataclass(frozen=True)
class ChangelogNormalize(Unary):
    """The full changes of a table with primary key ``keys``, whose input has only the latest row of each key."""

    recorded: ClassVar = ("ChangelogNormalize", "input", "keys")
    keeps_state: ClassVar = True
    real_time: ClassVar = True

    keys: tuple[str, ...]

    def output(self) -> tuple[Field, ...]:
        return fields(self.input)

    def explain(self) -> tuple[str, ...]:
        return ("ChangelogNormalize", *text.listed("key", self.keys))

    def reads(self) -> set[str]:
        return set(self.keys)

    def lineage(self) -> Lineage:
        return lineage(self.input)

    def changelog(self) -> ChangelogMode:
        return ChangelogMode.RETRACT_DELETE

    def key(self) -> tuple[str, ...] | None:
        return self.keys

    def task_keys(self) -> tuple[frozenset[str], ...] | None:
        return tuple(frozenset([key]) for key in self.keys)
