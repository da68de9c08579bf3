"""FROM t FOR SYSTEM_TIME AS OF a constant: the table as it was then, if its connector keeps versions."""

from __future__ import annotations

import calendar
import datetime
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.connectors import find_connector
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.core.zones import zone_of
from sqlstream.sql.bind import Scope, bind
from sqlstream.sql.expressions import Call, Cast, Expr, Literal

if TYPE_CHECKING:
    from sqlstream.sql.tables import Table


def travelled(table: Table, version: exp.Expr, zone: str) -> Table:
    """``table`` as of the constant behind FOR SYSTEM_TIME AS OF, which is of the session's ``zone``. Raises ValidationError, NotSupported."""
    if version.find(exp.Column) is not None:
        raise NotSupported("FOR SYSTEM_TIME AS OF a column is not supported.", at=version, hint="Use a constant, as TIMESTAMP '2024-01-01 00:00:00'.")
    expr = bind(version.expression, Scope((), zone=zone))
    if not expr.type.is_timestamp:
        problem = f"The system time period specification expects Timestamp type but is '{expr.type.root}'"
        raise ValidationError(problem, at=version, hint="Write TIMESTAMP in front of it." if expr.type.is_string else None)
    wall = _folded(expr)
    if not isinstance(wall, datetime.datetime):
        raise ValidationError(
            "Unsupported time travel expression: the expression can not be reduced to a constant.", at=version,
            hint="Write TIMESTAMP '2024-01-01 00:00:00', with or without an INTERVAL.",
        )  # fmt: skip
    moment = wall.replace(tzinfo=zone_of(zone))
    as_it_was = find_connector(table.connector).as_of(table, moment) if table.connector else None
    if as_it_was is None:
        raise ValidationError(
            f"Table '{table.path}' keeps no versions, of which an older one could be read.",
            at=version, hint=f"A table of the connector '{table.connector}' keeps no versions; those of 'delta' and 'iceberg' do.",
        )  # fmt: skip
    return as_it_was


def _folded(expr: Expr) -> datetime.datetime | None:
    match expr:
        case Literal(value=datetime.datetime() as value):
            return value
        case Cast(operand=Literal(value=str() as text)):
            try:
                return datetime.datetime.fromisoformat(text.strip())
            except ValueError:
                return None
        case Call(function=function, args=(first, Literal(value=int() as size, type=type_))) if function.name in ("+", "-") and type_.is_interval:
            start = _folded(first)
            size = size if function.name == "+" else -size
            if start is None or type_.root == "INTERVAL_MONTHS":
                return start and _months(start, size)
            return start + datetime.timedelta(milliseconds=size)
    return None


def _months(start: datetime.datetime, months: int) -> datetime.datetime:
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    return start.replace(year=year, month=month + 1, day=min(start.day, calendar.monthrange(year, month + 1)[1]))
