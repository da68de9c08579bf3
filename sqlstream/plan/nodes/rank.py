"""Top-N and deduplication."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from sqlstream.core.changelog import ChangelogMode
from sqlstream.plan.lineage import Effect, Lineage, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Unary
from sqlstream.plan.nodes.columns import Field, SortKey, TimeAttribute
from sqlstream.plan.properties import changelog_mode, field, fields, static, upsert_key
from sqlstream.sql.types import BIGINT

if TYPE_CHECKING:
    from sqlstream.plan.nodes.base import Node

_BOUND = "ORDER BY a time in a window keeps rows until it closes"


@dataclass(frozen=True)
class Rank(Unary):
    """The rows of ranks ``first`` to ``last`` in ``order`` of each ``partition``, updated as rows arrive: Top-N and deduplication.

    Of equal rows the earlier comes first, or the later where ``latest``. ``once``: the first row of a partition to arrive is final. ``ttl``:
    for how many milliseconds idle state is kept (0: for ever). ``upserts``: the row before an update is not emitted. ``unique``: the second row
    of a partition fails the query. Output: the input's columns, then ``rank`` (BIGINT, from 1), if it has a name.
    """

    recorded: ClassVar = ("Rank", "input", "partition", "order", "rank", "first", "last", "latest", "once", "ttl", "upserts", "unique")
    keeps_state: ClassVar = True
    real_time: ClassVar = True
    waiting: ClassVar = "The first row of a key is emitted when the watermark has passed it"

    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    rank: str | None
    first: int
    last: int
    latest: bool = False
    once: bool = False
    ttl: int | None = None
    upserts: bool = False
    unique: bool = False

    def output(self) -> tuple[Field, ...]:
        return (*fields(self.input), *(() if self.rank is None else (Field(self.rank, BIGINT.not_null()),)))

    def explain(self) -> tuple[str, ...]:
        return (
            "Rank",
            f"rankRange=[rankStart={self.first}, rankEnd={self.last}]",
            *text.listed("partitionBy", self.partition, unless_empty=True),
            *((f"orderBy=[{text.order(self.order)}]",) if self.order else ()),
        )

    def reads(self) -> set[str]:
        return {*self.partition, *(k.name for k in self.order)}

    def lineage(self) -> Lineage:
        below = lineage(self.input)
        window = below.of((*self.partition, *(k.name for k in self.order)), Effect.WINDOW)
        number = {} if self.rank is None else {self.rank: window}
        return Lineage({**below.columns, **number}, below.rows | window)

    def changelog(self) -> ChangelogMode:
        if changelog_mode(self.input).updates:
            return ChangelogMode.UPSERT_DELETE if self.upserts else ChangelogMode.RETRACT_DELETE
        if self.once or self.unique or self.first_by_rowtime:
            return ChangelogMode.APPEND
        # Of one row a partition there is always one after the first.
        return ChangelogMode.RETRACT if self.first == self.last == 1 else ChangelogMode.RETRACT_DELETE

    def key(self) -> tuple[str, ...] | None:
        if self.first == self.last:
            return self.partition
        return upsert_key(self.input) if self.rank is None else (*self.partition, self.rank)

    def task_keys(self) -> tuple[frozenset[str], ...] | None:
        return tuple(frozenset([key]) for key in self.partition)

    @property
    def first_by_rowtime(self) -> bool:
        """Whether it keeps the first row of each partition by a rowtime, which is final once no earlier row can arrive."""
        match self.order:
            case (SortKey(name=name, descending=False),) if self.first == self.last == 1:
                return field(self.input, name).time is TimeAttribute.ROWTIME
        return False

    def awaits_watermark(self) -> bool:
        return self.first_by_rowtime and not changelog_mode(self.input).updates and not static(self)

    def lag(self) -> int:
        # A row at the watermark is not late yet.
        return int(self.awaits_watermark())

    def ttl_ms(self) -> int:
        return self.ttl or 0

    def with_default_ttl(self, ms: int) -> Node:
        return replace(self, ttl=ms) if self.ttl is None else self

    def bound(self) -> str | None:
        return _BOUND if self.partition or changelog_mode(self.input).updates else None
