"""How many of something there are, in words."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{count:,} {of_several(count, noun)}"


def of_several(count: int, noun: str) -> str:
    """``noun`` as it is behind a count."""
    return noun if count == 1 else f"{noun}s"
