"""Whether a node waits for a watermark, and how far behind it its rows can be."""

from __future__ import annotations

from sqlstream.plan.nodes import AWAITS_TIME, IntervalJoin, JoinKind, Node, Over, Rank, Sort, TimeAttribute, Watermark, WindowTvf
from sqlstream.plan.properties.changelog_mode import changelog_mode
from sqlstream.plan.properties.fields import field
from sqlstream.plan.properties.first_by_rowtime import first_by_rowtime
from sqlstream.plan.properties.once import once
from sqlstream.plan.properties.static import static
from sqlstream.plan.properties.tree import walk


def awaits_watermark(node: Node) -> bool:
    """Whether ``node`` itself emits rows when the watermark passes them or closes their windows."""
    match node:
        case Over(input=source, order=order) | Sort(input=source, keys=order):
            return bool(order) and field(source, order[0].name).time is TimeAttribute.ROWTIME
        case Rank(input=source):
            return first_by_rowtime(node) and not changelog_mode(source).updates and not static(node)
    return isinstance(node, AWAITS_TIME)


def on_time(node: Node) -> bool:
    """Whether anything in ``node`` is by event time, or in windows of processing time."""
    return any(isinstance(n, Watermark | WindowTvf | IntervalJoin) for n in walk(node))


@once
def watermark_lag(node: Node) -> int:
    """By how many milliseconds the times of ``node``'s rows can be behind the watermark though they are not late.

    Operators above wait that much longer: a row of an interval join is as old as the older of its two rows, or as a row that found no partner.
    """
    below = max((watermark_lag(i) for i in node.inputs), default=0)
    if isinstance(node, Rank):
        # A row at the watermark is not late yet.
        return below + awaits_watermark(node)
    if not isinstance(node, IntervalJoin):
        return below
    return below + max(0, *node.reach) + (0 if node.kind is JoinKind.INNER else node.slack + 1)
