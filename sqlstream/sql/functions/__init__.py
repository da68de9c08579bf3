"""The function table. FUNCTIONS lists every built-in; a new one is a row in the module of its group."""

from __future__ import annotations

from sqlstream.sql.functions import aggregates, operators, scalar, temporal
from sqlstream.sql.functions.base import Function, Rendered

FUNCTIONS: tuple[Function, ...] = (*operators.ROWS, *scalar.ROWS, *temporal.ROWS, *aggregates.ROWS)
_BY_NAME = {f.name: f for f in FUNCTIONS}
# Names that a call in a query can use; operators have a syntax of their own.
CALLABLE = tuple(sorted(f.name for f in FUNCTIONS if f.name.replace("_", "").isalnum() and f.name not in ("ITEM", "NEGATE")))


def find(name: str) -> Function | None:
    """The built-in called ``name``, in any case."""
    return _BY_NAME.get(name.upper())


__all__ = ["CALLABLE", "FUNCTIONS", "Function", "Rendered", "find"]
