"""Lookup joins: FOR SYSTEM_TIME AS OF a processing time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlstream.plan import make
from sqlstream.plan.lineage import Effect, Lineage, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import OneByOne, Unary
from sqlstream.plan.nodes.filter import Filter
from sqlstream.plan.nodes.join import joined
from sqlstream.plan.nodes.scan import Scan, scans
from sqlstream.plan.properties import fields, task_keys, unchecked, upsert_key, walk
from sqlstream.sql.text import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.plan.nodes.base import Node
    from sqlstream.plan.nodes.columns import Field
    from sqlstream.plan.nodes.join import JoinKind
    from sqlstream.plan.nodes.snapshot import Retry
    from sqlstream.sql.expressions import Expr


@dataclass(frozen=True)
class LookupJoin(Unary):
    """Each row of the input with the rows that ``table`` has for it when it arrives. Output: the input's columns, then the table's.

    ``table`` is a static Scan under projections and filters; its columns are not named as any of the input's. ``keys`` are expressions over the
    input and the columns of ``table`` that they are equal to, ``condition`` is what else has to hold. ``kind`` is INNER or LEFT.
    """

    recorded: ClassVar = ("LookupJoin", "input", "table", "kind", "keys", "condition", "retry")
    keeps_state: ClassVar = False
    real_time: ClassVar = True

    table: Node
    kind: JoinKind
    keys: tuple[tuple[Expr, str], ...] = ()
    condition: Expr | None = None
    retry: Retry | None = None

    @property
    def tables(self) -> tuple[Node, ...]:
        return (self.table,)

    @property
    def scan(self) -> Scan:
        """That of the table that is looked up."""
        (scan,) = scans(self.table)
        return scan

    def output(self) -> tuple[Field, ...]:
        return (*fields(self.input), *(joined(f, optional=self.kind.right_optional, time=False) for f in fields(self.table)))

    def explain(self) -> tuple[str, ...]:
        retry = self.retry
        return (
            "LookupJoin",
            f"table=[{self.scan.table.path}]",
            f"joinType=[{self.kind.value}]",
            *text.listed("lookup", (f"{origin(self.table, name)}={to_text(value)}" for value, name in self.keys)),
            *(f"where=[{to_text(f.condition)}]" for f in walk(self.table) if isinstance(f, Filter)),
            *((f"joinCondition=[{to_text(self.condition)}]",) if self.condition is not None else ()),
            f"select=[{text.names(self)}]",
            *((f"retry=[lookup_miss, FIXED_DELAY, {retry.delay}ms, {retry.attempts}]",) if retry is not None else ()),
        )

    def reads(self) -> set[str]:
        of_keys = {name for value, column in self.keys for name in (column, *make.columns(value))}
        return of_keys | (set() if self.condition is None else make.columns(self.condition))

    def lineage(self) -> Lineage:
        below, looked_up = lineage(self.input), lineage(self.table)
        pairs = Lineage({**below.columns, **looked_up.columns}, below.rows | looked_up.rows)
        keys = (i for value, name in self.keys for i in (pairs.read(value, Effect.JOIN), pairs.of([name], Effect.JOIN)))
        return pairs.deciding(*keys, pairs.read(self.condition, Effect.JOIN))

    def trusted(self) -> Mapping[str, bool]:
        return {**unchecked(self.input), **unchecked(self.table)}

    def key(self) -> tuple[str, ...] | None:
        unique = self.scan.table.primary_key
        # Of a whole primary key there is at most one row.
        by_key = unique is not None and set(unique.columns) <= {origin(self.table, name) for _, name in self.keys}
        return upsert_key(self.input) if by_key else None

    def task_keys(self) -> tuple[frozenset[str], ...] | None:
        return task_keys(self.input)

    def lost_time(self, name: str) -> str | None:
        return self.passed_time(name)


def origin(node: Node, name: str) -> str | None:
    """The name that the scan below ``node`` (projections and filters of it) has for the column ``name``; None where it is computed."""
    while not isinstance(node, Scan):
        if not isinstance(node, OneByOne) or name not in node.sources:
            return None
        name, node = node.sources[name], node.input
    return name
