"""A join that compares times of both sides and yet is not an interval join, so it keeps all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.lint.subject import Violation
from sqlstream.plan.nodes import KeyedJoin
from sqlstream.plan.properties import field, fields, static, walk
from sqlstream.sql.expressions import ColumnRef

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject
    from sqlstream.plan.nodes import Join

_TIMES = ("TIMESTAMP", "TIMESTAMP_LTZ")


def check(subject: Subject) -> Iterator[Violation]:
    for planned in subject.planned:
        for node in walk(planned.plan):
            if not isinstance(node, KeyedJoin) or static(node) or node.condition is None:
                continue
            times = [e.name for e in node.condition.walk() if isinstance(e, ColumnRef) and e.type.root in _TIMES]
            sides = [[name for name in dict.fromkeys(times) if name in {f.name for f in fields(side)}] for side in node.join.inputs]
            if all(sides):
                yield Violation(
                    _clause(planned.clause),
                    "The join compares times of both sides, but is not an interval join: it keeps all rows of both",
                    _missing(node.join, sides),
                )


def _missing(join: Join, sides: list[list[str]]) -> str:
    """What it lacks: time attributes, or one of two bounds."""
    plain = [name for side, names in zip(join.inputs, sides, strict=True) for name in names if field(side, name).time is None]
    if plain:
        return f"declare WATERMARK FOR {' and '.join(plain)} in the table: only rowtime attributes bound a join"
    return "bound the time on both ends: a.ts BETWEEN b.ts - INTERVAL .. AND b.ts + INTERVAL .."


def _clause(tree: exp.Expr) -> exp.Expr:
    return tree.find(exp.Join) or tree
