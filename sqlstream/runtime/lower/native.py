"""Which aggregates Spark computes itself, and in which output mode a query then runs."""

from __future__ import annotations

from sqlstream.core.spark_releases import running
from sqlstream.plan.nodes import GroupAggregate, Node
from sqlstream.plan.properties import changelog_mode, once, static
from sqlstream.udf.declarations.functions import Accumulator


def native(node: GroupAggregate) -> bool:
    """Whether Spark's own aggregate gives what ``node`` does of a stream: in update mode, and then as the only operator with a state, or
    as an operator that drops duplicates.

    Spark's aggregate in real time is another operator than that in micro-batches, and neither reads the state of the other.
    """
    if changelog_mode(node.input).updates or node.ttl or any(isinstance(a.call.function, Accumulator) for a in node.aggregates):
        return False
    return not node.aggregates or (
        not running().stateful_real_time and node.upserts and _stateless(node.input) and not any(a.call.distinct for a in node.aggregates)
    )


@once
def in_update_mode(node: Node) -> bool:
    """Whether a streaming query of ``node`` runs in Spark's update mode; else in append mode."""
    if isinstance(node, GroupAggregate) and node.aggregates and native(node) and not static(node):
        return True
    return any(in_update_mode(i) for i in node.inputs)


@once
def _stateless(node: Node) -> bool:
    """Whether neither ``node`` nor what is below keeps anything of the rows that it has seen."""
    return not node.keeps_state and all(_stateless(i) for i in node.inputs)
