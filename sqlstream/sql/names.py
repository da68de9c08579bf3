"""Names of the columns of a query: a query may give one to several, a table and whoever reads the query may not."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from sqlstream.core.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import exp

UNIQUE = "Give it another name with AS."


def unique(names: Sequence[str]) -> list[str]:
    """``names`` with a number behind those that came before, as Flink does: ``a``, ``a0``."""
    distinct: list[str] = []
    used: set[str] = set()
    for name in names:
        own = name if name not in used else next(f"{name}{i}" for i in count() if f"{name}{i}" not in used)
        used.add(own)
        distinct.append(own)
    return distinct


def repeated(names: Sequence[str]) -> str | None:
    """The first name that another before it has too."""
    return next((name for i, name in enumerate(names) if name in names[:i]), None)


def refuse_repeated(names: Sequence[exp.Expr], what: str) -> None:
    """Raises ValidationError at the first of ``names``, which stand in a list called so, that another before it has too."""
    written = [n.name for n in names]
    for i, name in enumerate(written):
        if name in written[:i]:
            raise ValidationError(f"Duplicate name '{name}' in {what}", at=names[i])
