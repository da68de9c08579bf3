"""Comparisons with NULL, which are never TRUE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.lint.subject import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject


def check(subject: Subject) -> Iterator[Violation]:
    for comparison in subject.tree.find_all(exp.EQ, exp.NEQ):
        if any(isinstance(side, exp.Null) for side in (comparison.this, comparison.expression)):
            wanted = "IS NULL" if isinstance(comparison, exp.EQ) else "IS NOT NULL"
            yield Violation(comparison, "A comparison with NULL is never TRUE", wanted)
