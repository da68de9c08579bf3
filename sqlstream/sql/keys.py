"""What rows are grouped, told apart and sorted by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.sql.types import distinguished

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlstream.sql.types import Type


def require_key(type_: Type, at: exp.Expr, clause: str) -> None:
    """Refuses values that Spark can't tell apart: maps and what has one in it. Flink compares their bytes, and sorts by none."""
    if distinguished(type_):
        return
    hint = "Take out of it what matters: m['key'], r.field."
    if clause == "ORDER BY":
        message = f"Type({type_.full}) is not an orderable data type, it is not supported as a ORDER_BY/GROUP_BY/JOIN_EQUAL field."
        raise ValidationError(message, at=at, hint=hint)
    raise NotSupported(f"{clause} is not supported over values of type {type_}: they can't be compared.", at=at, hint=hint)
