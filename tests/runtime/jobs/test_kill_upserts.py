"""kill -9 of a job that updates Delta tables by primary key, at random moments: the tables are exact in the end."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from benchmarks.torture.tables import DeltaTable
from tests.support.processes import ensure_runs, kill_group
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

KILLS = os.environ.get("SQLSTREAM_TEST_KILLS")
KEYS = 40
EVENTS = """
CREATE TABLE events (id BIGINT, k INT, ts AS TO_TIMESTAMP_LTZ(id * 1000, 3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'events', 'format' = 'json', 'source.monitor-interval' = '1 s');
"""
COPIES = """
CREATE TABLE counts (k INT, cnt BIGINT, total BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'table-path' = 'counts', 'delta.enableChangeDataFeed' = 'true');
CREATE TABLE copies (k INT, cnt BIGINT, total BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'copies');
EXECUTE STATEMENT SET BEGIN
INSERT INTO counts SELECT k, COUNT(*), SUM(id) FROM events GROUP BY k;
INSERT INTO copies SELECT k, cnt, total FROM counts /*+ OPTIONS('mode' = 'changes') */;
END;
"""
CHAIN = """
CREATE TABLE sizes (k BIGINT, cnt BIGINT, total BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'sizes');
INSERT INTO sizes SELECT cnt, COUNT(*), SUM(total) FROM (SELECT k, COUNT(*) AS cnt, SUM(id) AS total FROM events GROUP BY k) GROUP BY cnt;
"""
TEMPORAL = """
CREATE TABLE offers (id BIGINT, k INT, price BIGINT, ts AS TO_TIMESTAMP_LTZ(id * 1000, 3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'offers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE VIEW prices AS SELECT k, price, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM offers) WHERE n = 1;
CREATE TABLE priced (k BIGINT, cnt INT, total BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'priced');
INSERT INTO priced SELECT e.id, e.k, p.price FROM events AS e JOIN prices FOR SYSTEM_TIME AS OF e.ts AS p ON e.k = p.k;
"""


class Load:
    """Files of records with rising ids, some keys more often than others, and of prices of these keys at the same times."""

    def __init__(self, project: Path) -> None:
        self.events, self.offers = project / "events", project / "offers"
        self.counts: dict[int, tuple[int, int]] = {}
        self.priced: dict[int, tuple[int, int]] = {}
        self._prices: dict[int, int] = {}
        self._ids = 0
        self._chance = random.Random(7)
        self.events.mkdir()
        self.offers.mkdir()

    @property
    def copies(self) -> dict[int, tuple[int, int]]:
        return self.counts

    @property
    def sizes(self) -> dict[int, tuple[int, int]]:
        """For each number of records how many keys have so many, and the sum of their ids."""
        found: dict[int, tuple[int, int]] = {}
        for n, total in self.counts.values():
            keys, sums = found.get(n, (0, 0))
            found[n] = keys + 1, sums + total
        return found

    def send(self, count: int = 20) -> None:
        events, offers = [], []
        for i in range(self._ids, self._ids + count):
            k = min(self._chance.randrange(KEYS), self._chance.randrange(KEYS))
            n, total = self.counts.get(k, (0, 0))
            self.counts[k] = n + 1, total + i
            events.append({"id": i, "k": k})
            dear = self._chance.randrange(KEYS)
            self._prices[dear] = i
            offers.append({"id": i, "k": dear, "price": i})
            if k in self._prices:
                self.priced[i] = k, self._prices[k]
        for folder, rows in ((self.offers, offers), (self.events, events)):
            part = folder / f".{self._ids}"
            part.write_text("".join(json.dumps(row) + "\n" for row in rows))
            part.rename(folder / f"{self._ids}.json")
        self._ids += count


def start(project: Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "sqlstream", "--project", str(project), "-f", str(project / "job.sql")]
    command += ["-D", "spark.master=local[2]", "-D", "table.local-time-zone=UTC", "-D", "spark.sql.shuffle.partitions=2"]
    # A process of its own, also where the tests share a JVM that runs already.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYSPARK_GATEWAY")}
    with (project / "run.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, env=environment)


def commits(project: Path, table: str) -> int:
    return len(list((project / table / "_delta_log").glob("*.json")))


def found(table: DeltaTable) -> dict[int, tuple[int, int]]:
    rows = list(table.rows().elements())
    assert max(Counter(k for k, *_ in rows).values(), default=1) == 1, "a key came twice"
    return {k: (cnt, total) for k, cnt, total in rows}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("script", "table", "kills"),
    [
        pytest.param(COPIES, "copies", 4, id="a copy of a table's changes"),
        pytest.param(CHAIN, "sizes", 2, id="a chain of two aggregates"),
        pytest.param(TEMPORAL, "priced", 2, id="a temporal join"),
    ],
)
def test_updates_are_exact(script: str, table: str, kills: int, tmp_path: Path) -> None:
    (tmp_path / "job.sql").write_text(EVENTS + script)
    load = Load(tmp_path)
    chance = random.Random(11)
    process = None

    def ensure() -> None:
        ensure_runs(process, tmp_path / "run.log")

    def go_on() -> None:
        load.send()
        ensure()

    for _ in range(int(KILLS or kills)):
        before, process = commits(tmp_path, table), start(tmp_path)
        # Some time after its first commit, so that every stretch of a micro-batch is hit once.
        until(lambda before=before: commits(tmp_path, table) > before, 180, every=0.3, meanwhile=go_on)
        moment = time.monotonic() + chance.uniform(0, 3)
        until(lambda moment=moment: time.monotonic() > moment, every=0.3, meanwhile=go_on)
        kill_group(process)
    process = start(tmp_path)
    wanted, written = getattr(load, table), DeltaTable(tmp_path / table)
    try:
        until(lambda: found(written) == wanted, 400, every=1, meanwhile=ensure, said=(tmp_path / "run.log").read_text)
    finally:
        kill_group(process)
    assert found(written) == wanted
