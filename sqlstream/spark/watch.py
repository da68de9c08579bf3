"""A query of a job as it is watched: samples taken from its JVM, folded into its figures."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from sqlstream.metrics import QueryMetrics, sampled
from sqlstream.spark.operators import QueryWatch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sqlstream.spark.lower import Lowering


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

    def sample(self) -> QueryMetrics:
        """The figures as they are now."""
        from py4j.protocol import Py4JError

        with self._lock:
            if self._query is not None:
                try:
                    sample = self._watch.sample(self._query, self.metrics.since)
                except (Py4JError, OSError):
                    # The JVM ends: what was known stays.
                    return self.metrics
                self.metrics = sampled(self.metrics, sample, [(one.table, one.splits) for one in self._tables])
            return self.metrics

    def end(self) -> None:
        """The query has ended: a last look, for its JVM may go."""
        self.sample()
        with self._lock:
            self._query = None
