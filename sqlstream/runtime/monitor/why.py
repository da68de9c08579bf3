"""Why a job emits nothing, or nothing more, in words.

In: its figures and the plans of its sinks. Out: reasons, the most important first, each with what one can do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlstream.core.counts import counted, numbered
from sqlstream.core.zones import zone_of
from sqlstream.plan.nodes import (
    Filter,
    Join,
    JoinKind,
    KeyedJoin,
    OneByOne,
    Sink,
    TemporalJoin,
    TimeAttribute,
    Watermark,
    WindowTvf,
    scans,
)
from sqlstream.plan.properties import awaits_watermark, field, idle_timeout, walk
from sqlstream.runtime.monitor.figures import clock, duration, moment, no_answer, old_figures, within_calendar
from sqlstream.sql.text import to_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlstream.plan.nodes import Node
    from sqlstream.runtime.monitor.metrics import FilterRows, JobMetrics, QueryMetrics, Split, Timed

_WAITS = "It continues by itself when the broker answers."
_BREAKS = "If it does not come back, the running micro-batch may fail: a job is then started again from its checkpoint."
_RESTARTS = "It is started again by itself, and continues from its checkpoint; SET 'restart-strategy.type' before the INSERT says how often."
_AGAIN = "Submitted again (on the page: Upgrade), the same statement continues from its checkpoint, with its tables as they are declared then."
_IDLE = "SET 'table.exec.source.idle-timeout' = '1 min' before the statement leaves out partitions that have had no rows for this long."
_FUTURE = (
    "SET 'table.exec.source.max-future-rowtime' = '1 h' before the statement leaves such rows out, and keeps them in .sqlstream/dead-letters. "
    "A watermark never goes back: delete the job's folder, and it starts anew."
)
_SLOW = (
    "A topic with more partitions is read by more tasks, on more cores. DESCRIBE JOB .. EXTENDED says how long a micro-batch takes; "
    "EXPLAIN says what it does."
)
# A watermark this far ahead of the clock is reported.
_AHEAD_MS = 86_400_000
# A source without rows for this long is reported to have nothing new.
_QUIET_MS = 5_000
# For this long it is reported that brokers answer again.
_LATELY_MS = 600_000


@dataclass(frozen=True)
class Reason:
    """One reason, and what can be done about it."""

    text: str
    hint: str | None = None


def reasons(job: JobMetrics, sinks: Sequence[Sink], idle_ms: int) -> list[Reason]:
    """Why ``job`` emits nothing, or nothing more. ``idle_ms``: its ``table.exec.source.idle-timeout``, where a table says nothing else."""
    listed: list[Reason] = []
    match job.status:
        case "FAILED":
            listed.append(Reason(f"The job has failed: {job.error}", " ".join(filter(None, (job.hint, _AGAIN)))))
        case "RESTARTING":
            listed.append(Reason(f"The job has failed: {job.error}", " ".join(filter(None, (job.hint, _RESTARTS)))))
        case "FINISHED":
            figures = f": {counted(job.rows_in, 'row')} in{_out(job.rows_out)}" if job.queries else ""
            listed.append(Reason(f"The job has finished{figures}."))
        case "CANCELED":
            listed.append(Reason("The job was stopped.", f"{_AGAIN} sqlstream jobs start NAME, or Start on the page, starts it as it was."))
        case "SUSPENDED":
            listed.append(Reason("The process that ran the job has ended without stopping it.", _AGAIN))
        case "INITIALIZING":
            listed.append(Reason("A process has the job, whose queries have not started yet."))
    for name, sink, query in zip(sink_names(sinks), sinks, job.queries, strict=False):
        running = job.status == "RUNNING"
        about = _of_query(query, sink, idle_timeout(sink, idle_ms), job.zone) if running else _lost_rows(query, sink, job.zone)
        listed += [Reason(_start(job, name) + r.text, r.hint) for r in about]
    return listed


def nothing_yet(query: QueryMetrics, plan: Node, idle_ms: int, zone: str) -> list[Reason]:
    """Why a SELECT, ``plan``, has given no row yet; ``idle_ms`` as in ``reasons``."""
    return _of_query(query, plan, idle_timeout(plan, idle_ms), zone)


def sink_names(sinks: Iterable[Sink]) -> list[str]:
    """The tables that queries write; what several write has their numbers."""
    return numbered(sink.table.path.name for sink in sinks)


def trouble(job: JobMetrics, sinks: Sequence[Sink], idle_ms: int) -> Reason | None:
    """What most needs somebody's look at ``job``; None for one that does well, or was stopped."""
    well = job.status in ("RUNNING", "INITIALIZING") and job.silent is None and job.stale is None and not job.falls_behind
    if job.status in ("FINISHED", "CANCELED"):
        return None
    return next(iter(_nothing_out(job, sinks, idle_ms) if well else reasons(job, sinks, idle_ms)), None)


