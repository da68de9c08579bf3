"""The watermark operator alone: rows and splits in, the watermark of each micro-batch out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.runtime.lower.watermarks import SourceWatermark, new_inputs
from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


@pytest.fixture
def watermarks(spark, tmp_path):
    """Feeds micro-batches of ``(seconds | None, split | None)`` and gives Spark's watermark, in seconds, after each of them."""

    def run(splits: int, *batches: list[tuple[int | None, int | None]]) -> list[int]:
        source, found = tmp_path / "in", []
        source.mkdir()
        schema = "seconds BIGINT, split INT"
        frame = spark.readStream.name("rows").schema(schema).json(str(source)).selectExpr("timestamp_seconds(seconds) AS at", "split")
        counted = SourceWatermark(spark, splits).attach(frame, "at", "split").where("split < 100").groupBy("at").count()
        query = counted.writeStream.format("noop").outputMode("update").option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        try:
            for batch in batches:
                feed(source, *({"seconds": s, "split": p} for s, p in batch))
                query.processAllAvailable()
                # The batch that follows a new watermark has it.
                found.append(int(query.lastProgress["eventTime"]["watermark"][17:19]))
        finally:
            query.stop()
        return found

    return run


def test_the_slowest_split_counts(watermarks):
    assert watermarks(2, [(10, 0), (40, 0), (20, 1)], [(50, 0)], [(30, 1)], [(5, 1), (None, 1), (45, 1), (1, 0)]) == [20, 20, 30, 45]


def test_a_split_without_rows_holds_the_others_back(watermarks):
    assert watermarks(3, [(10, 0), (20, 1)], [(30, 0)], [(15, 2)]) == [0, 0, 15]


def test_a_control_row_raises_all_splits(watermarks):
    assert watermarks(2, [(10, 0)], [(30, None)], [(20, 1), (50, 0)], [(40, 1)]) == [0, 30, 30, 40]


def test_rows_that_a_filter_above_drops_count(watermarks):
    assert watermarks(101, [(10, i) for i in range(101)], [(20, i) for i in range(101)]) == [10, 20]


class Idle:
    """A query over inputs that are idle after ``idle_ms``: each a folder with rows ``(seconds, split)``, one a file."""

    def __init__(self, spark, folder: Path, splits: list[int], idle_ms: int, slow: str = "TRUE") -> None:
        self.folder, inputs, frames = folder, new_inputs(spark), []
        for number, count in enumerate(splits):
            (folder / str(number)).mkdir()
            times = SourceWatermark(spark, count, idle_ms=idle_ms, inputs=inputs)
            moments = times.idle_moments(f"idle{number}").selectExpr("timestamp_millis(value) AS at", "CAST(NULL AS INT) AS split")
            reader = spark.readStream.name(f"rows{number}").schema("seconds BIGINT, split INT")
            rows = reader.json(str(folder / str(number))).selectExpr("timestamp_seconds(seconds) AS at", "split")
            frames.append(times.attach(moments.unionAll(rows), "at", "split").where(slow))
        counted = (frames[0] if len(frames) == 1 else frames[0].unionAll(frames[1])).groupBy("split").count()
        writer = counted.writeStream.format("noop").outputMode("update").option("checkpointLocation", str(folder / "checkpoint"))
        self.query = writer.trigger(processingTime="0 seconds").start()

    def feed(self, *files: tuple[int, str, list[tuple[int, int]]]) -> None:
        """Files with rows, at once as far as a query can see: (input, name, rows)."""
        for number, name, rows in files:
            part = self.folder / str(number) / f"_{name}"
            part.write_text("\n".join(f'{{"seconds": {s}, "split": {p}}}' for s, p in rows))
        for number, name, _ in files:
            (self.folder / str(number) / f"_{name}").rename(self.folder / str(number) / f"{name}.json")

    def taken(self, name: str) -> bool:
        """Whether a micro-batch has this file: those that come now are the next one's."""
        logs = (self.folder / "checkpoint" / "sources").rglob("[0-9]*")
        return any(name in log.read_text() for log in logs if log.is_file())

    def watermarks(self, last: int) -> list[int]:
        """Those of the micro-batches, until it is ``last``."""
        until(lambda: self._found()[-1:] == [last], said=self._found)
        return self._found()

    def _found(self) -> list[int]:
        told = (p["eventTime"].get("watermark") for p in self.query.recentProgress)
        return list(dict.fromkeys(int(text[14:16]) * 60 + int(text[17:19]) for text in told if text is not None))


@pytest.fixture
def idle(spark, tmp_path):
    started = []

    def start(*splits: int, idle_ms: int, slow: str = "TRUE") -> Idle:
        started.append(Idle(spark, tmp_path, list(splits), idle_ms, slow))
        return started[-1]

    yield start
    for one in started:
        one.query.stop()


@pytest.mark.parametrize("idle_ms", [1, 1500], ids=["less than a micro-batch", "more"])
def test_inputs_that_go_idle_together_come_to_the_furthest(idle, idle_ms):
    query = idle(1, 1, idle_ms=idle_ms)
    query.feed((0, "a", [(10, 0), (50, 0)]), (1, "a", [(20, 0)]))
    assert query.watermarks(50)[-1] == 50


def test_splits_that_go_idle_together_come_to_the_furthest_and_one_that_wakes_counts(idle):
    query = idle(3, 1, idle_ms=800)
    query.feed((0, "a", [(10, 0), (30, 1)]), (1, "a", [(5, 0)]))
    assert query.watermarks(30)[-1] == 30, "the third split never had a row"
    query.feed((1, "b", [(40, 0)]))
    assert query.watermarks(40)[-1] == 40, "the only one that is not idle"


def test_a_split_whose_rows_wait_for_a_micro_batch_is_not_idle(idle):
    query = idle(2, idle_ms=500, slow="java_method('java.lang.Thread', 'sleep', 1500L) IS NULL")
    query.feed((0, "a", [(5, 1), (10, 0)]))
    until(lambda: query.taken("a.json"), every=0.02)
    query.feed((0, "b", [(6, 1)]))
    found = query.watermarks(10)
    assert found[:2] == [0, 5] and found[-1] == 10, "it held the other back, and was idle afterwards"
