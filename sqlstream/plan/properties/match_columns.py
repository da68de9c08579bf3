"""The columns that a pattern reads."""

from __future__ import annotations

from sqlstream.plan import make
from sqlstream.plan.nodes import Match, RowValue
from sqlstream.plan.properties.fields import fields


def match_columns(node: Match) -> set[str]:
    """The columns of its input that ``node`` reads."""
    read = {*node.partition, *(k.name for k in node.order)}
    for value in (*node.values, *node.measures):
        read |= {value.column.name} if isinstance(value, RowValue) else make.columns(value.call)
    for _, condition in node.define:
        read |= make.columns(condition)
    return read & {f.name for f in fields(node.input)}
