"""What EXPLAIN tells of a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlstream.session.session import Session


def plan(session: Session, sql: str) -> str:
    """The optimized plan."""
    (outcome,) = session.run(f"EXPLAIN {sql}")
    return outcome.rows[0][0].partition("== Optimized Physical Plan ==\n")[2].partition("\n\n==")[0]
