"""GROUP BY only one bound of a window: to Flink it is then a group that is never finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.lint.subject import Violation
from sqlstream.plan.nodes import WINDOW_END, WINDOW_START, GroupAggregate
from sqlstream.plan.properties import static, walk, windowing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject


def check(subject: Subject) -> Iterator[Violation]:
    for planned in subject.planned:
        for node in walk(planned.plan):
            if not isinstance(node, GroupAggregate) or static(node) or (window := windowing(node.input)) is None:
                continue
            grouped = {window.columns[key] for key in node.keys if key in window.columns}
            if len(grouped & {WINDOW_START, WINDOW_END}) == 1:
                there, missing = (WINDOW_START, WINDOW_END) if WINDOW_START in grouped else (WINDOW_END, WINDOW_START)
                yield Violation(
                    planned.clause.find(exp.Group) or planned.clause,
                    f"GROUP BY has {there} without {missing}: the groups never close, and their rows change forever",
                    "GROUP BY window_start, window_end",
                )
