"""NOT IN a sub-query, which a single NULL makes UNKNOWN for every row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.lint.subject import Violation
from sqlstream.sql.syntax.clauses import query_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject


def check(subject: Subject) -> Iterator[Violation]:
    for negation in subject.tree.find_all(exp.Not):
        tested = negation.this.unnest()
        if isinstance(tested, exp.In) and query_of(tested) is not None:
            yield Violation(negation, "NOT IN a sub-query holds for no row once the sub-query gives a NULL", "NOT EXISTS")
