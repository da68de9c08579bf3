"""Interval joins: the condition bounds the distance between a time attribute of the left and one of the right.

Join(a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '5' SECOND AND b.ts)        IntervalJoin(lower=-5000, upper=0, rest: a.k = b.k)
+- a                                                                   ->   +- a
+- b                                                                        +- b

Flink's rule: the attributes are of one kind, and there are two comparisons that bound the distance from both sides, or one equality. A join with more
of them, or with an equality that shifts a time, is a regular join. So are semi and anti joins.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.plan import make
from sqlstream.plan.nodes import IntervalJoin, Join, Node, TimeAttribute
from sqlstream.plan.properties import fields
from sqlstream.sql.bind import to_text
from sqlstream.sql.expressions import Call, Cast, ColumnRef, Expr, Keyword, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_UNITS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000, "WEEK": 604_800_000}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_KNOWN = {*_UNITS, *_MONTHS}


def interval_join(node: Node) -> Node:
    """The interval join that ``node`` is, or ``node`` itself. Raises ValidationError, NotSupported."""
    if type(node) is not Join or node.kind.left_only or node.condition is None:
        return node
    sides = [{f.name: f.time for f in fields(side)} for side in node.inputs]
    bounds: list[_Bound] = []
    rest = []
    for condition in make.conjuncts(node.condition):
        bound = _bound(condition, sides[0], sides[1])
        if bound is None:
            rest.append(condition)
        else:
            bounds.append(bound)
    operators = sorted(b.operator[0] for b in bounds)
    if operators not in (["="], ["<", ">"]):
        return node
    for bound in bounds:
        if bound.distance is None:
            problem = f"The time bound {to_text(bound.condition)} is not supported."
            raise NotSupported(problem, hint="Compare one time with the other plus or minus an INTERVAL.")
    if len({(b.left, b.right) for b in bounds}) > 1:
        raise NotSupported(
            "An interval join compares one time attribute of each side.", hint="Put the comparison of other times into a query around the join."
        )
    limits = {b.operator[0]: b.limit for b in bounds}
    lower, upper = limits.get(">", limits.get("=", 0)), limits.get("<", limits.get("=", 0))
    first = bounds[0]
    if sides[0][first.left] is TimeAttribute.PROCTIME and any(time is TimeAttribute.ROWTIME for side in sides for time in side.values()):
        raise ValidationError(
            "Interval join with proctime attribute requires no event-time attributes are in the join inputs.",
            hint="Leave the other attribute out, or cast it, in a sub-query below the join.",
        )
    times = (first.left, first.right)
    return IntervalJoin(node.left, node.right, node.kind, node.condition, times, lower, upper, make.all_of(rest))


@dataclass(frozen=True)
class _Bound:
    """``left operator right + distance`` of two time attributes; the distance, in milliseconds, is None where it is not constant."""

    condition: Expr
    left: str
    operator: str
    right: str
    distance: int | None

    @property
    def limit(self) -> int:
        """What ``left - right`` can be at most, or at least."""
        assert self.distance is not None
        return self.distance + {"<": -1, ">": 1}.get(self.operator, 0)


def _bound(condition: Expr, left: Mapping[str, TimeAttribute | None], right: Mapping[str, TimeAttribute | None]) -> _Bound | None:
    """``condition`` as a bound; None where it is not one."""
    if not isinstance(condition, Call) or condition.function.name not in _MIRRORED:
        return None
    operator, (one, other) = condition.function.name, condition.args
    read = [[e.name for e in arg.walk() if isinstance(e, ColumnRef)] for arg in (one, other)]
    if [len(names) for names in read] != [1, 1]:
        return None
    if read[0][0] in right:
        one, other, operator, read = other, one, _MIRRORED[operator], read[::-1]
    (a,), (b,) = read
    kind = left.get(a)
    if kind is None or right.get(b) is not kind:
        return None
    moved, base = _moved(one), _moved(other)
    if operator == "=" and (moved, base) != (0, 0):
        return None  # Flink computes the moved time below the join, where it is no longer an attribute.
    return _Bound(condition, a, operator, b, None if moved is None or base is None else base - moved)


def _moved(expr: Expr) -> int | None:
    """By how many milliseconds ``expr`` shifts the time attribute in it; None where that varies."""
    match expr:
        case ColumnRef():
            return 0
        case Cast(operand=operand) if expr.type.is_timestamp and operand.type.is_timestamp:
            return _moved(operand)
        case Call(args=(Literal(value=int() as value) as interval, time)) if expr.function.name == "+":
            return _plus(_moved(time), _millis(interval.type.root, value))
        case Call(args=(time, Literal(value=int() as value) as interval)) if expr.function.name in ("+", "-"):
            return _plus(_moved(time), _millis(interval.type.root, value if expr.function.name == "+" else -value))
        case Call(args=(Keyword(text=unit), Literal(value=int() as value), time)) if expr.function.name == "TIMESTAMPADD" and unit in _KNOWN:
            return _plus(_moved(time), _months(value * _MONTHS[unit]) if unit in _MONTHS else value * _UNITS[unit])
    return None


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _millis(root: str, value: int) -> int | None:
    return value if root == "INTERVAL_MILLIS" else _months(value) if root == "INTERVAL_MONTHS" else None


def _months(count: int) -> int:
    """Flink converts months to milliseconds by counting from January 1970."""
    years, month = divmod(count, 12)
    return (datetime(1970 + years, month + 1, 1) - datetime(1970, 1, 1)) // timedelta(milliseconds=1)
