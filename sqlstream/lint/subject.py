"""What rules look at, and what they find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlstream.plan.planned import Planned
    from sqlstream.sql.tables import Table


@dataclass(frozen=True)
class Subject:
    """A statement: its syntax, the plans of its queries, the table that it declares, and the statements behind it in its script.

    ``local``: what it declares is for its script alone; what stands in the project's catalog is for others too.
    """

    tree: exp.Expr
    planned: tuple[Planned, ...] = ()
    table: Table | None = None
    later: tuple[exp.Expr, ...] = ()
    local: bool = True


@dataclass(frozen=True)
class Violation:
    """What a rule found: ``at`` is a place as errors have it, ``hint`` says what to write instead."""

    at: Any
    message: str
    hint: str
