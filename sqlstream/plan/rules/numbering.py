"""A filter on ROW_NUMBER() OVER (..), which is how SQL writes a Top-N.

Filter(n <= 3 AND c)
+- Project(.., n)
   +- Over(ROW_NUMBER() AS n)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.plan import make
from sqlstream.plan.nodes import Filter, Node, OneByOne, Over, filtered
from sqlstream.plan.properties import field, windowing
from sqlstream.sql.expressions import Call, ColumnRef, Expr, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

# First and last rank for a comparison with n.
_LIMITS: dict[str, Callable[[int], tuple[int, int | None]]] = {
    "<=": lambda n: (1, n),
    "<": lambda n: (1, n - 1),
    "=": lambda n: (n, n),
    ">=": lambda n: (n, None),
    ">": lambda n: (n + 1, None),
}
_MIRRORED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<", "=": "="}


@dataclass(frozen=True)
class Numbering:
    """The rows that ``over`` numbers ``first`` to ``last``.

    ``passed`` stand above it, the topmost first, and leave no row out; ``rest`` are the filter's other conditions. ``latest``: of several
    rows of one time, the one that arrived last is kept.
    """

    over: Over
    passed: tuple[OneByOne, ...]
    first: int
    last: int
    rest: tuple[Expr, ...]
    latest: bool

    def above(self, rank: Node) -> Node:
        """What stood above the numbering and the other conditions, above ``rank``, which takes its place."""
        for node in reversed(self.passed):
            rank = node.with_inputs((rank,))
        return filtered(rank, make.all_of(self.rest))


def numbering(node: Node) -> Numbering | None:
    """``node`` as a limit on row numbers; None where it is not one."""
    if not isinstance(node, Filter):
        return None
    passed: list[OneByOne] = []
    below = node.input
    while isinstance(below, OneByOne) and not below.leaves_out:
        passed.append(below)
        below = below.input
    if not isinstance(below, Over) or [a.call.function.name for a in below.aggregates] != ["ROW_NUMBER"]:
        return None
    first, last, rest = _range(node.condition, _names_of(below.aggregates[0].name, passed))
    if last is None:
        return None
    latest = _by_time(below) and below.order[0].descending and (first, last) == (1, 1)
    return Numbering(below, tuple(passed), max(first, 1), last, tuple(rest), latest)


def _by_time(node: Over) -> bool:
    """Whether rows are ordered by a time attribute, or by the time that assigned them to windows."""
    if len(node.order) != 1:
        return False
    name, below = node.order[0].name, windowing(node.input)
    return field(node.input, name).time is not None or (below is not None and name in below.times)


def _names_of(rank: str, passed: list[OneByOne]) -> set[str]:
    """The names of the column ``rank`` above ``passed``, of which the topmost is the first."""
    names = {rank}
    for node in reversed(passed):
        names = {name for name, source in node.sources.items() if source in names}
    return names


def _range(condition: Expr, names: set[str]) -> tuple[int, int | None, list[Expr]]:
    """The first and last number that ``condition`` lets through, and its other conditions."""
    first, last, rest = 1, None, []
    for part in make.conjuncts(condition):
        limit = _limit(part, names)
        if limit is None:
            rest.append(part)
            continue
        first = max(first, limit[0])
        last = limit[1] if last is None else last if limit[1] is None else min(last, limit[1])
    return first, last, rest


def _limit(part: Expr, names: set[str]) -> tuple[int, int | None] | None:
    if not isinstance(part, Call) or part.function.name not in _LIMITS:
        return None
    left, right = part.args
    name, operator = left, part.function.name
    value = right
    if isinstance(left, Literal):
        name, value, operator = right, left, _MIRRORED[operator]
    if not isinstance(name, ColumnRef) or name.name not in names or not isinstance(value, Literal) or not isinstance(value.value, int):
        return None
    return _LIMITS[operator](value.value)
