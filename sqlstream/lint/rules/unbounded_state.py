"""State that grows for as long as the query runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.lint.subject import Violation
from sqlstream.plan.nodes import GroupAggregate, KeyedJoin, Over, Rank
from sqlstream.plan.state import unbounded_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject
    from sqlstream.plan.nodes import Node

_CLAUSES: dict[type[Node], tuple[type[exp.Expr], ...]] = {
    GroupAggregate: (exp.Group, exp.Distinct, exp.SetOperation),
    KeyedJoin: (exp.Join,),
    Over: (exp.Window,),
    Rank: (exp.Window, exp.Order),
}


def check(subject: Subject) -> Iterator[Violation]:
    for planned in subject.planned:
        for kept in unbounded_state(planned.plan):
            clause = planned.clause.find(*_CLAUSES[type(kept.node)]) or planned.clause
            yield Violation(clause, f"{kept.text} keeps its state forever", kept.bound)
