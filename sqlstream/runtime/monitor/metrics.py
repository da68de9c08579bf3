"""What a job does, in figures.

In: samples of its queries, JSON as ``runtime/java/sqlstream/monitor/QuerySamples.java`` gives it: the micro-batches that have ended (Spark's
StreamingQueryProgress), the one that runs, what was counted. Out: frozen values, a sample folded into what was known before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Json: TypeAlias = "Mapping[str, Any]"
# Moments in milliseconds, each with how many there had been.
Counted: TypeAlias = "tuple[tuple[int, int], ...]"
# A rate is that of the last so many milliseconds.
RATE_MS = 5_000
# Steps of a count that are further apart make no rate.
STEP_MS = 120_000
# Sources of our own: what raises watermarks, and tables kept for a restart.
_OWN = re.compile(r"/\.sqlstream/|/control\]$|^Clock\[")
_PATH = re.compile(r"\[(?:file:)?(/[^\]]*)\]$")
_TOPICS = "KafkaTopics["
_IN_FILES = "rocksdbSstFileSize"


@dataclass(frozen=True)
class Partition:
    """A partition of a topic: the offset up to which it has been read, its end when a micro-batch was last planned, and as somebody has asked for it
    since; 0 where nobody has.
    """

    name: str
    read: int
    latest: int
    asked: int = 0

    @property
    def end(self) -> int:
        """As it was last known."""
        return max(self.latest, self.asked)

    @property
    def lag(self) -> int:
        return max(self.end - self.read, 0)

    @property
    def planned_lag(self) -> int:
        """Without what has come since a micro-batch was planned."""
        return max(self.latest - self.read, 0)


@dataclass(frozen=True)
class Input:
    """A source of a query: what Spark calls it or its topics, and how many rows of it were read in this run."""

    name: str
    rows: int = 0
    partitions: tuple[Partition, ...] = ()


@dataclass(frozen=True)
class BrokerContact:
    """Those of a topic that is read. ``silent``: since when they have not answered; ``silence``: when they last stopped answering, and when
    they answered again. ``unread``: partitions that were added and are not read yet; ``next_look``: when they will be, None for never.
    """

    servers: str
    silent: int | None = None
    silence: tuple[int, int] | None = None
    unread: tuple[str, ...] = ()
    next_look: int | None = None


@dataclass(frozen=True)
class Split:
    """A part of a source with an event-time order of its own: its watermark, None before its first row of this run; how long it has had no row."""

    name: str
    watermark: int | None
    idle: bool
    quiet_ms: int


@dataclass(frozen=True)
class Timed:
    """A table with a watermark of its own: its splits. ``raised``: what the watermark was raised to from outside, by an end of input."""

    table: str
    splits: tuple[Split, ...]
    raised: int | None = None

    @property
    def counting(self) -> list[Split]:
        """Its splits that hold the watermark back."""
        return [split for split in self.splits if not split.idle]

    @property
    def idle(self) -> bool:
        """Whether it no longer holds back the watermark of the query."""
        return self.raised is None and all(s.idle for s in self.splits)

    @property
    def watermark(self) -> int | None:
        """The least of those of its splits that count; where none does, the greatest of all."""
        counting = self.counting
        known = [s.watermark for s in counting or self.splits if s.watermark is not None]
        least = min(known) if known and len(known) == len(counting) else None
        own = least if counting else max(known, default=None)
        return max((w for w in (own, self.raised) if w is not None), default=None)


@dataclass(frozen=True)
class FilterRows:
    """How many rows have reached a filter in this run, and how many passed."""

    condition: str
    arrived: int
    passed: int


@dataclass(frozen=True)
class Batch:
    """The micro-batch that runs: rows read of ``total``, bytes of ``size`` (None: not known), tasks done of those there are so far."""

    rows: int
    total: int | None
    bytes: int
    size: int | None
    tasks: int
    done: int

    @property
    def fraction(self) -> float | None:
        """How much of the input has been read."""
        for part, whole in ((self.rows, self.total), (self.bytes, self.size)):
            if whole:
                return min(part / whole, 1.0)
        return None


@dataclass(frozen=True)
class StateOperator:
    """An operator that keeps state, as Spark calls it. ``rows``: 0 also where they are not counted."""

    name: str
    rows: int
    bytes: int


@dataclass(frozen=True)
class LeastLag:
    """The least lag of a minute, which ``number`` counts since 1970, and how many rows had been read when the minute began."""

    number: int
    lag: int
    rows: int


@dataclass(frozen=True)
class QueryMetrics:
    """One query of a job: that of one sink. Moments are milliseconds since 1970. ``since``: the timestamp of the last micro-batch that is in it.
    ``rows_out``: None in batch mode, where they are not counted, and all of the input is one ``batch``. ``phases``: of the last micro-batch, in
    milliseconds; ``batch_ended``: when it ended. ``heap``: bytes of it that the JVM has in use. ``failure``: the error with which Spark answered the
    latest sample; the figures are those of ``at``, the moment of the last that succeeded. ``real_time``: what was read of ``batch`` has come out.
    ``found_none``: it has looked for input, and there was none.
    ``minutes``: the last ones, of a query that reads topics. ``recent``, ``written``: moments of the last seconds, each with how many rows had been
    read and written.
    """

    since: str = ""
    at: int = 0
    ended_rows: int = 0
    rows_out: int | None = 0
    late: int = 0
    batches: int = 0
    phases: tuple[tuple[str, int], ...] = ()
    batch_ended: int | None = None
    batch: Batch | None = None
    inputs: tuple[Input, ...] = ()
    timed: tuple[Timed, ...] = ()
    filters: tuple[FilterRows, ...] = ()
    brokers: tuple[BrokerContact, ...] = ()
    watermark: int | None = None
    states: tuple[StateOperator, ...] = ()
    last_input: int | None = None
    last_output: int | None = None
    heap: int | None = None
    failure: str | None = None
    recent: Counted = ()
    written: Counted = ()
    real_time: bool = False
    found_none: bool = False
    minutes: tuple[LeastLag, ...] = ()
    _dropped: int = 0
    _read: int = 0

    @property
    def rows_in(self) -> int:
        """Rows read in this run, those of the running micro-batch included."""
        return self.ended_rows + (self.batch.rows if self.batch else 0)

    @property
    def pace_ms(self) -> int:
        """How far apart the last two moments are at which rows had come."""
        return _pace(_steps(self.recent))

    @property
    def rows_per_second(self) -> float:
        """Rows read."""
        return _rate(self.recent)

    @property
    def rows_out_per_second(self) -> float | None:
        """Rows written; None where they are not counted."""
        return None if self.rows_out is None else _rate(self.written)

    @property
    def batch_ms(self) -> int | None:
        """How long the last micro-batch took."""
        return dict(self.phases).get("triggerExecution")

    @property
    def state_rows(self) -> int | None:
        """None where there are none, or Spark does not count them: spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows."""
        return sum(s.rows for s in self.states) or None

    @property
    def state_bytes(self) -> int | None:
        return sum(s.bytes for s in self.states) if self.states else None

    @property
    def falls_behind(self) -> bool:
        """Whether more comes than is read: over the last whole minute the least lag has grown, by more than a hundredth of what was read."""
        return self.lag_growth > 0

    @property
    def lag_growth(self) -> float:
        """By how many records a second it falls behind; 0 where it does not."""
        if len(self.minutes) < 3:
            return 0.0
        before, last, now = self.minutes[-3:]
        grown = last.lag - before.lag
        behind = now.number - before.number == 2 and grown > 0 and grown * 100 > now.rows - last.rows
        return grown / 60 if behind else 0.0

    @property
    def lag(self) -> int | None:
        """Records that wait in the topics; None if no source reports any."""
        return self._waiting([p.lag for i in self.inputs for p in i.partitions])

    @property
    def planned_lag(self) -> int | None:
        """The same without what has come since a micro-batch was planned: of each as much is left out, however long it takes."""
        return self._waiting([p.planned_lag for i in self.inputs for p in i.partitions])

    def _waiting(self, lags: Sequence[int]) -> int | None:
        # In real time a partition is read as far as its rows have come.
        through = self.batch.rows if self.batch and not self.real_time else 0
        return max(sum(lags) - through, 0) if lags else None


@dataclass(frozen=True)
class LastKnown:
    """Figures of a run of a job that is over, as its process has written them down; None: not known."""

    rows_in: int | None = None
    rows_out: int | None = None
    state_rows: int | None = None
    state_bytes: int | None = None

    @classmethod
    def of(cls, figures: Mapping[str, str | None]) -> LastKnown:
        """Those of a row of SHOW JOB METRICS, by its columns."""
        return cls(*(int(text) if (text := figures.get(name)) and text.isdecimal() else None for name in _LAST_KNOWN))

    @property
    def queries(self) -> tuple[QueryMetrics, ...]:
        """A single query with these counts; none where it is not known how much was read."""
        return () if self.rows_in is None else (QueryMetrics(ended_rows=self.rows_in, rows_out=self.rows_out),)


_LAST_KNOWN = ("rows in", "rows out", "state rows", "state bytes")


@dataclass(frozen=True)
class JobMetrics:
    """A job: those of its queries together. ``zone``: that in which its times are shown. ``hint``: what to do about its error.
    ``restarts``: how often it was started again after a failure; ``due``: when it last was, or will be. ``before``: what is known of its run before.
    """

    id: str
    name: str
    status: str
    started: float
    queries: tuple[QueryMetrics, ...] = ()
    error: str | None = None
    zone: str = "UTC"
    hint: str | None = None
    restarts: int = 0
    due: int | None = None
    before: LastKnown | None = None

    @property
    def rows_in(self) -> int:
        return sum(q.rows_in for q in self.queries)

    @property
    def rows_out(self) -> int | None:
        """None where no query counts them."""
        return _sum(q.rows_out for q in self.queries) if self.queries else 0

    @property
    def rows_per_second(self) -> float:
        return sum(q.rows_per_second for q in self.queries) if self.status == "RUNNING" else 0.0

    @property
    def rows_out_per_second(self) -> float | None:
        """None where no query counts them."""
        known = [rate for q in self.queries if (rate := q.rows_out_per_second) is not None]
        return (sum(known) if self.status == "RUNNING" else 0.0) if known or not self.queries else None

    @property
    def late(self) -> int:
        return sum(q.late for q in self.queries)

    @property
    def lag(self) -> int | None:
        return max((q.lag for q in self.queries if q.lag is not None), default=None)

    @property
    def known_lag(self) -> int | None:
        """The same to be shown: nobody knows how many records wait at a broker that does not answer."""
        return None if self.silent is not None else self.lag

    @property
    def falls_behind(self) -> bool:
        """Whether a query of it does, while it runs."""
        return self.status == "RUNNING" and any(q.falls_behind for q in self.queries)

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """The partitions that are read, each as the query has it that is farthest behind."""
        behind: dict[str, Partition] = {}
        for one in (p for q in self.queries for i in q.inputs for p in i.partitions):
            if one.name not in behind or one.lag > behind[one.name].lag:
                behind[one.name] = one
        return tuple(behind.values())

    @property
    def silent(self) -> BrokerContact | None:
        """Those that have not answered for the longest time, while the job runs."""
        brokers = [b for q in self.queries for b in q.brokers if b.silent is not None and self.status == "RUNNING"]
        return min(brokers, key=lambda b: b.silent or 0, default=None)

    @property
    def stale(self) -> QueryMetrics | None:
        """The query with the oldest figures of those that can't be sampled, while the job runs."""
        queries = [q for q in self.queries if q.failure is not None and self.status == "RUNNING"]
        return min(queries, key=lambda q: q.at, default=None)

    @property
    def watermark(self) -> int | None:
        return min((q.watermark for q in self.queries if q.watermark is not None), default=None)

    @property
    def state_rows(self) -> int | None:
        """Until a micro-batch has ended that has state, that of the run before."""
        return self._states_of_before.state_rows if self._states_of_before else _sum(q.state_rows for q in self.queries)

    @property
    def state_bytes(self) -> int | None:
        """The same in bytes."""
        return self._states_of_before.state_bytes if self._states_of_before else _sum(q.state_bytes for q in self.queries)

    @property
    def _states_of_before(self) -> LastKnown | None:
        return None if any(q.states for q in self.queries) else self.before

    @property
    def heap(self) -> int | None:
        """That of the JVM in which it runs."""
        return max((q.heap for q in self.queries if q.heap is not None), default=None)

    @property
    def batch_ms(self) -> int | None:
        return max((q.batch_ms for q in self.queries if q.batch_ms is not None), default=None)

    @property
    def remaining(self) -> tuple[int, int] | None:
        """Rows read of the running micro-batches, and how many they have; None where that is not known."""
        known = [(b.rows, b.total) for q in self.queries if (b := q.batch) is not None and b.total]
        return (sum(min(r, t) for r, t in known), sum(t for _, t in known)) if known else None

    @property
    def tasks(self) -> tuple[int, int]:
        """Tasks of the running micro-batches that are done, and how many there are so far."""
        running = [q.batch for q in self.queries if q.batch is not None and not q.real_time]
        return sum(b.done for b in running), sum(b.tasks for b in running)

    @property
    def fraction(self) -> float | None:
        """How much of the input of the running micro-batches has been read."""
        known = [f for q in self.queries if q.batch is not None and (f := q.batch.fraction) is not None]
        return sum(known) / len(known) if known else None


