"""INSERT matches columns by position: a column that has the name of another one of the sink's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.lint.subject import Violation
from sqlstream.plan.nodes import Project, Sink
from sqlstream.sql.expressions import Cast, ColumnRef
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject
    from sqlstream.sql.expressions import Expr


def check(subject: Subject) -> Iterator[Violation]:
    for planned in subject.planned:
        sink, insert = planned.logical, planned.clause
        named = insert.columns if isinstance(insert, ast.Insert) else []
        if not isinstance(sink, Sink) or named or not isinstance(sink.input, Project):
            continue
        pairs = [(_name(c.expr), c.name) for c in sink.input.columns]
        wanted = {name for _, name in pairs}
        swapped = [(source, name) for source, name in pairs if source is not None and source != name and source in wanted]
        if swapped:
            moves = ", ".join(f"{source} into {name}" for source, name in swapped)
            yield Violation(
                insert.query if isinstance(insert, ast.Insert | ast.CreateTable) and insert.query else insert,
                f"INSERT matches columns by position, and writes {moves}",
                f"order the columns as the table does, or INSERT INTO {sink.table.path.name} (columns)",
            )


def _name(expr: Expr) -> str | None:
    match expr:
        case Cast(operand=operand):
            return _name(operand)
        case ColumnRef(name=name):
            return name
    return None
