"""Rows of a key in time order: what comes out in which micro-batch, after a restart too, and with more rows than a state entry holds."""

from __future__ import annotations

import pytest

from sqlstream.runtime.lower.operators import time_sort
from sqlstream.runtime.lower.watermarks import SourceWatermark
from tests.support.sessions import feed

pytestmark = pytest.mark.spark


class Sorting:
    """Rows ``(seconds, name)`` sorted by them, under the watermark of their greatest time less 10 seconds."""

    def __init__(self, spark, folder) -> None:
        self.spark, self.folder = spark, folder
        self.given: list[list[tuple[int, str]]] = []
        (folder / "in").mkdir()
        self.start()

    def start(self) -> None:
        frame = self.spark.readStream.name("rows").schema("seconds DECIMAL(10, 3), name STRING").json(str(self.folder / "in"))
        frame = frame.selectExpr("timestamp_seconds(seconds) AS at", "name", "timestamp_seconds(seconds - 10) AS mark", "0 AS split")
        ordered = time_sort(SourceWatermark(self.spark, 1).attach(frame, "mark", "split").select("at", "name").orderBy("at", "name"))
        rows = ordered.selectExpr("unix_seconds(at) AS seconds", "name")

        def give(batch, _) -> None:
            if found := [(r.seconds, r.name) for r in batch.collect()]:
                self.given.append(found)

        self.query = rows.writeStream.foreachBatch(give).option("checkpointLocation", str(self.folder / "checkpoint")).start()

    def feed(self, *rows: tuple[float, str]) -> list[tuple[int, str]]:
        self.given.clear()
        feed(self.folder / "in", *({"seconds": s, "name": n} for s, n in rows))
        self.query.processAllAvailable()
        return [r for rows in self.given for r in rows]


@pytest.fixture
def sorting(spark, tmp_path):
    found = Sorting(spark, tmp_path)
    yield found
    found.query.stop()


def test_rows_come_out_when_the_watermark_has_reached_their_time(sorting) -> None:
    assert sorting.feed((12, "b"), (3, "a"), (20, "c"), (10, "z"), (10, "y")) == [(3, "a"), (10, "y"), (10, "z")]
    assert sorting.feed((11, "in time"), (10, "late"), (21, "d")) == [(11, "in time")]
    sorting.query.stop()
    sorting.start()
    assert sorting.feed((22, "e")) == [(12, "b")]
    assert sorting.feed((12, "late"), (40, "f"), (12, "later")) == [(20, "c"), (21, "d"), (22, "e")]


def test_a_row_that_comes_just_behind_the_watermark(sorting) -> None:
    assert sorting.feed((20, "a")) == []
    # The watermark, 10, is known when this one comes; nothing else comes in its micro-batch.
    assert sorting.feed((10.001, "b")) == []
    assert sorting.feed((25, "c")) == [(10, "b")]


def test_more_rows_than_one_entry_of_the_state_holds(sorting) -> None:
    # Rows of 10 seconds in no order: all wait, in several runs that overlap.
    rows = [(1000 + i * 7919 % 10, f"{i:030}") for i in range(6000)]
    assert sorting.feed(*rows[:2000]) == sorting.feed(*rows[2000:4000]) == sorting.feed(*rows[4000:]) == []
    half = sorting.feed((1015, "x"))
    assert half == sorted(r for r in rows if r[0] <= 1005)
    sorting.query.stop()
    sorting.start()
    assert sorting.feed((1007, "y"), (1014, "y"), (2000, "z")) == sorted(set(rows) - set(half) | {(1007, "y"), (1014, "y"), (1015, "x")})
