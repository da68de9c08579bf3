"""MATCH_RECOGNIZE as our own operator: the automaton, its conditions and aggregates as Spark's expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sqlstream.plan.builder.row_pattern import automaton, one_way
from sqlstream.plan.nodes import Match, MatchValue, RowsValue, RowValue
from sqlstream.plan.properties import fields
from sqlstream.runtime.lower.operators import MatchOptions, NamedValue, pattern_match
from sqlstream.runtime.lower.windows import NO_TIME
from sqlstream.sql.quoting import quote
from sqlstream.sql.spark_sql import render

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def matched(node: Match, frame: DataFrame, order: list[Column], zone: str) -> DataFrame:
    """The rows that ``node`` emits for those of ``frame``; ``order`` are its columns in ``node``'s order."""
    from pyspark.sql import functions as F

    columns = [f.name for f in fields(node.input)]
    calls = [v for v in (*node.values, *node.measures) if isinstance(v, RowsValue)]

    def described(value: MatchValue) -> NamedValue:
        if isinstance(value, RowValue):
            kind: Literal["FIRST", "LAST"] = "LAST" if value.last else "FIRST"
            return NamedValue(kind=kind, variable=value.variable, offset=value.offset, column=value.column.name)
        return NamedValue(kind="AGGREGATE", variable=value.variable, offset=0, column=_call(calls.index(value)))

    # A row without a time has no place: Flink fails the job, and so do we.
    time = node.order[0].name
    known = F.expr(f"coalesce({quote(time)}, CAST({NO_TIME} AS TIMESTAMP))")
    readable = frame.select(*[(known if c == time else F.col(quote(c))).alias(c, metadata={}) for c in columns])
    # The stand-ins for the values have only their types.
    stands = [F.expr(f"CAST(NULL AS {_type(v)})").alias(v.name) for v in node.values]
    conditions = readable.select("*", *stands).select(*[F.expr(render(c, zone)).alias(name) for name, c in node.define])
    aggregates = readable.groupBy().agg(*[F.expr(render(v.call, zone)).alias(_call(i)) for i, v in enumerate(calls)]) if calls else None
    result = readable.select(
        *[F.col(quote(k)) for k in node.partition],
        *[F.expr(f"CAST(NULL AS {_type(m)})").alias(m.name) for m in node.measures],
        F.col(quote(time)).alias(node.time),
    )
    options = MatchOptions(
        keys=node.partition,
        variables=[v.name for v in node.pattern],
        states=[state.edges for state in automaton(node.pattern)],
        skip=node.skip.name,
        target=node.target,
        within=node.within,
        together=one_way(node.pattern),
        values=[described(v) for v in node.values],
        measures=[described(m) for m in node.measures],
    )
    return pattern_match(readable.orderBy(*order), options, conditions=conditions, aggregates=aggregates, result=result)


def _call(number: int) -> str:
    return f"a{number}"


def _type(value: MatchValue) -> str:
    return (value.column.type if isinstance(value, RowValue) else value.call.type).spark
