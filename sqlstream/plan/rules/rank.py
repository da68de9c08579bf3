"""A limit on ROW_NUMBER() OVER (PARTITION BY .. ORDER BY ..) is a Top-N. With the limit 1 and the order of a time attribute it is a deduplication.

Filter(n <= 3)                                   Project(.., n)
+- Project(.., n)                           ->   +- Rank(partition=[k], order=[v], rank 1 to 3 AS n)
   +- Over(ROW_NUMBER() AS n, partition=[k], order=[v])
"""

from __future__ import annotations

from sqlstream.plan.nodes import Node, Rank, TimeAttribute
from sqlstream.plan.properties import field
from sqlstream.plan.rules.numbering import numbering


def rank(node: Node) -> Node:
    """The Top-N that ``node`` is, or ``node`` itself."""
    if (limit := numbering(node)) is None:
        return node
    over, first, last = limit.over, limit.first, limit.last
    by = over.order[0]
    # By processing time, the first row stays the first.
    time = field(over.input, by.name).time if len(over.order) == 1 else None
    once = time is TimeAttribute.PROCTIME and not by.descending and (first, last) == (1, 1)
    return limit.above(Rank(over.input, over.partition, over.order, over.aggregates[0].name, first, last, limit.latest, once, at=over.at))
