"""What real jobs say of themselves: figures, and why they give nothing."""

from __future__ import annotations

import json
import time
import urllib.request
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa
import pytest
from prometheus_client.parser import text_string_to_metric_families
from pyarrow import parquet
from pyspark.java_gateway import ensure_callback_server_started

from sqlstream.core.errors import ValidationError
from sqlstream.runtime.queries import watch
from sqlstream.session.context import Interrupted
from sqlstream.session.results import Figures
from sqlstream.session.session import Session
from tests.support.sessions import catch_up, open_session, run, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


pytestmark = [pytest.mark.spark, pytest.mark.kafka]
HOUR = 3_600_000
TABLES = """
CREATE TABLE `{topic}` (price INT, ts BIGINT, at_ltz AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR at_ltz AS at_ltz)
WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{bootstrap}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE answers (window_start TIMESTAMP_LTZ(0), n BIGINT) WITH ('connector' = 'print');
"""
WINDOWS = """
INSERT INTO answers SELECT CAST(window_start AS TIMESTAMP_LTZ(0)), COUNT(*)
FROM TABLE(TUMBLE(TABLE `{topic}`, DESCRIPTOR(at_ltz), INTERVAL '1' HOUR)) {where} GROUP BY window_start, window_end
"""


class Running:
    """A windowed count over a topic of its own."""

    def __init__(self, session: Session, broker, topic: str, partitions: int = 1, where: str = "", sql: str = WINDOWS) -> None:
        self.session, self.broker, self.topic = session, broker, topic
        broker.topic(topic, partitions)
        self.job = submit(session, TABLES.format(topic=topic, bootstrap=broker.bootstrap) + sql.format(topic=topic, where=where))

    def send(self, rows: dict[int, list[tuple[int, int]]]) -> None:
        """Rows (price, ts) to partitions; they are through when this returns."""
        self.broker.send(self.topic, *((p, None, json.dumps({"price": price, "ts": ts})) for p, given in rows.items() for price, ts in given))
        self.settle()

    def settle(self) -> None:
        catch_up(self.job)

    def why(self) -> list[tuple[str, str | None]]:
        (outcome,) = self.session.run(f"EXPLAIN JOB '{self.job.id}'")
        return [(reason, hint) for _, reason, hint in outcome.rows]


@pytest.fixture
def session(tmp_path: Path, engine) -> Iterator[Session]:
    made = open_session(tmp_path, engine=engine, emit=lambda line: None)
    yield made
    made.close()


def test_a_partition_that_holds_the_watermark_back(session, broker) -> None:
    job = Running(session, broker, "metrics-held", partitions=2)
    job.settle()
    assert job.why() == [("No input: nothing new has come to topic metrics-held since the query began.", None)]
    job.send({0: [(1, 10), (2, 2 * HOUR)]})
    (silent, hint), *_ = job.why()
    assert silent == (
        "The watermark is held back by partition 1 of topic metrics-held, which has had no row since the query began; "
        "the others have come to 1970-01-01 02:00:00."
    )
    assert "table.exec.source.idle-timeout" in (hint or "")
    job.send({1: [(3, 60_000)]})
    (behind, _), (window, _), *_ = job.why()
    assert behind == (
        "The watermark is held back by partition 1 of topic metrics-held, which has come to 1970-01-01 00:01:00; "
        "the others have come to 1970-01-01 02:00:00 or later."
    )
    assert window.startswith("The watermark is at 1970-01-01 00:01:00; the next window closes when it reaches 1970-01-01 01:00:00")
    job.send({1: [(4, 2 * HOUR), (5, 5)]})
    (gives, _), *_ = job.why()
    assert gives.startswith("It emits rows: 1 so far, the last at ")


def test_a_job_that_goes_on_with_nothing_new(session, broker) -> None:
    job = Running(session, broker, "metrics-idle", sql="INSERT INTO answers SELECT at_ltz, ts FROM `{topic}` {where}")
    job.send({0: [(1, 10)]})
    job.job = session.jobs.restart(job.job.id)
    # Spark's words for a query that waits.
    until(lambda: job.job.sampled().queries[0].found_none)
    until(lambda: job.why()[0][0].startswith("No input: nothing new has come"), said=job.why)
    job.send({0: [(2, 20)]})
    assert job.why()[0][0].startswith("It emits rows: ")


