"""The name that a column of a lookup join's table has in the table itself."""

from __future__ import annotations

from sqlstream.plan.nodes import LookupJoin, Node, Project, Scan
from sqlstream.plan.properties.tree import scans
from sqlstream.sql.expressions import ColumnRef


def looked_up(node: LookupJoin) -> Scan:
    """The scan of the table of a lookup join."""
    (scan,) = scans(node.table)
    return scan


def origin(node: Node, name: str) -> str | None:
    """The name that the scan below ``node`` (projections and filters of it) has for the column ``name``; None where it is computed."""
    while not isinstance(node, Scan):
        if isinstance(node, Project):
            expr = next(c.expr for c in node.columns if c.name == name)
            if not isinstance(expr, ColumnRef):
                return None
            name = expr.name
        (node,) = node.inputs
    return name
