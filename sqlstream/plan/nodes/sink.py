"""INSERT INTO."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan.lineage import Lineage, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.properties import fields, windowing

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlstream.plan.nodes.columns import Field
    from sqlstream.plan.nodes.windows import Windowing
    from sqlstream.sql.tables import Table


class Conflict(Enum):
    """ON CONFLICT DO ..: what becomes of the second row of a key of the sink's."""

    # It stands in the place of the first, which comes back when it goes.
    DEDUPLICATE = "DEDUPLICATE"
    NOTHING = "NOTHING"
    ERROR = "ERROR"


@dataclass(frozen=True)
class Sink(Unary):
    """INSERT INTO a table: the input's columns are the table's persisted ones, in order.

    A row with a NULL for a NOT NULL column fails the job, is dropped if ``drop_nulls``, or goes to ``dead_letters``. What ``conflict`` does
    is in nodes below, by which the plan is known; ``on_conflict`` is its clause.
    """

    recorded: ClassVar = ("Sink", "input", "table", "overwrite", "partition", "drop_nulls")
    real_time: ClassVar = True
    keeps_state: ClassVar = False

    table: Table
    overwrite: bool = False
    partition: tuple[tuple[str, str], ...] = ()
    drop_nulls: bool = False
    dead_letters: Table | None = field(default=None, compare=False)
    conflict: Conflict | None = field(default=None, compare=False)
    on_conflict: exp.Expr | None = field(default=None, compare=False, repr=False)

    def output(self) -> tuple[Field, ...]:
        return fields(self.input)

    def explain(self) -> tuple[str, ...]:
        strategy = () if self.conflict is None else (f"conflictStrategy=[{self.conflict.value}]",)
        return ("Sink", f"table=[{self.table.path}]", f"fields=[{text.names(self)}]", *strategy)

    def reads(self) -> set[str]:
        return {f.name for f in fields(self.input)}

    def lineage(self) -> Lineage:
        below = lineage(self.input)
        names = zip(self.table.persisted, fields(self.input), strict=True)
        return Lineage({column.name: below.columns[f.name] for column, f in names}, below.rows)

    def windowing(self) -> Windowing | None:
        return windowing(self.input)