def _rate(counted: Counted) -> float:
    """How much more there is each second: of the last seconds, or where it comes in steps that are further apart, of the last step."""
    steps = _steps(counted)
    if (pace := _pace(steps)) > RATE_MS and counted[-1][0] - steps[-1][0] <= 2 * pace:
        return (steps[-1][1] - steps[-2][1]) * 1000 / pace
    lately = [one for one in counted if one[0] >= counted[-1][0] - RATE_MS]
    if len(lately) < 2:
        return 0.0
    (first, before), (last, after) = lately[0], lately[-1]
    return max(after - before, 0) * 1000 / (last - first) if last > first else 0.0


def _steps(counted: Counted) -> list[tuple[int, int]]:
    """The moments at which there was more than before, as after a micro-batch."""
    return [one for before, one in pairwise(counted) if one[1] > before[1]]


def _pace(steps: list[tuple[int, int]]) -> int:
    """The milliseconds between the last two; 0 where there are none."""
    return steps[-1][0] - steps[-2][0] if len(steps) > 1 else 0


def _sum(values: Iterable[int | None]) -> int | None:
    known = [v for v in values if v is not None]
    return sum(known) if known else None


def continued(before: QueryMetrics, current: QueryMetrics) -> QueryMetrics:
    """The figures of a query that was started anew within its job: those of before are counted in."""
    rows = {i.name: i.rows for i in before.inputs}
    known = {i.name for i in current.inputs}
    passed = {f.condition: f for f in before.filters}
    return replace(
        current,
        # What a micro-batch has read that did not end is read again.
        ended_rows=before.ended_rows + current.ended_rows,
        rows_out=_sum((before.rows_out, current.rows_out)),
        late=before.late + current.late,
        batches=before.batches + current.batches,
        inputs=(*(replace(i, rows=i.rows + rows.get(i.name, 0)) for i in current.inputs), *(i for i in before.inputs if i.name not in known)),
        filters=tuple(_more(f, passed.get(f.condition)) for f in current.filters),
        last_input=current.last_input or before.last_input,
        last_output=current.last_output or before.last_output,
    )


