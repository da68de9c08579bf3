"""Joins on time: what is kept and for how long, keys with very many rows, versions that end, times by the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from sqlstream.runtime.lower.operators import TemporalJoinOptions, temporal_join
from sqlstream.runtime.lower.watermarks import SourceWatermark, new_inputs
from tests.support.printing import PrintingJob
from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

TIMED = "ts TIMESTAMP(3),WATERMARK FOR ts AS ts"
INPUTS = {"a": f"id INT, k STRING, filler STRING, {TIMED}", "b": f"id INT, k STRING, {TIMED}"}


def at(seconds: int) -> str:
    return f"2026-01-01 {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def kept(spark, folder: Path) -> int:
    """How many keys the state of the only operator with one has, of the only query in ``folder``."""
    (state,) = folder.glob("**/state")
    return spark.read.format("statestore").option("stateVarName", "key").load(str(state.parent)).count()


def test_an_interval_join_forgets_what_time_has_passed(tmp_path: Path, spark, engine) -> None:
    query = "SELECT a.id, b.id FROM a LEFT JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '10' SECOND"
    job = PrintingJob(tmp_path, engine, INPUTS, "a INT, b INT", query)
    job.feed("b", *[(n, f"k{n}", at(5)) for n in range(50)])
    assert len(job.feed("a", *[(n, f"k{n}", "", at(5)) for n in range(100)])) == 50
    assert kept(spark, tmp_path) == 100
    job.restart()
    job.feed("b", (0, "z", at(100)))
    assert len(job.feed("a", (0, "y", "", at(90)))) == 50
    assert kept(spark, tmp_path) == 2
    job.close()


def test_a_key_with_more_rows_than_one_value_of_the_state_holds(tmp_path: Path, engine) -> None:
    query = "SELECT a.id, b.id, CHAR_LENGTH(a.filler) FROM a LEFT JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '20' SECOND"
    job = PrintingJob(tmp_path, engine, INPUTS, "a INT, b INT, n INT", query)
    filler = "x" * 1000
    job.feed("b", (0, "other", at(50)))
    assert job.feed("a", *[(n, "k", filler, at(n // 10)) for n in range(300)]) == []
    # The watermark is at 29. All find it whose time is at most 20 seconds before; those that can find none any more go.
    found = job.feed("b", (1, "k", at(30)))
    assert found == sorted([*(f"+I[{n}, 1, 1000]" for n in range(100, 300)), *(f"+I[{n}, null, 1000]" for n in range(90))])
    job.restart()
    assert len(job.feed("b", (2, "k", at(45)))) == 50
    # Those that found none come alone, the others do not.
    assert job.feed("a", (300, "z", "", at(60))) == [f"+I[{n}, null, 1000]" for n in range(90, 100)]
    job.close()


def test_an_interval_join_by_the_clock(tmp_path: Path, engine) -> None:
    inputs = {"a": "id INT, k STRING,p AS PROCTIME()", "b": "id INT, k STRING,p AS PROCTIME()"}
    query = "SELECT a.id, b.id FROM a LEFT JOIN b ON a.k = b.k AND b.p BETWEEN a.p AND a.p + INTERVAL '2' SECOND"
    job = PrintingJob(tmp_path, engine, inputs, "a INT, b INT", query)
    # Both are there before the job reads: however busy the machine, they come at one time.
    job.session.jobs.stop(job.job.id)
    job.write("a", (1, "k"), (2, "l"))
    job.write("b", (7, "k"))
    job.start()
    until(lambda: len(job.lines) >= 2)
    assert sorted(job.lines) == ["+I[1, 7]", "+I[2, null]"]
    job.close()


class Versions:
    """Rows ``(id, k, seconds)`` joined with the versions ``(k, value, seconds, kind)`` that held at their time, under the watermark of both."""

    def __init__(self, spark, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.given: list[tuple] = []
        inputs = new_inputs(spark)
        frames = []
        for name, columns in (("lefts", "id INT, k STRING, s BIGINT"), ("rights", "rk STRING, value INT, rs BIGINT, kind TINYINT")):
            (folder / name).mkdir()
            time = columns.split()[-2 if name == "lefts" else -4]
            rows = spark.readStream.name(name).schema(columns).json(str(folder / name))
            rows = rows.withColumn(f"{name}_at", F.expr(f"timestamp_seconds(1000000 + {time})")).withColumn("split", F.lit(0))
            marked = SourceWatermark(spark, 1, inputs=inputs).attach(rows.withColumn("mark", F.col(f"{name}_at")), "mark", "split")
            frames.append(marked.drop("mark", "split"))
        left, right = frames
        joined = left.join(right, F.expr("k = rk"), "left")
        result = temporal_join(joined, TemporalJoinOptions(left_time="lefts_at", right_time="rights_at", kind="kind", lag=0))

        def give(batch, _) -> None:
            self.given += [(r.id, r.value) for r in batch.collect()]

        self.query = result.writeStream.foreachBatch(give).option("checkpointLocation", str(folder / "checkpoint")).start()

    def feed(self, name: str, *rows: tuple) -> list[tuple]:
        self.given.clear()
        columns = ("id", "k", "s") if name == "lefts" else ("rk", "value", "rs", "kind")
        feed(self.folder / name, *(dict(zip(columns, row, strict=True)) for row in rows))
        self.query.processAllAvailable()
        return sorted(self.given, key=str)


def test_versions_end_and_only_the_one_that_holds_is_kept(spark, tmp_path: Path) -> None:
    versions = Versions(spark, tmp_path)
    versions.feed("rights", ("k", 1, 0, 0), ("k", 2, 10, 2), ("k", 2, 20, 3), ("k", 3, 30, 0), ("z", 0, 100, 0))
    found = versions.feed("lefts", (1, "k", 5), (2, "k", 10), (3, "k", 19), (4, "k", 20), (5, "k", 29), (6, "k", 31), (7, None, 9), (0, "z", 40))
    assert found == [(0, None), (1, 1), (2, 2), (3, 2), (4, None), (5, None), (6, 3), (7, None)]
    # The version of 30 alone is left: a row that is late finds none but this.
    assert versions.feed("lefts", (8, "k", 35), (9, "k", 15)) == [(8, 3), (9, None)]
    versions.feed("rights", ("k", 3, 50, 3), *[("k", n, 60 + n, 2) for n in range(20)])
    versions.feed("lefts", (10, "k", 95))
    assert versions.feed("lefts", (0, "y", 96)) == [(0, None)]
    assert versions.feed("rights", ("z", 0, 101, 0)) == []
    assert kept(spark, tmp_path) <= 3
    versions.query.stop()
