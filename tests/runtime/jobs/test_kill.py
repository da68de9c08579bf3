"""kill -9 of the whole process at random moments under load: no row is lost, none comes twice."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from benchmarks.torture.tables import DeltaTable
from tests.support.processes import ensure_runs, kill_group
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

KILLS = os.environ.get("SQLSTREAM_TEST_KILLS")
PARTITIONS = 3
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
STEP_MS = 200  # of event time between two records of a partition
WINDOW_MS = 10_000
SCRIPT = """
CREATE TABLE events (id BIGINT, ts BIGINT, at_ltz AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR at_ltz AS at_ltz - INTERVAL '1' SECOND)
WITH ('connector' = 'kafka', 'topic' = '${TOPIC}', 'properties.bootstrap.servers' = '${BOOTSTRAP}', 'format' = 'json',
      'scan.startup.mode' = 'earliest-offset');
CREATE TABLE copies (id BIGINT, ts BIGINT) WITH ('connector' = 'delta', 'table-path' = 'copies');
CREATE TABLE counts (window_start TIMESTAMP(3), cnt BIGINT) WITH ('connector' = 'delta', 'table-path' = 'counts');
CREATE TABLE remainders (r BIGINT, cnt BIGINT, total BIGINT, PRIMARY KEY (r) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'remainders');
EXECUTE STATEMENT SET BEGIN
INSERT INTO copies SELECT id, ts FROM events;
INSERT INTO remainders SELECT MOD(id, 7), COUNT(*), SUM(id) FROM events GROUP BY MOD(id, 7);
INSERT INTO counts SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(at_ltz), INTERVAL '10' SECOND))
  GROUP BY window_start, window_end;
END;
"""


class Load:
    """Records with rising ids, round robin over the partitions, each partition in the order of its event time."""

    def __init__(self, broker, topic: str) -> None:
        self.broker = broker
        self.topic = topic
        self.sent = 0
        broker.topic(topic, PARTITIONS)

    def send(self, count: int) -> None:
        numbers = range(self.sent, self.sent + count)
        # Keys that Kafka's partitioner spreads; a key's records stay in one partition, in order.
        lines = [f'k{n % 12}\t{{"id": {n}, "ts": {n * STEP_MS}}}' for n in numbers]
        self.broker.broker.produce(self.topic, lines, "\t")
        self.sent += count


def start(project: Path, script: Path, bootstrap: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "sqlstream", "--project", str(project), "-f", str(script), "--var", f"BOOTSTRAP={bootstrap}"]
    command += ["-D", "spark.master=local[2]", "-D", "table.local-time-zone=UTC"]
    with (project / "run.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [1, pytest.param(8, marks=pytest.mark.slow)])
def test_nothing_is_lost_or_doubled(kills: int, tmp_path: Path, broker) -> None:
    script = tmp_path / "job.sql"
    script.write_text(SCRIPT.replace("${TOPIC}", topic := f"kill_{kills}"))
    load = Load(broker, topic)
    load.send(500)
    chance = random.Random(20)

    def ensure() -> None:
        ensure_runs(process, tmp_path / "run.log")

    def go_on() -> None:
        load.send(20)
        ensure()

    for _ in range(int(KILLS or kills)):
        process = start(tmp_path, script, broker.bootstrap)
        # Some time after its first micro-batch, so that every stretch of one is hit once.
        before = landed(tmp_path)
        until(lambda before=before: landed(tmp_path) > before, 180, every=0.3, meanwhile=go_on)
        moment = time.monotonic() + chance.uniform(0, 6)
        until(lambda moment=moment: time.monotonic() > moment, every=0.3, meanwhile=go_on)
        kill_group(process)
    load.send(500)
    last = (load.sent - 12) * STEP_MS - 1000
    closed = last // WINDOW_MS
    copies, counts, remainders = (DeltaTable(tmp_path / name) for name in ("copies", "counts", "remainders"))

    def complete() -> bool:
        counted = sum(cnt for _, cnt, _ in remainders.rows().elements())
        return copies.rows().total() >= load.sent and counts.rows().total() >= closed and counted == load.sent

    process = start(tmp_path, script, broker.bootstrap)
    try:
        until(complete, 180, every=2, meanwhile=ensure, said=(tmp_path / "run.log").read_text)
    finally:
        kill_group(process)
    assert copies.rows() == Counter((n, n * STEP_MS) for n in range(load.sent))
    numbers = range(load.sent)
    assert remainders.rows() == Counter((r, len(numbers[r::7]), sum(numbers[r::7])) for r in range(7))
    windows = list(counts.rows().elements())
    found = Counter(start.replace(tzinfo=UTC) for start, _ in windows)
    assert max(found.values()) == 1, "a window came twice"
    assert found.keys() >= {EPOCH + n * timedelta(milliseconds=WINDOW_MS) for n in range(closed)}, "a window is missing"
    assert {cnt for _, cnt in windows} == {WINDOW_MS // STEP_MS}


def landed(project: Path) -> int:
    """How many micro-batches the tables have: their versions, but for the first, which makes the table."""
    return sum(int(version.stem) > 0 for version in project.glob("*/_delta_log/*.json"))
