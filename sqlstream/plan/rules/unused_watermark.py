"""A watermark that no operator waits for is left out: it would need a source for each Kafka partition.

Sink                        Sink
+- Watermark(ts)       ->   +- input
   +- input
"""

from __future__ import annotations

from sqlstream.connectors import find_connector
from sqlstream.plan.nodes import IntervalJoin, Node, Sink, TimeAttribute, Watermark, WindowTvf
from sqlstream.plan.properties import awaits_watermark, field


def unused_watermark(node: Node, used: bool = False) -> Node:
    """``node`` without Watermarks that no operator above waits for."""
    if isinstance(node, WindowTvf) and field(node.input, node.window.time).time is TimeAttribute.PROCTIME:
        used = False  # These windows close by the clock.
    used = used or awaits_watermark(node) or (isinstance(node, Sink) and find_connector(node.table.connector).awaits_watermark(node.table))
    if isinstance(node, IntervalJoin) and field(node.left, node.times[0]).time is TimeAttribute.PROCTIME:
        used = False  # So does this join.
    node = node.with_inputs(tuple(unused_watermark(i, used) for i in node.inputs))
    return node.input if isinstance(node, Watermark) and not used and node.current is None else node