def _nothing_out(job: JobMetrics, sinks: Sequence[Sink], idle_ms: int) -> Iterator[Reason]:
    """Why queries have emitted nothing that have read rows, some time ago already, as far as it is known."""
    for name, sink, query in zip(sink_names(sinks), sinks, job.queries, strict=False):
        if _emits_nothing(query):
            for reason in _withheld(query, sink, idle_timeout(sink, idle_ms), job.zone):
                yield replace(reason, text=f"{_start(job, name)}{reason.text}")


def _start(job: JobMetrics, name: str) -> str:
    """How a reason of the query into this table begins, where there are several."""
    return f"Into {name}: " if len(job.queries) > 1 else ""


def _emits_nothing(query: QueryMetrics) -> bool:
    read = query.rows_in and query.batches and query.last_input is not None and query.at - query.last_input > _QUIET_MS
    return bool(read) and query.rows_out == 0


def _out(count: int | None) -> str:
    return "" if count is None else f", {count:,} out"


def _of_query(query: QueryMetrics, plan: Node, idle_ms: int, zone: str) -> list[Reason]:
    stale = () if query.failure is None else (Reason(old_figures(query, zone)),)
    listed = [*stale, *_silent_brokers(query, zone), *_behind(query), *_unread(query, zone)]
    waits = any(b.silent is not None or b.unread for b in query.brokers)
    if not query.batches and not query.real_time:
        return listed if waits else [*listed, *_first_batch(query, plan)]
    if query.rows_out and query.last_output is not None:
        listed.append(Reason(f"It emits rows: {query.rows_out:,} so far, the last at {clock(query.last_output, zone)}."))
    if not query.rows_in:
        return [*listed, *(_quiet(query, zone) if (query.batch is not None and not query.real_time) or waits else _no_input(query, plan))]
    listed += [*_withheld(query, plan, idle_ms, zone), *_quiet(query, zone)]
    return listed or [Reason(f"Nothing holds it back: {counted(query.rows_in, 'row')} read, {query.rows_out} emitted.")]


def _withheld(query: QueryMetrics, plan: Node, idle_ms: int, zone: str) -> Iterator[Reason]:
    """What becomes of rows that were read, and do not come out, or not yet."""
    yield from _watermark_ahead(query, zone)
    yield from _lost_rows(query, plan, zone)
    if not any(f.arrived and not f.passed for f in query.filters):
        held = list(_held(query, idle_ms, zone, plan))
        yield from held
        if query.watermark is not None or not held:
            yield from _windows(query, plan, zone)
        yield from _waiting(query, plan, zone)


def _silent_brokers(query: QueryMetrics, zone: str) -> Iterator[Reason]:
    """Brokers that don't answer, or answer again."""
    for one in dict.fromkeys(replace(b, unread=(), next_look=None) for b in query.brokers):
        if one.silent is not None:
            yield Reason(
                f"{no_answer(one, zone)}: nothing of its topics is read.",
                f"{_WAITS if query.batch is None else _BREAKS} See that the broker runs (sqlstream kafka status) and can be reached.",
            )
        elif one.silence is not None and query.at - one.silence[1] < _LATELY_MS:
            silent, back = one.silence
            yield Reason(f"Kafka at {one.servers} answers again since {clock(back, zone)}; it did not answer for {duration((back - silent) / 1000)}.")


def _behind(query: QueryMetrics) -> Iterator[Reason]:
    """That more comes than is read."""
    if query.falls_behind:
        yield Reason(
            f"It falls behind: {counted(query.lag or 0, 'row')} wait, and {query.lag_growth:,.0f} more each second; "
            f"it reads {query.rows_per_second:,.0f} rows a second.",
            _SLOW,
        )


