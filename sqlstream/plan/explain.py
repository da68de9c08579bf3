"""The plan as text: what EXPLAIN prints."""

from __future__ import annotations

from sqlstream.plan import make
from sqlstream.plan.nodes import (
    ChangelogNormalize,
    CoGroup,
    Correlate,
    Expand,
    Filter,
    GroupAggregate,
    IntervalJoin,
    Join,
    KeyedJoin,
    Limit,
    LookupJoin,
    Match,
    MatchValue,
    NamedAggregate,
    Node,
    Over,
    PatternVariable,
    Project,
    Rank,
    RowValue,
    Scan,
    Sink,
    Snapshot,
    Sort,
    SortKey,
    TemporalJoin,
    TimeAttribute,
    Union,
    Values,
    Watermark,
    Window,
    WindowAggregate,
    WindowJoin,
    WindowRank,
    WindowTvf,
)
from sqlstream.plan.properties import awaits_watermark, changelog_mode, field, fields, looked_up, origin, static, walk
from sqlstream.sql.bind import to_text
from sqlstream.sql.expressions import Call, ColumnRef, Expr, Frame
from sqlstream.sql.generated_names import shown
from sqlstream.udf.declarations.functions import PythonFunction


def tree(node: Node, *, modes: bool = True) -> str:
    """One line for each node, inputs below, with changelog modes if ``modes``."""
    return "\n".join(_lines(node, modes))


def _lines(node: Node, modes: bool) -> list[str]:
    lines = [describe(node, modes=modes)]
    for i, source in enumerate(node.inputs):
        last = i == len(node.inputs) - 1
        first, *rest = _lines(source, modes)
        lines.append(f"+- {first}")
        lines.extend(f"{'   ' if last else '|  '}{line}" for line in rest)
    return lines


def describe(node: Node, *, modes: bool = False) -> str:
    """One line about ``node`` itself."""
    name, *parts = _parts(node)
    if modes:
        parts.append(f"changelogMode={changelog_mode(node).value}")
    return shown(f"{name}({', '.join(parts)})")


