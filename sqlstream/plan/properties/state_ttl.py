"""For how long a node keeps state."""

from __future__ import annotations

from sqlstream.plan.nodes import GroupAggregate, Join, KeyedJoin, Node, Rank


def state_ttl(node: Node) -> int:
    """For how many milliseconds ``node`` itself keeps the state of a key after its last row; 0 for ever."""
    match node:
        case GroupAggregate(ttl=ttl) | Rank(ttl=ttl):
            return ttl or 0
        case KeyedJoin(join=Join(hints=hints)):
            # Rows of both sides are kept together, so the longer time counts.
            ttls = [ttl or 0 for ttl in hints.ttl]
            return max(ttls) if all(ttls) else 0
    return 0
