"""Refusals that need the whole plan: what Spark can't do or would get wrong, and sinks that can't take the changes of their query."""

from __future__ import annotations

from dataclasses import replace

from sqlstream.connectors import find_connector
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.plan import make
from sqlstream.plan.explain import describe
from sqlstream.plan.nodes import (
    CoGroup,
    Correlate,
    Expand,
    GroupAggregate,
    IntervalJoin,
    Limit,
    LookupJoin,
    Match,
    Node,
    OneByOne,
    Over,
    Project,
    Scan,
    Sink,
    Sort,
    TemporalJoin,
    TimeAttribute,
    WindowAggregate,
    WindowRank,
    WindowTvf,
    scans,
)
from sqlstream.plan.order import distinct_in_frames, in_time_order, takes_no_changes
from sqlstream.plan.places import at_clause, clause_of
from sqlstream.plan.properties import changelog_mode, field, fields, on_time, state_ttl, static, updating_node, upsert_key, walk, windowing
from sqlstream.sql.expressions import ColumnRef
from sqlstream.sql.functions.aggregates import OF_DISTINCT, OVER_SET
from sqlstream.sql.generated_names import shown
from sqlstream.sql.tables import PrimaryKey


def validate(node: Node, *, batch: bool) -> None:
    """Raises ValidationError or NotSupported for the first node that can't run."""
    if batch:
        for scan in scans(node):
            with at_clause(scan):
                _in_batch(scan)
    _check_all(node, batch=batch, streaming=not batch and not static(node))
    _sessions(node)
    _expiring(node)


def _in_batch(scan: Scan) -> None:
    """Refuses a table that batch mode can't read."""
    if scan.mode.updates:
        raise ValidationError(
            "Querying a table in batch mode is currently only possible for INSERT-only table sources. But the source for table "
            f"'{scan.table.path}' produces other changelog messages than just INSERT.",
            hint="SET 'execution.runtime-mode' = 'streaming'.",
        )
    if not scan.bounded:
        bound = find_connector(scan.table.connector).bounded_by
        raise ValidationError(
            f"Querying an unbounded table '{scan.table.path}' in batch mode is not allowed. The table source is unbounded.",
            hint=f"{f'Give the table a bound: {bound}. Or ' if bound else ''}SET 'execution.runtime-mode' = 'streaming'.",
        )


def _sessions(node: Node) -> None:
    """A session is known only when it closes: it needs an aggregate, and nothing below that can read its bounds."""
    with at_clause(node):
        below = _below_sessions(node)
    for source in below.inputs:
        _sessions(source)


def _below_sessions(node: Node) -> Node:
    """The node below which other sessions may be: the window of ``node``, where it is an aggregate over sessions, else ``node``."""
    below = node
    if isinstance(node, WindowAggregate) and node.window.kind.merges and not node.attached:
        keys = {k: k for k in node.keys if k not in (node.start, node.end, node.time)}
        read = {*keys}.union(*(make.columns(a.call) for a in node.aggregates))
        below = node.input
        reader: Node = node
        while not isinstance(below, WindowTvf):
            if isinstance(below, Expand):
                raise NotSupported(
                    "GROUPING SETS, ROLLUP and CUBE over sessions are not supported.", hint="UNION ALL one query for each of the groupings."
                )
            assert isinstance(below, OneByOne), type(below).__name__
            _no_bounds(below, read, reader)
            keys = {k: below.sources.get(name, "") for k, name in keys.items()}
            read = below.reads()
            reader, below = below, below.input
        _no_bounds(below, read, reader)
        wanted = node.window.keys
        if wanted is not None and set(keys.values()) != set(wanted):
            raise NotSupported(
                f"A session window of PARTITION BY {', '.join(wanted) or 'nothing'} must be grouped by window_start, window_end and just these.",
                hint="Name the same columns in PARTITION BY and in GROUP BY.",
            )
    elif isinstance(node, WindowTvf) and node.window.kind.merges:
        raise NotSupported(
            "SESSION needs an aggregate: GROUP BY window_start, window_end and the columns of PARTITION BY.",
            hint="MAX, FIRST_VALUE and the like give columns of its rows.",
        )
    return below


