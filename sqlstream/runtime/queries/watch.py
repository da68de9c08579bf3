"""A query of a job as it is watched: samples taken from its JVM, folded into its figures."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlstream.runtime.engine.failures import answered_error
from sqlstream.runtime.lower.query_watch import QueryWatch, sample_of_group
from sqlstream.runtime.monitor.metrics import QueryMetrics, continued, read_whole, sampled, sampled_in_batch

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sqlstream.runtime.lower.context import Lowering


# Between two samples of a query in batch mode.
EVERY_SECONDS = 1.0
_LOOK_SECONDS = 0.002
# How often a stopped query is cancelled again: Spark cancels only work that has begun.
_STOP_SECONDS = 0.2


class Watch:
    """Figures of one query, from its frame on. ``metrics`` are the latest; ``sample`` asks the JVM for newer ones."""

    def __init__(
        self, spark: SparkSession, to: Lowering, before: QueryMetrics | None = None, report: Callable[[QueryMetrics], None] = lambda metrics: None
    ) -> None:
        """``to``: how its frame is made; ``before``: its figures so far if its job restarts it; ``report`` hears of a failed sample, once."""
        self._metrics = QueryMetrics()
        self._before = before
        self._report = report
        self._watch = to.watch = QueryWatch(spark)
        self._tables = to.watermarks
        self._query: StreamingQuery | None = None
        self._lock = threading.Lock()
        self.real_time = False

    @property
    def metrics(self) -> QueryMetrics:
        return self._metrics if self._before is None else continued(self._before, self._metrics)

    def counted(self, frame: DataFrame, *, real_time: bool = False) -> DataFrame:
        """``frame``, which goes to the sink, in a form that is counted; in real time each row at once."""
        self.real_time = real_time
        return self._watch.counted(frame, real_time=real_time)

    def partitions(self) -> int:
        """How many partitions of topics it reads, as far as it knows by now."""
        return self._watch.partitions()

    def follow(self, query: StreamingQuery) -> None:
        """The query has started."""
        self._query = query

    def sample(self, *, look: bool = False) -> QueryMetrics:
        """The figures as they are now, or as they were when a sample last succeeded. ``look``: brokers are asked for partitions not read yet."""
        with self._lock:
            if (query := self._query) is not None:
                self._metrics = _resampled(self._metrics, lambda known: self._sampled(query, known, look=look), self._report)
            return self.metrics

    def _sampled(self, query: StreamingQuery, known: QueryMetrics, *, look: bool) -> QueryMetrics:
        return sampled(known, self._watch.sample(query, known.since, look=look), self._tables)

    def end(self) -> None:
        """The query has ended: a last look, for its JVM may go."""
        self.sample()
        with self._lock:
            self._query = None


def _resampled(known: QueryMetrics, sample: Callable[[QueryMetrics], QueryMetrics], report: Callable[[QueryMetrics], None]) -> QueryMetrics:
    """``known`` with a further sample; unchanged where the JVM ends. Another error is kept with them, and reported when it is new."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return replace(sample(known), failure=None)
    except (Py4JError, PySparkException, OSError) as error:
        failure = answered_error(error)
    if failure is None or failure == known.failure:
        return known
    failed = replace(known, failure=failure)
    report(failed)
    return failed


def await_pause(query: StreamingQuery, seconds: float) -> None:
    """Wait until no micro-batch of ``query`` runs, or one has just ended, but no longer than so."""
    running, end = query._jsq, time.monotonic() + seconds
    number = _last_batch(running)
    while running.status().isTriggerActive() and _last_batch(running) == number and time.monotonic() < end:
        time.sleep(_LOOK_SECONDS)


def _last_batch(query: Any) -> int:
    progress = query.lastProgress()
    return -1 if progress is None else int(progress.batchId())


class BatchQuery:
    """A query in batch mode, with its figures: its work is a job group of Spark's, ``group``."""

    def __init__(self, spark: SparkSession, group: str, report: Callable[[QueryMetrics], None] = lambda metrics: None, *, reads: bool = True) -> None:
        """``report`` hears of a failed sample, once. ``reads``: whether it has rows of tables, and not of VALUES alone."""
        self.metrics = QueryMetrics(rows_out=None)
        self._report = report
        self._spark = spark
        self._reads = reads
        self.group = group
        self._frame: DataFrame | None = None
        self._stopped = threading.Event()
        self._lock = threading.Lock()

    def run(self, frame: DataFrame, write: Callable[[], None], report: Callable[[QueryMetrics], None] = lambda metrics: None) -> None:
        """Call ``write``, which writes ``frame``, taking samples meanwhile: ``report`` hears of them. Fails after ``stop``."""
        self._frame = frame
        self._spark.sparkContext.setJobGroup(self.group, self.group, interruptOnCancel=True)
        over = threading.Event()

        def look() -> None:
            due = time.monotonic() + EVERY_SECONDS
            while not over.wait(_STOP_SECONDS):
                if self._stopped.is_set():
                    self._cancel()
                if time.monotonic() >= due:
                    due = time.monotonic() + EVERY_SECONDS
                    report(self.sample())

        looking = threading.Thread(target=look, name="samples", daemon=True)
        looking.start()
        try:
            write()
        finally:
            over.set()
            looking.join()
            self._sample(ended=True)
            with self._lock:
                self._frame = None
        # A connection that breaks off looks like the end of the rows.
        self._spark.sparkContext._jsc.sc().isStopped()
        self.metrics = read_whole(self.metrics)

    def stop(self) -> None:
        """End the work, from another thread, including what has not begun: ``run`` fails."""
        self._stopped.set()
        self._cancel()

    def _cancel(self) -> None:
        from py4j.protocol import Py4JError

        with suppress(Py4JError, OSError):  # where the JVM ends so does the work
            self._spark.sparkContext.cancelJobGroup(self.group)

    def sample(self, *, look: bool = False) -> QueryMetrics:
        """The figures as they are now, or as they were when a sample last succeeded; ``look`` is for those of streams."""
        return self._sample(ended=False)

    def _sample(self, *, ended: bool) -> QueryMetrics:
        with self._lock:
            if (frame := self._frame) is not None:
                self.metrics = _resampled(self.metrics, lambda known: self._sampled(frame, known, ended), self._report)
        return self.metrics

    def _sampled(self, frame: DataFrame, known: QueryMetrics, ended: bool) -> QueryMetrics:
        sample = sample_of_group(self._spark, self.group, frame, ended=ended)
        return sampled_in_batch(known, sample if self._reads else {**sample, "rows": 0})
