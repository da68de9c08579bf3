"""The columns of rows as they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.changelog import KIND
from sqlstream.plan.properties import changelog_mode, fields

if TYPE_CHECKING:
    from sqlstream.plan.nodes import Node


def row(node: Node) -> tuple[str, ...]:
    """The names of the columns of ``node``'s rows as they run: its own, and KIND where they carry their kind."""
    names = tuple(f.name for f in fields(node))
    return (*names, KIND) if changelog_mode(node).carries_kinds else names
