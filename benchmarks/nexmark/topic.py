"""Fills a topic with Nexmark events: ``python -m benchmarks.nexmark.topic BOOTSTRAP TOPIC EVENTS [TOPIC EVENTS ...]``.

JSON values, no keys. Whole blocks of 50 events go to the partitions in turn, each partition in the order of the events.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from benchmarks.nexmark.connector import EventSettings, events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS = 2
START_MS = 1_436_918_400_000  # 2015-07-15 00:00:00
JSON_OPTIONS = "map('timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSS', 'ignoreNullFields', 'false')"


def fill(spark: SparkSession, bootstrap: str, topic: str, count: int) -> None:
    """Write events 0 to ``count`` (a multiple of 100) into ``topic``, which has PARTITIONS partitions."""
    shape = EventSettings()
    share = count // PARTITIONS
    if count % (PARTITIONS * shape.block):
        raise SystemExit(f"The number of events must be a multiple of {PARTITIONS * shape.block}.")
    # One task writes one partition of the topic: task p has the numbers from p * share on.
    places = spark.range(0, count, 1, PARTITIONS).selectExpr(f"id div {share} AS part", f"id % {share} AS place")
    block = f"(place div {shape.block} * {PARTITIONS} + part) * {shape.block} + place % {shape.block}"
    numbered = places.selectExpr(f"{block} AS id")
    value = f"to_json(struct(*), {JSON_OPTIONS}) AS value"
    made = events(numbered, shape, START_MS).selectExpr("spark_partition_id() AS partition", value)
    writer = made.write.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("topic", topic)
    writer.option("kafka.linger.ms", "20").option("kafka.batch.size", "262144").save()


def watermark(count: int) -> str:
    """The watermark, four seconds late, after ``count`` events, to the second."""
    last = START_MS + count * 1000 // EventSettings().next_rate
    return datetime.fromtimestamp(last / 1000 - 4, UTC).strftime("%Y-%m-%d %H:%M:%S")


def main(argv: list[str]) -> None:
    from benchmarks.nexmark.settings import session

    bootstrap, *rest = argv
    spark = session()
    # The generated method of all three kinds of events is over 8,000 bytes, which the JVM never compiles.
    spark.conf.set("spark.sql.codegen.hugeMethodLimit", "8000")
    for topic, count in zip(rest[::2], rest[1::2], strict=True):
        began = time.monotonic()
        fill(spark, bootstrap, topic, int(count))
        print(f"{topic}: {int(count):,} events in {time.monotonic() - began:.1f} s", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
