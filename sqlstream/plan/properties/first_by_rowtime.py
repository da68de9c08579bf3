"""Whether a rank keeps the first row of each partition by time, which is final once no earlier row can arrive."""

from __future__ import annotations

from sqlstream.plan.nodes import Rank, SortKey, TimeAttribute
from sqlstream.plan.properties.fields import field


def first_by_rowtime(node: Rank) -> bool:
    """Whether ``node`` is the deduplication that keeps the first row by a rowtime attribute."""
    match node:
        case Rank(input=source, order=(SortKey(name=name, descending=False),), first=1, last=1):
            return field(source, name).time is TimeAttribute.ROWTIME
    return False
