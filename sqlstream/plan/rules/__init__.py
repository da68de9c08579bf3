"""Rewrites of the plan, one a file: each a pure function Node -> Node that returns its argument where the shape does not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan.properties import static
from sqlstream.plan.rules.co_group import co_group
from sqlstream.plan.rules.current_watermark import current_watermark
from sqlstream.plan.rules.distinct_updates import distinct_updates
from sqlstream.plan.rules.distinct_windows import distinct_windows
from sqlstream.plan.rules.project_merge import project_merge
from sqlstream.plan.rules.shared_scan import shared_scan
from sqlstream.plan.rules.unused_watermark import unused_watermark

if TYPE_CHECKING:
    from sqlstream.plan.nodes import Node

RULES = (current_watermark, distinct_windows, distinct_updates, co_group, shared_scan, unused_watermark, project_merge)
# What Spark has no streaming form of, though it has one for static input.
STREAMING = (distinct_updates,)


def rewrite(node: Node, *, batch: bool) -> Node:
    """``node`` after every rule, in order. ``batch``: it runs in batch mode, or answers as if it did."""
    for rule in RULES:
        if rule not in STREAMING or not (batch or static(node)):
            node = rule(node)
    return node