def _no_bounds(node: Node, read: set[str], reader: Node) -> None:
    """Refuses to read a session's bounds below its aggregate: ``reader`` reads ``read`` of the rows of ``node``."""
    of_session = windowing(node)
    if of_session is not None and read & of_session.columns.keys():
        raise NotSupported(
            "The bounds of a session can only be read above its aggregate.",
            at=clause_of(reader),
            hint="It has them when it closes: put a condition on them into HAVING.",
        )


def _check_all(node: Node, *, batch: bool, streaming: bool) -> None:
    for source in node.inputs:
        # Rows of a limited number can be in any order.
        limited = isinstance(node, Limit) and node.count is not None
        _check_all(source.input if limited and isinstance(source, Sort) else source, batch=batch, streaming=streaming)
    with at_clause(node):
        _check(node, batch=batch, streaming=streaming)


def _check(node: Node, *, batch: bool, streaming: bool) -> None:
    match node:
        case WindowTvf(input=source, window=window) if field(source, window.time).time is TimeAttribute.PROCTIME:
            if batch:
                raise NotSupported(
                    "Windows on processing time are not supported in batch mode; Flink does not support them either.",
                    hint="Take a time that the rows have, or SET 'execution.runtime-mode' = 'streaming'.",
                )
            if windowing(source) is not None:
                raise NotSupported(
                    "Windows on processing time over other windows are not supported.", hint="Take window_time of the inner windows, on event time."
                )
        case Over() | Sort() if not batch:
            in_time_order(node)
            if isinstance(node, Over) and static(node):
                distinct_in_frames(node)
        case Over():
            distinct_in_frames(node)
        case Match(input=source) if streaming and changelog_mode(source).updates:
            cause = updating_node(source)
            assert cause is not None
            raise takes_no_changes("Match Recognize", cause)
        case IntervalJoin() if streaming:
            _interval_join(node)
        case TemporalJoin() if streaming:
            _append_only(node.left, "StreamPhysicalTemporalJoin")
        case Scan(table=table) if find_connector(table.connector).only_answers:
            raise ValidationError(
                f"The rows of table '{table.path}' can only be looked up.",
                hint=f"FROM o JOIN {table.path.name} FOR SYSTEM_TIME AS OF o.proctime ON ..",
            )
        case LookupJoin():
            if not node.keys:
                raise ValidationError(
                    f"Temporal table join requires an equality condition on fields of table [{node.scan.table.path}].",
                    hint="Of a column of the table itself, with a value of its type: o.k = d.k.",
                )
            if streaming and not changelog_mode(node.input).carries_kinds:
                _append_inputs(node)
        case CoGroup() | WindowAggregate() | WindowRank() if streaming:
            _append_inputs(node)
            _window_distinct(node)
        case GroupAggregate(input=source) if streaming and changelog_mode(source).updates:
            _updating_distinct(node)
        case Correlate(input=source) if streaming and changelog_mode(source).updates and not changelog_mode(source).retracts:
            raise NotSupported("UNNEST over rows that are replaced by key is not supported.", hint="Aggregate them first.")
        case Limit() if streaming:
            raise NotSupported("LIMIT inside a streaming query is not supported.", hint="LIMIT works at the end of a SELECT to the screen.")
        case Sink() if streaming:
            _sink(node)


def one_rowtime(node: Node, *, batch: bool) -> None:
    """Refuses rows with more than one event time for the sink of a stream. ``node`` still has watermarks that nothing reads."""
    if batch or not isinstance(node, Sink):
        return
    written = node.input.columns if isinstance(node.input, Project) else ()
    names = {c.name: c.expr.name for c in written if isinstance(c.expr, ColumnRef)}
    times = [shown(names.get(f.name, f.name)) for f in fields(node.input) if f.time is TimeAttribute.ROWTIME]
    if len(times) > 1:
        raise ValidationError(
            f"The query contains more than one rowtime attribute column [{', '.join(times)}] for writing into table '{node.table.path}'.\n"
            "Please select the column that should be used as the event-time timestamp for the table sink by casting all other columns to regular "
            "TIMESTAMP or TIMESTAMP_LTZ.",
            at=clause_of(node),
            hint="CAST(ts AS TIMESTAMP(3)) is a regular one.",
        )