def test_all_rows_are_filtered(session, broker) -> None:
    job = Running(session, broker, "metrics-filtered", where="WHERE price > 10")
    job.send({0: [(1, 10), (2, HOUR), (10, 3 * HOUR)]})
    assert job.why()[0] == ("All rows are filtered out: none of 3 rows passes WHERE (price > 10).", None)
    job.send({0: [(11, 4 * HOUR)]})
    assert "filtered" not in " ".join(text for text, _ in job.why())
    (described,) = session.run(f"DESCRIBE JOB EXTENDED '{job.job.id[:8]}'")
    cells = dict(described.rows)
    assert cells["rows read"] == "4" and cells["partition metrics-filtered-0"] == "read up to offset 4 of 4, lag 0"
    assert cells["watermark of metrics-filtered, metrics-filtered-0"] == "1970-01-01 04:00:00"
    assert [cells[name] for name in cells if name.startswith("filter ")] == ["1 of 4 rows passed"]


def test_a_filter_that_asks_for_the_time_is_one_in_all_micro_batches(session, broker) -> None:
    times = "CURRENT_DATE > DATE '1980-01-01' AND LOCALTIMESTAMP > TIMESTAMP '1980-01-01 00:00:00'"
    where = f"at_ltz < CURRENT_TIMESTAMP - INTERVAL '1' HOUR AND {times} AND RAND() >= 0"
    job = Running(session, broker, "metrics-clock", where=f"WHERE {where}")
    found: list[dict[str, str]] = []
    for hour in range(3):
        job.send({0: [(1, hour * HOUR), (2, 4_102_444_800_000)]})
        (described,) = session.run(f"DESCRIBE JOB EXTENDED '{job.job.id}'")
        found.append({name: cell for name, cell in described.rows if name.startswith("filter ")})
    assert list(found[0]) == list(found[1]) == list(found[2])
    assert list(found[2].values())[-1] == "3 of 6 rows passed" and "CURRENT_TIMESTAMP" in list(found[2])[-1]


def test_rows_of_clocks_are_not_counted(session, broker) -> None:
    """A partition that is silent becomes idle by a clock, which is a source of the query."""
    run(session, "SET 'table.exec.source.idle-timeout' = '1 s'")
    job = Running(session, broker, "metrics-clocked", partitions=2)
    job.send({0: [(1, 10), (2, 2 * HOUR)]})
    until(lambda: job.job.sampled().rows_out == 1)
    (described,) = session.run(f"DESCRIBE JOB EXTENDED '{job.job.id}'")
    assert dict(described.rows)["rows read"] == "2"
    assert [one.name for query in job.job.metrics.queries for one in query.inputs] == ["metrics-clocked"]


def test_all_rows_are_late(session, broker) -> None:
    job = Running(session, broker, "metrics-late", where="WHERE price > 0")
    job.send({0: [(0, 5 * HOUR)]})  # raises the watermark, but goes no further
    job.send({0: [(1, 1), (1, 2)]})
    (late, hint), *_ = job.why()
    assert late == "All rows are late: 2 rows came for windows that had closed. The watermark is at 1970-01-01 05:00:00."
    assert "delay" in (hint or "")


def test_the_overview_and_a_failure(session, broker) -> None:
    job = Running(session, broker, "metrics-failing", sql="INSERT INTO answers SELECT at_ltz, 10 / price FROM `{topic}`")
    job.send({0: [(1, 1), (5, 2)]})
    job.job.sampled()
    (outcome,) = session.run("SHOW JOB METRICS")
    assert isinstance(outcome, Figures)
    names = [c.name for c in outcome.columns]
    row = dict(zip(names, outcome.rows[0], strict=True))
    assert (row["job"], row["status"], row["rows in"], row["rows out"], row["lag"], row["late rows"], row["job id"]) == (
        "answers", "RUNNING", "2", "2", "0", "0", job.job.id,
    )  # fmt: skip
    with pytest.raises(Exception, match="by zero"):
        job.send({0: [(0, 3)]})
    job.job.done.wait(60)
    again = dict(zip(names, outcome.again()[0], strict=True))
    assert again["status"] == "FAILED" and "by zero" in (again["last error"] or "")
    (failed, _), *_ = job.why()
    assert failed.startswith("The job has failed: ") and "by zero" in failed


