"""The watermark operator alone: rows and splits in, the watermark of each micro-batch out."""

from __future__ import annotations

import pytest

from sqlstream.spark.operators import SplitTimes

pytestmark = pytest.mark.spark


@pytest.fixture
def watermarks(spark, tmp_path):
    """Feeds micro-batches of ``(seconds | None, split | None)`` and gives Spark's watermark, in seconds, after each of them."""

    def run(splits: int, *batches: list[tuple[int | None, int | None]]) -> list[int]:
        source, found = tmp_path / "in", []
        source.mkdir()
        schema = "seconds BIGINT, split INT"
        frame = spark.readStream.name("rows").schema(schema).json(str(source)).selectExpr("timestamp_seconds(seconds) AS at", "split")
        counted = SplitTimes(spark, splits).watermark(frame, "at", "split").where("split < 100").groupBy("at").count()
        query = counted.writeStream.format("noop").outputMode("update").option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        try:
            for number, batch in enumerate(batches):
                rows = [f'{{"seconds": {_json(s)}, "split": {_json(p)}}}' for s, p in batch]
                part = source / f"_{number}"
                part.write_text("\n".join(rows))
                part.rename(source / f"{number}.json")
                query.processAllAvailable()
                # The batch that follows a new watermark has it.
                found.append(int(query.lastProgress["eventTime"]["watermark"][17:19]))
        finally:
            query.stop()
        return found

    return run


def _json(value: int | None) -> str:
    return "null" if value is None else str(value)


def test_the_slowest_split_counts(watermarks):
    assert watermarks(2, [(10, 0), (40, 0), (20, 1)], [(50, 0)], [(30, 1)], [(5, 1), (None, 1), (45, 1), (1, 0)]) == [20, 20, 30, 45]


def test_a_split_without_rows_holds_the_others_back(watermarks):
    assert watermarks(3, [(10, 0), (20, 1)], [(30, 0)], [(15, 2)]) == [0, 0, 15]


def test_a_control_row_raises_all_splits(watermarks):
    assert watermarks(2, [(10, 0)], [(30, None)], [(20, 1), (50, 0)], [(40, 1)]) == [0, 30, 30, 40]


def test_rows_that_a_filter_above_drops_count(watermarks):
    assert watermarks(101, [(10, i) for i in range(101)], [(20, i) for i in range(101)]) == [10, 20]
