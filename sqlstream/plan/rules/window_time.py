"""Adds window_time, the last millisecond of a row's window, to a node's columns: operators on windows need it, and a query may have left it out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.plan import make
from sqlstream.plan.nodes import WINDOW_TIME, Expand, Named, Node, OneByOne, WindowAggregate, WindowJoin, WindowRank
from sqlstream.plan.properties import field, fields, windowing
from sqlstream.sql.generated_names import generated

if TYPE_CHECKING:
    from collections.abc import Iterable


def with_window_time(node: Node) -> tuple[Node, str]:
    """``node``, whose rows have windows, with window_time among its columns, and the name of that column."""
    below = windowing(node)
    if below is not None and (present := below.column(WINDOW_TIME)) is not None:
        return node, present
    match node:
        case WindowAggregate():
            return replace(node, keys=(*node.keys, node.time)), node.time
        case WindowJoin(left=left, right=right, kind=kind):
            if kind.left_optional:
                carried, name = with_window_time(right)
                return replace(node, right=carried), name
            carried, name = with_window_time(left)
            return replace(node, left=carried), name
        case WindowRank(input=source):
            carried, name = with_window_time(source)
            return replace(node, input=carried), name
        case OneByOne(input=source):
            return node.carrying(*with_window_time(source), _free(f.name for f in fields(node)))
        case Expand(input=source, projections=projections):
            carried, name = with_window_time(source)
            added = Named(_free(f.name for f in fields(node)), make.ref(field(carried, name)))
            return Expand(carried, tuple((*p, added) for p in projections)), added.name
    raise TypeError(type(node).__name__)


def _free(used: Iterable[str]) -> str:
    return WINDOW_TIME if WINDOW_TIME not in set(used) else generated(f"${WINDOW_TIME}")
