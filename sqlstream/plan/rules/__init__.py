"""Rewrites of the plan, one a file: each a pure function Node -> Node that returns its argument where the shape does not fit.

Those of EACH_NODE come first, and each looks at one node. Those of WHOLE_PLAN follow, one after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan.rules.co_group import co_group
from sqlstream.plan.rules.current_watermark import current_watermark
from sqlstream.plan.rules.distinct_windows import distinct_windows
from sqlstream.plan.rules.each_node import EACH_NODE as EACH_NODE
from sqlstream.plan.rules.each_node import resolved
from sqlstream.plan.rules.keyed_join import keyed_join
from sqlstream.plan.rules.limit import limit
from sqlstream.plan.rules.project_merge import project_merge
from sqlstream.plan.rules.python_aggregates import python_aggregates
from sqlstream.plan.rules.python_calls import python_calls
from sqlstream.plan.rules.python_joins import python_joins
from sqlstream.plan.rules.row_clock import row_clock
from sqlstream.plan.rules.shared_scan import shared_scan
from sqlstream.plan.rules.sink_materializer import sink_materializer
from sqlstream.plan.rules.state_ttl import state_ttl
from sqlstream.plan.rules.unread_columns import unread_columns
from sqlstream.plan.rules.unused_watermark import unused_watermark
from sqlstream.plan.rules.upserts import upserts

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.plan.nodes import Node
    from sqlstream.plan.rules.each_node import Rule

# What unites inputs comes after what narrows them, and before what shares the scan of united ones. What merges projections would
# put Python calls back into expressions; what makes them of aggregates comes before all that moves aggregates.
WHOLE_PLAN: tuple[Rule, ...] = (
    python_aggregates, python_joins, limit, sink_materializer, current_watermark, distinct_windows, co_group, unread_columns, keyed_join,
    shared_scan, unused_watermark, project_merge, upserts, python_calls,
)  # fmt: skip


def whole_plan(ttl: int = 0, *, batch: bool = False) -> dict[str, Rule]:
    """The rules of a whole plan by name, in order. ``ttl``: for how many milliseconds idle state is kept by default; 0 means for ever."""
    rules = {rule.__name__: rule for rule in (*WHOLE_PLAN, *(() if batch else (row_clock,)))}
    return {**rules, "state_ttl": lambda node: state_ttl(node, ttl)} if ttl else rules


def rewrite(node: Node, ttl: int = 0, *, batch: bool = False, check: Callable[[Node], None] = lambda node: None) -> Node:
    """``node`` after every rule, see ``whole_plan``. ``check`` looks at it before columns and watermarks that nothing reads are left out. Raises
    ValidationError, NotSupported.
    """
    node = resolved(node)
    check(node)
    for rule in whole_plan(ttl, batch=batch).values():
        node = rule(node)
    return node
