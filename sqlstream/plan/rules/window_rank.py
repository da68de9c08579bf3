"""A Top-N whose partition has the bounds of a window is a Top-N of each window: it emits rows when the window closes.

Filter(n <= 3)                                                               Project(.., n)
+- Project(.., n)                                                       ->   +- WindowRank(window, partition=[..], rank 1 to 3 AS n)
   +- Over(ROW_NUMBER() AS n, partition=[window_start, window_end, ..])         +- x with window_time
      +- x
"""

from __future__ import annotations

from sqlstream.plan.nodes import WINDOW_END, WINDOW_START, Node, WindowRank
from sqlstream.plan.properties import windowing
from sqlstream.plan.rules.numbering import numbering
from sqlstream.plan.rules.window_time import with_window_time


def window_rank(node: Node) -> Node:
    """The Top-N of windows that ``node`` is, or ``node`` itself."""
    if (limit := numbering(node)) is None or (below := windowing(limit.over.input)) is None:
        return node
    over = limit.over
    bounds = {below.columns[p]: p for p in over.partition if p in below.columns}
    if not {WINDOW_START, WINDOW_END} <= bounds.keys():
        return node
    source, time = with_window_time(over.input)
    ranked = WindowRank(
        source,
        below.window,
        tuple(p for p in over.partition if p not in below.columns),
        over.order,
        over.aggregates[0].name,
        limit.first,
        limit.last,
        bounds[WINDOW_START],
        bounds[WINDOW_END],
        time,
        limit.latest,
        at=over.at,
    )
    return limit.above(ranked)