def _parts(node: Node) -> tuple[str, ...]:
    match node:
        case Scan(table=table):
            return ("TableSourceScan", f"table=[[{', '.join(table.path)}]]", f"fields=[{_names(node)}]")
        case ChangelogNormalize(keys=keys):
            return ("ChangelogNormalize", f"key=[{', '.join(keys)}]")
        case Values(rows=rows):
            tuples = ", ".join("{ " + ", ".join(to_text(cell) for cell in row) + " }" for row in rows)
            return ("Values", f"tuples=[[{tuples}]]")
        case Project(columns=columns):
            return ("Calc", f"select=[{', '.join(_aliased(to_text(c.expr), c.name, c.expr) for c in columns)}]")
        case Expand(projections=projections, conditions=conditions):
            each = ("{" + ", ".join(_aliased(to_text(c.expr), c.name, c.expr) for c in p) + "}" for p in projections)
            wheres = ", ".join("true" if c is None else to_text(c) for c in conditions)
            return ("Expand", f"projects=[{', '.join(each)}]", *([f"where=[{wheres}]"] if conditions else []))
        case Correlate(columns=columns, condition=condition):
            return (
                "Correlate",
                f"invocation=[{_invocation(node)}]",
                f"select=[{', '.join(c.name for c in columns)}]",
                f"joinType=[{'LEFT' if node.outer else 'INNER'}]",
                *([] if condition is None else [f"condition=[{to_text(condition)}]"]),
            )
        case Filter(condition=condition):
            return ("Calc", f"where=[{to_text(condition)}]")
        case Watermark(column=column, expression=expression):
            return ("WatermarkAssigner", f"rowtime=[{column}]", f"watermark=[{to_text(expression)}]")
        case WindowTvf(window=window):
            return ("WindowTableFunction", f"window=[{window_text(window)}]")
        case WindowAggregate(window=window, keys=keys, aggregates=aggregates):
            others = [k for k in keys if k not in (node.start, node.end, node.time)]
            return (
                "WindowAggregate",
                *([f"groupBy=[{', '.join(others)}]"] if others else []),
                f"window=[{window_text(window)}]",
                f"select=[{', '.join([*keys, *(_aggregate(a) for a in aggregates)])}]",
            )
        case GroupAggregate(keys=keys, aggregates=aggregates):
            return (
                "GroupAggregate",
                *([f"groupBy=[{', '.join(keys)}]"] if keys else []),
                f"select=[{', '.join([*keys, *(_aggregate(a) for a in aggregates)])}]",
                *_ttl(node.ttl),
            )
        case Over(partition=partition, order=order, aggregates=aggregates):
            return (
                "OverAggregate",
                *([f"partitionBy=[{', '.join(partition)}]"] if partition else []),
                f"orderBy=[{_order(order)}]",
                f"window=[{frame_text(node.frame)}]",
                f"select=[{', '.join(_aggregate(a) for a in aggregates)}]",
            )
        case WindowRank(window=window, partition=partition, order=order):
            return (
                "WindowRank",
                f"window=[{window_text(window)}]",
                f"rankRange=[rankStart={node.first}, rankEnd={node.last}]",
                f"partitionBy=[{', '.join(partition)}]",
                f"orderBy=[{_order(order)}]",
            )
        case Rank(partition=partition, order=order):
            return (
                "Rank",
                f"rankRange=[rankStart={node.first}, rankEnd={node.last}]",
                *([f"partitionBy=[{', '.join(partition)}]"] if partition else []),
                *([f"orderBy=[{_order(order)}]"] if order else []),
            )
        case Match(partition=partition, order=order, pattern=pattern, define=define):
            values = {v.name: value_text(v) for v in node.values}
            defined = ", ".join(f"{name}={to_text(make.renamed(c, {n: values.get(n, n) for n in make.columns(c)}))}" for name, c in define)
            return (
                "Match",
                *([f"partitionBy=[{', '.join(partition)}]"] if partition else []),
                f"orderBy=[{_order(order)}]",
                f"measures=[{', '.join(f'{value_text(m)} AS {m.name}' for m in node.measures)}]",
                "rowsPerMatch=[ONE ROW PER MATCH]",
                f"after=[SKIP {node.skip.value}{f' {node.target}' if node.target else ''}]",
                f"pattern=[{' '.join(map(_variable, pattern))}]",
                *([f"within=[{_duration(node.within)}]"] if node.within else []),
                f"define=[{defined}]",
            )
        case CoGroup(join=join):
            return (*_parts(join), f"collects=[{', '.join(s.collected.value for s in node.sides)}]")
        case KeyedJoin(join=join):
            return _parts(join)
        case WindowJoin(kind=kind, window=window, condition=condition):
            pairs = [f"{a} = {b}" for a, b in (*node.bounds, *node.keys)]
            pairs += [] if condition is None else [to_text(condition)]
            return ("WindowJoin", f"joinType=[{kind.value}]", f"window=[{window_text(window)}]", f"where=[{' AND '.join(pairs)}]")
        case IntervalJoin(kind=kind, condition=condition):
            return ("IntervalJoin", f"joinType=[{kind.value}]", f"windowBounds=[{_bounds(node)}]", f"where=[{_where(condition)}]")
        case TemporalJoin(kind=kind, condition=condition, times=times):
            return ("TemporalJoin", f"joinType=[{kind.value}]", f"where=[{_where(condition)}]", f"time=[{', '.join(times)}]")
        case Join(kind=kind, condition=condition):
            hints = node.hints
            chosen = [f"{side}={s}" for side, s in zip(("left", "right"), hints.strategies, strict=True) if s is not None]
            return (
                "Join",
                f"joinType=[{kind.value}]",
                f"where=[{_where(condition)}]",
                *_ttl(*hints.ttl),
                *([f"hints=[{', '.join(chosen)}]"] if chosen else []),
            )
        case Snapshot(time=time):
            return ("Snapshot", f"period=[{time}]")
        case LookupJoin(kind=kind, keys=keys, condition=condition, retry=retry):
            return (
                "LookupJoin",
                f"table=[{looked_up(node).table.path}]",
                f"joinType=[{kind.value}]",
                f"lookup=[{', '.join(f'{origin(node.table, name)}={to_text(value)}' for value, name in keys)}]",
                *(f"where=[{to_text(f.condition)}]" for f in walk(node.table) if isinstance(f, Filter)),
                *([f"joinCondition=[{to_text(condition)}]"] if condition is not None else []),
                f"select=[{_names(node)}]",
                *([f"retry=[lookup_miss, FIXED_DELAY, {retry.delay}ms, {retry.attempts}]"] if retry is not None else []),
            )
        case Union():
            return ("Union", "all=[true]", f"union=[{_names(node)}]")
        case Limit(count=count, offset=offset):
            return ("Limit", *([f"offset=[{offset}]"] if offset else []), *([] if count is None else [f"fetch=[{count}]"]))
        case Sort(keys=keys):
            return ("TemporalSort" if awaits_watermark(node) and not static(node) else "Sort", f"orderBy=[{_order(keys)}]")
        case Sink(table=table):
            return ("Sink", f"table=[{table.path}]", f"fields=[{_names(node)}]")
    raise TypeError(type(node).__name__)


