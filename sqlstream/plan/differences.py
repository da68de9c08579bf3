"""Notices about what is not quite as in Flink, for when a query is submitted: times finer than microseconds, and functions that have a notice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan.properties import fields, walk
from sqlstream.sql.expressions import AggregateCall, Call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.plan.nodes import Node
    from sqlstream.sql.types import Type

_DIGITS = 6


def differences(node: Node) -> list[str]:
    """A sentence for each type of ``node``'s columns and expressions that has more fractional digits than are kept, and the notices of its calls."""
    exprs = [e for n in walk(node) for expr in n.expressions() for e in expr.walk()]
    types = [x for n in walk(node) for x in (f.type for f in fields(n))] + [e.type for e in exprs]
    cut = sorted({str(x.null()) for type_ in types for x in _within(type_) if x.is_timestamp and x.args[0] > _DIGITS})
    notices = [e.function.notice(len(e.args)) for e in exprs if isinstance(e, Call | AggregateCall) and e.function.notice is not None]
    return [
        *(f"Times have {_DIGITS} digits behind the second here: of {name} the others are cut off, they read as zeros." for name in cut),
        *dict.fromkeys(sentence for sentence in notices if sentence),
    ]


def _within(type_: Type) -> Iterator[Type]:
    yield type_
    for child in type_.children:
        yield from _within(child)
