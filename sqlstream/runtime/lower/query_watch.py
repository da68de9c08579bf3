"""What a running query reports to whoever watches it: counted rows, watermarks, sources (Java's package ``monitor``)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlstream.core.java import classes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sqlstream.runtime.lower.watermarks import SourceWatermark


class QueryWatch:
    """What can be observed of a query from outside while it runs. It counts the rows that go through one frame, ``counted``."""

    def __init__(self, spark: SparkSession) -> None:
        assert spark._jvm is not None
        self._spark = spark
        self._rows = classes(spark).monitor.QueryRows(spark.sparkContext._jsc.sc())
        self._times = spark._jvm.java.util.ArrayList()
        self._topics = spark._jvm.java.util.ArrayList()

    def counted(self, frame: DataFrame, *, real_time: bool) -> DataFrame:
        """``frame``, that which goes to the sink: its rows are counted, and those around its filters; in real time each at once."""
        from pyspark.sql import DataFrame

        return DataFrame(self._rows.counted(frame._jdf, real_time), self._spark)

    def add(self, watermark: SourceWatermark) -> None:
        """Look at a watermark of the query, too."""
        self._times.add(watermark._jvm)

    def add_topics(self, topics: Any) -> None:
        """Look at a source of the query, Java's KafkaTopics, too."""
        self._topics.add(topics)

    def partitions(self) -> int:
        """How many partitions its topics have that are read."""
        return sum(topics.size() for topics in self._topics)

    def sample(self, query: StreamingQuery, after: str, *, look: bool) -> Any:
        """What QuerySamples.of says of a run of the query and of its micro-batches that began after ``after``, a timestamp; ``look`` is passed on."""
        return json.loads(classes(self._spark).monitor.QuerySamples.of(query._jsq, self._rows, self._times, self._topics, after, look))


def sample_of_group(spark: SparkSession, group: str, frame: DataFrame, *, ended: bool) -> Any:
    """The answer of QuerySamples.ofGroup for the work of a job group, which writes ``frame``; ``ended``: it is over, and counted whole."""
    return json.loads(classes(spark).monitor.QuerySamples.ofGroup(group, frame._jdf, ended))