def _unread(query: QueryMetrics, zone: str) -> Iterator[Reason]:
    """Partitions that were added."""
    option = "'scan.topic-partition-discovery.interval'"
    for one in query.brokers:
        if one.unread:
            many = len(one.unread) > 1
            names = _part(one.unread[0]) + (f" and {len(one.unread) - 1} more" if many else "")
            names = f"{names[0].upper()}{names[1:]} {'were' if many else 'was'} added and {'are' if many else 'is'} not read yet"
            if one.next_look is None:
                yield Reason(f"{names}: the query looks for none, since {option} is 0.", "Stop it and submit it again, or set the option.")
            else:
                at = clock(max(one.next_look, query.at), zone)
                when, shorter = f"next at {at}", f"A shorter {option} of the table finds"
                if query.real_time:
                    when = f"when a micro-batch begins after {at}"
                    shorter = (
                        f"A shorter 'execution.checkpointing.interval', by which micro-batches end in real time, or {option} of the table, finds"
                    )
                yield Reason(f"{names}: the query looks for new partitions {when}.", f"{shorter} them sooner.")


def _first_batch(query: QueryMetrics, plan: Node) -> Iterator[Reason]:
    """What the query does before its first micro-batch has ended."""
    batch = query.batch
    of = f" of {batch.total:,}" if batch is not None and batch.total else ""
    if query.rows_out is None:
        yield Reason(f"In batch mode rows come out when the job ends: {query.rows_in:,}{of} rows read.")
    elif batch is not None:
        yield Reason(f"The first micro-batch is still running: {batch.rows:,}{of} rows read. Rows come out when it ends.")
    # What the last task has read and written is known before Spark reports the end.
    elif (rows := max((query.rows_in, *(count for _, count in query.recent[-1:])))) or query.rows_out:
        yield Reason(f"The first micro-batch is ending: {counted(rows, 'row')} read.")
    elif query.found_none:
        yield from _no_input(query, plan)
    else:
        yield Reason("No micro-batch has ended since the query was started: it is starting still.")


def _no_input(query: QueryMetrics, plan: Node) -> Iterator[Reason]:
    """No row was read in this run."""
    latest = {s.table.path.name for s in scans(plan) if s.table.options.get("scan.startup.mode") == "latest-offset"}
    hint = None
    if latest:
        hint = f"Reading {', '.join(sorted(latest))} begins with 'latest-offset': what was there before the query is not read."
    read = scans(plan)
    for one in query.inputs or ():
        kind = "topic" if one.partitions else "source"
        # Spark's name of a source is no word of SQL.
        name = read[0].table.path.name if kind == "source" and len(read) == 1 else one.name
        if any(p.lag for p in one.partitions):
            yield Reason(f"No row has been read of {kind} {one.name} yet, though {sum(p.lag for p in one.partitions):,} records wait there.")
        else:
            yield Reason(f"No input: nothing new has come to {kind} {name} since the query began.", hint)
    if not query.inputs:
        yield Reason("No input: nothing new has come since the query began.", hint)


def _lost_rows(query: QueryMetrics, plan: Node, zone: str) -> Iterator[Reason]:
    """Rows that were read and will never come out."""
    nothing = [f for f in query.filters if f.arrived and not f.passed]
    for one in nothing:
        yield Reason(f"All rows are filtered out: none of {counted(one.arrived, 'row')} passes {_condition(one, query, plan)}.")
    if not query.late:
        return
    watermark = "" if query.watermark is None else f" The watermark is at {moment(query.watermark, zone)}."
    passing = min((f.passed for f in query.filters), default=query.rows_in)
    count = counted(query.late, "row")
    if not query.rows_out and query.late >= passing:
        yield Reason(
            f"All rows are late: {count} came for windows that had closed.{watermark}",
            "A longer delay in WATERMARK FOR waits for rows that arrive out of order.",
        )
    else:
        yield Reason(f"{count} came late, for windows that had closed, and {'was' if query.late == 1 else 'were'} dropped.")


def _condition(one: FilterRows, query: QueryMetrics, plan: Node) -> str:
    """The condition in the query's words, where it is known which one Spark's filter is."""
    written = [n for n in walk(plan) if isinstance(n, Filter)]
    if len(written) == 1 and len(query.filters) == 1:
        return f"WHERE {to_text(written[0].condition)}"
    return f"the filter {one.condition}"


