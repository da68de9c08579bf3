"""kill -9 of a job that updates Delta tables by primary key, at random moments: the tables are exact in the end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 2
KEYS = 40
SCRIPT = """
CREATE TABLE events (id BIGINT, k INT) WITH ('connector' = 'filesystem', 'path' = 'events', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE counts (k INT, cnt BIGINT, total BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'table-path' = 'counts', 'delta.enableChangeDataFeed' = 'true');
CREATE TABLE copies (k INT, cnt BIGINT, total BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'copies');
EXECUTE STATEMENT SET BEGIN
INSERT INTO counts SELECT k, COUNT(*), SUM(id) FROM events GROUP BY k;
INSERT INTO copies SELECT k, cnt, total FROM counts /*+ OPTIONS('mode' = 'changes') */;
END;
"""


class Load:
    """Files of records with rising ids, some keys more often than others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.expected: dict[int, tuple[int, int]] = {}
        self._ids = 0
        self._chance = random.Random(7)
        folder.mkdir()

    def send(self, count: int = 20) -> None:
        lines = []
        for i in range(self._ids, self._ids + count):
            k = min(self._chance.randrange(KEYS), self._chance.randrange(KEYS))
            n, total = self.expected.get(k, (0, 0))
            self.expected[k] = n + 1, total + i
            lines.append(f'{{"id": {i}, "k": {k}}}\n')
        part = self.folder / f".{self._ids}"
        part.write_text("".join(lines))
        part.rename(self.folder / f"{self._ids}.json")
        self._ids += count


def start(project: Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "sqlstream", "--project", str(project), "-f", str(project / "job.sql")]
    command += ["-D", "spark.master=local[2]", "-D", "table.local-time-zone=UTC", "-D", "spark.sql.shuffle.partitions=2"]
    # A process of its own, also where the tests share a JVM that runs already.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYSPARK_GATEWAY")}
    log = (project / "run.log").open("ab")
    return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, env=environment)


def kill(process: subprocess.Popen) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def commits(project: Path) -> int:
    return sum(len(list((project / table / "_delta_log").glob("*.json"))) for table in ("counts", "copies"))


def found(spark, project: Path, table: str) -> dict[int, tuple[int, int]]:
    if not (project / table / "_delta_log").exists():
        return {}
    rows = [tuple(row) for row in spark.read.format("delta").load(str(project / table)).select("k", "cnt", "total").collect()]
    assert max(Counter(k for k, *_ in rows).values(), default=1) == 1, "a key came twice"
    return {k: (cnt, total) for k, cnt, total in rows}


@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_updates_are_exact(tmp_path: Path, spark) -> None:
    (tmp_path / "job.sql").write_text(SCRIPT)
    load = Load(tmp_path / "events")
    chance = random.Random(11)
    process = None

    def until(done, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not done():
            assert process.poll() is None, (tmp_path / "run.log").read_text()
            load.send()
            time.sleep(0.2)

    for _ in range(KILLS):
        before, process = commits(tmp_path), start(tmp_path)
        # Some time after its first commits, so that every stretch of a micro-batch is hit once.
        until(lambda before=before: commits(tmp_path) > before + 3, 180)
        until(lambda: False, chance.uniform(0, 4))
        kill(process)
    process = start(tmp_path)
    try:
        deadline = time.monotonic() + 400
        while time.monotonic() < deadline and found(spark, tmp_path, "copies") != load.expected:
            assert process.poll() is None, (tmp_path / "run.log").read_text()
            time.sleep(1)
    finally:
        kill(process)
    assert found(spark, tmp_path, "counts") == load.expected
    assert found(spark, tmp_path, "copies") == load.expected
