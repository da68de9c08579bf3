"""What a node gives, as functions of the node: columns, changelog mode, upsert key, bounds. Nothing of this is a part of it."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeVar, cast

from sqlstream.core.changelog import KIND, ChangelogMode
from sqlstream.plan import make
from sqlstream.plan.nodes import (
    AWAITS_TIME,
    WINDOW_END,
    WINDOW_START,
    WINDOW_TIME,
    ChangelogNormalize,
    CoGroup,
    Correlate,
    Expand,
    Field,
    Filter,
    GroupAggregate,
    IntervalJoin,
    Join,
    JoinKind,
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
    Sink,
    Sort,
    SortKey,
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
from sqlstream.sql.expressions import Call, Cast, ColumnRef, Expr
from sqlstream.sql.types import BIGINT, INTEGERS, timestamp, timestamp_ltz
from sqlstream.udf.declarations.functions import Accumulator

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.sql.tables import MetadataColumn, PhysicalColumn

T = TypeVar("T")


def _once(property_: Callable[[Node], T]) -> Callable[[Node], T]:
    """``property_``, computed once for each node, which never changes: above it it is asked for again and again."""
    name = f"${property_.__name__}"

    @wraps(property_)
    def known(node: Node) -> T:
        kept = node.__dict__
        if name not in kept:
            kept[name] = property_(node)
        return cast("T", kept[name])

    return known


@_once
def fields(node: Node) -> tuple[Field, ...]:
    """The columns that ``node`` gives, in order."""
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
            given = fields(source)
            time = next(f for f in given if f.name == window.time)
            attribute = timestamp_ltz(3) if time.type.root == "TIMESTAMP_LTZ" else timestamp(3)
            return (
                *(Field(f.name, f.type) for f in given),
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
            b = () if kind.left_only else (_joined(f, node, optional=kind.right_optional) for f in fields(right))
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
    """A column of a join's input, or of a table that is looked up. Of a window join's missing rows the window is not known."""
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


@_once
def changelog_mode(node: Node) -> ChangelogMode:
    """The kinds of rows that ``node`` gives. What is computed once, from input that is all there, is final."""
    if static(node):
        return ChangelogMode.APPEND
    match node:
        case Scan(mode=mode):
            return mode
        case ChangelogNormalize():
            return ChangelogMode.RETRACT_DELETE
        case GroupAggregate(input=source, aggregates=aggregates, upserts=upserts):
            if changelog_mode(source).updates:
                return ChangelogMode.UPSERT_DELETE if upserts else ChangelogMode.RETRACT_DELETE
            # Without aggregates (DISTINCT) a group's row never changes after it was given.
            return ChangelogMode.APPEND if not aggregates else ChangelogMode.UPSERT if upserts else ChangelogMode.RETRACT
        case WindowJoin() | CoGroup() | IntervalJoin() | TemporalJoin():
            return ChangelogMode.APPEND
        case Rank(input=source):
            if changelog_mode(source).updates:
                return ChangelogMode.RETRACT_DELETE
            if node.once or awaits_watermark(node):
                return ChangelogMode.APPEND
            # Of one row a partition there is always one after the first.
            return ChangelogMode.RETRACT if node.first == node.last == 1 else ChangelogMode.RETRACT_DELETE
        case KeyedJoin(join=join):
            return changelog_mode(join)
        case Join(kind=kind) if not of_static(node):
            once = kind in (JoinKind.INNER, JoinKind.SEMI) and not any(changelog_mode(i).updates for i in node.inputs)
            return ChangelogMode.APPEND if once else ChangelogMode.RETRACT_DELETE
    return _joint([changelog_mode(i) for i in node.inputs])


def of_static(node: Join) -> bool:
    """Whether each row of one side, a stream, can be joined by itself with the other, which is all there."""
    if static(node.left) == static(node.right):
        return False
    allowed = (JoinKind.INNER, JoinKind.RIGHT) if static(node.left) else (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)
    return node.kind in allowed


def _joint(modes: list[ChangelogMode]) -> ChangelogMode:
    """The kinds of rows of all ``modes``. Where they are several, no key says what replaces what: all have to retract."""
    updating = [m for m in modes if m.updates]
    if len(modes) <= 1 or not updating:
        return updating[0] if updating else ChangelogMode.APPEND
    return ChangelogMode.RETRACT_DELETE if any(m.deletes for m in updating) else ChangelogMode.RETRACT


# What keeps nothing of the rows that it has seen.
_STATELESS = (Scan, Values, Project, Expand, Correlate, Filter, LookupJoin, Watermark, WindowTvf, Union)


@_once
def stateless(node: Node) -> bool:
    """Whether neither ``node`` nor what is below keeps anything of the rows that it has seen."""
    return isinstance(node, _STATELESS) and all(stateless(i) for i in node.inputs)


def native(node: GroupAggregate) -> bool:
    """Whether Spark's own aggregate gives what ``node`` does of a stream: in update mode, and then as the only operator with a state, or
    as an operator that drops duplicates."""
    if changelog_mode(node.input).updates or node.ttl or any(isinstance(a.call.function, Accumulator) for a in node.aggregates):
        return False
    return not node.aggregates or (node.upserts and stateless(node.input) and not any(a.call.distinct for a in node.aggregates))


def state_ttl(node: Node) -> int:
    """For how many milliseconds ``node`` itself keeps the state of a key after its last row; 0 for ever."""
    match node:
        case GroupAggregate(ttl=ttl) | Rank(ttl=ttl):
            return ttl or 0
        case KeyedJoin(join=Join(hints=hints)):
            # Rows of both sides are kept together, so the longer time counts.
            ttls = [ttl or 0 for ttl in hints.ttl]
            return max(ttls) if all(ttls) else 0
    return 0


@_once
def in_update_mode(node: Node) -> bool:
    """Whether a streaming query of ``node`` runs in Spark's update mode; else in append mode."""
    if isinstance(node, GroupAggregate) and node.aggregates and native(node) and not static(node):
        return True
    return any(in_update_mode(i) for i in node.inputs)