@pytest.mark.parametrize(("mode", "sink"), [("streaming", "print"), ("batch", "blackhole"), ("batch", "print")])
def test_a_bounded_job_says_how_far_it_is(tmp_path: Path, engine, broker, spark, mode: str, sink: str, monkeypatch) -> None:
    monkeypatch.setattr(watch, "EVERY_SECONDS", 0.1)
    heard: list = []
    options = {"table.local-time-zone": "UTC", "table.dml-sync": "true", "execution.runtime-mode": mode}
    session = Session(tmp_path, options=options, engine=engine, emit=lambda line: None, notify=lambda line: None, progress=heard.append)
    topic = f"metrics-bounded-{mode}-{sink}"
    broker.topic(topic, 2)
    rows = spark.range(400_000).selectExpr("CAST(id % 2 AS INT) AS partition", "concat('{\"price\":', id % 9, ',\"ts\":', id, '}') AS value")
    rows.write.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap).option("topic", topic).save()
    tables = TABLES.format(topic=topic, bootstrap=broker.bootstrap).replace("'format'", "'scan.bounded.mode' = 'latest-offset', 'format'")
    tables = tables.replace("'print'", f"'{sink}'")
    slow = "SHA512(REPEAT(CAST(price AS STRING), 1000))"  # A sample comes each 0.2 seconds.
    list(session.run(tables + f"INSERT INTO answers SELECT at_ltz, price FROM `{topic}` WHERE {slow} = ''"))
    (job,) = session.jobs
    assert job.metrics.rows_in == 400_000 and job.metrics.status == "FINISHED"
    assert heard[-1] == []
    parts = [one.remaining for (one,) in heard[:-1] if one.remaining is not None]
    assert parts and all(total == 400_000 for _, total in parts)
    assert [done for done, _ in parts] == sorted(done for done, _ in parts)
    (reason, _), *_ = [(text, hint) for _, text, hint in next(iter(session.run(f"EXPLAIN JOB '{job.id}'"))).rows]
    assert reason == f"The job has finished: 400,000 rows in{', 0 out' if mode == 'streaming' else ''}."
    session.close()


class _SlowListener:
    """Keeps Spark's status store behind the work, as a loaded machine does. It can't be removed: each call makes it a new object of Java's."""

    class Java:
        implements: ClassVar = ["org.apache.spark.scheduler.SparkListenerInterface"]

    seconds = 0.1

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("on"):
            raise AttributeError(name)
        return lambda event: time.sleep(self.seconds)


@pytest.mark.parametrize("sink", ["print", "blackhole"])
def test_rows_that_spark_counts_late_are_counted(tmp_path: Path, engine, spark, sink: str) -> None:
    parquet.write_table(pa.table({"a": range(100_000)}), tmp_path / "rows.parquet")
    options = {"table.dml-sync": "true", "execution.runtime-mode": "batch"}
    session = Session(tmp_path, options=options, engine=engine, emit=lambda line: None, notify=lambda line: None)
    tables = f"""CREATE TABLE t (a BIGINT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/rows.parquet', 'format' = 'parquet');
    CREATE TABLE answers (a BIGINT) WITH ('connector' = '{sink}');"""
    list(session.run(tables))
    ensure_callback_server_started(spark.sparkContext._gateway)
    slow = _SlowListener()
    spark.sparkContext._jsc.sc().listenerBus().addToStatusQueue(slow)
    try:
        list(session.run("INSERT INTO answers SELECT a FROM t WHERE a < 5"))
    finally:
        slow.seconds = 0
    (job,) = session.jobs
    assert job.metrics.rows_in == 100_000
    session.close()


def test_a_select_in_batch_mode_says_how_far_it_is_and_is_stopped(tmp_path: Path, engine, monkeypatch) -> None:
    monkeypatch.setattr(watch, "EVERY_SECONDS", 0.1)
    heard: list = []

    def progress(running: list) -> None:
        heard.append(running)
        if running and running[0].tasks[1]:
            session.interrupt()

    options = {"execution.runtime-mode": "batch"}
    session = Session(tmp_path, options=options, engine=engine, emit=lambda line: None, notify=lambda line: None, progress=progress)
    list(session.run("CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '300000000')"))
    with pytest.raises(Interrupted):
        list(session.run("SELECT COUNT(*), MAX(n) FROM numbers"))
    assert {one.name for (one,) in heard[:-1]} == {"SELECT"} and heard[-1] == []
    session.close()


def test_a_job_in_batch_mode_is_stopped(session, engine) -> None:
    statements = """
    SET 'execution.runtime-mode' = 'batch';
    CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '300000000');
    CREATE TABLE gone (n BIGINT) WITH ('connector' = 'blackhole');
    INSERT INTO gone SELECT n FROM numbers
    """
    job = submit(session, statements)
    until(lambda: job.sampled().tasks[1])
    (text,) = [reason for _, reason, _ in next(iter(session.run(f"EXPLAIN JOB '{job.id}'"))).rows]
    assert text.startswith("In batch mode rows come out when the job ends: ")
    list(session.run(f"STOP JOB '{job.id}'"))
    assert job.metrics.status == "CANCELED"


