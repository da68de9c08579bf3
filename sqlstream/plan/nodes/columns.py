"""What nodes are made of: columns, keys of an order, calls with a name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlstream.sql.expressions import AggregateCall, Expr
    from sqlstream.sql.types import Type


class TimeAttribute(Enum):
    """What makes a column a time attribute."""

    ROWTIME = "ROWTIME"
    PROCTIME = "PROCTIME"


@dataclass(frozen=True)
class Field:
    """One column of a node's output."""

    name: str
    type: Type
    time: TimeAttribute | None = None


@dataclass(frozen=True)
class Named:
    """An expression and the name of its column."""

    name: str
    expr: Expr


@dataclass(frozen=True)
class SortKey:
    """A column to order by, and where its NULLs go."""

    name: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class NamedAggregate:
    """An aggregate call and the name of its column."""

    name: str
    call: AggregateCall
