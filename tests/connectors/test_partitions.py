"""Partitions and topics that are added while a job runs: each is read from its beginning, in every kind of query, and no row twice."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import catch_up, open_session, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.usefixtures("interpreted")]
SOURCE = """
CREATE TABLE events (k STRING, v INT, ts BIGINT, at_ltz AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR at_ltz AS at_ltz)
WITH ('connector' = 'kafka', {topics}, 'properties.bootstrap.servers' = '{bootstrap}', 'format' = 'json',
  'scan.startup.mode' = '{startup}', 'scan.topic-partition-discovery.interval' = '{every}');
CREATE TABLE other (k STRING, w INT, ts BIGINT, at_ltz AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR at_ltz AS at_ltz, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'other-{name}', 'properties.bootstrap.servers' = '{bootstrap}', 'key.format' = 'raw',
  'value.format' = 'json', 'scan.topic-partition-discovery.interval' = '{every}');
CREATE TABLE plain (k STRING, v INT) WITH ('connector' = 'print', 'print-identifier' = 'plain');
CREATE TABLE sums (k STRING, v INT) WITH ('connector' = 'print', 'print-identifier' = 'sums');
CREATE TABLE windows (e TIMESTAMP_LTZ(0), v INT) WITH ('connector' = 'print', 'print-identifier' = 'windows');
CREATE TABLE joined (k STRING, v INT, w INT) WITH ('connector' = 'print', 'print-identifier' = 'joined');
CREATE TABLE versions (k STRING, v INT, w INT) WITH ('connector' = 'print', 'print-identifier' = 'versions');
"""
PLAIN = "INSERT INTO plain SELECT k, v FROM events;"
SUMS = "INSERT INTO sums SELECT k, SUM(v) FROM events GROUP BY k;"
WINDOWS = """INSERT INTO windows SELECT CAST(window_end AS TIMESTAMP_LTZ(0)), SUM(v)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(at_ltz), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;"""
JOINED = "INSERT INTO joined SELECT a.k, a.v, b.w FROM events a JOIN other b ON a.k = b.k;"
VERSIONS = "INSERT INTO versions SELECT a.k, a.v, b.w FROM events a JOIN other FOR SYSTEM_TIME AS OF a.at_ltz AS b ON a.k = b.k;"
ALL = f"EXECUTE STATEMENT SET BEGIN {PLAIN} {SUMS} {WINDOWS} {JOINED} {VERSIONS} END;"
MINUTE = 60_000


class Growing:
    """A job over topics that grow, and what it prints."""

    def __init__(
        self, project: Path, engine, broker, name: str, sql: str, *, topics: str = "", startup: str = "earliest-offset", every: str = "100 ms"
    ) -> None:
        self.engine, self.broker, self.name, self.sql = engine, broker, name, sql
        self.rows: list[str] = []
        self.session = open_session(project, engine=engine, emit=self.rows.append)
        broker.topic(f"other-{name}")
        topics = topics or f"'topic' = '{name}'"
        declared = SOURCE.format(topics=topics, bootstrap=broker.bootstrap, name=name, startup=startup, every=every)
        assert list(self.session.run(declared))
        self.start()

    def start(self) -> None:
        self.job = submit(self.session, self.sql)

    def stop(self) -> None:
        self.session.jobs.stop(self.job.id)

    def send(self, topic: str, rows: list[tuple[int, str, int, int]], column: str = "v") -> None:
        """Rows (partition, k, v, seconds)."""
        self.broker.send(topic, *((p, k, f'{{"k":"{k}","{column}":{v},"ts":{s * 1000}}}') for p, k, v, s in rows))

    def grow(self, topic: str, partitions: int) -> None:
        jvm = self.engine.spark._jvm
        config, wanted = jvm.java.util.HashMap(), jvm.java.util.HashMap()
        config.put("bootstrap.servers", self.broker.bootstrap)
        wanted.put(topic, jvm.org.apache.kafka.clients.admin.NewPartitions.increaseTo(partitions))
        admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(config)
        admin.createPartitions(wanted).all().get()
        admin.close()

    def printed(self, sink: str) -> list[str]:
        return sorted(row.removeprefix(f"{sink}> ") for row in list(self.rows) if row.startswith(f"{sink}> "))

    def why(self) -> str:
        (advice,) = self.session.run("EXPLAIN JOB")
        return "\n".join(row[1] for row in advice.rows)

    def until(self, holds: Callable[[], bool]) -> None:
        until(holds, meanwhile=self._ensure_no_error, said=lambda: self.rows)

    def _ensure_no_error(self) -> None:
        assert self.job.error is None, self.job.error

    def processed(self) -> None:
        catch_up(self.job)


def test_every_kind_of_query_reads_a_new_partition(tmp_path: Path, engine, broker) -> None:
    broker.topic("grown")
    growing = Growing(tmp_path, engine, broker, "grown", ALL)
    growing.send("other-grown", [(0, "a", 7, 0), (0, "z", 0, 3600)], "w")
    growing.send("grown", [(0, "a", 1, 1), (0, "a", 2, 61)])
    growing.until(lambda: len(growing.printed("windows")) == 1 and len(growing.printed("versions")) == 2)
    assert growing.printed("windows") == ["+I[1970-01-01T00:01:00Z, 1]"]
    growing.grow("grown", 3)
    # Each query looks for itself; what one reads of a partition that is known before it sees the others moves its watermark alone.
    growing.until(lambda: not any(cluster.unread for query in growing.job.sampled(look=True).queries for cluster in query.brokers))
    growing.send("grown", [(1, "a", 10, 62), (0, "a", 20, 300)])
    growing.until(lambda: len(growing.printed("plain")) == 4)
    growing.processed()
    assert growing.printed("windows") == ["+I[1970-01-01T00:01:00Z, 1]"], "partition 2, which is empty, counts"
    growing.send("grown", [(1, "a", 100, 119), (2, "a", 200, 119), (1, "a", 1000, 300), (2, "a", 2000, 300)])
    growing.until(lambda: len(growing.printed("windows")) == 2 and all(len(growing.printed(sink)) == 8 for sink in ("plain", "versions", "joined")))
    assert growing.printed("windows") == ["+I[1970-01-01T00:01:00Z, 1]", "+I[1970-01-01T00:02:00Z, 312]"]
    values = (1, 2, 10, 20, 100, 200, 1000, 2000)
    assert growing.printed("plain") == sorted(f"+I[a, {v}]" for v in values)
    assert growing.printed("joined") == growing.printed("versions") == sorted(f"+I[a, {v}, 7]" for v in values)
    growing.until(lambda: "+U[a, 3333]" in growing.printed("sums"))
    assert growing.job.sampled().late == 0
    growing.stop()
    growing.grow("grown", 4)
    growing.send("grown", [(3, "a", 5, 400), (2, "a", 50, 400)])
    growing.rows.clear()
    growing.start()
    growing.until(lambda: len(growing.printed("plain")) == 2)
    growing.processed()
    assert growing.printed("plain") == ["+I[a, 50]", "+I[a, 5]"], "a partition that was added meanwhile, too; nothing twice"
    growing.stop()


def test_a_pattern_finds_topics_and_a_partition_is_read_from_its_beginning(tmp_path: Path, engine, broker) -> None:
    everything = f"EXECUTE STATEMENT SET BEGIN {PLAIN} {WINDOWS} END;"
    growing = Growing(tmp_path, engine, broker, "found", everything, topics="'topic-pattern' = 'found-[ab]'", startup="latest-offset")
    broker.topic("found-a")
    growing.send("found-a", [(0, "a", 1, 1)])
    growing.until(lambda: growing.printed("plain") == ["+I[a, 1]"])
    broker.topic("found-b", 2)
    broker.topic("found-c")
    growing.send("found-b", [(1, "b", 10, 1), (0, "b", 20, 70)])
    growing.send("found-c", [(0, "c", 1, 1)])
    growing.until(lambda: len(growing.printed("plain")) == 3)
    growing.send("found-a", [(0, "a", 2, 70)])
    growing.processed()
    assert growing.printed("windows") == []
    growing.send("found-b", [(1, "b", 30, 70)])
    growing.until(lambda: growing.printed("windows") == ["+I[1970-01-01T00:01:00Z, 11]"])
    assert growing.printed("plain") == sorted(["+I[a, 1]", "+I[a, 2]", "+I[b, 10]", "+I[b, 20]", "+I[b, 30]"])
    growing.stop()


def test_without_an_interval_partitions_are_those_of_the_start(tmp_path: Path, engine, broker) -> None:
    broker.topic("fixed")
    growing = Growing(tmp_path, engine, broker, "fixed", PLAIN, every="0 ms")
    growing.send("fixed", [(0, "a", 1, 1)])
    growing.until(lambda: growing.printed("plain") == ["+I[a, 1]"])
    growing.grow("fixed", 2)
    growing.send("fixed", [(1, "a", 2, 1), (0, "a", 3, 1)])
    growing.until(lambda: growing.printed("plain") == ["+I[a, 1]", "+I[a, 3]"])
    assert "Partition 1 of topic fixed was added and is not read yet" in growing.why()
    growing.stop()
    growing.start()
    growing.until(lambda: growing.printed("plain") == ["+I[a, 1]", "+I[a, 2]", "+I[a, 3]"])
    growing.stop()


def test_brokers_that_give_no_answer_are_told_of(tmp_path: Path, engine, own_broker) -> None:
    own_broker.topic("away")
    growing = Growing(tmp_path, engine, own_broker, "away", PLAIN)
    growing.send("away", [(0, "a", 1, 1)])
    growing.until(lambda: growing.printed("plain") == ["+I[a, 1]"])
    process = int((own_broker.broker.folder / "broker.pid").read_text())
    os.kill(process, signal.SIGSTOP)
    try:
        growing.until(lambda: growing.job.metrics.silent is not None)
        silent = f"Kafka at {own_broker.bootstrap} has not answered since "
        (jobs,) = growing.session.run("SHOW JOBS EXTENDED")
        assert jobs.columns[6].name == "last error" and jobs.rows[0][2] == "RUNNING" and jobs.rows[0][6].startswith(silent)
        assert silent in growing.why() and "Nothing new" not in growing.why()
    finally:
        os.kill(process, signal.SIGCONT)
    growing.until(lambda: growing.job.metrics.silent is None)
    assert f"Kafka at {own_broker.bootstrap} answers again since " in growing.why()
    growing.send("away", [(0, "a", 2, 1)])
    growing.until(lambda: growing.printed("plain") == ["+I[a, 1]", "+I[a, 2]"])
    growing.stop()