def _watermark_ahead(query: QueryMetrics, zone: str) -> Iterator[Reason]:
    """A watermark that is ahead of the clock."""
    if query.watermark is None or query.watermark - query.at <= _AHEAD_MS:
        return
    ahead = [s for t in query.timed if t.raised is None for s in t.splits if s.watermark is not None and s.watermark - query.at > _AHEAD_MS]
    by = f" by rows of {', '.join(_part(s.name) for s in ahead)}" if ahead and all(s.name for s in ahead) else ""
    yield Reason(
        f"The watermark has been raised to {moment(query.watermark, zone)}{by}, which is in the future: rows of the present are late.",
        _FUTURE,
    )


def _held(query: QueryMetrics, idle_ms: int, zone: str, plan: Node) -> Iterator[Reason]:
    """What holds the watermark back."""
    if not any(awaits_watermark(n) for n in walk(plan)):
        return
    for timed in query.timed:
        counting = timed.counting
        silent = [s for s in counting if s.watermark is None]
        if timed.raised is not None or not counting:
            continue
        if silent:
            yield _silent(timed, counting, silent, idle_ms, zone)
        elif len(counting) > 1 and _matters(counting, plan):
            first, second = sorted(counting, key=_reached)[:2]
            yield Reason(
                f"The watermark is held back by {_part(first.name)}, which has come to {moment(_reached(first), zone)}; "
                f"the others have come to {moment(_reached(second), zone)} or later.",
                _IDLE if first.quiet_ms > _QUIET_MS and not idle_ms else None,
            )
    known = sorted((w, t.table) for t in query.timed if not t.idle and (w := t.watermark) is not None)
    if len(known) > 1 and known[0][0] < known[1][0]:
        (least, table), (other, _) = known[:2]
        yield Reason(f"The watermark is that of {table}, which has come to {moment(least, zone)}; the next one is at {moment(other, zone)}.")


def _silent(timed: Timed, counting: list[Split], silent: list[Split], idle_ms: int, zone: str) -> Reason:
    if len(silent) == len(counting):
        return Reason(f"There is no watermark yet: no row of {timed.table} has come since the query began.", _hint(idle_ms))
    furthest = max(_reached(s) for s in counting if s.watermark is not None)
    names = _part(silent[0].name) + (f" and {len(silent) - 1} more" if len(silent) > 1 else "")
    return Reason(
        f"The watermark is held back by {names}, {'which has' if len(silent) == 1 else 'which have'} had no row since the query began; "
        f"the others have come to {moment(furthest, zone)}.",
        _hint(idle_ms),
    )


def _hint(idle_ms: int) -> str | None:
    return None if idle_ms else _IDLE


def _reached(split: Split) -> int:
    assert split.watermark is not None
    return split.watermark


def _part(name: str) -> str:
    topic, dash, number = name.rpartition("-")
    return f"partition {number} of topic {topic}" if dash and number.isdigit() else name


def _matters(counting: list[Split], plan: Node) -> bool:
    """Whether the slowest split keeps something from coming out that the others would let out."""
    least, second = sorted(map(_reached, counting))[:2]
    windows = _event_windows(plan)
    if not windows:
        return second > least
    return any(w.window.kind.merges or next_end(w, least) - 1 <= _wall(second, _zone(w)) for w in windows)


def _event_windows(plan: Node) -> list[WindowTvf]:
    windows = [n for n in walk(plan) if isinstance(n, WindowTvf)]
    return [n for n in windows if field(n.input, n.window.time).time is TimeAttribute.ROWTIME]


def _zone(node: WindowTvf) -> str:
    """The zone in whose wall time the windows are."""
    return node.zone if field(node.input, node.window.time).type.root == "TIMESTAMP_LTZ" else "UTC"


def _wall(millis: int, zone: str) -> int:
    offset = datetime.fromtimestamp(within_calendar(millis)[0] / 1000, UTC).astimezone(zone_of(zone)).utcoffset()
    return millis + (0 if offset is None else round(offset.total_seconds() * 1000))


def next_end(node: WindowTvf, watermark: int) -> int:
    """The end of the first window that the watermark has not closed, as wall time in milliseconds."""
    window = node.window
    past = _wall(watermark, _zone(node)) + 1
    return past - (past - window.offset - window.size) % window.slide + window.slide


