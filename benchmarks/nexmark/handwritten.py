"""The queries as a PySpark programmer writes them: what sqlstream is measured against.

``python -m benchmarks.nexmark.handwritten JSON``: runs what the JSON argument says and prints a line ``RESULT {...}``
for each query. Its time is from the first call that builds the query to the end of ``awaitTermination``.
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from benchmarks.nexmark.connector import SCHEMA
from benchmarks.nexmark.scripts import UPDATING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame, SparkSession

EVENT = ", ".join(f"{name} {type_.spark}" for name, type_ in SCHEMA)


class Topic:
    """The three streams of a topic."""

    def __init__(self, spark: SparkSession, bootstrap: str, topic: str) -> None:
        self._given = spark, bootstrap, topic

    def stream(self, name: str, kind: int) -> DataFrame:
        """A scan of its own of the events of one kind."""
        return events(*self._given).where(f"event_type = {kind}").select(f"{name}.*")

    @property
    def bid(self) -> DataFrame:
        return self.stream("bid", 2)


def events(spark: SparkSession, bootstrap: str, topic: str) -> DataFrame:
    """The events of a topic."""
    records = (
        spark.readStream.name(f"nexmark_{next(_SCANS)}")
        .format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
    )
    return records.select(F.from_json(F.col("value").cast("string"), EVENT).alias("event")).select("event.*")


def q0(topic: Topic) -> DataFrame:
    return topic.bid.select("auction", "bidder", "price", "dateTime", "extra")


def q1(topic: Topic) -> DataFrame:
    price = (F.lit(0.908).cast("decimal(3,3)") * F.col("price")).cast("decimal(23,3)")
    return topic.bid.select("auction", "bidder", price.alias("price"), "dateTime", "extra")


def q2(topic: Topic) -> DataFrame:
    return topic.bid.where("auction % 123 = 0").select("auction", "price")


def q14(topic: Topic) -> DataFrame:
    price = (F.lit(0.908).cast("decimal(3,3)") * F.col("price")).cast("decimal(23,3)")
    hour = F.hour("dateTime")
    kind = F.when((hour >= 8) & (hour <= 18), "dayTime").when((hour <= 6) | (hour >= 20), "nightTime")
    letters = F.length("extra") - F.length(F.replace("extra", F.lit("c"), F.lit("")))
    named = (price.alias("price"), kind.otherwise("otherTime").alias("bidTimeType"))
    return topic.bid.where((price > 1000000) & (price < 50000000)).select(
        "auction", "bidder", *named, "dateTime", "extra", letters.cast("bigint").alias("c_counts")
    )


def q21(topic: Topic) -> DataFrame:
    channel = F.lower("channel")
    in_url = F.regexp_extract("url", "(&|^)channel_id=([^&]*)", 2)
    names = ("apple", "google", "facebook", "baidu")
    by_name = F.when(channel == names[0], "0")
    for number, name in enumerate(names[1:], 1):
        by_name = by_name.when(channel == name, str(number))
    return topic.bid.where((in_url != "") | channel.isin(*names)).select(
        "auction", "bidder", "price", "channel", by_name.otherwise(in_url).alias("channel_id")
    )


def q22(topic: Topic) -> DataFrame:
    parts = F.split("url", "/")
    return topic.bid.select("auction", "bidder", "price", "channel", *(parts[i + 2].alias(f"dir{i}") for i in (1, 2, 3)))


def count_by_bidder(topic: Topic) -> DataFrame:
    timed = topic.bid.withWatermark("dateTime", "4 seconds")
    windows = timed.groupBy("bidder", F.window("dateTime", "10 seconds"))
    start, end = F.col("window.start").alias("window_start"), F.col("window.end").alias("window_end")
    return windows.agg(F.count("*").alias("bids")).select("bidder", start, end, "bids")


def _counts(topic: Topic) -> DataFrame:
    bid = topic.bid.withWatermark("dateTime", "4 seconds")
    return bid.groupBy("auction", F.window("dateTime", "10 seconds", "2 seconds")).agg(F.count("*").alias("num"))


def count_by_10k(topic: Topic) -> DataFrame:
    return _count_by(topic, 10_000)


def count_by_1m(topic: Topic) -> DataFrame:
    return _count_by(topic, 1_000_000)


def _count_by(topic: Topic, keys: int) -> DataFrame:
    timed = topic.bid.withWatermark("dateTime", "4 seconds")
    windows = timed.groupBy((F.col("price") % keys).alias("k"), F.window("dateTime", "10 seconds"))
    start, end = F.col("window.start").alias("window_start"), F.col("window.end").alias("window_end")
    return windows.agg(F.count("*").alias("bids")).select("k", start, end, "bids")


def q3(topic: Topic) -> DataFrame:
    person = topic.stream("person", 0).where("state IN ('OR', 'ID', 'CA')").withColumnRenamed("id", "person")
    auction = topic.stream("auction", 1).where("category = 10")
    return auction.join(person, F.col("seller") == F.col("person")).select("name", "city", "state", "id")


def q5(topic: Topic) -> DataFrame:
    most = _counts(topic).groupBy("window").agg(F.max("num").alias("maxn"))
    return _counts(topic).join(most, "window").where("num >= maxn").select("auction", "num")


def q7(topic: Topic) -> DataFrame:
    bid = topic.bid.withWatermark("dateTime", "4 seconds")
    most = bid.groupBy(F.window("dateTime", "10 seconds")).agg(F.max("price").alias("maxprice"))
    ends = most.select("maxprice", F.col("window.end").alias("ends"))
    other = topic.bid
    matching = (other["price"] == ends["maxprice"]) & other["dateTime"].between(F.expr("ends - INTERVAL 10 SECONDS"), F.col("ends"))
    return other.join(ends, matching).select("auction", "price", "bidder", "dateTime", "extra")


def q8(topic: Topic) -> DataFrame:
    person = topic.stream("person", 0).withWatermark("dateTime", "4 seconds")
    auction = topic.stream("auction", 1).withWatermark("dateTime", "4 seconds")
    new = person.groupBy("id", "name", F.window("dateTime", "10 seconds")).agg(F.lit(1).alias("one"))
    sold = auction.groupBy(F.col("seller").alias("id"), F.window("dateTime", "10 seconds")).agg(F.lit(1).alias("other"))
    return new.join(sold, ["id", "window"]).select("id", "name", F.col("window.start").alias("stime"))


def q11(topic: Topic) -> DataFrame:
    bid = topic.bid.withWatermark("dateTime", "4 seconds")
    counted = bid.groupBy("bidder", F.session_window("dateTime", "10 seconds")).agg(F.count("*").alias("bid_count"))
    return counted.select("bidder", "bid_count", F.col("session_window.start").alias("starttime"), F.col("session_window.end").alias("endtime"))


def q12(topic: Topic) -> DataFrame:
    bid = topic.bid.withColumn("p_time", F.current_timestamp()).withWatermark("p_time", "0 seconds")
    counted = bid.groupBy("bidder", F.window("p_time", "10 seconds")).agg(F.count("*").alias("bid_count"))
    return counted.select("bidder", "bid_count", F.col("window.start").alias("starttime"), F.col("window.end").alias("endtime"))


def _ranks() -> list[Column]:
    """Spark has no streaming COUNT(DISTINCT): the usual way is the size of a set."""
    price = F.col("price")
    ranks = {"total": F.lit(True), "rank1": price < 10000, "rank2": (price >= 10000) & (price < 1000000), "rank3": price >= 1000000}
    bids = [F.count(F.when(where, 1)).alias(f"{rank}_bids") for rank, where in ranks.items()]
    sets = [F.size(F.collect_set(F.when(where, F.col(c)))).alias(f"{rank}_{c}s") for c in ("bidder", "auction") for rank, where in ranks.items()]
    return [*bids, *sets]


def q15(topic: Topic) -> DataFrame:
    return topic.bid.groupBy(F.date_format("dateTime", "yyyy-MM-dd").alias("day")).agg(*_ranks())


def q16(topic: Topic) -> DataFrame:
    keys = ("channel", F.date_format("dateTime", "yyyy-MM-dd").alias("day"))
    return topic.bid.groupBy(*keys).agg(F.max(F.date_format("dateTime", "HH:mm")).alias("minute"), *_ranks())


def q17(topic: Topic) -> DataFrame:
    price = F.col("price")
    ranks = (F.lit(True), price < 10000, (price >= 10000) & (price < 1000000), price >= 1000000)
    names = ("total_bids", "rank1_bids", "rank2_bids", "rank3_bids")
    counts = [F.count_if(where).alias(name) for where, name in zip(ranks, names, strict=True)]
    prices = [F.min(price).alias("min_price"), F.max(price).alias("max_price"), F.avg(price).cast("bigint").alias("avg_price")]
    keys = ("auction", F.date_format("dateTime", "yyyy-MM-dd").alias("day"))
    return topic.bid.groupBy(*keys).agg(*counts, *prices, F.sum(price).alias("sum_price"))


def q18(topic: Topic) -> DataFrame:
    latest = topic.bid.groupBy("bidder", "auction").agg(F.max_by(F.struct(*_BID), "dateTime").alias("bid"))
    return latest.select("bid.*")


def q19(topic: Topic) -> DataFrame:
    highest = topic.bid.groupBy("auction").agg(F.max_by(F.struct(*_BID), "price", 10).alias("bids"))
    return highest.select(F.posexplode("bids").alias("place", "bid")).select("bid.*", (F.col("place") + 1).cast("bigint").alias("rank_number"))


def q20(topic: Topic) -> DataFrame:
    others = ("id", *_AUCTION)
    auction = topic.stream("auction", 1).where("category = 10").select(*others)
    auction = auction.withColumnsRenamed({"dateTime": "auction_dateTime", "extra": "auction_extra"})
    bid = topic.bid.withColumnsRenamed({"dateTime": "bid_dateTime", "extra": "bid_extra"})
    joined = bid.join(auction, F.col("auction") == F.col("id"))
    own = ("auction", "bidder", "price", "channel", "url", "bid_dateTime", "bid_extra")
    return joined.select(*own, *(f"auction_{c}" if c in ("dateTime", "extra") else c for c in _AUCTION))


_BID = ("auction", "bidder", "price", "channel", "url", "dateTime", "extra")
_AUCTION = ("itemName", "description", "initialBid", "reserve", "dateTime", "expires", "seller", "category", "extra")
QUERIES: dict[str, Callable[[Topic], DataFrame]] = {
    f.__name__: f
    for f in (
        q0,
        q1,
        q2,
        q3,
        q5,
        q7,
        q8,
        q11,
        q12,
        q14,
        q15,
        q16,
        q17,
        q18,
        q19,
        q20,
        q21,
        q22,
        count_by_bidder,
        count_by_10k,
        count_by_1m,
    )
}
_SCANS = itertools.count()


def run(spark: SparkSession, query: str, bootstrap: str, topic: str, rows: str | None) -> float:
    """Run ``query`` over all of ``topic``, its rows into nothing or the folder ``rows``; the seconds come back."""
    with tempfile.TemporaryDirectory() as checkpoint:
        began = time.monotonic()
        updating = query in UPDATING
        # All rows each time only where they are looked at.
        mode = "append" if not updating else "update" if rows is None else "complete"
        writer = QUERIES[query](Topic(spark, bootstrap, topic)).writeStream.outputMode(mode)
        if updating and rows is not None:
            writer = writer.foreachBatch(lambda batch, _: batch.coalesce(1).write.mode("overwrite").json(rows))
        elif rows is None:
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
