"""A sink's PRIMARY KEY that does not identify the query's rows, so that rows replace each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.lint.subject import Violation
from sqlstream.plan.nodes import OneByOne, Project, Sink, WindowAggregate
from sqlstream.plan.properties import static, upsert_key
from sqlstream.sql.expressions import Cast, ColumnRef

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject
    from sqlstream.plan.nodes import Node
    from sqlstream.sql.expressions import Expr

# Of each set any column will do: either bound of a window stands for it.
Key = tuple[frozenset[str], ...]


def check(subject: Subject) -> Iterator[Violation]:
    for planned in subject.planned:
        sink = planned.plan
        if not isinstance(sink, Sink) or sink.table.primary_key is None or static(sink):
            continue
        declared = sink.table.primary_key.columns
        key = _key(sink.input)
        if key is not None and all(columns & set(declared) for columns in key):
            continue
        identity = "has no key" if key is None else f"identifies its rows by ({', '.join(min(columns) for columns in key)})"
        yield Violation(
            planned.clause,
            f"The query {identity}, the sink by PRIMARY KEY ({', '.join(declared)}): of rows with the same key, only the last to come stays",
            f"aggregate by ({', '.join(declared)}), or keep the latest row of each by ROW_NUMBER() .. = 1",
        )


def _key(node: Node) -> Key | None:
    match node:
        case WindowAggregate(keys=keys):
            bounds = frozenset(keys) & {node.start, node.end, node.time}
            return (*([bounds] if bounds else []), *(frozenset({k}) for k in keys if k not in bounds))
        case OneByOne(input=source):
            below = _key(source)
            named = node.sources
            if isinstance(node, Project):
                named = {c.name: name for c in node.columns if (name := _column(c.expr)) is not None}
            renamed = tuple(frozenset(new for new, old in named.items() if old in one) for one in below or ())
            return renamed if below is not None and all(renamed) else None
    known = upsert_key(node)
    return None if known is None else tuple(frozenset({k}) for k in known)


def _column(expr: Expr) -> str | None:
    match expr:
        case Cast(operand=operand):
            return _column(operand)
        case ColumnRef(name=name):
            return name
    return None
