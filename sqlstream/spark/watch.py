"""A query of a job as it is watched: samples taken from its JVM, folded into its figures."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from sqlstream.metrics import QueryMetrics, read_whole, sampled, sampled_in_batch
from sqlstream.spark.operators import QueryWatch, sample_of_group

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sqlstream.spark.lower import Lowering


# Between two samples of a query in batch mode.
EVERY_SECONDS = 1.0


class Watch:
    """Figures of one query, from its frame on. ``metrics`` are the latest; ``sample`` asks the JVM for newer ones."""

    def __init__(self, spark: SparkSession, to: Lowering) -> None:
        """``to``: how its frame is made."""
        self.metrics = QueryMetrics()
        self._watch = to.watch = QueryWatch(spark)
        self._tables = to.watermarks
        self._query: StreamingQuery | None = None
        self._lock = threading.Lock()

    def counted(self, frame: DataFrame) -> DataFrame:
        """``frame``, which goes to the sink, in a form that is counted."""
        return self._watch.counted(frame)

    def follow(self, query: StreamingQuery) -> None:
        """The query has started."""
        self._query = query

    def sample(self, *, look: bool = False) -> QueryMetrics:
        """The figures as they are now. ``look``: brokers are asked for partitions that are not read yet."""
        from py4j.protocol import Py4JError

        with self._lock:
            if self._query is not None:
                try:
                    sample = self._watch.sample(self._query, self.metrics.since, look=look)
                except (Py4JError, OSError):
                    # The JVM ends: what was known stays.
                    return self.metrics
                self.metrics = sampled(self.metrics, sample, self._tables)
            return self.metrics

    def end(self) -> None:
        """The query has ended: a last look, for its JVM may go."""
        self.sample()
        with self._lock:
            self._query = None


class BatchQuery:
    """A query in batch mode, with its figures: its work is a job group of Spark's, ``group``, and writes ``frame``."""

    def __init__(self, spark: SparkSession, group: str, frame: DataFrame) -> None:
        self.metrics = QueryMetrics(rows_out=None)
        self._spark = spark
        self.group = group
        self._frame = frame
        self._ended = False
        self._lock = threading.Lock()

    def run(self, write: Callable[[], None], told: Callable[[QueryMetrics], None] = lambda metrics: None) -> None:
        """Call ``write``, which writes the frame, taking samples meanwhile: ``told`` hears of them."""
        self._spark.sparkContext.setJobGroup(self.group, self.group, interruptOnCancel=True)
        over = threading.Event()

        def look() -> None:
            while not over.wait(EVERY_SECONDS):
                told(self.sample())

        looking = threading.Thread(target=look, name="samples", daemon=True)
        looking.start()
        try:
            write()
        finally:
            over.set()
            looking.join()
            self.sample()
            with self._lock:
                self._ended = True
        self.metrics = read_whole(self.metrics)

    def stop(self) -> None:
        """End the work, from another thread: ``run`` fails."""
        self._spark.sparkContext.cancelJobGroup(self.group)

    def sample(self, *, look: bool = False) -> QueryMetrics:
        """The figures as they are now; ``look`` is for those of streams."""
        from py4j.protocol import Py4JError

        with self._lock, suppress(Py4JError, OSError):  # where the JVM ends what was known stays
            if not self._ended:
                self.metrics = sampled_in_batch(self.metrics, sample_of_group(self._spark, self.group, self._frame))
        return self.metrics
