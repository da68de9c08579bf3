"""The events themselves, made by Spark: proportions, ids, ranges, and the same again on every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.nexmark.connector import SCHEMA, EventSettings, Nexmark, events
from sqlstream.connectors.base import Read
from sqlstream.sql.tables import ObjectPath, PhysicalColumn, Table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

pytestmark = pytest.mark.spark

COUNT = 10_000
START = 1_436_918_400_000


@pytest.fixture(scope="module")
def made(spark):
    frame = events(spark.range(0, COUNT), EventSettings(), START).cache()
    yield frame
    frame.unpersist()


def one(frame, *expressions: str):
    return tuple(frame.selectExpr(*expressions).first())


def test_columns_are_the_declared_ones(made, spark) -> None:
    declared = spark.createDataFrame([], ", ".join(f"{n} {t.spark}" for n, t in SCHEMA))
    assert [(f.name, f.dataType.simpleString()) for f in made.schema] == [(f.name, f.dataType.simpleString()) for f in declared.schema]


def test_proportions_and_one_row_of_three(made) -> None:
    counts = {r["event_type"]: r["count"] for r in made.groupBy("event_type").count().collect()}
    assert counts == {0: COUNT // 50, 1: COUNT * 3 // 50, 2: COUNT * 46 // 50}
    filled = "CONCAT(INT(person IS NOT NULL), INT(auction IS NOT NULL), INT(bid IS NOT NULL))"
    expected = "CASE event_type WHEN 0 THEN '100' WHEN 1 THEN '010' ELSE '001' END"
    assert one(made, f"bool_and({filled} = {expected})") == (True,)


def test_ids_count_up_from_1000(made) -> None:
    people, items = COUNT // 50, COUNT * 3 // 50
    assert one(made, "min(person.id)", "max(person.id)", "count(DISTINCT person.id)") == (1000, 999 + people, people)
    assert one(made, "min(auction.id)", "max(auction.id)", "count(DISTINCT auction.id)") == (1000, 999 + items, items)


def test_references_are_near_what_exists(made) -> None:
    people, items = COUNT // 50, COUNT * 3 // 50
    low, high = one(made, "min(bid.auction)", "max(bid.auction)")
    assert low == 1000 and items + 900 < high <= 1000 + items + 10
    low, high = one(made, "min(bid.bidder)", "max(bid.bidder)")
    assert low >= 1000 and high <= 1000 + people + 10
    low, high = one(made, "min(auction.seller)", "max(auction.seller)")
    assert low >= 1000 and high <= 1000 + people + 10


def test_hot_ones(made) -> None:
    auctions, bidders, sellers, channels = one(
        made,
        "avg(int(bid.auction % 100 = 0))",
        "avg(int(bid.bidder % 100 = 1))",
        "avg(int(auction.seller % 100 = 0))",
        "avg(int(bid.channel IN ('Google', 'Facebook', 'Baidu', 'Apple')))",
    )
    assert 0.48 < auctions < 0.53
    assert 0.73 < bidders < 0.78
    assert 0.68 < sellers < 0.82
    assert 0.48 < channels < 0.52


def test_values(made) -> None:
    low, high, median = one(made, "min(bid.price)", "max(bid.price)", "percentile(bid.price, 0.5)")
    assert 100 <= low < 200 and 50_000_000 < high <= 100_000_000 and 50_000 < median < 200_000
    assert one(made, "min(auction.category)", "max(auction.category)") == (10, 14)
    assert one(made, "min(auction.reserve - auction.initialBid) >= 100") == (True,)
    url = r"r'^https://www\.nexmark\.com/[a-z]{5}/[a-z]{5}/[a-z]{5}/item\.htm\?query=1(&channel_id=\d+)?$'"
    named = "bid.channel IN ('Google', 'Facebook', 'Baidu', 'Apple')"
    assert made.where(f"NOT bid.url RLIKE {url}").count() == 0
    assert made.where(f"NOT ({named} OR bid.channel RLIKE '^channel-[0-9]{{1,4}}$')").count() == 0
    assert made.where(f"{named} AND bid.url LIKE '%channel_id%'").count() == 0
    share = one(made.where(f"NOT {named}"), "avg(int(bid.url LIKE '%&channel_id=%'))")[0]
    assert 0.87 < share < 0.93
    assert made.where("NOT person.creditCard RLIKE '^[0-9]{4}( [0-9]{4}){3}$'").count() == 0
    assert made.where("NOT person.emailAddress RLIKE '^[a-z]{7}@[a-z]{5}[.]com$'").count() == 0
    assert one(made, "count(DISTINCT person.state)", "count(DISTINCT person.city)") == (6, 10)


def test_sizes_are_near_the_average(made) -> None:
    assert 95 < one(made, "avg(32 + length(bid.extra))")[0] < 105
    words = "length(auction.itemName) + length(auction.description)"
    assert 480 < one(made, f"avg(48 + {words} + length(auction.extra))")[0] < 520


def test_time_runs_at_the_event_rate(made) -> None:
    stamp = "unix_millis(coalesce(person.dateTime, auction.dateTime, bid.dateTime))"
    assert one(made, f"min({stamp})", f"max({stamp})") == (START, START + (COUNT - 1) // 10)
    assert one(made, "bool_and(auction.expires > auction.dateTime)") == (True,)


@pytest.mark.parametrize("sine", [False, True])
def test_a_changing_rate_keeps_time_going_forward(spark, sine) -> None:
    shape = EventSettings(first_rate=100, next_rate=1000, sine=sine, period_ms=20_000)
    stamp = "unix_millis(coalesce(person.dateTime, auction.dateTime, bid.dateTime))"
    stamps = [r[0] - START for r in events(spark.range(0, 30_000), shape, START).selectExpr(stamp).collect()]
    assert stamps == sorted(stamps)
    first, later = (sum(begin <= s < begin + 1000 for s in stamps) for begin in (0, 11_000))
    assert 98 <= first <= 102 and later > 900


def test_the_same_again(spark, made) -> None:
    again = events(spark.range(0, COUNT, 1, 7), EventSettings(), START)
    assert one(made, "sum(hash(*))") == one(again, "sum(hash(*))")
    assert one(made, "count(DISTINCT bid.extra) > 8000") == (True,)


def request(spark, tmp_path: Path, streaming: bool, **options: str) -> Read:
    columns = tuple(PhysicalColumn(name, type_) for name, type_ in SCHEMA)
    written = {"connector": "nexmark"} | {k.replace("__", ".").replace("_", "-"): v for k, v in options.items()}
    table = Table(ObjectPath("c", "d", "t"), columns, written)
    return Read(spark, table, streaming, False, "nexmark_test", "UTC", tmp_path, tmp_path / "state")


def test_a_bounded_table_is_static(spark, tmp_path: Path) -> None:
    frame = Nexmark().read(request(spark, tmp_path, True, events__num="500")).frame
    assert not frame.isStreaming
    assert frame.count() == 500


@pytest.mark.parametrize("speed", ["true", "false"])
def test_an_endless_table_goes_on_where_it_stopped(spark, tmp_path: Path, speed: str) -> None:
    # By micro-batch: a stop may come between the rows of one and its commit; then it runs again.
    batches: dict[int, list[int]] = {}

    def total() -> int:
        return sum(map(len, batches.values()))

    def take(batch: DataFrame, number: int) -> None:
        batches[number] = [r[0] for r in batch.collect()]

    def run(more: int) -> None:
        frame = Nexmark().read(request(spark, tmp_path, True, max_emit_speed=speed, next_event__rate="1000")).frame
        assert frame.isStreaming
        query = (
            frame.where("event_type = 0")
            .selectExpr("person.id")
            .writeStream.foreachBatch(take)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .start()
        )
        wanted = total() + more
        while total() < wanted and query.isActive:
            query.awaitTermination(1)
        query.stop()

    run(10)
    run(10)
    assert sorted(i for ids in batches.values() for i in ids) == list(range(1000, 1000 + total()))
