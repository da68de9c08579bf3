"""Regular joins, and what all joins have in common."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from sqlstream.core.changelog import ChangelogMode
from sqlstream.plan import make
from sqlstream.plan.lineage import Effect, Lineage, lineage
from sqlstream.plan.nodes import text
from sqlstream.plan.nodes.base import Node
from sqlstream.plan.nodes.columns import Field
from sqlstream.plan.properties import changelog_mode, fields, static, task_keys, unchecked, upsert_key
from sqlstream.plan.properties import field as field_of
from sqlstream.sql.expressions import Call, ColumnRef

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.sql.expressions import Expr


class JoinKind(Enum):
    """Which rows a join emits."""

    INNER = "InnerJoin"
    LEFT = "LeftOuterJoin"
    RIGHT = "RightOuterJoin"
    FULL = "FullOuterJoin"
    SEMI = "LeftSemiJoin"
    ANTI = "LeftAntiJoin"

    @property
    def left_optional(self) -> bool:
        return self in (JoinKind.RIGHT, JoinKind.FULL)

    @property
    def right_optional(self) -> bool:
        return self in (JoinKind.LEFT, JoinKind.FULL)

    @property
    def left_only(self) -> bool:
        return self in (JoinKind.SEMI, JoinKind.ANTI)


@dataclass(frozen=True)
class JoinHints:
    """What hints say about a join's inputs: for how many milliseconds their state is kept (0: for ever), and Spark's name for the join strategy."""

    ttl: tuple[int | None, int | None] = (None, None)
    strategies: tuple[str | None, str | None] = (None, None)


NO_HINTS = JoinHints()


@dataclass(frozen=True)
class Join(Node):
    """Pairs of rows for which the condition is TRUE. Column names differ between the inputs. Output: the left's, then the right's.

    ``partner``: where nothing comes out, what no row of one side does with any of the other; empty where that is not known.
    """

    recorded: ClassVar[tuple[str, ...]] = ("Join", "left", "right", "kind", "condition", "hints")
    keeps_state: ClassVar = True
    partner: ClassVar[str] = "meets its condition together with one"

    left: Node
    right: Node
    kind: JoinKind
    condition: Expr | None
    hints: JoinHints = field(default=NO_HINTS, kw_only=True)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return self if inputs[0] is self.left and inputs[1] is self.right else replace(self, left=inputs[0], right=inputs[1])

    @property
    def of_static(self) -> bool:
        """Whether one side is a stream, each row of which can be joined by itself with the other, static side."""
        if static(self.left) == static(self.right):
            return False
        allowed = (JoinKind.INNER, JoinKind.RIGHT) if static(self.left) else (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)
        return self.kind in allowed

    def keeps_time(self, _side: int) -> bool:
        """Whether the order of the output is such that time attributes of the left (0) or right (1) input stay time attributes: a regular join emits
        rows in any order."""
        return False

    def output(self) -> tuple[Field, ...]:
        sides = self.inputs[:1] if self.kind.left_only else self.inputs
        return tuple(joined(f, optional=self._optional[i], time=self.keeps_time(i)) for i, side in enumerate(sides) for f in fields(side))

    def explain(self) -> tuple[str, ...]:
        chosen = (f"{side}={s}" for side, s in zip(("left", "right"), self.hints.strategies, strict=True) if s is not None)
        return (
            "Join",
            f"joinType=[{self.kind.value}]",
            f"where=[{text.where(self.condition)}]",
            *text.ttls(*self.hints.ttl),
            *text.listed("hints", chosen, unless_empty=True),
        )

    def reads(self) -> set[str]:
        return set() if self.condition is None else make.columns(self.condition)

    def lineage(self) -> Lineage:
        sides = [lineage(side) for side in self.inputs]
        pairs = Lineage({**sides[0].columns, **sides[1].columns}, sides[0].rows | sides[1].rows)
        found = pairs.deciding(pairs.read(self.condition, Effect.JOIN), pairs.of(self.matched, Effect.JOIN))
        return Lineage(sides[0].columns, found.rows) if self.kind.left_only else found

    @property
    def matched(self) -> tuple[str, ...]:
        """The columns that say which rows belong together, beside those of the condition."""
        return ()

    def trusted(self) -> Mapping[str, bool]:
        return unchecked(self.left) if self.kind.left_only else {**unchecked(self.left), **unchecked(self.right)}

    def changelog(self) -> ChangelogMode:
        if self.of_static:
            return super().changelog()
        once = self.kind in (JoinKind.INNER, JoinKind.SEMI) and not any(changelog_mode(i).updates for i in self.inputs)
        return ChangelogMode.APPEND if once else ChangelogMode.RETRACT_DELETE

    def key(self) -> tuple[str, ...] | None:
        """That of one side, if each of its rows finds at most one row of the other; else both together."""
        if self.kind is JoinKind.FULL:
            return None
        left = upsert_key(self.left)
        if self.kind.left_only:
            return left
        right = upsert_key(self.right)
        equal = {name for pair in self._pairs for name in pair}
        if left is not None and right is not None and set(right) <= equal and self.kind in (JoinKind.INNER, JoinKind.LEFT):
            return left
        if left is not None and right is not None and set(left) <= equal and self.kind in (JoinKind.INNER, JoinKind.RIGHT):
            return right
        return (*left, *right) if left is not None and right is not None else None

    def task_keys(self) -> tuple[frozenset[str], ...] | None:
        return task_keys(self.right if static(self.left) else self.left) if self.of_static else None

    @property
    def _optional(self) -> tuple[bool, bool]:
        """Of each input, whether a row of the output may be without one of it."""
        return (self.kind.left_optional, self.kind.right_optional)

    @property
    def _pairs(self) -> list[list[str]]:
        """Columns that the condition wants to be equal."""
        calls = [c.args for c in make.conjuncts(self.condition) if isinstance(c, Call) and c.function.name == "="]
        names = [[e.name for e in args if isinstance(e, ColumnRef)] for args in calls]
        return [pair for pair in names if len(pair) == 2]

    @property
    def equal_columns(self) -> list[set[str]]:
        """Of each pair of columns that the condition wants to be equal, those that have the value in each row of the output."""
        certain = [side for side, optional in zip(self.inputs, self._optional, strict=True) if not optional]
        kept = {f.name for side in certain for f in fields(side)} & {f.name for f in fields(self)}
        return [kept.intersection(pair) for pair in self._pairs]

    def lost_time(self, name: str) -> str | None:
        place = next((i for i, side in enumerate(self.inputs) if name in {f.name for f in fields(side)}), None)
        if place is None or self.keeps_time(place):
            return None
        side = self.inputs[place]
        if field_of(side, name).time is not None:
            return f"'{name}' comes out of a regular join, which emits rows in any order."
        return side.lost_time(name)


def joined(of_input: Field, *, optional: bool, time: bool) -> Field:
    """A column of a join's input, or of a table whose rows are looked up, in the output: NULL where there is no row, if that is ``optional``."""
    return Field(of_input.name, of_input.type.null() if optional else of_input.type, of_input.time if time else None)
