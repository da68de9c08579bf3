"""When a source's partitions are idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan.properties.tree import scans

if TYPE_CHECKING:
    from sqlstream.plan.nodes import Node


def idle_timeout(node: Node, default: int) -> int:
    """After how many milliseconds without rows a split below ``node`` no longer holds the watermark back; 0: never."""
    # Who lists jobs needs no connectors.
    from sqlstream.connectors import find_connector

    said = [find_connector(scan.table.connector).idle_timeout(scan.table) for scan in scans(node)]
    return max((default if ms is None else ms for ms in said), default=default)
