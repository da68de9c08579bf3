"""The queries as a PySpark programmer writes them: what sqlstream is measured against.

``python -m benchmarks.nexmark.handwritten JSON``: runs what the JSON argument says and prints a line ``RESULT {...}``
for each query. Its time is from the first call that builds the query to the end of ``awaitTermination``.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from sqlstream.connectors.nexmark import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

EVENT = ", ".join(f"{name} {type_.spark}" for name, type_ in SCHEMA)


def bids(spark: SparkSession, bootstrap: str, topic: str) -> DataFrame:
    """The bids of a topic."""
    records = (
        spark.readStream.name("nexmark")
        .format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
    )
    events = records.select(F.from_json(F.col("value").cast("string"), EVENT).alias("event")).select("event.*")
    return events.where("event_type = 2").select("bid.*")


def q0(bid: DataFrame) -> DataFrame:
    return bid.select("auction", "bidder", "price", "dateTime", "extra")


def q1(bid: DataFrame) -> DataFrame:
    price = (F.lit(0.908).cast("decimal(3,3)") * F.col("price")).cast("decimal(23,3)")
    return bid.select("auction", "bidder", price.alias("price"), "dateTime", "extra")


def q2(bid: DataFrame) -> DataFrame:
    return bid.where("auction % 123 = 0").select("auction", "price")


def q14(bid: DataFrame) -> DataFrame:
    price = (F.lit(0.908).cast("decimal(3,3)") * F.col("price")).cast("decimal(23,3)")
    hour = F.hour("dateTime")
    kind = F.when((hour >= 8) & (hour <= 18), "dayTime").when((hour <= 6) | (hour >= 20), "nightTime")
    letters = F.length("extra") - F.length(F.replace("extra", F.lit("c"), F.lit("")))
    named = (price.alias("price"), kind.otherwise("otherTime").alias("bidTimeType"))
    return bid.where((price > 1000000) & (price < 50000000)).select(
        "auction", "bidder", *named, "dateTime", "extra", letters.cast("bigint").alias("c_counts")
    )


def q21(bid: DataFrame) -> DataFrame:
    channel = F.lower("channel")
    in_url = F.regexp_extract("url", "(&|^)channel_id=([^&]*)", 2)
    names = ("apple", "google", "facebook", "baidu")
    by_name = F.when(channel == names[0], "0")
    for number, name in enumerate(names[1:], 1):
        by_name = by_name.when(channel == name, str(number))
    return bid.where((in_url != "") | channel.isin(*names)).select(
        "auction", "bidder", "price", "channel", by_name.otherwise(in_url).alias("channel_id")
    )


def q22(bid: DataFrame) -> DataFrame:
    parts = F.split("url", "/")
    return bid.select("auction", "bidder", "price", "channel", *(parts[i + 2].alias(f"dir{i}") for i in (1, 2, 3)))


def count_by_bidder(bid: DataFrame) -> DataFrame:
    timed = bid.withWatermark("dateTime", "4 seconds")
    windows = timed.groupBy("bidder", F.window("dateTime", "10 seconds"))
    start, end = F.col("window.start").alias("window_start"), F.col("window.end").alias("window_end")
    return windows.agg(F.count("*").alias("bids")).select("bidder", start, end, "bids")


QUERIES: dict[str, Callable[[DataFrame], DataFrame]] = {
    f.__name__: f for f in (q0, q1, q2, q14, q21, q22, count_by_bidder)
}


def run(spark: SparkSession, query: str, bootstrap: str, topic: str, rows: str | None) -> float:
    """Run ``query`` over all of ``topic``, its rows into nothing or the folder ``rows``; the seconds come back."""
    with tempfile.TemporaryDirectory() as checkpoint:
        began = time.monotonic()
        writer = QUERIES[query](bids(spark, bootstrap, topic)).writeStream.outputMode("append")
        if rows is None:
            writer = writer.format("noop")
        else:
            writer = writer.format("json").option("path", rows).option("timestampFormat", "yyyy-MM-dd HH:mm:ss.SSS")
        writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()
        return time.monotonic() - began


def main(argument: str) -> None:
    from benchmarks.nexmark.settings import session

    wanted = json.loads(argument)
    spark = session()
    for step in wanted["steps"]:
        for query in step["queries"]:
            rows = f"{wanted['rows']}/{query}" if wanted["rows"] else None
            seconds = run(spark, query, wanted["bootstrap"], step["topic"], rows)
            print("RESULT", json.dumps({"query": query, "topic": step["topic"], "seconds": seconds}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
