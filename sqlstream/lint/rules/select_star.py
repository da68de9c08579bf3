"""SELECT * of a table into a sink: a column added to the table breaks the job, or shifts the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.lint.subject import Violation
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.clauses import from_of, joins_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject


def check(subject: Subject) -> Iterator[Violation]:
    for planned in subject.planned:
        if isinstance(planned.clause, ast.Insert):
            for select in _tops(planned.clause.query):
                yield from _stars(select)


def _stars(select: exp.Select) -> Iterator[Violation]:
    clause = from_of(select)
    ctes = {c.alias for c in select.find_all(exp.CTE)}
    items = [clause.this, *(join.this for join in joins_of(select))] if clause is not None else []
    if not any(isinstance(item, exp.Table) and item.name not in ctes for item in items):
        return
    for item in select.expressions:
        if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            yield Violation(
                item if "start" in item.meta else clause,
                "SELECT * into a sink: a column that is added to the table breaks the job",
                "name the columns",
            )


def _tops(query: exp.Expr) -> Iterator[exp.Select]:
    match query:
        case exp.Select():
            yield query
        case exp.SetOperation():
            yield from _tops(query.this)
            yield from _tops(query.expression)
        case exp.Subquery():
            yield from _tops(query.this)
