"""The rules that look at one node, whose inputs have been rewritten: of what a query says in plain nodes they make the operators that it means.

They need each other: a Top-N of windows is one over a window aggregate, whose rows may come out of a window join.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan.properties.once import once
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

# A Top-N is one of windows first. A join is one as of a time first; one of windows, or of times, it is by the conditions that are left after those
# of one input were moved there.
EACH_NODE: tuple[Rule, ...] = (window_aggregate, window_rank, rank, lookup_join, temporal_join, filter_pushdown, window_join, interval_join)


@once
def resolved(node: Node) -> Node:
    """``node`` after these rules. A node that is an input of several stays one. Raises ValidationError, NotSupported."""
    return _at_node(node, EACH_NODE, resolved)


def at_each_node(node: Node, rules: Iterable[Rule]) -> Node:
    """``node`` with ``rules`` applied to each node below it and to itself, until none of them fits."""
    return _at_node(node, rules, lambda below: at_each_node(below, rules))


def _at_node(node: Node, rules: Iterable[Rule], rewritten: Rule) -> Node:
    node = node.with_inputs(tuple(rewritten(i) for i in node.inputs))
    for rule in rules:
        if (changed := rule(node)) is not node:
            return rewritten(changed)
    return node
