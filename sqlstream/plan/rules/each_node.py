"""The rules that look at one node, after its inputs have been rewritten. They turn plain nodes, as a query is written, into the operators it means.

The rules depend on each other: the input of a Top-N of windows may be a window aggregate, and its input a window join. So they run together, from
the sources up, until none of them fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan.places import at_clause, placed
from sqlstream.plan.properties import once
from sqlstream.plan.rules.filter_pushdown import filter_pushdown
from sqlstream.plan.rules.interval_join import interval_join
from sqlstream.plan.rules.lookup_join import lookup_join
from sqlstream.plan.rules.rank import rank
from sqlstream.plan.rules.temporal_join import temporal_join
from sqlstream.plan.rules.window_aggregate import window_aggregate
from sqlstream.plan.rules.window_join import window_join
from sqlstream.plan.rules.window_rank import window_rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlstream.plan.nodes import Node

    Rule = Callable[[Node], Node]

# A Top-N of windows is recognised before a plain one. Joins as of a time come first; window and interval joins are recognised by the conditions that
# are left once those of a single input have been pushed into it.
EACH_NODE: tuple[Rule, ...] = (window_aggregate, window_rank, rank, lookup_join, temporal_join, filter_pushdown, window_join, interval_join)


@once
def resolved(node: Node) -> Node:
    """``node`` after these rules. A node that several nodes have as their input stays shared. Raises ValidationError, NotSupported."""
    return _at_node(node, EACH_NODE, resolved)


def at_each_node(node: Node, rules: Iterable[Rule]) -> Node:
    """``node`` with ``rules`` applied to each node below it and to itself, until none of them fits."""
    return _at_node(node, rules, lambda below: at_each_node(below, rules))


def _at_node(node: Node, rules: Iterable[Rule], rewritten: Rule) -> Node:
    node = node.with_inputs(tuple(rewritten(i) for i in node.inputs))
    for rule in rules:
        with at_clause(node):
            changed = rule(node)
        if changed is not node:
            return rewritten(placed(changed, node.at))
    return node
