"""GROUP BY window_start, window_end over windows is a window aggregate: one row a window, when it closes.

GroupAggregate(keys=[.., window_start, window_end])        WindowAggregate(window, keys)
+- Project/Filter ..                                  ->   +- Project/Filter .. with window_time
   +- WindowTvf                                               +- WindowTvf

Below may also be an operator on windows (an aggregate, a join, a rank): its rows' windows are attached.
"""

from __future__ import annotations

from sqlstream.plan.build.windowing import with_time
from sqlstream.plan.nodes import WINDOW_END, WINDOW_START, WINDOW_TIME, GroupAggregate, WindowAggregate
from sqlstream.plan.properties import windowing


def window_aggregate(node: GroupAggregate) -> GroupAggregate | WindowAggregate:
    """The window aggregate that ``node`` is, or ``node`` itself."""
    found = windowing(node.input)
    if found is None:
        return node
    grouped = {found.columns[k]: k for k in node.keys if k in found.columns}
    if not {WINDOW_START, WINDOW_END} <= grouped.keys():
        return node
    source, time = with_time(node.input)
    return WindowAggregate(
        source,
        found.window,
        found.zone,
        node.keys,
        node.aggregates,
        grouped[WINDOW_START],
        grouped[WINDOW_END],
        grouped.get(WINDOW_TIME, time),
        found.attached,
    )
