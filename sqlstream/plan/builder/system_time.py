"""FOR SYSTEM_TIME AS OF after a joined table, which has three meanings.

As of a processing time of the left it is a lookup join, as of a rowtime a temporal join, as of a constant time travel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import ValidationError
from sqlstream.plan import make
from sqlstream.plan.time_attributes import time_attribute, why_none
from sqlstream.sql.bind import bind
from sqlstream.sql.expressions import ColumnRef
from sqlstream.sql.syntax.clauses import version_of

if TYPE_CHECKING:
    from sqlstream.plan.builder.scope import PlanSettings, Relation


_OF_LEFT = "The time is a column of what stands left of JOIN, such as: proctime AS PROCTIME()."


def as_of(item: exp.Expr, left: Relation, settings: PlanSettings) -> str | None:
    """The time attribute of the left that ``item`` of FROM is read as of; None where it is not read as of one. Raises ValidationError."""
    period = version_of(item)
    if period is None or period.expression.find(exp.Column) is None:
        return None
    try:
        time = bind(period.expression, left.scope(settings))
    except ValidationError as error:
        if not (error.hint or "").startswith("Did you mean"):
            error.hint = _OF_LEFT
        raise
    if not make.columns(time):
        return None
    if not time.type.is_timestamp:
        raise ValidationError(f"The system time period specification expects Timestamp type but is '{time.type.root}'", at=period)
    if isinstance(time, ColumnRef) and time_attribute(left.node, time.name) is not None:
        return time.name
    raise ValidationError(
        "Temporal table join currently only supports 'FOR SYSTEM_TIME AS OF' left table's time attribute field",
        at=period,
        hint=why_none(left.node, time.name) if isinstance(time, ColumnRef) else "Name the time attribute itself.",
    )


def without_period(item: exp.Expr) -> exp.Expr:
    """The table that ``item`` reads as of a time."""
    bare = item.copy()
    bare.set("system_time", None)
    return bare
