"""Which columns of a node are those of a window: its bounds, as a window table-valued function or an operator on windows gave them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlstream.plan import make
from sqlstream.plan.build.naming import apart
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
from sqlstream.plan.properties import field, fields
from sqlstream.sql.expressions import ColumnRef
from sqlstream.sql.generated_names import generated

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class Windowing:
    """The window of a node's rows. ``columns`` says of each window column which of window_start, window_end and window_time it is.

    ``attached``: an operator below gives rows as their windows close. ``times`` are columns with the time that a row's window was chosen
    by: no time attributes any more, but still what Flink takes for one in deduplication.
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
    """The window of ``node``'s rows; None where there is none, or its columns are gone."""
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
            return _passed(windowing(source), _kept(projections))
        case Project(input=source, columns=columns):
            return _passed(windowing(source), columns)
    return None


def _kept(projections: tuple[tuple[Named, ...], ...]) -> Iterable[Named]:
    return (column[0] for column in zip(*projections, strict=True) if len({c.expr for c in column}) == 1)


def _passed(below: Windowing | None, columns: Iterable[Named]) -> Windowing | None:
    if below is None:
        return None
    same = [(c.name, c.expr.name) for c in columns if isinstance(c.expr, ColumnRef)]
    found = {name: below.columns[source] for name, source in same if source in below.columns}
    return replace(below, columns=found, times=frozenset(name for name, source in same if source in below.times)) if found else None


def with_time(node: Node) -> tuple[Node, str]:
    """``node``, which has a window, with window_time among its columns, and its name there."""
    below = windowing(node)
    if below is not None and (present := below.column(WINDOW_TIME)) is not None:
        return node, present
    match node:
        case WindowAggregate():
            return replace(node, keys=(*node.keys, node.time)), node.time
        case WindowJoin(left=left, right=right, kind=kind):
            if kind.left_optional:
                carried, name = with_time(right)
                return replace(node, right=carried), name
            carried, name = with_time(left)
            return replace(node, left=carried), name
        case Filter(input=source) | WindowRank(input=source):
            carried, name = with_time(source)
            return replace(node, input=carried), name
        case Expand(input=source, projections=projections):
            carried, name = with_time(source)
            added = Named(_free(f.name for f in fields(node)), make.ref(field(carried, name)))
            return Expand(carried, tuple((*p, added) for p in projections)), added.name
        case Project(input=source, columns=columns):
            carried, name = with_time(source)
            added = Named(_free(c.name for c in columns), make.ref(field(carried, name)))
            return Project(carried, (*columns, added)), added.name
    raise TypeError(type(node).__name__)


def over_windows(source: Node, window: Window, zone: str) -> WindowTvf:
    """``window`` over ``source``, whose columns that are called as those of a window get other names."""
    renamed = apart(source, WINDOW_COLUMNS)
    names = dict(zip((f.name for f in fields(source)), (f.name for f in fields(renamed)), strict=True))
    keys = None if window.keys is None else tuple(names[k] for k in window.keys)
    return WindowTvf(renamed, replace(window, time=names[window.time], keys=keys), zone)


def _free(taken: Iterable[str]) -> str:
    return WINDOW_TIME if WINDOW_TIME not in set(taken) else generated(f"${WINDOW_TIME}")