def _windows(query: QueryMetrics, plan: Node, zone: str) -> Iterator[Reason]:
    texts = set()
    for node in _event_windows(plan):
        if query.watermark is None:
            texts.add("Windows are open. The watermark that closes them follows with the next micro-batch.")
        elif node.window.kind.merges:
            texts.add(
                f"The watermark is at {moment(query.watermark, zone)}; a session closes {duration(node.window.size / 1000)} after its last row."
            )
        elif (reached := _follows(query)) is not None and _wall(reached, _zone(node)) >= next_end(node, query.watermark):
            texts.add(f"The watermark comes to {moment(reached, zone)} with the next micro-batch, which closes the windows that end by then.")
        else:
            end = moment(next_end(node, query.watermark), "UTC")
            texts.add(f"The watermark is at {moment(query.watermark, zone)}; the next window closes when it reaches {end}{_delayed(plan)}.")
    yield from (Reason(text) for text in sorted(texts))
    for each in walk(plan):
        if isinstance(each, WindowTvf) and field(each.input, each.window.time).time is TimeAttribute.PROCTIME:
            yield Reason(f"Windows follow the clock: one closes every {duration(each.window.slide / 1000)}.")


def _follows(query: QueryMetrics) -> int | None:
    """What the watermark comes to by the rows that were read already; None where that is not known."""
    known = [t.watermark for t in query.timed if not t.idle]
    return None if not known or None in known else min(w for w in known if w is not None)


def _delayed(plan: Node) -> str:
    """How the watermark follows from rows, for people who look at their times."""
    marks = {to_text(n.expression) for n in walk(plan) if isinstance(n, Watermark)}
    return f" (the watermark is {marks.pop()})" if len(marks) == 1 else ""


def _waiting(query: QueryMetrics, plan: Node, zone: str) -> Iterator[Reason]:
    """Operators that hold back rows."""
    at = "of which there is none yet" if query.watermark is None else f"which is at {moment(query.watermark, zone)}"
    for node in walk(plan):
        if node.waiting and awaits_watermark(node):
            yield Reason(f"{node.waiting}, {at}.")
    join = _outermost_join(plan)
    if join is None or join.kind is not JoinKind.INNER or query.rows_out:
        return
    empty = [i.name for i in query.inputs if not i.rows]
    if empty:
        yield Reason(f"The join waits for rows of both sides: none of {', '.join(empty)} has been read in this run.")
    elif query.batch is None and (not isinstance(join, TemporalJoin) or _passed(query)):
        yield Reason(f"The join has found no partners yet: no row of one side {join.partner} of the other.")


def _outermost_join(plan: Node) -> Join | None:
    """The join that alone has to do with rows not coming out: nothing around it holds rows, or makes others of them."""
    node = plan.input if isinstance(plan, Sink) else plan
    while isinstance(node, OneByOne):
        node = node.input
    join = node.join if isinstance(node, KeyedJoin) else node
    if not isinstance(join, Join) or not join.partner:
        return None
    return None if any(awaits_watermark(n) for i in join.inputs for n in walk(i)) else join


def _passed(query: QueryMetrics) -> bool:
    """Whether the watermark has come to all rows that were read."""
    reached = [s.watermark for t in query.timed for s in t.splits if s.watermark is not None]
    return query.watermark is not None and bool(reached) and query.watermark >= max(reached)


def _quiet(query: QueryMetrics, zone: str) -> Iterator[Reason]:
    """Whether there is nothing new, or a micro-batch on its way."""
    if query.batch is not None and not query.real_time:
        of = f" of {query.batch.total:,}" if query.batch.total else ""
        yield Reason(f"A micro-batch is running: {query.batch.rows:,}{of} rows read. Its rows come out when it ends.")
    elif any(b.silent is not None or b.unread for b in query.brokers):
        return
    elif query.lag:
        yield Reason(f"{counted(query.lag, 'record')} {'waits' if query.lag == 1 else 'wait'} to be read.")
    elif query.last_input is not None and query.at - query.last_input > max(_QUIET_MS, 2 * query.pace_ms):
        yield Reason(f"Nothing new has come since {clock(query.last_input, zone)}.")
