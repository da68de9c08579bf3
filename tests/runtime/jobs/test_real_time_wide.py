"""Queries with state in real time that are wide, skewed, or read faster than their table takes rows: nothing lost, and memory stays."""

from __future__ import annotations

import json
import random
import time
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from sqlstream.catalog.ddl import options_text
from tests.support.background import Background
from tests.support.processes import jvms_of
from tests.support.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(900)]

OPTIONS = {"spark.version": "4.3", "execution.real-time": "true", "execution.checkpointing.interval": "15 s", "parallelism.default": "2"}


class Counted:
    """A job that counts the records of a topic by ``k``, in a process of its own, and those that were sent: nine of ten of one key, in one
    partition.
    """

    def __init__(self, folder: Path, broker, name: str, *, partitions: int, length: int, into: dict[str, str]) -> None:
        self.broker, self.topic, self.partitions, self.text = broker, name, partitions, "x" * length
        self.random = random.Random(4)
        self.expected: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
        broker.topic(name, partitions)
        source = {
            "connector": "kafka", "topic": name, "properties.bootstrap.servers": broker.bootstrap, "format": "json",
            "scan.startup.mode": "earliest-offset",
        }  # fmt: skip
        self.job = Background(
            folder,
            f"""CREATE TABLE e (k INT, v INT, text STRING) {options_text(source.items())};
            CREATE TABLE counted (k INT, n BIGINT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED) {options_text(into.items())};
            SET 'pipeline.name' = 'counted';
            INSERT INTO counted SELECT k, COUNT(*), SUM(CAST(v AS BIGINT) * CHAR_LENGTH(text)) FROM e GROUP BY k;""",
        )

    def send(self, count: int) -> None:
        records = []
        for _ in range(count):
            k = 7 if self.random.random() < 0.9 else self.random.randrange(1000)
            v = self.random.randrange(100)
            n, s = self.expected[k]
            self.expected[k] = (n + 1, s + v * len(self.text))
            records.append((k % self.partitions, None, json.dumps({"k": k, "v": v, "text": self.text})))
        self.broker.send(self.topic, *records)

    @property
    def memory(self) -> float:
        """What its JVM has had at most, in GiB."""
        (jvm,) = jvms_of(self.job.supervisor)
        (line,) = (line for line in Path(f"/proc/{jvm}/status").read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / (1 << 20)

    def start(self, **options: str) -> str:
        return self.job.start(**OPTIONS | options)


def test_two_hundred_partitions(tmp_path: Path, broker) -> None:
    """Of which one has nine of ten records: in real time where there are slots for all; with 16, refused, or by micro-batches."""
    target = "wide-counted"
    into = {
        "connector": "upsert-kafka", "topic": target, "properties.bootstrap.servers": broker.bootstrap, "key.format": "json",
        "value.format": "json",
    }  # fmt: skip
    broker.topic(target, 2)
    counted = Counted(tmp_path, broker, "wide", partitions=200, length=10, into=into)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": target})
    consumer.assign([TopicPartition(target, number, OFFSET_BEGINNING) for number in range(2)])
    rows: dict[int, tuple[int, int]] = {}

    def read() -> None:
        while (message := consumer.poll(0.05)) is not None:
            if message.error() is not None:
                continue
            if message.value() is None:
                # What was written after the last offsets is taken back when the job begins again.
                rows.pop(json.loads(message.key())["k"], None)
            else:
                row = json.loads(message.value())
                rows[row["k"]] = (row["n"], row["s"])

    def arrive(seconds: float) -> None:
        until(lambda: rows == counted.expected, seconds, meanwhile=read)

    many = {"spark.master": "local[220]"}
    try:
        assert "FAILED" not in counted.start(**many)
        for _ in range(20):
            counted.send(1_000)
            read()
        arrive(180)
        # Records of a few of the partitions come, also while the tasks of all the others begin a micro-batch.
        for _ in range(5):
            counted.send(3)
            arrive(30)
        counted.job.kill()
        for _ in range(10):
            counted.send(1_000)
            read()
        arrive(180)
        assert counted.memory < 3
        assert "FAILED" not in counted.job.stop()

        told = counted.start(**{"spark.master": "local[16]"})
        assert (
            "FAILED" in told and "Real time needs a slot of Spark's for each task of job 'counted' (202), and one for all else; there are 16" in told
        )
        assert "FAILED" not in counted.start(**{"spark.master": "local[16]", "execution.real-time": "auto"})
        counted.send(2_000)
        arrive(180)
        assert "FAILED" not in counted.job.stop()
        assert "FAILED" not in counted.start(**many)
        counted.send(2_000)
        arrive(180)
    finally:
        counted.job.stop()
        consumer.close()


@pytest.mark.postgres
def test_a_table_that_is_locked_for_a_while(tmp_path: Path, broker, postgres) -> None:
    """What comes meanwhile waits in Kafka, not in memory."""
    postgres.run("DROP TABLE IF EXISTS counted", "CREATE TABLE counted (k INT PRIMARY KEY, n BIGINT, s BIGINT)")
    counted = Counted(tmp_path, broker, "locked", partitions=2, length=900, into=postgres.options("counted"))
    sending = True

    def send() -> None:
        while sending:
            begin = time.monotonic()
            counted.send(300)
            time.sleep(max(0.0, begin + 0.1 - time.monotonic()))

    def arrive(seconds: float) -> None:
        until(lambda: {k: (n, s) for k, n, s in postgres.run("SELECT * FROM counted")} == counted.expected, seconds, every=0.2)

    try:
        counted.send(10)
        assert "FAILED" not in counted.start(**{"spark.master": "local[12]"})
        arrive(120)
        sender = Thread(target=send)
        sender.start()
        time.sleep(30)
        before = counted.memory
        with closing(postgres.connection()) as holder:
            holder.run("BEGIN")
            holder.run("LOCK TABLE counted IN ACCESS EXCLUSIVE MODE")
            time.sleep(60)
            assert counted.memory < before + 0.3
        time.sleep(5)
        sending = False
        sender.join()
        arrive(30)
        assert counted.memory < before + 0.3
    finally:
        sending = False
        counted.job.stop()
