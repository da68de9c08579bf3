"""The columns of a node's output: names, types, time attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan.nodes import (
    WINDOW_END,
    WINDOW_START,
    WINDOW_TIME,
    CoGroup,
    Correlate,
    Expand,
    Field,
    GroupAggregate,
    Join,
    KeyedJoin,
    LookupJoin,
    Match,
    Named,
    Node,
    Over,
    Project,
    Rank,
    RowValue,
    Scan,
    TemporalJoin,
    TimeAttribute,
    Unary,
    Union,
    Values,
    Watermark,
    WindowAggregate,
    WindowJoin,
    WindowRank,
    WindowTvf,
)
from sqlstream.plan.properties.once import once
from sqlstream.sql.expressions import Call, ColumnRef, Expr
from sqlstream.sql.types import BIGINT, timestamp, timestamp_ltz

if TYPE_CHECKING:
    from sqlstream.sql.tables import MetadataColumn, PhysicalColumn


@once
def fields(node: Node) -> tuple[Field, ...]:
    """The columns of ``node``'s output, in order."""
    match node:
        case Scan(table=table):
            key = table.primary_key.columns if table.primary_key else ()
            columns: tuple[PhysicalColumn | MetadataColumn, ...] = (*table.physical, *table.metadata)
            return tuple(Field(c.name, c.type.not_null() if c.name in key else c.type) for c in columns)
        case Values():
            return node.fields
        case Project(input=source):
            times = {f.name: f.time for f in fields(source)}
            return tuple(Field(c.name, c.expr.type, _time(c.expr, times)) for c in node.columns)
        case Expand(input=source, projections=projections):
            times = {f.name: f.time for f in fields(source)}
            return tuple(_expanded_field(column, times) for column in zip(*projections, strict=True))
        case Correlate(input=source, columns=added, outer=outer):
            return (*fields(source), *(Field(f.name, f.type.null() if outer else f.type) for f in added))
        case Watermark(input=source, column=column, current=current):
            marked = tuple(Field(f.name, f.type, TimeAttribute.ROWTIME if f.name == column else f.time) for f in fields(source))
            return marked if current is None else (*marked, Field(current, field(source, column).type.null()))
        case WindowTvf(input=source, window=window):
            windowed = fields(source)
            time = next(f for f in windowed if f.name == window.time)
            attribute = timestamp_ltz(3) if time.type.root == "TIMESTAMP_LTZ" else timestamp(3)
            return (
                *(Field(f.name, f.type) for f in windowed),
                Field(WINDOW_START, timestamp(3).not_null()),
                Field(WINDOW_END, timestamp(3).not_null()),
                Field(WINDOW_TIME, attribute.not_null(), time.time),
            )
        case WindowAggregate(input=source, keys=keys, aggregates=aggregates):
            given_by_name = {f.name: f for f in fields(source)}
            return (*(given_by_name[k] for k in keys), *(Field(a.name, a.call.type) for a in aggregates))
        case GroupAggregate(input=source, keys=keys, aggregates=aggregates):
            given_by_name = {f.name: f for f in fields(source)}
            return (
                *(Field(k, given_by_name[k].type) for k in keys),
                *(Field(a.name, a.call.type) for a in aggregates),
            )
        case CoGroup(join=join) | KeyedJoin(join=join):
            return fields(join)
        case Over(input=source, aggregates=aggregates):
            return (*fields(source), *(Field(a.name, a.call.type) for a in aggregates))
        case WindowRank(input=source, rank=rank):
            return (*fields(source), Field(rank, BIGINT.not_null()))
        case Rank(input=source, rank=rank):
            return (*fields(source), *([] if rank is None else [Field(rank, BIGINT.not_null())]))
        case Match(input=source, partition=partition, order=order, measures=measures, time=time):
            given_by_name = {f.name: f for f in fields(source)}
            ordered = given_by_name[order[0].name]
            return (
                *(Field(k, given_by_name[k].type) for k in partition),
                *(Field(m.name, m.column.type.null() if isinstance(m, RowValue) else m.call.type) for m in measures),
                Field(time, ordered.type.not_null(), ordered.time),
            )
        case Join(left=left, right=right, kind=kind):
            a = (_joined(f, node, optional=kind.left_optional) for f in fields(left))
            # The times of versions are values: a row has the time of the left side.
            of_right = None if isinstance(node, TemporalJoin) else node
            b = () if kind.left_only else (_joined(f, of_right, optional=kind.right_optional) for f in fields(right))
            return (*a, *b)
        case LookupJoin(input=source, table=table, kind=kind):
            return (*fields(source), *(_joined(f, None, optional=kind.right_optional) for f in fields(table)))
        case Union(branches=branches):
            return tuple(_union_field(column) for column in zip(*(fields(b) for b in branches), strict=True))
        case Unary(input=source):
            return fields(source)
    raise TypeError(type(node).__name__)


def _time(expr: Expr, times: dict[str, TimeAttribute | None]) -> TimeAttribute | None:
    match expr:
        case ColumnRef(name=name):
            return times[name]
        case Call(function=function) if function.name == "PROCTIME":
            return TimeAttribute.PROCTIME
    return None


def _expanded_field(column: tuple[Named, ...], times: dict[str, TimeAttribute | None]) -> Field:
    first = column[0]
    nullable = any(c.expr.type.nullable for c in column)
    kept = all(c.expr == first.expr for c in column)
    return Field(first.name, first.expr.type.with_nullable(nullable), _time(first.expr, times) if kept else None)


def _joined(field: Field, join: Join | None, *, optional: bool) -> Field:
    """A column of a join's input, or of a table whose rows are looked up, where ``join`` is None. A row that a window join fills with NULLs has no
    window.
    """
    kept = join is not None and join.keeps_times and not (optional and isinstance(join, WindowJoin))
    return Field(field.name, field.type.null() if optional else field.type, field.time if kept else None)


def _union_field(column: tuple[Field, ...]) -> Field:
    first = column[0]
    same_time = all(f.time is first.time for f in column)
    nullable = any(f.type.nullable for f in column)
    return Field(first.name, first.type.with_nullable(nullable), first.time if same_time else None)


def field(node: Node, name: str) -> Field:
    """The column ``name`` of ``node``."""
    return next(f for f in fields(node) if f.name == name)
