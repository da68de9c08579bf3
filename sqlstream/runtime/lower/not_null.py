"""NULLs in columns that are NOT NULL: where rows leave a query, and where Flink would compute something of them that is none of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors.not_null import WRITTEN, refused, sure, wrong
from sqlstream.core.changelog import KIND, ChangelogMode, RowKind
from sqlstream.plan.properties import changelog_mode, fields, unchecked
from sqlstream.runtime.lower import dead_letters
from sqlstream.sql.expressions import ColumnRef
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlstream.plan.nodes import GroupAggregate, Node, Over, Sink, WindowAggregate
    from sqlstream.runtime.lower.context import Lowering
    from sqlstream.sql.tables import MetadataColumn, PhysicalColumn

_AGGREGATED = "is NOT NULL, however, a null value is being aggregated"


def written(node: Sink, frame: DataFrame, to: Lowering) -> DataFrame:
    """``frame``, the sink's input, without rows that have NULL in a NOT NULL column of the table, or in one of the query in whose place Flink
    would write a value that it makes up: they fail the query, are dropped, or left out and kept.
    """
    inputs, loose = {f.name: f.type for f in fields(node.input)}, unchecked(node.input)

    def looked_at(column: PhysicalColumn | MetadataColumn) -> bool:
        name, may_be_null = column.name, inputs[column.name].nullable
        if column.type.nullable:
            return not may_be_null and loose.get(name, False)
        return may_be_null or name in loose

    columns = [c.name for c in node.table.persisted if looked_at(c)]
    # A row that is removed by its key may have no other columns.
    removed = f"{KIND} = {RowKind.DELETE.code}" if changelog_mode(node.input) is ChangelogMode.UPSERT_DELETE else "FALSE"
    return _checked(node.input, frame, dict.fromkeys(columns, removed), to, source=node.table.path.name, drop=node.drop_nulls)


def delivered(node: Node, frame: DataFrame, to: Lowering, *, drop: bool) -> DataFrame:
    """``frame``, the rows of a SELECT, without those that have NULL in a NOT NULL column of the query: they fail it, are dropped, or
    left out and kept.
    """
    columns = [f.name for f in fields(node) if not f.type.nullable and f.name in unchecked(node)]
    return _checked(node, frame, dict.fromkeys(columns, "FALSE"), to, source="the query", drop=drop)


def aggregated(node: GroupAggregate | WindowAggregate | Over, frame: DataFrame) -> DataFrame:
    """``frame``, the node's input; a NULL in a NOT NULL column of which a sum, a list or the like is made fails the query."""
    loose = unchecked(node.input)
    columns: dict[str, str] = {}
    # COUNT counts each row.
    for call in (a.call for a in node.aggregates if a.call.distinct or a.call.function.name != "COUNT"):
        left_out = f"{quote(call.filter.name)} IS NOT TRUE" if isinstance(call.filter, ColumnRef) else "FALSE"
        for arg in call.args:
            if isinstance(arg, ColumnRef) and not arg.type.nullable and arg.name in loose:
                columns[arg.name] = left_out if columns.get(arg.name, left_out) == left_out else "FALSE"
    return refused(frame, columns, _AGGREGATED, [f.name for f in fields(node.input)])


def _checked(node: Node, frame: DataFrame, columns: dict[str, str], to: Lowering, *, source: str, drop: bool) -> DataFrame:
    """``frame``, the rows of ``node``, of which those with NULL in one of ``columns``, each with the condition that excuses it, are dropped, left out
    and kept as those of ``source``, or else fail the query.
    """
    if drop and columns:
        return frame.where(sure(columns))
    if to.leaves_out and columns:
        said, row, error = f"a NOT NULL column of {source} is NULL", dead_letters.json(node), wrong(columns, WRITTEN)
        return dead_letters.without(frame, f"NOT ({sure(columns)})", to, dead_letters.NOT_NULL, source, said, row=row, error=error)
    return refused(frame, columns, WRITTEN, [f.name for f in fields(node)])