def updating_node(node: Node) -> Node | None:
    """The node nearest to the sources that makes ``node``'s rows change; None where they don't."""
    if not changelog_mode(node).updates:
        return None
    for source in node.inputs:
        if (found := updating_node(source)) is not None:
            return found
    return node


@_once
def upsert_key(node: Node) -> tuple[str, ...] | None:
    """Columns whose values say which earlier row an update replaces; None where ``node`` doesn't keep them.

    The empty key is that of an aggregate over everything: one row.
    """
    match node:
        case GroupAggregate(keys=keys) | WindowAggregate(keys=keys) | ChangelogNormalize(keys=keys):
            return keys
        case Project(input=source, columns=columns):
            below = upsert_key(source)
            names = {_distinct(c.expr): c.name for c in reversed(columns)}
            return tuple(names[k] for k in below) if below is not None and all(k in names for k in below) else None
        case LookupJoin(input=source, table=table, keys=keys):
            unique = looked_up(node).table.primary_key
            # Of a whole primary key there is at most one row.
            found = unique is not None and set(unique.columns) <= {origin(table, name) for _, name in keys}
            return upsert_key(source) if found else None
        case KeyedJoin(join=join):
            return upsert_key(join)
        case Rank(input=source, partition=partition, rank=rank):
            if node.first == node.last:
                return partition
            return upsert_key(source) if rank is None else (*partition, rank)
        case Join(left=left, right=right, kind=kind) if not isinstance(node, WindowJoin) and kind is not JoinKind.FULL:
            return _join_key(node, upsert_key(left), None if kind.left_only else upsert_key(right))
        case Union() | Values() | Expand() | Correlate() | Join() | CoGroup() | Match():
            return None
        case Scan(table=table):
            return tuple(table.primary_key.columns) if table.primary_key else None
        case Unary(input=source):
            return upsert_key(source)
    return None


def _distinct(expr: Expr) -> str | None:
    """The column of which ``expr`` keeps values apart: itself, or in a wider type."""
    if isinstance(expr, Cast) and isinstance(expr.operand, ColumnRef) and {expr.type.root, expr.operand.type.root} <= set(INTEGERS):
        return expr.operand.name if INTEGERS.index(expr.operand.type.root) <= INTEGERS.index(expr.type.root) else None
    return expr.name if isinstance(expr, ColumnRef) else None


def looked_up(node: LookupJoin) -> Scan:
    """The scan of the table of a lookup join."""
    (found,) = scans(node.table)
    return found


def origin(node: Node, name: str) -> str | None:
    """What the scan below calls the column ``name`` of ``node``, projections and filters of it; None where it is computed."""
    while not isinstance(node, Scan):
        if isinstance(node, Project):
            expr = next(c.expr for c in node.columns if c.name == name)
            if not isinstance(expr, ColumnRef):
                return None
            name = expr.name
        (node,) = node.inputs
    return name


