"""The window of a node's rows, and which of its columns hold the window's bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlstream.plan.nodes import (
    WINDOW_COLUMNS,
    WINDOW_END,
    WINDOW_START,
    WINDOW_TIME,
    Expand,
    Filter,
    Named,
    Node,
    Project,
    Window,
    WindowAggregate,
    WindowJoin,
    WindowRank,
    WindowTvf,
)
from sqlstream.sql.expressions import ColumnRef

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class Windowing:
    """The window of a node's rows. ``columns`` maps each window column to its role: window_start, window_end or window_time.

    ``attached``: an operator below emits rows as their windows close. ``times`` are the columns with the time that assigned a row to its window:
    they are no longer time attributes, but Flink still takes them for one in deduplication.
    """

    window: Window
    zone: str
    columns: Mapping[str, str]
    attached: bool
    times: frozenset[str] = frozenset()

    def column(self, role: str) -> str | None:
        """The first column that is ``role``."""
        return next((name for name, r in self.columns.items() if r == role), None)


def windowing(node: Node) -> Windowing | None:
    """The window of ``node``'s rows; None where they have none, or its columns were left out."""
    match node:
        case WindowTvf(window=window, zone=zone):
            return Windowing(window, zone, {c: c for c in WINDOW_COLUMNS}, False, frozenset({window.time}))
        case WindowAggregate(window=window, zone=zone, keys=keys):
            roles = {node.start: WINDOW_START, node.end: WINDOW_END, node.time: WINDOW_TIME}
            return Windowing(window, zone, {k: roles[k] for k in keys if k in roles}, attached=True)
        case WindowRank(input=source):
            below = windowing(source)
            return below and replace(below, attached=True)
        case WindowJoin(left=left, right=right, kind=kind):
            a, b = windowing(left), windowing(right)
            assert a is not None and b is not None
            columns = {**({} if kind.left_optional else a.columns), **({} if kind.right_optional or kind.left_only else b.columns)}
            return replace(a, columns=columns, attached=True, times=frozenset()) if columns else None
        case Filter(input=source):
            return windowing(source)
        case Expand(input=source, projections=projections):
            return _projected(windowing(source), _kept(projections))
        case Project(input=source, columns=columns):
            return _projected(windowing(source), columns)
    return None


def _kept(projections: tuple[tuple[Named, ...], ...]) -> Iterable[Named]:
    return (column[0] for column in zip(*projections, strict=True) if len({c.expr for c in column}) == 1)


def _projected(below: Windowing | None, columns: Iterable[Named]) -> Windowing | None:
    if below is None:
        return None
    same = [(c.name, c.expr.name) for c in columns if isinstance(c.expr, ColumnRef)]
    window_columns = {name: below.columns[source] for name, source in same if source in below.columns}
    return replace(below, columns=window_columns, times=frozenset(name for name, source in same if source in below.times)) if window_columns else None
