"""A planned statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlstream.plan.nodes import Node


@dataclass(frozen=True)
class Planned:
    """A query or an INSERT with its plan as it is written (``logical``) and as it will run."""

    clause: exp.Expr
    logical: Node
    plan: Node
