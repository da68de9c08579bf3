"""kill -9 of the whole process, and of the broker, while topics are written exactly once: a reader of committed records sees each row once."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.runtime.jobs.test_kill import PARTITIONS, Load, start
from tests.support.processes import ensure_runs, kill_group
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KILLS = os.environ.get("SQLSTREAM_TEST_KILLS")
SCRIPT = """
CREATE TABLE events (id BIGINT) WITH ('connector' = 'kafka', 'topic' = '${TOPIC}', 'properties.bootstrap.servers' = '${BOOTSTRAP}',
  'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE copies (id BIGINT) WITH ('connector' = 'kafka', 'topic' = '${TOPIC}-copies', 'properties.bootstrap.servers' = '${BOOTSTRAP}',
  'format' = 'json', 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'kill');
CREATE TABLE changes (r BIGINT, cnt BIGINT, total BIGINT) WITH ('connector' = 'kafka', 'topic' = '${TOPIC}-changes',
  'properties.bootstrap.servers' = '${BOOTSTRAP}', 'format' = 'debezium-json',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'kill');
CREATE TABLE totals (r BIGINT, cnt BIGINT, total BIGINT, PRIMARY KEY (r) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
  'topic' = '${TOPIC}-totals', 'properties.bootstrap.servers' = '${BOOTSTRAP}', 'key.format' = 'json', 'value.format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'kill');
EXECUTE STATEMENT SET BEGIN
INSERT INTO copies SELECT id FROM events;
INSERT INTO changes SELECT MOD(id, 7), COUNT(*), SUM(id) FROM events GROUP BY MOD(id, 7);
INSERT INTO totals SELECT MOD(id, 7), COUNT(*), SUM(id) FROM events GROUP BY MOD(id, 7);
END;
"""


class Reader:
    """Reads the committed records of a topic as they come."""

    def __init__(self, broker: Any, topic: str) -> None:
        self._consumer = Consumer({
            "bootstrap.servers": broker.bootstrap, "group.id": "x", "isolation.level": "read_committed", "enable.auto.commit": False,
        })  # fmt: skip
        self._consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
        self.rows: list[Any] = []

    def read(self) -> list[Any]:
        """The values of all records so far."""
        while (message := self._consumer.poll(0.3)) is not None:
            if not message.error():
                self.rows.append(json.loads(message.value()))
        return self.rows

    def close(self) -> None:
        self._consumer.close()


def net(changes: list[Any]) -> Counter:
    """What is left of changes as Debezium writes them, of which none may be missing or come twice."""
    left: Counter = Counter()
    for change in changes:
        for part, by in (("before", -1), ("after", 1)):
            if change[part] is not None:
                left[tuple(change[part].values())] += by
    return left


@pytest.fixture
def readers(own_broker) -> Iterator[dict[str, Reader]]:
    made: dict[str, Reader] = {}
    for name in ("copies", "changes", "totals"):
        own_broker.topic(f"kill-{name}", PARTITIONS)
        made[name] = Reader(own_broker, f"kill-{name}")
    yield made
    for reader in made.values():
        reader.close()


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_a_topic_has_each_row_once(kills: int, tmp_path: Path, own_broker, readers: dict[str, Reader]) -> None:
    script = tmp_path / "job.sql"
    script.write_text(SCRIPT.replace("${TOPIC}", "kill"))
    load = Load(own_broker, "kill")
    load.send(500)
    chance = random.Random(7)

    def go_on() -> None:
        load.send(20)
        ensure_runs(process, tmp_path / "run.log")

    for number in range(int(KILLS or kills)):
        process = start(tmp_path, script, own_broker.bootstrap)
        before = len(readers["copies"].read())
        until(lambda before=before: len(readers["copies"].read()) > before, 180, every=0.1, meanwhile=go_on, said=(tmp_path / "run.log").read_text)
        moment = time.monotonic() + chance.uniform(0, 6)
        until(lambda moment=moment: time.monotonic() > moment, every=0.1, meanwhile=go_on)
        if number % 4 == 1:
            # The broker's end is one of a connection, from which the job recovers by itself.
            os.kill(own_broker.broker.status().pid, signal.SIGKILL)
            until(lambda: not own_broker.broker.status().running)
            own_broker.broker.start()
            before = len(readers["copies"].read())
            until(
                lambda before=before: len(readers["copies"].read()) > before, 180, every=0.1, meanwhile=go_on, said=(tmp_path / "run.log").read_text
            )
        kill_group(process)
    load.send(500)
    numbers = range(load.sent)
    expected = {r: (len(numbers[r::7]), sum(numbers[r::7])) for r in range(7)}

    def complete() -> bool:
        copied, totals, changed = (readers[name].read() for name in ("copies", "totals", "changes"))
        return len(copied) >= load.sent and sum(latest(totals)[r][0] for r in latest(totals)) >= load.sent and +net(changed) == goal

    def latest(rows: list[Any]) -> dict[int, tuple[int, int]]:
        # A key is in one partition.
        return {row["r"]: (row["cnt"], row["total"]) for row in rows}

    goal = Counter((r, *of) for r, of in expected.items())
    process = start(tmp_path, script, own_broker.bootstrap)
    try:
        until(complete, 180, every=2, meanwhile=lambda: ensure_runs(process, tmp_path / "run.log"), said=(tmp_path / "run.log").read_text)
    finally:
        kill_group(process)
    assert Counter(row["id"] for row in readers["copies"].read()) == Counter(numbers)
    assert latest(readers["totals"].read()) == expected
    # Each change takes back what the one before it has put there.
    assert {row: count for row, count in net(readers["changes"].read()).items() if count} == goal