def test_rows_into_a_table_with_a_key_are_counted_once(session, broker) -> None:
    list(
        session.run(
            "CREATE TABLE latest (price INT, ts BIGINT, PRIMARY KEY (price) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'latest')"
        )
    )
    job = Running(session, broker, "metrics-keyed", sql="INSERT INTO latest SELECT price, MAX(ts) FROM `{topic}` GROUP BY price")
    job.send({0: [(1, 1), (2, 2), (1, 3)]})
    job.send({0: [(1, 9)]})
    metrics = job.job.sampled()
    assert (metrics.rows_in, metrics.rows_out) == (4, 3)
    assert metrics.state_bytes


def test_rows_of_tables_are_counted_alone(session) -> None:
    """Those of VALUES are of no table, and those of Delta's log nobody's."""
    list(session.run(";".join(f"CREATE TABLE {t} (a INT) WITH ('connector' = 'delta', 'table-path' = '{t}')" for t in ("three", "more"))))
    read = []
    for mode in ("streaming", "batch"):
        for insert in ("INSERT INTO three VALUES (1), (2), (3)", "INSERT INTO more SELECT a FROM three"):
            list(session.run(f"SET 'execution.runtime-mode' = '{mode}'; SET 'table.dml-sync' = 'true'; {insert}"))
            read.append(list(session.jobs)[-1].metrics.rows_in)
    assert read == [0, 3, 0, 6]


def test_explain_job_without_a_job(session) -> None:
    with pytest.raises(ValidationError, match="There are no jobs"):
        list(session.run("EXPLAIN JOB"))
    with pytest.raises(ValidationError, match="does not exist"):
        list(session.run("EXPLAIN JOB 'x'"))
    (outcome,) = session.run("SHOW JOB METRICS")
    assert outcome.rows == ()


def test_a_run_that_goes_on_does_not_count_again(session, broker) -> None:
    job = Running(session, broker, "metrics-again")
    job.send({0: [(1, 1), (1, 2)]})
    session.jobs.stop(job.job.id)
    assert job.job.metrics.rows_in == 2, "known after the end"
    job.job = submit(session, WINDOWS.format(topic="metrics-again", where=""))
    job.send({0: [(1, 3)]})
    assert job.job.sampled().rows_in == 1


def test_what_prometheus_is_told(broker, tmp_path: Path, engine) -> None:
    """Over a topic with state, late rows and rows that are left out; what is told is what is known of the job."""
    said: list[str] = []
    options = {"table.exec.source.max-future-rowtime": "1 h", "metrics.reporter.prom.port": "0"}
    session = open_session(tmp_path, options=options, engine=engine, notify=said.append, emit=lambda line: None)
    counted = Running(session, broker, "told", 2)
    address = next(line for line in said if line.startswith("Metrics of jobs are at ")).split()[-1]

    def told() -> dict[str, float]:
        """The samples of the job, by names and their own labels."""
        with urllib.request.urlopen(address, timeout=60) as answer:
            found = [s for family in text_string_to_metric_families(answer.read().decode()) for s in family.samples]
        ours = [s for s in found if s.labels.get("job_id") == counted.job.id]
        return {" ".join([s.name, *(v for k, v in sorted(s.labels.items()) if k not in ("job_id", "job_name"))]): s.value for s in ours}

    counted.send({0: [(1, HOUR), (2, 3 * HOUR)], 1: [(3, 3 * HOUR)]})
    counted.send({0: [(4, HOUR), (5, 10**14)]})
    kafka = "flink_taskmanager_job_task_operator_KafkaSourceReader"
    expected = {
        "sqlstream_job_status RUNNING": 1,
        "sqlstream_rows_read_total Sink: answers": 5,
        "sqlstream_rows_late_total Sink: answers": 1,
        "sqlstream_dead_letters_total": 1,
        "sqlstream_job_lag_records": 0,
        "flink_jobmanager_job_numRestarts": 0,
        f"{kafka}_topic_partition_currentOffset Source: told 0 0 Sink: answers told": 4,
        f"{kafka}_topic_partition_currentOffset Source: told 1 0 Sink: answers told": 1,
        f"{kafka}_KafkaConsumer_records_lag_max Source: told 0 Sink: answers": 0,
        "flink_taskmanager_job_task_operator_currentInputWatermark Sink: answers 0 Sink: answers": 3 * HOUR,
    }
    until(lambda: expected.items() <= told().items(), said=told)
    metrics = told()
    assert metrics["flink_jobmanager_job_lastCheckpointSize"] == metrics["sqlstream_state_bytes 0 stateStoreSave Sink: answers"] > 0
    assert metrics["sqlstream_micro_batch_phase_seconds addBatch Sink: answers"] > 0
    session.jobs.stop(counted.job.id)
    assert told()["sqlstream_job_status CANCELED"] == 1
    session.close()
    with pytest.raises(OSError, match="refused"):
        told()
