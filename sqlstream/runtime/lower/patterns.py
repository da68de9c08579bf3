"""MATCH_RECOGNIZE as our own operator: the automaton as numbers, its conditions and aggregates as Spark's expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan.builder.row_pattern import automaton, one_way
from sqlstream.plan.nodes import Match, MatchValue, RowsValue, RowValue
from sqlstream.plan.properties import fields
from sqlstream.runtime.lower.operators import pattern_match
from sqlstream.runtime.lower.windows import NO_TIME
from sqlstream.sql.quoting import quote
from sqlstream.sql.spark_sql import render

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_FIRST, _LAST, _AGGREGATE = range(3)
_NONE = -1


def matched(node: Match, frame: DataFrame, order: list[Column], zone: str) -> DataFrame:
    """The rows that ``node`` emits for those of ``frame``; ``order`` are its columns in ``node``'s order."""
    from pyspark.sql import functions as F

    names = [v.name for v in node.pattern]
    columns = [f.name for f in fields(node.input)]
    calls = [v for v in (*node.values, *node.measures) if isinstance(v, RowsValue)]

    def numbers(value: MatchValue) -> list[int]:
        variable = _NONE if value.variable is None else names.index(value.variable)
        if isinstance(value, RowValue):
            return [_LAST if value.last else _FIRST, variable, value.offset, columns.index(value.column.name)]
        return [_AGGREGATE, variable, 0, calls.index(value)]

    # A row without a time has no place: Flink fails the job, and so do we.
    time = node.order[0].name
    known = F.expr(f"coalesce({quote(time)}, CAST({NO_TIME} AS TIMESTAMP))")
    readable = frame.select(*[(known if c == time else F.col(quote(c))).alias(c, metadata={}) for c in columns])
    # The stand-ins for the values have only their types.
    stands = [F.expr(f"CAST(NULL AS {_type(v)})").alias(v.name) for v in node.values]
    conditions = readable.select("*", *stands).select(*[F.expr(render(c, zone)).alias(name) for name, c in node.define])
    aggregates = readable.groupBy().agg(*[F.expr(render(v.call, zone)).alias(f"a{i}") for i, v in enumerate(calls)]) if calls else None
    defined = [name for name, _ in node.define]
    states = [[[int(e.takes), e.target, _NONE if e.when is None else e.when, *e.unless] for e in state.edges] for state in automaton(node.pattern)]
    skip = node.skip.name
    target = _NONE if node.target is None else names.index(node.target)
    result = readable.select(
        *[F.col(quote(k)) for k in node.partition],
        *[F.expr(f"CAST(NULL AS {_type(m)})").alias(m.name) for m in node.measures],
        F.col(quote(time)).alias(node.time),
    )
    return pattern_match(
        readable.orderBy(*order),
        list(node.partition),
        (states, len(names), skip, target, node.within, one_way(node.pattern)),
        conditions,
        [defined.index(n) if n in defined else _NONE for n in names],
        [numbers(v) for v in node.values],
        aggregates,
        [numbers(m) for m in node.measures],
        result,
    )


def _type(value: MatchValue) -> str:
    return (value.column.type if isinstance(value, RowValue) else value.call.type).spark
