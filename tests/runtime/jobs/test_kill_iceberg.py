"""kill -9 of a process that writes Iceberg tables, at random moments under load: each row is there once."""

from __future__ import annotations

import random
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from sqlstream.connectors import find_connector
from sqlstream.connectors.base import Read
from sqlstream.sql.tables import ObjectPath, PhysicalColumn, Table
from sqlstream.sql.types import BIGINT
from tests.runtime.jobs.test_kill import STEP_MS, Load, start
from tests.support.processes import ensure_runs, kill_group
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 8
LAKE = {"connector": "iceberg", "catalog-name": "lake", "catalog-type": "hadoop", "warehouse": "lake"}
WITH = ", ".join(f"'{key}' = '{value}'" for key, value in LAKE.items())
SCRIPT = f"""
CREATE TABLE events (id BIGINT, ts BIGINT)
WITH ('connector' = 'kafka', 'topic' = 'kill_iceberg', 'properties.bootstrap.servers' = '${{BOOTSTRAP}}', 'format' = 'json',
      'scan.startup.mode' = 'earliest-offset');
CREATE TABLE copies (id BIGINT, ts BIGINT) WITH ({WITH});
CREATE TABLE remainders (r BIGINT, cnt BIGINT, total BIGINT, PRIMARY KEY (r) NOT ENFORCED) WITH ({WITH});
EXECUTE STATEMENT SET BEGIN
INSERT INTO copies SELECT id, ts FROM events;
INSERT INTO remainders SELECT MOD(id, 7), COUNT(*), SUM(id) FROM events GROUP BY MOD(id, 7);
END;
"""


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_each_row_is_there_once(tmp_path: Path, broker, spark) -> None:
    script = tmp_path / "job.sql"
    script.write_text(SCRIPT)
    load = Load(broker, "kill_iceberg")
    load.send(500)
    chance = random.Random(21)

    def rows(name: str, *columns: str) -> Counter[tuple]:
        table = Table(ObjectPath("c", "default_database", name), tuple(PhysicalColumn(c, BIGINT) for c in columns), LAKE)
        frame = find_connector("iceberg").read(Read(spark, table, False, False, "read", "UTC", tmp_path)).frame
        return Counter(tuple(row) for row in frame.collect())

    def ensure() -> None:
        ensure_runs(process, tmp_path / "run.log")

    def go_on() -> None:
        load.send(20)
        ensure()

    for _ in range(KILLS):
        process = start(tmp_path, script, broker.bootstrap)
        before = landed(tmp_path)
        until(lambda before=before: landed(tmp_path) > before + 1, 180, every=0.3, meanwhile=go_on)
        moment = time.monotonic() + chance.uniform(0, 5)
        until(lambda moment=moment: time.monotonic() > moment, every=0.3, meanwhile=go_on)
        kill_group(process)
    load.send(500)

    def complete() -> bool:
        return (
            sum(cnt for _, cnt, _ in rows("remainders", "r", "cnt", "total").elements()) == load.sent
            and rows("copies", "id", "ts").total() >= load.sent
        )

    process = start(tmp_path, script, broker.bootstrap)
    try:
        until(complete, 180, every=2, meanwhile=ensure, said=(tmp_path / "run.log").read_text)
    finally:
        kill_group(process)
    numbers = range(load.sent)
    assert rows("copies", "id", "ts") == Counter((n, n * STEP_MS) for n in numbers)
    assert rows("remainders", "r", "cnt", "total") == Counter((r, len(numbers[r::7]), sum(numbers[r::7])) for r in range(7))


def landed(project: Path) -> int:
    """How many snapshots there are."""
    return sum(1 for _ in project.glob("lake/default_database/*/metadata/snap-*.avro"))
