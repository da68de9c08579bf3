"""Code that Spark generates for a query is compiled once, and not in each micro-batch."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import catch_up, feed, open_session, submit

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

TABLES = """
CREATE TABLE bids (item STRING, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, n BIGINT) WITH ('connector' = 'blackhole');
"""
WINDOWS = "TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY item, window_start, window_end"


# Spark itself compiles which of its windows are closed.
@pytest.mark.parametrize(
    ("query", "compiled"),
    [
        ("SELECT item, 1 FROM bids WHERE ts < CURRENT_TIMESTAMP AND ts < LOCALTIMESTAMP + INTERVAL '1' HOUR", 0),
        ("SELECT item, EXTRACT(EPOCH FROM p) FROM bids WHERE CAST(ts AS TIME) <> LOCALTIME", 0),
        ("SELECT item, COUNT(*) OVER (PARTITION BY item ORDER BY ts) FROM bids", 0),
        (f"SELECT item, COUNT(*) FROM {WINDOWS}", 1),
    ],
)
def test_times_that_differ_by_micro_batch(tmp_path: Path, engine, spark, query: str, compiled: int) -> None:
    folder = tmp_path / "bids"
    folder.mkdir()
    metrics = spark._jvm.org.apache.spark.metrics.source.CodegenMetrics
    session = open_session(tmp_path, TABLES, engine=engine)
    job = submit(session, f"INSERT INTO answers {query}")
    counts = []
    for second in range(0, 24, 4):
        feed(folder, *({"item": item, "ts": f"2026-01-01 00:00:{second:02}"} for item in "ab"))
        catch_up(job)
        counts.append(metrics.METRIC_COMPILATION_TIME().getCount())
    session.jobs.stop_all()
    session.close()
    # The first three may see the first watermark, and the first window that closes.
    assert min(after - before for before, after in pairwise(counts[2:])) == compiled