def _more(current: FilterRows, before: FilterRows | None) -> FilterRows:
    return current if before is None else FilterRows(current.condition, before.arrived + current.arrived, before.passed + current.passed)


def sampled(before: QueryMetrics, sample: Json, tables: Sequence[str]) -> QueryMetrics:
    """``before`` with a further sample. ``tables``: those with a watermark, in the sample's order."""
    after = before
    for progress in sample["ended"]:
        after = _ended(after, progress)
    running = sample["running"]
    batch_read = after.ended_rows - before.ended_rows
    # What is read from now on is the next micro-batch's. One in real time may have read much by now, but has read nothing twice: a task that fails
    # ends the query.
    read = min(before._read + batch_read, sample["read"]) if sample["real_time"] else sample["read"] if batch_read else before._read
    batch = _batch(running, sample["read"] - read) if running and running["tasks"] else None
    after = replace(
        after,
        _read=read,
        at=sample["at"],
        rows_out=sample["out"],
        real_time=sample["real_time"],
        found_none=before.found_none or sample["waits"],
        heap=sample["heap"],
        late=sample["late"] + after._dropped,
        filters=tuple(FilterRows(f["condition"], f["arrived"], f["passed"]) for f in sample["filters"]),
        timed=tuple(_timed(table, one) for table, one in zip(tables, sample["times"], strict=True)),
        brokers=tuple(_brokers(one) for one in sample["topics"]),
        batch=batch,
        inputs=_asked(_read_by_now(_begun(after.inputs, running) if running else after.inputs, sample["topics"]), sample["topics"]),
    )
    if not tables:
        # That of a clock of ours, by which state expires.
        after = replace(after, watermark=None)
    after = _timed_since(before, after)
    return replace(after, last_output=after.at if (after.rows_out or 0) > (before.rows_out or 0) else before.last_output)


