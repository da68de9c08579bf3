"""Which columns are time attributes, and why a column is not one any more.

That depends on the operators, so both look at the plan after the rules that turn plain nodes into operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan.properties import field
from sqlstream.plan.rules.each_node import resolved

if TYPE_CHECKING:
    from sqlstream.plan.nodes import Node, TimeAttribute


def time_attribute(node: Node, name: str) -> TimeAttribute | None:
    """Which time attribute the column ``name`` of ``node`` is, if it is one."""
    return field(resolved(node), name).time


def why_none(node: Node, name: str) -> str:
    """Why the column ``name`` of ``node`` is not a time attribute, and what to do."""
    lost = resolved(node).lost_time(name)
    if lost is None and not (type_ := field(resolved(node), name).type).is_timestamp:
        return f"{name} is {type_}. A time attribute is a TIMESTAMP(3) or TIMESTAMP_LTZ(3) with a WATERMARK in its table, or PROCTIME()."
    if lost is None:
        return f"Declare WATERMARK FOR {name} in the table; a function or cast of a time attribute is not one."
    return f"{lost} Select the attribute itself as well."
