"""The function table. FUNCTIONS lists every built-in; a new one is a row in the module of its group."""

from __future__ import annotations

from sqlstream.sql.functions import aggregates, collections, conditional, json, numbers, operators, strings, temporal, variant
from sqlstream.sql.functions.base import Function, Rendered

OPERATORS: tuple[Function, ...] = (*operators.ROWS, *temporal.OPERATORS, *json.OPERATORS)
AGGREGATES: tuple[Function, ...] = (*aggregates.ROWS, *json.AGGREGATES)
# As lists of functions show them.
GROUPS: tuple[tuple[str, tuple[Function, ...]], ...] = (
    ("Conditions", conditional.ROWS), ("Numbers", numbers.ROWS), ("Texts and bytes", strings.ROWS), ("Times", temporal.ROWS),
    ("Arrays and maps", collections.ROWS), ("JSON", (*json.ROWS, *variant.ROWS)), ("Aggregates", AGGREGATES),
)  # fmt: skip
SCALAR: tuple[Function, ...] = tuple(row for _, rows in GROUPS[:-1] for row in rows)
FUNCTIONS: tuple[Function, ...] = (*OPERATORS, *SCALAR, *AGGREGATES)
_BY_NAME = {f.name: f for f in FUNCTIONS}
# Names that a call in a query can use; operators have a syntax of their own, but for these.
CALLABLE = tuple([*sorted(f.name for f in (*SCALAR, *AGGREGATES) if " " not in f.name), "ARRAY", "MAP", "MOD", "ROW"])


def find(name: str) -> Function | None:
    """The built-in called ``name``, in any case."""
    return _BY_NAME.get(name.upper())


__all__ = ["CALLABLE", "FUNCTIONS", "GROUPS", "OPERATORS", "Function", "Rendered", "find"]