def sampled_in_batch(before: QueryMetrics, sample: Json) -> QueryMetrics:
    """``before`` with a further sample of a query in batch mode."""
    total = sample["total"] or None
    rows = min(sample["rows"], total) if total else sample["rows"]
    batch = Batch(rows, total, sample["bytes"], sample["size"] or None, sample["tasks"], sample["done"])
    return _timed_since(before, replace(before, at=sample["at"], batch=batch))


def read_whole(query: QueryMetrics) -> QueryMetrics:
    """A query in batch mode that has ended. Spark does not report the progress of each source, but now all of it has been read."""
    return replace(query, ended_rows=query.rows_in or (query.batch and query.batch.total) or 0, batch=None)


def _timed_since(before: QueryMetrics, current: QueryMetrics) -> QueryMetrics:
    """``current`` with what follows from the time since ``before``."""
    rows = max(current.rows_in, before.rows_in)
    return replace(
        current,
        recent=(*_lately(before.recent, current.at), (current.at, rows)),
        written=() if current.rows_out is None else (*_lately(before.written, current.at), (current.at, current.rows_out)),
        minutes=_minutes(before.minutes, current.at // 60_000, current.planned_lag, rows),
        last_input=current.at if rows > before.rows_in else before.last_input,
    )


def _lately(counted: Counted, now: int) -> Counted:
    """The counts of the last seconds, and those before and at the last two steps."""
    steps = [pair for pair in pairwise(counted) if pair[1][1] > pair[0][1] and pair[1][0] >= now - STEP_MS]
    kept = {one for pair in steps[-2:] for one in pair}
    return tuple(one for one in counted if one in kept or one[0] >= now - RATE_MS)


def _minutes(before: tuple[LeastLag, ...], number: int, lag: int | None, rows: int) -> tuple[LeastLag, ...]:
    """The last three minutes of ``before`` and a further ``lag``."""
    if lag is None:
        return before
    if before and before[-1].number == number:
        return (*before[:-1], replace(before[-1], lag=min(before[-1].lag, lag)))
    return (*before[-2:], LeastLag(number, lag, rows))


def _ended(before: QueryMetrics, progress: Json) -> QueryMetrics:
    """``before`` and a micro-batch that has ended, or that nothing had come for."""
    sources = [s for s in progress["sources"] if not _OWN.search(s["description"])]
    known = {i.name: i for i in before.inputs}
    for source in sources:
        one = known.get(name := _name(source["description"]), Input(name))
        known[name] = replace(one, rows=one.rows + int(source["numInputRows"]), partitions=_partitions(source) or one.partitions)
    rows = sum(int(s["numInputRows"]) for s in sources)
    operators = progress["stateOperators"]
    watermark = _millis(progress.get("eventTime", {}).get("watermark"))
    phases = progress["durationMs"]
    if "addBatch" in phases:
        begun = _millis(progress["timestamp"]) or 0
        before = replace(before, batches=before.batches + 1, phases=tuple(phases.items()), batch_ended=begun + phases.get("triggerExecution", 0))
    return replace(
        before,
        since=progress["timestamp"],
        ended_rows=before.ended_rows + rows,
        inputs=tuple(known.values()),
        watermark=watermark if watermark is not None else before.watermark,
        states=tuple(StateOperator(o["operatorName"], o["numRowsTotal"], _bytes(o)) for o in operators) or before.states,
        _dropped=before._dropped + sum(o["numRowsDroppedByWatermark"] for o in operators),
    )


def _bytes(operator: Json) -> int:
    """What it has in memory or in files, whichever is more: a store holds most of it in both, and writes files now and then."""
    return max(int(operator.get("customMetrics", {}).get(_IN_FILES, 0)), int(operator["memoryUsedBytes"]))


def _name(description: str) -> str:
    """A source by its topics or its path, else as Spark calls it."""
    if description.startswith(_TOPICS):
        return description[len(_TOPICS) : -1]
    path = _PATH.search(description)
    return path[1] if path else description.partition("[")[0]


def _offsets(offset: Any) -> dict[str, int]:
    """Kafka's offsets by partition; nothing for other sources."""
    if not isinstance(offset, dict) or not all(isinstance(v, dict) for v in offset.values()):
        return {}
    return {f"{topic}-{number}": int(at) for topic, of in offset.items() for number, at in of.items()}


def _partitions(source: Json) -> tuple[Partition, ...]:
    latest, read = _offsets(source["latestOffset"]), _offsets(source["endOffset"])
    return tuple(Partition(name, at, max(latest.get(name, at), at)) for name, at in read.items())


def _begun(inputs: tuple[Input, ...], running: Json) -> tuple[Input, ...]:
    """``inputs`` where a micro-batch runs: what it reads is not through yet."""
    known = {i.name: i for i in inputs}
    for description, end in running["end"].items():
        start = _offsets(running["start"].get(description))
        if start and not _OWN.search(description):
            one = known.get(name := _name(description), Input(name))
            latest = {p.name: p.latest for p in one.partitions}
            partitions = (Partition(n, start.get(n, at), max(latest.get(n, at), at)) for n, at in _offsets(end).items())
            known[name] = replace(one, partitions=tuple(partitions))
    return tuple(known.values())


def _read_by_now(inputs: tuple[Input, ...], topics: Sequence[Json]) -> tuple[Input, ...]:
    """``inputs`` with how far those are that are read in real time, as far as that is known."""
    known = {i.name: i for i in inputs}
    for one in topics:
        if one["read"]:
            source = known.get(name := _name(one["name"]), Input(name))
            latest = {p.name: p.latest for p in source.partitions} | one["ends"]
            partitions = (Partition(part, at, max(latest.get(part, at), at)) for part, at in sorted(one["read"].items()))
            known[source.name] = replace(source, partitions=tuple(partitions))
    return tuple(known.values())


def _asked(inputs: tuple[Input, ...], topics: Sequence[Json]) -> tuple[Input, ...]:
    """``inputs`` with the ends of partitions for which brokers were asked while a micro-batch runs."""
    ends = {name: end for one in topics for name, end in one["ends"].items()}
    return tuple(replace(i, partitions=tuple(replace(p, asked=ends.get(p.name, 0)) for p in i.partitions)) for i in inputs)


def _batch(running: Json, read: int) -> Batch:
    begun = {name: at for offset in running["start"].values() for name, at in _offsets(offset).items()}
    total = sum(max(at - begun.get(name, at), 0) for offset in running["end"].values() for name, at in _offsets(offset).items())
    rows = max(running["rows"], read)
    return Batch(min(rows, total) if total else rows, total or None, running["bytes"], running["size"] or None, running["tasks"], running["done"])


def _timed(table: str, one: Json) -> Timed:
    splits = (Split(s["name"], s["watermark"], s["idle"], s["quiet"]) for s in one["splits"])
    return Timed(table, tuple(splits), one["watermark"])


def _brokers(one: Json) -> BrokerContact:
    next_look = one["looked"] + one["every"] if one["every"] else None
    silence = one["silence"] and (one["silence"][0], one["silence"][1])
    return BrokerContact(one["servers"], one["silent"], silence, tuple(one["unread"]), next_look)


def _millis(text: str | None) -> int | None:
    """A moment as progress has it, in milliseconds; None for none, which Spark writes as the start of 1970."""
    if text is None:
        return None
    year, rest = text.lstrip("+").split("-", 1)
    # Of the 400 years after which the calendar repeats itself: Python's ends with the year 9999.
    cycles = max(int(year) - 9600, 0) // 400
    near = datetime.fromisoformat(f"{int(year) - cycles * 400:04d}-{rest}")
    return int(near.timestamp() * 1000) + cycles * 146_097 * 86_400_000 or None