def _sink(node: Sink) -> None:
    """Refuses changes that the sink does not take."""
    source, table, connector = node.input, node.table, find_connector(node.table.connector)
    mode = changelog_mode(source)
    if mode not in connector.sink_modes(table):
        cause = updating_node(source)
        assert cause is not None
        hint = "Aggregate in windows (GROUP BY window_start, window_end), which gives final rows, write into a Delta table that has a PRIMARY KEY, "
        if mode in connector.sink_modes(replace(table, primary_key=PrimaryKey(()))):
            hint = f"Declare {_by(upsert_key(source) or ('..',))} on the table, and its rows are updated by it; "
        what = "update and delete" if mode.deletes else "update"
        raise ValidationError(
            f"Table sink '{table.path}' doesn't support consuming {what} changes which is produced by node {describe(cause)}",
            hint=f"{hint}or SELECT it to the screen.",
        )


def _by(columns: tuple[str, ...]) -> str:
    return f"PRIMARY KEY ({', '.join(columns)}) NOT ENFORCED"


def _expiring(node: Node) -> None:
    """Refuses state that expires beside operators on time: it expires by the clock, as a watermark of the query, and a query has one."""
    expiring = next((n for n in walk(node) if state_ttl(n)), None)
    if expiring is not None and on_time(node):
        raise NotSupported(
            "State that expires, beside operators that wait for a time, is not supported.",
            at=clause_of(expiring),
            hint="Leave out table.exec.state.ttl and the hint STATE_TTL, or split the query: INSERT one part into a table that the other reads.",
        )


def _interval_join(node: IntervalJoin) -> None:
    for side in node.inputs:
        _append_only(side, "StreamPhysicalIntervalJoin")
    left, right = (field(side, time).type for side, time in zip(node.inputs, node.times, strict=True))
    if left.root != right.root:
        raise ValidationError(
            f"Interval join with rowtime attribute requires same rowtime types, but the types are {left} *ROWTIME* and {right} *ROWTIME*.",
            hint="Declare both as TIMESTAMP_LTZ(3), or both as TIMESTAMP(3).",
        )


def _append_only(source: Node, name: str) -> None:
    """Refuses rows that change as input of what Flink calls ``name``."""
    if (cause := updating_node(source)) is not None:
        raise takes_no_changes(name, cause, "update and delete" if changelog_mode(source).deletes else "update")


def _append_inputs(node: Node) -> None:
    for source in node.inputs:
        if changelog_mode(source).updates:
            cause = updating_node(source)
            assert cause is not None
            what = "A join" if isinstance(node, LookupJoin | CoGroup) else "An operator on windows"
            raise NotSupported(
                f"{what} over the updating result of {describe(cause)} is not supported.",
                hint="Write that result into a table, and read its changes as rows, or join and aggregate before it.",
            )


def _updating_distinct(node: GroupAggregate) -> None:
    for named in node.aggregates:
        function = named.call.function
        if named.call.distinct and function.signed is None and function.of_set is None and not function.same_distinct:
            raise NotSupported(f"{function.name}(DISTINCT ..) over rows that can change is not supported.", hint="Select the distinct rows first.")


def _window_distinct(node: Node) -> None:
    for named in getattr(node, "aggregates", ()):
        if named.call.distinct and isinstance(node, WindowAggregate):
            name = named.call.function.name
            if named.call.function in OVER_SET.values():
                continue
            raise NotSupported(f"{name}(DISTINCT ..) over windows is not supported.", hint=f"These are: {OF_DISTINCT}.")
