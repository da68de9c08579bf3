"""Typed expressions that the planner makes itself."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from sqlstream.sql.expressions import Call, ColumnRef, Expr, Literal
from sqlstream.sql.functions import Function, find
from sqlstream.sql.types import BOOLEAN, INT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlstream.plan.nodes.columns import Field
    from sqlstream.sql.types import Type


def builtin(name: str) -> Function:
    """The built-in function ``name``."""
    function = find(name)
    assert function is not None, name
    return function


def ref(field: Field) -> ColumnRef:
    """A reference to a column."""
    return ColumnRef(field.type, field.name)


def number(value: int) -> Literal:
    """A constant INT."""
    return Literal(INT.not_null(), value)


def true() -> Literal:
    """TRUE."""
    return Literal(BOOLEAN.not_null(), True)


def false() -> Literal:
    """FALSE."""
    return Literal(BOOLEAN.not_null(), False)


def null(type_: Type) -> Literal:
    """NULL of a type."""
    return Literal(type_.null(), None)


def equals(expr: Expr, value: int) -> Expr:
    """``expr = value``, of an INT that is never NULL."""
    return Call(BOOLEAN.not_null(), builtin("="), (expr, number(value)))


def when(*cells: Expr) -> Expr:
    """``CASE WHEN cells[0] THEN cells[1] ... ELSE cells[-1] END``, of the last one's type."""
    return Call(cells[-1].type, builtin("CASE"), cells)


def conjuncts(condition: Expr | None) -> list[Expr]:
    """The conditions that AND combines; none if there is no condition."""
    if condition is None:
        return []
    if isinstance(condition, Call) and condition.function.name == "AND":
        return [c for arg in condition.args for c in conjuncts(arg)]
    return [condition]


def all_of(conditions: Sequence[Expr]) -> Expr | None:
    """The conditions combined by AND; None if there are none."""
    if not conditions:
        return None
    nullable = any(c.type.nullable for c in conditions)
    return reduce(lambda a, b: Call(BOOLEAN.with_nullable(nullable), builtin("AND"), (a, b)), conditions)


def columns(expr: Expr) -> set[str]:
    """The names of the columns that ``expr`` reads."""
    return {e.name for e in expr.walk() if isinstance(e, ColumnRef)}


def any_of(conditions: Sequence[Expr]) -> Expr:
    """The conditions, of which there is at least one, combined by OR."""
    nullable = any(c.type.nullable for c in conditions)
    return reduce(lambda a, b: Call(BOOLEAN.with_nullable(nullable), builtin("OR"), (a, b)), conditions)


def is_null(expr: Expr) -> Expr:
    """``expr IS NULL``."""
    return Call(BOOLEAN.not_null(), builtin("IS NULL"), (expr,))


def not_distinct(a: Expr, b: Expr) -> Expr:
    """``a IS NOT DISTINCT FROM b``, of one type."""
    return Call(BOOLEAN.not_null(), builtin("IS NOT DISTINCT FROM"), (a, b))


def substituted(expr: Expr, by_name: Mapping[str, Expr]) -> Expr:
    """``expr`` with an expression in the place of each column that it reads."""
    return expr.transform(lambda e: by_name[e.name] if isinstance(e, ColumnRef) else None)


def renamed(expr: Expr, names: Mapping[str, str]) -> Expr:
    """``expr`` with other names of the columns that it reads."""
    return expr.transform(lambda e: ColumnRef(e.type, names[e.name]) if isinstance(e, ColumnRef) else None)
