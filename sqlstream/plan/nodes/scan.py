"""A table that is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from sqlstream.core.changelog import ChangelogMode
from sqlstream.plan.lineage import Effect, Lineage, Origin
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Node
from sqlstream.plan.nodes.columns import Field
from sqlstream.plan.properties import fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.sql.tables import MetadataColumn, PhysicalColumn, Table


@dataclass(frozen=True)
class Scan(Node):
    """The physical and metadata columns of a table, under their declared names and types.

    ``table`` has the options of a hint merged in. ``bounded``, ``static`` and ``mode`` are the connector's answers for it; in batch mode
    every table is static. Records that can't be read go to ``dead_letters``, if there are any.
    """

    recorded: ClassVar = ("Scan", "table", "bounded", "static", "mode")
    real_time: ClassVar = True
    keeps_state: ClassVar = False

    table: Table
    bounded: bool
    static: bool
    mode: ChangelogMode = ChangelogMode.APPEND
    dead_letters: Table | None = field(default=None, compare=False)

    def output(self) -> tuple[Field, ...]:
        key = self.table.primary_key.columns if self.table.primary_key else ()
        columns: tuple[PhysicalColumn | MetadataColumn, ...] = (*self.table.physical, *self.table.metadata)
        return tuple(Field(c.name, c.type.not_null() if c.name in key else c.type) for c in columns)

    def explain(self) -> tuple[str, ...]:
        return ("TableSourceScan", f"table=[[{', '.join(self.table.path)}]]", f"fields=[{text.names(self)}]")

    def reads(self) -> set[str]:
        return set()

    def lineage(self) -> Lineage:
        return Lineage({f.name: frozenset([(Origin(self.table, (f.name,)), Effect.IDENTITY)]) for f in fields(self)})

    def trusted(self) -> Mapping[str, bool]:
        return dict.fromkeys((f.name for f in fields(self)), False)

    def changelog(self) -> ChangelogMode:
        return self.mode

    def key(self) -> tuple[str, ...] | None:
        return tuple(self.table.primary_key.columns) if self.table.primary_key else None

    def task_keys(self) -> tuple[frozenset[str], ...] | None:
        # What replaces rows by key is in order for each key.
        key = self.key() if self.mode.updates and not self.mode.retracts else None
        return None if key is None else tuple(frozenset([name]) for name in key)

    def is_bounded(self) -> bool:
        return self.bounded

    def is_static(self) -> bool:
        return self.static


def scans(node: Node) -> tuple[Scan, ...]:
    """All scans below ``node``, from left to right."""
    below, waiting = [], [node]
    while waiting:
        if isinstance(one := waiting.pop(), Scan):
            below.append(one)
        waiting += reversed(one.inputs)
    return tuple(below)
