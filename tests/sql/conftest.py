"""Scripts of the dialect's tests, and places in statements marked with a sign."""

from __future__ import annotations

from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"
MARK = "§"


def placed(sql: str) -> tuple[str, int | None]:
    """``sql`` without its mark, and the offset at which that stood."""
    return sql.replace(MARK, ""), sql.index(MARK) if MARK in sql else None
