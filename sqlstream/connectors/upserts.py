"""Sinks that write by primary key: a micro-batch's changes to one row a key, with what to do with it.

Of rows that carry kinds, those that add and those that remove cancel where they are equal in all columns; what is left over of a key says
what the table holds of it afterwards. This needs no order but that of equal rows of one task: Spark keeps no other among the rows of a key when
it has shuffled them. A row that is removed and then added exists afterwards, whether it did before or not. It is right where the query's result, as
it is after each micro-batch, has one row a primary key; the plan sees to that (``plan/rules/sink_materializer``, and the refusal of another key).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.changelog import KIND, REMOVES, RowKind
from sqlstream.core.hidden import hidden
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from sqlstream.connectors.base import Write

DELETED = hidden("deleted")
_PLACE = hidden("place")
_NET = hidden("net")
_ROW = hidden("row")
_COMES = hidden("comes")
_TOGETHER = hidden("together")
# Below the number of the task in monotonically_increasing_id().
_TASK_BITS = 33


def upserts(batch: DataFrame, request: Write) -> DataFrame:
    """``batch``, static rows of ``request.frame``, as one row of each primary key among them: the table's columns and DELETED (BOOLEAN).

    Of a row that is DELETED only the key's columns count.
    """
    table, mode = request.table, request.mode
    assert table.primary_key is not None
    keys, columns = table.primary_key.columns, [c.name for c in table.persisted]
    if are_upserts(request):
        return _marked(batch, columns, "FALSE")
    # Rows of one task are in the order in which they arrived.
    placed = batch.selectExpr("*", f"monotonically_increasing_id() AS {_PLACE}")
    if not mode.retracts:
        return _last(_marked(placed, [*columns, _PLACE], REMOVES if mode.carries_kinds else "FALSE"), keys, columns, _PLACE)
    # One shuffle is enough for both aggregates.
    whole = placed.repartition(*map(quote, keys)).groupBy(*map(quote, columns))
    last_added, last = f"max(IF({REMOVES}, NULL, {_PLACE}))", f"max({_PLACE})"
    net = whole.agg(
        _sql(f"sum(IF({REMOVES}, -1, 1))", _NET),
        _sql(last_added, _PLACE),
        _sql(f"{last_added} <=> {last}", _COMES),
        _sql(f"shiftright(min({_PLACE}), {_TASK_BITS}) = shiftright({last}, {_TASK_BITS})", _TOGETHER),
    )
    # A row that is removed before it is added exists afterwards, also if there was none to remove.
    exists = f"{_NET} > 0 OR {_COMES} AND ({_NET} = 0 OR {_TOGETHER})"
    left = _marked(net.where(f"{_NET} <> 0 OR {_COMES}"), [*columns, _PLACE], f"NOT ({exists})")
    return _last(left, keys, columns, f"named_struct('stays', NOT {DELETED}, 'place', {_PLACE})")


def are_upserts(request: Write) -> bool:
    """Whether a micro-batch of ``request`` has one row of each primary key as it is, so that ``upserts`` looks at each row alone."""
    assert request.table.primary_key is not None
    return not request.mode.carries_kinds and bool(request.keys) and set(request.keys) <= set(request.table.primary_key.columns)


def each_change(rows: DataFrame, request: Write) -> DataFrame:
    """``rows``, those of ``request.frame``, one by one as the table's columns and DELETED: changes of a row that come in order."""
    columns = [c.name for c in request.table.persisted]
    if not request.mode.carries_kinds:
        return _marked(rows, columns, "FALSE")
    return _marked(rows.where(f"{KIND} <> {RowKind.UPDATE_BEFORE.code}") if request.replaces else rows, columns, REMOVES)


def _marked(frame: DataFrame, columns: list[str], deleted: str) -> DataFrame:
    return frame.selectExpr(*map(quote, columns), f"{deleted} AS {DELETED}")


def _last(rows: DataFrame, keys: tuple[str, ...], columns: list[str], order: str) -> DataFrame:
    """The row of each key that is last by ``order``."""
    others = [DELETED, *(quote(c) for c in columns if c not in keys)]
    last = rows.groupBy(*map(quote, keys)).agg(_sql(f"max_by(struct({', '.join(others)}), {order})", _ROW))
    return last.selectExpr(*[quote(c) if c in keys else f"{_ROW}.{quote(c)}" for c in columns], f"{_ROW}.{DELETED}")


def _sql(sql: str, name: str) -> Column:
    from pyspark.sql import functions as F

    return F.expr(sql).alias(name)
