"""The plan as text: what EXPLAIN prints. What is said of a node, the node says (``plan/nodes``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan.properties import changelog_mode
from sqlstream.sql.generated_names import shown

if TYPE_CHECKING:
    from sqlstream.plan.nodes import Node


def tree(node: Node, *, modes: bool = True) -> str:
    """One line for each node, inputs below, with changelog modes if ``modes``."""
    return "\n".join(_lines(node, modes))


def _lines(node: Node, modes: bool) -> list[str]:
    lines = [describe(node, modes=modes)]
    for i, source in enumerate(node.inputs):
        last = i == len(node.inputs) - 1
        first, *rest = _lines(source, modes)
        lines.append(f"+- {first}")
        lines.extend(f"{'   ' if last else '|  '}{line}" for line in rest)
    return lines


def describe(node: Node, *, modes: bool = False) -> str:
    """One line about ``node`` itself."""
    name, *parts = node.explain()
    if modes:
        parts.append(f"changelogMode={changelog_mode(node).value}")
    return shown(f"{name}({', '.join(parts)})")