def _ttl(*ttls: int | None) -> list[str]:
    kept = ", ".join("default" if ttl is None else _duration(ttl) for ttl in ttls)
    return [f"stateTtl=[{kept}]"] if any(ttl is not None for ttl in ttls) else []


def _invocation(node: Correlate) -> str:
    text = to_text(node.collection)
    if isinstance(node.collection, Call) and isinstance(node.collection.function, PythonFunction):
        return text
    return f"{'UNNEST_WITH_ORDINALITY' if node.ordinality else 'UNNEST'}({text})"


def _where(condition: Expr | None) -> str:
    return "true" if condition is None else to_text(condition)


def _bounds(join: IntervalJoin) -> str:
    places = [[f.name for f in fields(side)].index(time) for side, time in zip(join.inputs, join.times, strict=True)]
    by_row = str(field(join.left, join.times[0]).time is TimeAttribute.ROWTIME).lower()
    return f"isRowTime={by_row}, leftLowerBound={join.lower}, leftUpperBound={join.upper}, leftTimeIndex={places[0]}, rightTimeIndex={places[1]}"


def value_text(value: MatchValue) -> str:
    """A value of a match as Flink's plans write it: ``LAST(A.x, 0)``."""
    owner = f"{value.variable or '*'}."
    if isinstance(value, RowValue):
        return f"{'LAST' if value.last else 'FIRST'}({owner}{value.column.name}, {value.offset})"
    return to_text(make.renamed(value.call, {n: owner + n for n in make.columns(value.call)}))


def _variable(variable: PatternVariable) -> str:
    low, high = variable.low, variable.high
    known = {(1, 1): "", (0, None): "*", (1, None): "+", (0, 1): "?"}
    quantifier = known.get((low, high), f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}")
    return f"{variable.name}{quantifier}{'?' if variable.varies and not variable.greedy and (low, high) != (0, 1) else ''}"


def _order(keys: tuple[SortKey, ...]) -> str:
    return ", ".join(f"{k.name} {'DESC' if k.descending else 'ASC'}" for k in keys)


def _names(node: Node) -> str:
    return ", ".join(f.name for f in fields(node))


def _aliased(text: str, name: str, expr: object) -> str:
    return text if isinstance(expr, ColumnRef) and expr.name == name else f"{text} AS {name}"


def _aggregate(aggregate: NamedAggregate) -> str:
    return f"{to_text(aggregate.call)} AS {aggregate.name}"


def frame_text(frame: Frame) -> str:
    """A frame of OVER as Flink's plans write it: ``ROWS BETWEEN 2 PRECEDING AND CURRENT ROW``."""
    first, last = (_bound(b, side) for b, side in ((frame.first, "PRECEDING"), (frame.last, "FOLLOWING")))
    return f" {'ROWS' if frame.rows else 'RANGE'} BETWEEN {first} AND {last}"


def _bound(bound: int | None, side: str) -> str:
    if bound is None:
        return f"UNBOUNDED {side}"
    return "CURRENT ROW" if bound == 0 else f"{abs(bound)} {'PRECEDING' if bound < 0 else 'FOLLOWING'}"


def window_text(window: Window) -> str:
    """A window as Flink's plans write it: ``TUMBLE(time_col=[ts], size=[10 s])``."""
    lengths = zip(window.kind.plan_names, (window.size, window.slide), strict=False)
    parts = [f"time_col=[{window.time}]", *(f"{name}=[{_duration(length)}]" for name, length in lengths)]
    if window.keys:
        parts.append(f"partition keys=[{', '.join(window.keys)}]")
    if window.offset:
        parts.append(f"offset=[{_duration(window.offset)}]")
    return f"{window.kind.name}({', '.join(parts)})"


def _duration(millis: int) -> str:
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000)):
        if millis % size == 0:
            return f"{millis // size} {unit}"
    return f"{millis} ms"
