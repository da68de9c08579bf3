"""Kafka exactly once: what a reader of committed records sees while jobs fail, stop, are killed and change."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from sqlstream.core.errors import SqlStreamError, ValidationError
from tests.support.sessions import catch_up, open_session, run, submit

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.runtime.jobs.job import Job
    from sqlstream.session.session import Session

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

TABLES = """
CREATE TABLE events (id BIGINT) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{bootstrap}',
  'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE copies (id BIGINT, h MAP<STRING, BYTES> METADATA FROM 'headers', t TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = '{connector}', 'topic' = '{topic}-out', 'properties.bootstrap.servers' = '{bootstrap}', {formats},
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{topic}');
"""
FORMATS = {
    "kafka": "'key.format' = 'json', 'key.fields' = 'id', 'value.format' = 'json'",
    "upsert-kafka": "'key.format' = 'json', 'value.format' = 'json'",
}
# The time of a record is told, but of one whose id is odd.
COPY = "INSERT INTO copies SELECT {id}, MAP['from', CAST('x' AS BYTES)], CASE WHEN MOD(id, 2) = 0 THEN TO_TIMESTAMP_LTZ(1000 + id, 3) END FROM events"


class Copies:
    """A topic of events with two partitions, and the session of a job that copies it."""

    def __init__(self, project: Path, engine: Any, broker: Any, topic: str, connector: str = "kafka") -> None:
        self.project, self.engine, self.broker, self.topic = project, engine, broker, topic
        self.tables = TABLES.format(topic=topic, bootstrap=broker.bootstrap, connector=connector, formats=FORMATS[connector])
        if connector == "kafka":
            self.tables = self.tables.replace(", PRIMARY KEY (id) NOT ENFORCED", "")
        broker.topic(topic, 2)
        broker.topic(f"{topic}-out", 2)

    def open(self, **options: str) -> Session:
        return open_session(self.project, self.tables, options={"execution.upgrade-mode": "last-state", **options}, engine=self.engine)

    def send(self, *ids: int, partition: int = 0) -> None:
        self.broker.send(self.topic, *((partition, None, json.dumps({"id": id_})) for id_ in ids))

    def committed(self) -> list[int]:
        """The ids that a reader of committed records sees, with all that it needs for the next of them."""
        return [json.loads(message.value())["id"] for message in self.messages()]

    def messages(self, isolation: str = "read_committed") -> list[Any]:
        consumer = Consumer({"bootstrap.servers": self.broker.bootstrap, "group.id": "x", "isolation.level": isolation, "enable.partition.eof": True})
        places = [TopicPartition(f"{self.topic}-out", number, 0) for number in range(2)]
        consumer.assign(places)
        found, ends = [], 0
        while ends < len(places):
            message = consumer.poll(20)
            assert message is not None, "the broker does not answer"
            if message.error():
                ends += 1
            else:
                found.append(message)
        consumer.close()
        return found

    def groups(self) -> set[str]:
        """Those in which commits are noted."""
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap})
        listed = admin.list_consumer_groups().result()
        return {group.group_id for group in listed.valid if group.group_id.startswith(f"{self.topic}-")}

    def forget_mark(self, group: str) -> None:
        """As if the task of that name had not committed."""
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap})
        admin.delete_consumer_groups([group])[group].result()


def forget_commits(job: Job) -> None:
    """As if the job had been killed when its last micro-batch was written, and Spark had not noted it."""
    (folder,) = (job.folder / "checkpoint").glob("*/commits")
    last = max((file for file in folder.glob("[0-9]*")), key=lambda file: int(file.name))
    last.unlink()
    (folder / f".{last.name}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize("connector", FORMATS)
def test_a_micro_batch_that_runs_again_is_passed_over(tmp_path: Path, engine, broker, connector: str) -> None:
    copies = Copies(tmp_path, engine, broker, f"once-again-{connector}", connector)
    copies.send(1, 2)
    copies.send(3, partition=1)
    session = copies.open()
    job = submit(session, COPY.format(id="id"))
    catch_up(job)
    copies.send(4)
    catch_up(job)
    assert Counter(copies.committed()) == Counter([1, 2, 3, 4])
    (message, *_) = messages = copies.messages()
    times = {json.loads(each.value())["id"]: each.timestamp()[1] for each in messages}
    assert (times[2], times[4]) == (1002, 1004) and times[1] > 1_600_000_000_000
    assert message.headers() == [("from", b"x")] and json.loads(message.key()) == json.loads(message.value())
    run(session, f"STOP JOB '{job.id}'")
    forget_commits(job)
    again = submit(session, COPY.format(id="id"))
    copies.send(5, partition=1)
    catch_up(again)
    assert Counter(copies.committed()) == Counter([1, 2, 3, 4, 5])
    assert len(copies.messages("read_uncommitted")) == 5
    session.close()


def test_nothing_is_seen_of_a_micro_batch_that_fails(tmp_path: Path, engine, broker) -> None:
    copies = Copies(tmp_path, engine, broker, "once-fails")
    session = copies.open()
    job = submit(session, COPY.format(id="10 / id"))
    copies.send(5)
    catch_up(job)
    run(session, f"STOP JOB '{job.id}'")
    copies.send(10, 2)
    copies.send(*range(1, 3000), 0, partition=1)
    job = submit(session, COPY.format(id="10 / id"))
    job.done.wait(60)
    assert job.error is not None and "by zero" in job.error.message
    assert copies.committed() == [2]
    # What was to be written is written by a statement that can.
    edited = submit(session, COPY.format(id="IF(id = 0, -1, 10 / id)"))
    catch_up(edited)
    assert Counter(copies.committed()) == Counter([2, 1, 5, -1, *(10 // n for n in range(1, 3000))])
    session.close()


def test_an_upgrade_after_a_kill_goes_on_behind_what_has_landed(tmp_path: Path, engine, broker) -> None:
    copies = Copies(tmp_path, engine, broker, "once-upgrade")
    copies.send(1)
    session = copies.open()
    job = submit(session, COPY.format(id="id"))
    catch_up(job)
    run(session, f"STOP JOB '{job.id}'")
    forget_commits(job)
    groups = copies.groups()
    edited = submit(session, COPY.format(id="id * 100"))
    copies.send(2)
    catch_up(edited)
    assert copies.committed() == [1, 200]
    assert len(groups) == 1 and groups < copies.groups()
    session.close()


def test_values_and_batch_mode_are_one_transaction(tmp_path: Path, engine, broker) -> None:
    copies = Copies(tmp_path, engine, broker, "once-batch")
    session = copies.open(**{"table.dml-sync": "true"})
    run(session, "INSERT INTO copies (id) VALUES (1), (2)")
    assert sorted(copies.committed()) == [1, 2] and copies.messages()[0].headers() is None
    copies.send(3, 4)
    copies.send(0, partition=1)
    batch = copies.open(**{"table.dml-sync": "true", "execution.runtime-mode": "batch"})
    read = COPY.replace("events", "events /*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */")
    with pytest.raises(SqlStreamError, match="by zero"):
        run(batch, read.format(id="12 / id"))
    assert sorted(copies.committed()) == [1, 2]
    run(batch, read.format(id="id"))
    assert sorted(copies.committed()) == [0, 1, 2, 3, 4]
    session.close()
    batch.close()


def test_a_part_that_is_there_is_completed(tmp_path: Path, engine, broker) -> None:
    """A kill between the commits of two tasks."""
    copies = Copies(tmp_path, engine, broker, "once-part")
    session = copies.open()
    copies.send(1)
    copies.send(2, partition=1)
    job = submit(session, COPY.format(id="id"))
    catch_up(job)
    query = job.queries[0].id
    run(session, f"STOP JOB '{job.id}'")
    # The mark of the second task is gone, its record is not: that it comes again shows who was passed over.
    copies.forget_mark(f"once-part-{query}-1")
    forget_commits(job)
    again = submit(session, COPY.format(id="id"))
    catch_up(again)
    assert Counter(copies.committed()) == Counter([1, 2, 2])
    session.close()


def test_it_needs_a_prefix(tmp_path: Path, engine) -> None:
    session = open_session(tmp_path, engine=engine)
    table = "CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'x:1', 'format' = 'json', 'sink.delivery-guarantee' = 'exactly-once')"
    run(session, table)
    with pytest.raises(ValidationError, match=r"sink.transactional-id-prefix must be specified when using DeliveryGuarantee.EXACTLY_ONCE."):
        run(session, "INSERT INTO t VALUES (1)")
    session.close()


def test_tasks_are_in_the_order_of_partitions(tmp_path: Path, engine, broker) -> None:
    """In each process: a task whose transaction has committed reads the same partition again after a kill."""
    for topic in ("order-b", "order-a"):
        broker.topic(topic, 2)
        broker.send(topic, *((partition, None, '{"id": 1}') for partition in (0, 1)))
    session = open_session(
        tmp_path,
        f"""
        CREATE TABLE events (id BIGINT) WITH ('connector' = 'kafka', 'topic' = 'order-b;order-a', 'properties.bootstrap.servers' = '{broker.bootstrap}',
          'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
        CREATE TABLE copies (id BIGINT) WITH ('connector' = 'blackhole');
        """,
        engine=engine,
    )
    job = submit(session, "INSERT INTO copies SELECT id FROM events")
    catch_up(job)
    leaves = job.queries[0]._jsq.streamingQuery().lastExecution().executedPlan().collectLeaves()  # type: ignore[attr-defined]
    (scan,) = (leaf for leaf in map(leaves.apply, range(leaves.size())) if leaf.getClass().getSimpleName() == "MicroBatchScanExec")
    ranges = [partition.offsetRange() for partition in map(scan.inputPartitions().apply, range(scan.inputPartitions().size()))]
    session.jobs.stop_all()
    assert [(one.topic(), one.partition()) for one in ranges] == [("order-a", 0), ("order-a", 1), ("order-b", 0), ("order-b", 1)]
