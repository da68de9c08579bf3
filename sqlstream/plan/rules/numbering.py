"""A limit of ROW_NUMBER() OVER (..): what a Top-N is written as.

Filter(n <= 3 AND c)
+- Project(.., n)
   +- Over(ROW_NUMBER() AS n)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.plan import make
from sqlstream.plan.nodes import Filter, Node, Over, Project
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
    """The numbers ``first`` to ``last`` of ``over``, which numbers rows; ``projects`` are above it, listed from above, and ``rest`` is asked besides.

    ``latest``: of rows of one time the one that came last is kept.
    """

    over: Over
    projects: tuple[Project, ...]
    first: int
    last: int
    rest: tuple[Expr, ...]
    latest: bool

    def above(self, rank: Node) -> Node:
        """What was asked of the numbered rows, asked of ``rank``, which gives only those of these numbers."""
        for project in reversed(self.projects):
            rank = Project(rank, project.columns)
        return make.filtered(rank, make.all_of(self.rest))


def numbering(node: Node) -> Numbering | None:
    """The limit of row numbers that ``node`` is; None where it is none."""
    if not isinstance(node, Filter):
        return None
    projects: list[Project] = []
    below = node.input
    while isinstance(below, Project):
        projects.append(below)
        below = below.input
    if not isinstance(below, Over) or [a.call.function.name for a in below.aggregates] != ["ROW_NUMBER"]:
        return None
    first, last, rest = _range(node.condition, _names_of(below.aggregates[0].name, projects))
    if last is None:
        return None
    latest = _by_time(below) and below.order[0].descending and (first, last) == (1, 1)
    return Numbering(below, tuple(projects), max(first, 1), last, tuple(rest), latest)


def _by_time(node: Over) -> bool:
    """Whether the order is that of a time attribute, or of the time that windows were chosen by."""
    if len(node.order) != 1:
        return False
    name, below = node.order[0].name, windowing(node.input)
    return field(node.input, name).time is not None or (below is not None and name in below.times)


def _names_of(rank: str, projects: list[Project]) -> set[str]:
    """What ``rank`` is called above ``projects``, which are listed from above."""
    names = {rank}
    for project in reversed(projects):
        names = {c.name for c in project.columns if isinstance(c.expr, ColumnRef) and c.expr.name in names}
    return names


def _range(condition: Expr, names: set[str]) -> tuple[int, int | None, list[Expr]]:
    """The ranks that ``condition`` leaves, and what else it asks for."""
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
