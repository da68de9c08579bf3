"""A temporal join with a table of upserts in Kafka, whose tombstones end versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import open_session
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

SCRIPT = """
CREATE TABLE rates (cur STRING, rate INT, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL, PRIMARY KEY (cur) NOT ENFORCED, WATERMARK FOR ts AS ts)
WITH ('connector' = 'upsert-kafka', 'topic' = 'versions', 'properties.bootstrap.servers' = '${BOOTSTRAP}', 'key.format' = 'json',
  'value.format' = 'json', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE orders (id INT, cur STRING, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL, WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 'versioned', 'properties.bootstrap.servers' = '${BOOTSTRAP}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE answers (id INT, rate INT) WITH ('connector' = 'print');
SET 'table.dml-sync' = 'true';
INSERT INTO answers SELECT o.id, r.rate FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur;
"""


def test_a_tombstone_ends_a_version(tmp_path: Path, engine, broker) -> None:
    broker.topic("versions", 2)
    broker.topic("versioned", 2)

    # Records come at the time of the clock: those of the next call are later.
    orders = iter(range(1, 10))
    for value in ('{"cur": "a", "rate": 1}', '{"cur": "a", "rate": 2}', None, '{"cur": "a", "rate": 3}'):
        broker.send("versions", (0, '{"cur": "a"}', value))
        broker.send("versioned", *((partition, "", f'{{"id": {next(orders)}, "cur": "{cur}"}}') for partition, cur in enumerate("ab")))
    lines: list[str] = []
    client = open_session(tmp_path, SCRIPT, variables={"BOOTSTRAP": broker.bootstrap}, emit=lines.append, engine=engine)
    client.close()
    rows = sorted(line for line in lines if line.startswith("+I"))
    assert rows == ["+I[1, 1]", "+I[2, null]", "+I[3, 2]", "+I[4, null]", "+I[5, null]", "+I[6, null]", "+I[7, 3]", "+I[8, null]"]


IDLE = """
SET 'table.exec.source.idle-timeout' = '${IDLE}';
CREATE TABLE rates (cur STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = '${RATES}', 'properties.bootstrap.servers' = '${BOOTSTRAP}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE orders (id INT, cur STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = '${ORDERS}', 'properties.bootstrap.servers' = '${BOOTSTRAP}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE VIEW versions AS SELECT cur, rate, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY cur ORDER BY ts DESC) AS n FROM rates) WHERE n = 1;
CREATE TABLE answers (id INT, rate INT) WITH ('connector' = 'print');
INSERT INTO answers SELECT o.id, r.rate FROM orders AS o JOIN versions FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur;
"""


@pytest.mark.parametrize("idle", ["1 ms", "2 s"])
def test_inputs_that_go_idle_together(tmp_path: Path, engine, broker, idle: str) -> None:
    """Both are read in one micro-batch, and are idle from then on: the order after the last version comes out."""
    name = idle.replace(" ", "-")
    orders, rates = f"idle-orders-{name}", f"idle-rates-{name}"
    broker.produce(rates, ['{"cur": "a", "rate": 10, "ts": "2026-01-01 09:00:00"}', '{"cur": "a", "rate": 20, "ts": "2026-01-01 09:30:00"}'])
    broker.produce(orders, ['{"id": 1, "cur": "a", "ts": "2026-01-01 09:10:00"}', '{"id": 2, "cur": "a", "ts": "2026-01-01 10:00:00"}'])
    lines: list[str] = []
    variables = {"BOOTSTRAP": broker.bootstrap, "ORDERS": orders, "RATES": rates, "IDLE": idle}
    client = open_session(tmp_path, IDLE, variables=variables, emit=lines.append, engine=engine)
    until(lambda: len(lines) >= 2)
    # One of them wakes: it alone counts.
    broker.produce(orders, ['{"id": 3, "cur": "a", "ts": "2026-01-01 11:00:00"}'])
    until(lambda: len(lines) >= 3)
    client.jobs.stop_all()
    client.close()
    assert sorted(lines) == ["+I[1, 10]", "+I[2, 20]", "+I[3, 20]"]
