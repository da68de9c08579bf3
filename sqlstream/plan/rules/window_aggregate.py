"""GROUP BY window_start, window_end is a window aggregate: it emits one row for each group and window, when the window closes.

GroupAggregate(keys=[.., window_start, window_end])        WindowAggregate(window, keys)
+- Project/Filter ..                                  ->   +- Project/Filter .. with window_time
   +- WindowTvf                                               +- WindowTvf

The input may also be an operator on windows (an aggregate, a join, a rank): then the windows are attached to its rows.
"""

from __future__ import annotations

from sqlstream.plan.nodes import WINDOW_END, WINDOW_START, WINDOW_TIME, GroupAggregate, Node, WindowAggregate
from sqlstream.plan.properties import windowing
from sqlstream.plan.rules.window_time import with_window_time


def window_aggregate(node: Node) -> Node:
    """The window aggregate that ``node`` is, or ``node`` itself."""
    if not isinstance(node, GroupAggregate) or (below := windowing(node.input)) is None:
        return node
    grouped = {below.columns[k]: k for k in node.keys if k in below.columns}
    if not {WINDOW_START, WINDOW_END} <= grouped.keys():
        return node
    source, time = with_window_time(node.input)
    return WindowAggregate(
        source,
        below.window,
        below.zone,
        node.keys,
        node.aggregates,
        grouped[WINDOW_START],
        grouped[WINDOW_END],
        grouped.get(WINDOW_TIME, time),
        below.attached,
    )
