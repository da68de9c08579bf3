"""A join of streams without an equality: every row meets every other, in one task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.lint.subject import Violation
from sqlstream.plan.nodes import KeyedJoin
from sqlstream.plan.properties import static, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject


def check(subject: Subject) -> Iterator[Violation]:
    for planned in subject.planned:
        for node in walk(planned.plan):
            # One side that is an aggregate over everything, as a sub-query that is a value, has one row.
            if isinstance(node, KeyedJoin) and not static(node) and not node.keys and node.condition is None:
                yield Violation(
                    planned.clause.find(exp.Join) or planned.clause,
                    "The join has no condition: each row meets every row of the other side, all in one task",
                    "join ON a.key = b.key",
                )
