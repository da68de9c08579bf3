"""What the torture counts, and its proof: no row of any shape is lost, doubled or wrong."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from benchmarks.torture import results
from benchmarks.torture.deletion_vectors import removed_rows
from benchmarks.torture.load import Event, Load, Rate
from benchmarks.torture.modes import MICRO_BATCHES, REAL_TIME, Mode
from benchmarks.torture.points import Armed, an_upgrade_maps_state
from benchmarks.torture.results import Found, Round, compared
from benchmarks.torture.run import Torture
from benchmarks.torture.shapes import script
from benchmarks.torture.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("there", "found"),
    [
        ([(1, 5), (2, 6), (2, 7)], Found(3, 0, 0, 0)),
        ([(1, 5), (2, 6)], Found(3, 1, 0, 0)),
        ([(1, 5), (1, 5), (2, 6), (2, 7)], Found(3, 0, 1, 0)),
        ([(1, 4), (2, 6), (2, 7)], Found(3, 0, 0, 1)),
        ([(1, 5), (2, 6), (2, 7), (3, 1)], Found(3, 0, 0, 1)),
        ([], Found(3, 3, 0, 0)),
    ],
)
def test_rows_are_compared(there: list[tuple[int, int]], found: Found) -> None:
    assert compared(Counter([(1, 5), (2, 6), (2, 7)]), Counter(there), key=1) == found


def test_results_are_summed_over_runs(tmp_path: Path) -> None:
    file = tmp_path / "torture.jsonl"
    assert results.read(file) == []
    for seed in (1, 2):
        results.add(file, Round(seed, 1, "local", 1800, {"JVM": {"at any moment": 2}, "broker": {"mid-write": 1}}, {"append": Found(10, 1, 0, 0)}))
    table = results.table(results.read(file))
    assert "6 kills in 2 rounds of 2 runs, 1.0 h" in table
    assert re.search(r"at any moment +4 +0 +4\n", table) and re.search(r"append +20 +2 +0 +0\n", table)


def test_the_model_closes_what_the_watermark_has_passed(tmp_path: Path) -> None:
    load = Load(1, tmp_path / "lines")
    # Keys 0, 1 and 2 are in three partitions; the watermark is 19,000.
    load.events = [
        Event(0, 0, 10, 1_000),
        Event(1, 0, 60, 2_000),
        Event(2, 0, 5, 7_000),
        Event(3, 1, 1, 20_000),
        Event(4, 2, 2, 20_000),
        Event(5, 0, 70, 30_000),
    ]
    load.rates = [Rate(0, 100, 1_500), Rate(0, 200, 6_000), Rate(1, 300, 40_000)]
    assert load.watermark == 19_000
    assert load.sessions() == Counter([(0, 1_000, 2_000, 2, 70), (0, 7_000, 7_000, 1, 5)])
    assert load.rises() == Counter([(0, 0, 1)])
    assert load.priced() == Counter([(1, 0, 100), (2, 0, 200)])
    assert load.totals() == Counter([(0, 4, 145), (1, 1, 1), (2, 1, 2)])
    assert load.sizes() == Counter([(4, 1, 145), (1, 2, 3)])
    assert load.lows() == Counter([(0, 10), (2, 5), (3, 1), (4, 2)])
    assert load.pairs() == Counter([(0, 10, -1), (1, 60, 60), (2, 5, -1), (3, 1, -1), (4, 2, -1), (5, 70, 70)])
    assert load.best() == Counter([(0, 1, 5), (0, 2, 1), (0, 3, 0), (1, 1, 3), (2, 1, 4)])
    assert load.newest() == Counter([(0, 5), (1, 3), (2, 4)])
    assert load.odd() == Counter([(1, 0, 60), (3, 1, 1), (5, 0, 70)])


@pytest.mark.parametrize(
    ("point", "met", "passed"),
    [
        ("before the offsets log", "create /p/.sqlstream/jobs/j/1/checkpoint/s/offsets/.7.0e.tmp", "create /p/tables/t/part-0"),
        ("mid-write of rows", "create /p/tables/t/part-00000-x.parquet", "create /p/tables/t/_delta_log/00000000000000000001.json"),
        (
            "between sink and commit",
            "create /p/.sqlstream/jobs/j/1/checkpoint/s/commits/.7.0e.tmp",
            "rename /p/.sqlstream/jobs/j/1/checkpoint/s/commits/7",
        ),
    ],
)
def test_points_are_met(point: str, met: str, passed: str) -> None:
    (pattern,) = (p.pattern for p in MICRO_BATCHES.points if p.name == point)
    assert re.search(pattern, met) and not re.search(pattern, passed)


def test_a_point_is_armed(tmp_path: Path) -> None:
    """The agent is compiled."""
    armed = Armed(tmp_path / "points")
    armed.arm(MICRO_BATCHES.points[0], random.Random(1))
    assert not armed.hit and armed.option.startswith("-javaagent:")
    assert (tmp_path / "points" / "armed").read_text().endswith(f"\n{MICRO_BATCHES.points[0].pattern}\n")
    armed.disarm()


def test_an_upgrade_is_met_in_its_new_generation() -> None:
    pattern = an_upgrade_maps_state("sizes", ["1", "2"]).pattern
    assert re.search(pattern, "create /p/jobs/insert-into_d.sizes/3/checkpoint/s/state/0/0/1.zip")
    assert not re.search(pattern, "create /p/jobs/insert-into_d.sizes/2/checkpoint/s/state/0/0/1.zip")


@pytest.mark.parametrize("mode", [MICRO_BATCHES, REAL_TIME], ids=["micro-batches", "real time"])
def test_each_version_is_another_statement(mode: Mode) -> None:
    first, second = (script(mode.shapes, mode.settings, "host:1", {s.table: n for s in mode.shapes}) for n in (0, 1))
    assert first.count("k >= 0") == second.count("k >= -1") == len(mode.shapes)
    assert "{" not in first


@pytest.mark.spark
def test_deletion_vectors_are_read(tmp_path: Path, spark) -> None:
    """Of few rows, of many at random places, and of a long run."""
    folder = tmp_path / "table"
    spark.range(0, 200_000, 1, 1).write.format("delta").option("delta.enableDeletionVectors", "true").save(str(folder))
    for gone in ("id IN (3, 70000)", "id % 7 = 2", "id BETWEEN 20000 AND 90000"):
        spark.sql(f"DELETE FROM delta.`{folder}` WHERE {gone}")
        left = Counter((row.id,) for row in spark.read.format("delta").load(str(folder)).collect())
        assert DeltaTable(folder).rows() == left
    adds = [json.loads(line).get("add") for line in max((folder / "_delta_log").glob("*.json")).read_text().splitlines()]
    (vector,) = (add["deletionVector"] for add in adds if add)
    assert len(removed_rows(vector, folder)) == vector["cardinality"]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(5400)
def test_fifty_kills(tmp_path: Path) -> None:
    run = Torture(tmp_path / "run", seed=50)
    try:
        for number, kills in enumerate((17, 17, 16)):
            one = run.round(kills, cluster=number == 2)
            # Both executors, or a client twice, may be killed at one time.
            assert one.exact and one.killed >= kills, one
    finally:
        run.close(keep=True)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(5400)
def test_thirty_kills_in_real_time(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.torture", "--real-time", "--kills", "30", "--results", str(tmp_path / "torture.jsonl")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert sum(r.killed for r in results.read(tmp_path / "torture.jsonl")) >= 30
