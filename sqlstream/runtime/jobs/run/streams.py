"""The queries of a job: started, awaited, stopped."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.core import storage
from sqlstream.core.job_names import short_name
from sqlstream.plan.real_time import stateful
from sqlstream.runtime.engine.failures import lacks_slots
from sqlstream.runtime.jobs.begin.upgrades import write_record
from sqlstream.runtime.jobs.folder.generations import PAUSE, STARTED, sink_name
from sqlstream.runtime.jobs.run import uncommitted
from sqlstream.runtime.jobs.run.backlog import Backlog
from sqlstream.runtime.lower.lowering import lower
from sqlstream.runtime.lower.native import in_update_mode
from sqlstream.runtime.queries.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sqlstream.runtime.jobs.run.work import Work
    from sqlstream.runtime.lower.context import Lowering
    from sqlstream.runtime.monitor.metrics import JobMetrics

# How long a query in real time reads before it writes its offsets down, in milliseconds, where the job does not say.
_REAL_TIME_MS = 60_000
# Spark has no shorter ones: each ends with a pause.
_SHORTEST_MS = 5_000
# Spark is asked again for slots after so long.
_AGAIN_SECONDS = 60.0
_TOO_FEW = "goes on by micro-batches: too few of Spark's slots are left for the partitions that it reads by now"
# A query takes this key from the session at its start, and keeps it.
_RETAINED = "spark.sql.streaming.minBatchesToRetain"
_retaining_lock = threading.Lock()


@contextmanager
def _retaining(spark: SparkSession, batches: int | None) -> Iterator[None]:
    """Queries that start inside keep the checkpoints of so many micro-batches; of as many as the session says where it is None."""
    with _retaining_lock:
        before = spark.conf.get(_RETAINED)
        assert before is not None
        if batches is not None:
            spark.conf.set(_RETAINED, str(batches))
        try:
            yield
        finally:
            if batches is not None:
                spark.conf.set(_RETAINED, before)


class Streams:
    """The queries of ``work``, one for each sink whose input is a stream."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._backlog = Backlog()

    def start(self, *, once: bool) -> None:
        """Start them; ``once``: up to what their sources have now. Raises what the start of one meets: then none runs."""
        work, job = self._work, self._work.job
        job.queries.clear()
        work.failed = None
        job.real_time = job.lacks_slots = False
        if not self._backlog.worked_off:
            # Else it has the slots that it goes on with in real time.
            job.long_tasks = 0
        storage.delete(job.folder / PAUSE)
        uncommitted.take_back(work)
        work.letters.begin()
        try:
            for index in work.streams:
                job.queries.append(self._start(index, once=once))
        except Exception:
            for query in job.queries:
                query.stop()
            raise
        if job.machine.started():
            work.notify(f"Job '{short_name(job.name)}' runs again, from its checkpoint.")

    def _start(self, index: int, *, once: bool) -> StreamingQuery:
        work, job, settings = self._work, self._work.job, self._work.settings
        sink = job.sinks[index]
        name = sink_name(index, sink)
        before = job.watches.get(index)

        def lowered(*, real_time: bool) -> tuple[Lowering, Watch, DataFrame]:
            to = work.lowering(index, streaming=True, real_time=real_time)
            watch = Watch(work.spark, to, None if before is None else before.metrics, work.report)
            return to, watch, lower(sink, to)

        real_time = not once and not self._backlog.worked_off and work.may_be_in_real_time(index)
        to, watch, rows = lowered(real_time=real_time)
        if real_time and not work.in_real_time(index, to):
            real_time = False
            to, watch, rows = lowered(real_time=False)
        mode = "update" if in_update_mode(sink) else "append"
        job.real_time = job.real_time or real_time
        frame = watch.counted(rows, real_time=real_time)
        write_record(job.folder, name, frame, mode, sink)
        marked = real_time and work.takes_back(index)
        write = replace(work.write(index, frame), watermark=to.reached, pause=to.pause if real_time else None, marked=marked)
        if marked:
            uncommitted.mark(job, index, name)
        started = job.folder / STARTED / name
        if started.exists():
            work.tell_if_gone(index)
        writer = find_connector(sink.table.connector).write_stream(write)
        # A query without state is the same in both modes, and real time has the one alone.
        writer = writer.outputMode("update" if real_time else mode)
        writer = writer.option("checkpointLocation", storage.uri(job.checkpoint / name))
        writer = writer.queryName(f"{job.name}/{name}/{job.id[:8]}")
        if once:
            writer = writer.trigger(availableNow=True)
        elif real_time:
            writer = writer.trigger(realTime=f"{max(settings.trigger_ms or _REAL_TIME_MS, _SHORTEST_MS)} milliseconds")  # type: ignore[call-overload]
        elif settings.trigger_ms and not self._backlog.worked_off:
            writer = writer.trigger(processingTime=f"{settings.trigger_ms} milliseconds")
        with _retaining(work.spark, settings.retained):
            query = writer.start()
        job.query_ids.add(query.id)
        if not started.exists():
            storage.write(started, f"{query.id}\n")
        watch.follow(query)
        job.watches[index] = watch
        return query

    def run_once(self) -> None:
        """Run them from where they are up to what their sources have now."""
        self.start(once=True)
        if self._work.job.machine.stopping.is_set():
            self._work.job.end_queries()
        self.wait(threading.Event())
        self.end_watches()

    def wait(self, left: threading.Event) -> None:
        """Wait for all queries, the first that fails ends the others, or until it is ``left``."""
        work, job = self._work, self._work.job
        waiting = list(job.queries)
        noted, lacked = 0.0, -_AGAIN_SECONDS
        while waiting and not left.is_set():
            if time.monotonic() - noted > 1:
                metrics = job.sampled()
                job.check_held()
                work.tell_if_replaced()
                work.letters.write()
                if (why := self._why_another_mode(metrics)) is not None:
                    waiting = self._in_another_mode(why)
                noted = time.monotonic()
            try:
                waiting = [q for q in waiting if not q.awaitTermination(0.2 / len(waiting))]  # type: ignore[arg-type]
            except Exception as error:
                if work.failed is None and lacks_slots(error) and time.monotonic() - lacked > _AGAIN_SECONDS:
                    # Spark begins no micro-batch in real time whose tasks can't all run at once.
                    lacked = time.monotonic()
                    waiting = self._in_another_mode(_TOO_FEW)
                else:
                    raise work.failed or error  # noqa: B904 # it is the same, with all that is known of it
        if not waiting:
            work.letters.write()

    def _why_another_mode(self, metrics: JobMetrics) -> str | None:
        """Why the queries are to go on by micro-batches, or in real time again; None where they stay as they are. It is noted."""
        work = self._work
        if not work.has_slots():
            return _TOO_FEW
        keeping = [metrics.queries[i] for i in work.streams if stateful(work.job.sinks[i])]
        if not self._backlog.turns(keeping, time.monotonic()):
            return None
        if self._backlog.worked_off:
            return f"is {metrics.lag:,} records behind: micro-batches catch up sooner, after which it goes on in real time"
        return "has caught up, and goes on in real time"

    def _in_another_mode(self, why: str) -> list[StreamingQuery]:
        """Go on by micro-batches, or in real time: the queries that run come back."""
        work, job = self._work, self._work.job
        work.notify(f"Job '{short_name(job.name)}' {why}.")
        self.stop_between()
        self.start(once=False)
        if job.machine.stopping.is_set():
            job.end_queries()
        return list(job.queries)

    def stop_between(self) -> None:
        """Stop each between two micro-batches."""
        self._work.job.await_pause()
        for query in self._work.job.queries:
            query.stop()
        self.end_watches()

    def end_watches(self) -> None:
        """Their figures are what they are now."""
        for watch in self._work.job.watches.values():
            if isinstance(watch, Watch):
                watch.end()
