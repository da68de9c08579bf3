"""OVER: functions over the rows around each row, and what a limit of ROW_NUMBER makes of them.

Filter(n <= 3)                                                            WindowRank(rank 1 to 3), without window columns a Rank
+- Project(.., n)                                                         +- Project(.., window_time)
   +- Over(ROW_NUMBER() AS n, partition=[window_start, window_end, ..])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan import make
from sqlstream.plan.build.windowing import with_time
from sqlstream.plan.nodes import (
    WINDOW_END,
    WINDOW_START,
    Filter,
    Named,
    NamedAggregate,
    Node,
    Over,
    Project,
    Rank,
    SortKey,
    TimeAttribute,
    WindowRank,
)
from sqlstream.plan.properties import Windowing, field, fields, windowing
from sqlstream.sql.expressions import Call, ColumnRef, Expr, Literal, OverCall
from sqlstream.sql.generated_names import generated

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


def below_over(items: list[Named]) -> tuple[list[Named], tuple[OverCall, ...]]:
    """``items`` without those with calls of OVER, but with the columns that these read; and the calls."""
    calls = tuple(dict.fromkeys(e for i in items for e in i.expr.walk() if isinstance(e, OverCall)))
    if not calls:
        return items, ()
    plain = [i for i in items if not _over_calls(i.expr)]
    taken, names = {i.expr for i in plain}, {i.name for i in plain}
    below = list(plain)
    for expr in dict.fromkeys(p for i in items if _over_calls(i.expr) for p in _parts(i.expr)):
        if expr not in taken:
            name = expr.name if isinstance(expr, ColumnRef) and expr.name not in names else generated(f"o{len(below) - len(plain)}")
            below.append(Named(name, expr))
    return below, calls


def _over_calls(expr: Expr) -> bool:
    return any(isinstance(e, OverCall) for e in expr.walk())


def _parts(expr: Expr) -> list[Expr]:
    """What is computed below the calls of OVER in ``expr``: the rest, and what they read themselves."""
    if isinstance(expr, Literal):
        return []
    if isinstance(expr, OverCall):
        return [*expr.partition, *expr.order, *(e for e in expr.call.children if not isinstance(e, Literal))]
    return [p for e in expr.children for p in _parts(e)] if _over_calls(expr) else [expr]


def over(node: Node, below: list[Named], calls: tuple[OverCall, ...], items: list[Named]) -> Node:
    """``items`` above ``node``, which has the columns ``below`` of ``below_over``: an Over for each window of ``calls``."""
    given = {f.name: make.ref(f) for f in fields(node)}
    known: dict[Expr, Expr] = {i.expr: given[i.name] for i in reversed(below)}
    for window in dict.fromkeys(c.window for c in calls):
        own = {generated(f"over{i}"): c for i, c in enumerate(calls) if c.window == window}
        first = next(iter(own.values()))
        order = zip((_column(known[e]) for e in first.order), first.descending, first.nulls_first, strict=True)
        aggregates = (NamedAggregate(n, c.call.with_children(tuple(known.get(e, e) for e in c.call.children))) for n, c in own.items())
        partition = tuple(_column(known[e]) for e in first.partition)
        node = Over(node, partition, tuple(SortKey(*key) for key in order), tuple(aggregates), first.frame)
        known |= {c: make.ref(field(node, n)) for n, c in own.items()}
    return Project(node, tuple(Named(i.name, i.expr.transform(known.get)) for i in items))


def _column(expr: Expr) -> str:
    assert isinstance(expr, ColumnRef)
    return expr.name


def ranked(node: Filter) -> Node:
    """The Top-N, of windows or of all rows, that ``node`` is, or ``node`` itself."""
    projects: list[Project] = []
    below = node.input
    while isinstance(below, Project):
        projects.append(below)
        below = below.input
    if not isinstance(below, Over) or [a.call.function.name for a in below.aggregates] != ["ROW_NUMBER"]:
        return node
    rank = below.aggregates[0].name
    first, last, rest = _range(node.condition, _names_of(rank, projects))
    if last is None:
        return node
    found = windowing(below.input)
    times = found.times if found else ()
    by = below.order[0]
    time_of_order = field(below.input, by.name).time if len(below.order) == 1 else None
    by_time = len(below.order) == 1 and (by.name in times or time_of_order is not None)
    # Deduplication that keeps the last row: of rows of one time the one that came last.
    latest = by_time and by.descending and (first, last) == (1, 1)
    result: Node
    if found is None or not {WINDOW_START, WINDOW_END} <= {found.columns.get(p) for p in below.partition}:
        once = time_of_order is TimeAttribute.PROCTIME and not by.descending and (first, last) == (1, 1)
        result = Rank(below.input, below.partition, below.order, rank, max(first, 1), last, latest, once)
    else:
        result = _window_rank(below, found, max(first, 1), last, latest)
    for project in reversed(projects):
        result = Project(result, project.columns)
    condition = make.all_of(rest)
    return result if condition is None else Filter(result, condition)


def _window_rank(node: Over, found: Windowing, first: int, last: int, latest: bool) -> Node:
    bounds = {found.columns[p]: p for p in node.partition if p in found.columns}
    source, time = with_time(node.input)
    return WindowRank(
        source,
        found.window,
        tuple(p for p in node.partition if p not in found.columns),
        node.order,
        node.aggregates[0].name,
        first,
        last,
        bounds[WINDOW_START],
        bounds[WINDOW_END],
        time,
        latest,
    )


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
