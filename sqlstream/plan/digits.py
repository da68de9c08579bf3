"""What a plan loses of TIMESTAMP(7) to (9): Spark's times end with microseconds."""

from __future__ import annotations

from dataclasses import fields as parts
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

from sqlstream.plan.nodes import Node
from sqlstream.plan.properties import fields, walk
from sqlstream.sql.expressions import Expr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.sql.types import Type

_DIGITS = 6


def cut_digits(node: Node) -> list[str]:
    """A sentence for each type of ``node``'s columns and expressions that has more digits behind the second than are kept."""
    found = [x for n in walk(node) for x in (*(f.type for f in fields(n)), *_types(n))]
    cut = sorted({str(x.null()) for type_ in found for x in _within(type_) if x.is_timestamp and x.args[0] > _DIGITS})
    return [f"Times have {_DIGITS} digits behind the second here: of {name} the others are cut off, they read as zeros." for name in cut]


def _types(value: Any) -> Iterator[Type]:
    """The types of the expressions of a node, not of those below it."""
    if isinstance(value, Expr):
        yield from (e.type for e in value.walk())
    elif isinstance(value, tuple):
        for item in value:
            yield from _types(item)
    elif is_dataclass(value):
        for part in parts(value):
            inner = getattr(value, part.name)
            if not isinstance(inner, Node):
                yield from _types(inner)


def _within(type_: Type) -> Iterator[Type]:
    yield type_
    for child in type_.children:
        yield from _within(child)