def row(node: Node) -> tuple[str, ...]:
    """The names of the columns of ``node``'s rows as they run: its own, and KIND where they carry their kind."""
    names = tuple(f.name for f in fields(node))
    return (*names, KIND) if changelog_mode(node).carries_kinds else names


def _join_key(node: Join, left: tuple[str, ...] | None, right: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The upsert key of a join: a side's own where the other has at most one row for each of it, or both together."""
    if node.kind.left_only:
        return left
    pairs = [c.args for c in make.conjuncts(node.condition) if isinstance(c, Call) and c.function.name == "="]
    equal = {e.name for pair in pairs if all(isinstance(e, ColumnRef) for e in pair) for e in pair if isinstance(e, ColumnRef)}
    if left is not None and right is not None and set(right) <= equal and node.kind in (JoinKind.INNER, JoinKind.LEFT):
        return left
    if left is not None and right is not None and set(left) <= equal and node.kind in (JoinKind.INNER, JoinKind.RIGHT):
        return right
    return (*left, *right) if left is not None and right is not None else None


@_once
def watermark_lag(node: Node) -> int:
    """By how many milliseconds the times of ``node``'s rows can be behind the watermark though they are not late.

    Operators above wait so much longer: what an interval join gives is as old as the older of two rows, or as a row that it has given up.
    """
    below = max((watermark_lag(i) for i in node.inputs), default=0)
    if isinstance(node, Rank):
        # A row at the watermark is not late yet.
        return below + awaits_watermark(node)
    if not isinstance(node, IntervalJoin):
        return below
    return below + max(0, *node.reach) + (0 if node.kind is JoinKind.INNER else node.slack + 1)


def awaits_watermark(node: Node) -> bool:
    """Whether ``node`` itself gives rows as the watermark passes them, or closes their windows."""
    match node:
        case Over(input=source, order=order) | Sort(input=source, keys=order):
            return bool(order) and field(source, order[0].name).time is TimeAttribute.ROWTIME
        case Rank(input=source, order=(SortKey(name=name, descending=False),), first=1, last=1):
            # The first row by time stays it once no earlier one can come.
            return field(source, name).time is TimeAttribute.ROWTIME and not changelog_mode(source).updates and not static(node)
    return isinstance(node, AWAITS_TIME)


def on_time(node: Node) -> bool:
    """Whether anything in ``node`` is by event time, or in windows of processing time."""
    return any(isinstance(n, Watermark | WindowTvf | IntervalJoin) for n in walk(node))


def window_column(node: Node) -> str | None:
    """The column with the end of the window that a row is of, where rows come out as windows close: Flink gives them in its order."""
    match node:
        case WindowAggregate(end=end):
            return end
        case Project(input=source, columns=columns):
            below = window_column(source)
            return next((c.name for c in columns if isinstance(c.expr, ColumnRef) and c.expr.name == below), None)
        case WindowRank(end=end):
            return end
        case WindowJoin(kind=kind, bounds=bounds):
            return None if kind is JoinKind.FULL else bounds[1][kind.left_optional]
        case CoGroup(join=join):
            return window_column(join)
        case Filter(input=source) | Sink(input=source):
            return window_column(source)
    return None


@_once
def bounded(node: Node) -> bool:
    """Whether the node's input ends by itself."""
    return node.bounded if isinstance(node, Scan) else all(bounded(i) for i in node.inputs)


@_once
def static(node: Node) -> bool:
    """Whether all of the node's input is there at once, so that no streaming query is needed."""
    return node.static if isinstance(node, Scan) else all(static(i) for i in node.inputs)


@_once
def watermarked(node: Node) -> bool:
    """Whether something in the plan waits for a watermark, so that the end of its input must be told."""
    return isinstance(node, Watermark) or any(watermarked(i) for i in node.inputs)


def scans(node: Node) -> tuple[Scan, ...]:
    """All scans below ``node``, from left to right."""
    found, waiting = [], [node]
    while waiting:
        if isinstance(one := waiting.pop(), Scan):
            found.append(one)
        waiting += reversed(one.inputs)
    return tuple(found)


def walk(node: Node) -> list[Node]:
    """``node`` and all below it, tables that are looked up among them."""
    found, waiting = [], [node]
    while waiting:
        found.append(one := waiting.pop())
        waiting += reversed((*one.inputs, one.table) if isinstance(one, LookupJoin) else one.inputs)
    return found
