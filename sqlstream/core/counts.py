"""How many of something there are, in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def counted(count: int, noun: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{count:,} {of_several(count, noun)}"


def of_several(count: int, noun: str) -> str:
    """``noun`` as it is behind a count."""
    return noun if count == 1 else f"{noun}s"


def numbered(names: Iterable[str]) -> list[str]:
    """``names``, a further one of the same with its number: ``a``, ``a (2)``."""
    counts: Counter[str] = Counter()
    found = []
    for name in names:
        counts[name] += 1
        found.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return found
