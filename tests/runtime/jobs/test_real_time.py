"""Jobs in real time: rows go through at once, and what was read is written down when a job stops."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from datetime import datetime
from functools import partial
from operator import eq
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from sqlstream.catalog.ddl import options_text
from sqlstream.core.errors import SqlStreamError
from sqlstream.runtime.jobs.machine import JobStatus
from sqlstream.runtime.jobs.run.work import Work
from tests.support.processes import ensure_runs, kill_group
from tests.support.sessions import catch_up, explained, open_session, rows, run, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

# How many slots Spark has.
SLOTS = "sqlstream.runtime.jobs.run.work.executor_slots"


class Pipe:
    """A topic that a job reads in real time, and one that it writes."""

    def __init__(self, project: Path, engine, broker, name: str) -> None:
        self.broker, self.source, self.target = broker, f"{name}-in", f"{name}-out"
        for topic in (self.source, self.target):
            broker.topic(topic)
        table = (
            f"'connector' = 'kafka', 'properties.bootstrap.servers' = '{broker.bootstrap}', 'format' = 'raw', 'scan.startup.mode' = 'earliest-offset'"
        )
        declared = f"""CREATE TABLE a (v STRING) WITH ({table}, 'topic' = '{self.source}', 'scan.topic-partition-discovery.interval' = '1 s');
            CREATE TABLE b (v STRING) WITH ({table}, 'topic' = '{self.target}');
            SET 'execution.real-time' = 'true'; SET 'pipeline.name' = 'pipe';"""
        self.told: list[str] = []
        self.printed: list[str] = []
        self.session = open_session(project, declared, engine=engine, notify=self.told.append, emit=self.printed.append)
        self.consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": name, "auto.offset.reset": "earliest"})
        # Not subscribed: librdkafka hangs where a consumer is closed while its group finds its members.
        self.consumer.assign([TopicPartition(self.target, 0, OFFSET_BEGINNING)])
        self.came: list[tuple[float, str]] = []

    def start(self, sql: str = "INSERT INTO b SELECT v FROM a"):
        self.job = submit(self.session, sql)
        return self.job

    def send(self, *values: str) -> None:
        self.broker.send(self.source, *((0, None, value) for value in values))

    def receive(self, count: int, seconds: float = 30) -> list[str]:
        """The values that have come, once there are so many."""
        end = time.monotonic() + seconds
        while len(self.came) < count and time.monotonic() < end:
            if (message := self.consumer.poll(0.1)) is not None and message.error() is None:
                self.came.append((time.monotonic(), message.value().decode()))
        return [value for _, value in self.came]

    def later(self, seconds: float = 1.5) -> list[str]:
        """All values, also those that come within these seconds."""
        return self.receive(1 << 30, seconds)


@pytest.fixture
def pipe(tmp_path: Path, engine, broker, request, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipe]:
    monkeypatch.setattr(SLOTS, lambda spark: 2)
    monkeypatch.setattr("sqlstream.runtime.jobs.run.slots.cores", lambda: 1)
    made = Pipe(tmp_path, engine, broker, f"real-time-{abs(hash(request.node.name))}")
    yield made
    made.session.close()
    made.consumer.close()


def test_rows_come_at_once(pipe: Pipe) -> None:
    pipe.send("first")
    pipe.start()
    assert pipe.receive(1) == ["first"]
    taken = []
    for n in range(50):
        sent = time.monotonic()
        pipe.send(str(n))
        assert pipe.receive(n + 2)[-1] == str(n)
        taken.append(pipe.came[-1][0] - sent)
    # A batch is a minute long: rows do not wait for its end.
    assert sorted(taken)[25] < 1
    assert pipe.job.status is JobStatus.RUNNING


def test_no_number_of_records_ends_a_batch(pipe: Pipe) -> None:
    """As one of a micro-batch would."""
    sent = [str(n) for n in range(20)]
    pipe.send(*sent)
    pipe.start("INSERT INTO b SELECT v FROM a /*+ OPTIONS('scan.micro-batch.max-records' = '1') */")
    assert pipe.receive(len(sent)) == sent, (pipe.job.status, pipe.told, pipe.job.sampled())


def test_the_first_micro_batches_are_short_and_each_is_longer(pipe: Pipe) -> None:
    pipe.start()
    pipe.send("a")
    (query,) = pipe.job.queries
    # Without that, each takes a minute.
    taken = until(lambda: len(done := [p["durationMs"]["addBatch"] / 1000 for p in query.recentProgress]) > 2 and done, 50)
    assert pipe.receive(1) == ["a"]
    assert 4 < taken[0] < taken[2], taken


def test_a_stopped_job_goes_on_without_a_row_twice(pipe: Pipe) -> None:
    sent: list[str] = []
    over = threading.Event()

    def feed() -> None:
        while not over.wait(0.005):
            sent.append(str(len(sent)))
            pipe.send(sent[-1])

    feeding = threading.Thread(target=feed)
    feeding.start()
    try:
        for _ in range(3):
            job = pipe.start()
            pipe.receive(len(pipe.came) + 50)
            began = time.monotonic()
            run(pipe.session, f"STOP JOB '{job.id}'")
            assert time.monotonic() - began < 30 and job.error is None
    finally:
        over.set()
        feeding.join()
    pipe.start()
    pipe.receive(len(sent))
    assert pipe.later() == sent


def test_its_figures_are_of_now(pipe: Pipe) -> None:
    pipe.start()
    pipe.send("a", "b", "c")
    pipe.receive(3)
    (query,) = pipe.job.sampled().queries
    assert (query.rows_in, query.rows_out, query.real_time) == (3, 3, True)
    # How far brokers are is asked each second.
    until(lambda: [reason.text.partition(":")[0] for reason in pipe.job.why()] == ["It emits rows"], said=pipe.job.why)
    assert pipe.job.sampled().tasks == (0, 0)
    # Within the micro-batch.
    until(lambda: [(p.read, p.latest) for i in pipe.job.sampled().queries[0].inputs for p in i.partitions] == [(3, 3)], 20, every=0.5)
    assert pipe.job.sampled().lag == 0


def test_partitions_that_are_added_are_read_with_the_next_micro_batch(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SLOTS, lambda spark: 3)
    run(pipe.session, "SET 'execution.checkpointing.interval' = '5 s'")
    pipe.start()
    pipe.send("a")
    pipe.receive(1)
    admin = AdminClient({"bootstrap.servers": pipe.broker.bootstrap})
    admin.create_partitions([NewPartitions(pipe.source, 2)])[pipe.source].result()
    pipe.broker.send(pipe.source, (1, None, "b"))
    assert pipe.receive(2) == ["a", "b"]


def test_both_modes_take_the_same_job_on(pipe: Pipe) -> None:
    expected: list[str] = []
    for number, mode in enumerate(("true", "false", "true", "true")):
        run(pipe.session, f"SET 'execution.real-time' = '{mode}'")
        job = pipe.start()
        expected += [f"{number}a", f"{number}b"]
        pipe.send(*expected[-2:])
        assert pipe.receive(len(expected)) == expected
        if mode == "false":
            # Kafka has rows before their micro-batch has ended.
            catch_up(job)
        run(pipe.session, f"STOP JOB '{job.id}'")
        pipe.send(f"{number} while it was stopped")
        expected.append(f"{number} while it was stopped")
    pipe.start()
    pipe.receive(len(expected))
    assert pipe.later() == expected


def test_a_savepoint_has_what_was_read(pipe: Pipe, tmp_path: Path) -> None:
    job = pipe.start()
    pipe.send("a", "b")
    pipe.receive(2)
    run(pipe.session, f"STOP JOB '{job.id}' WITH SAVEPOINT")
    assert job.savepoint
    pipe.send("c")
    run(pipe.session, f"DROP JOB '{job.id}'; SET 'execution.state-recovery.path' = '{job.savepoint}'")
    pipe.start()
    pipe.receive(3)
    assert pipe.later() == ["a", "b", "c"]


def test_a_drained_job_has_written_all(pipe: Pipe) -> None:
    job = pipe.start()
    pipe.send(*map(str, range(1000)))
    run(pipe.session, f"STOP JOB '{job.id}' WITH SAVEPOINT WITH DRAIN")
    pipe.receive(1000)
    assert pipe.later() == [str(n) for n in range(1000)]


def test_a_failed_query_is_started_again_where_its_offsets_are(pipe: Pipe) -> None:
    run(
        pipe.session,
        "SET 'restart-strategy.type' = 'fixed-delay'; SET 'restart-strategy.fixed-delay.delay' = '100 ms'; SET 'restart-strategy.fixed-delay.attempts' = '3'",
    )
    job = pipe.start("INSERT INTO b SELECT CAST(1 / CAST(v AS INT) AS STRING) FROM a WHERE v <> 'x'")
    pipe.send("1")
    assert pipe.receive(1) == ["1"]
    pipe.send("0")
    until(lambda: job.done.is_set() or job.status is JobStatus.FAILED, 60)
    assert "zero" in job.error.message.lower()
    assert set(pipe.later()) == {"1"}


def test_unions_and_elements_and_keys(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each branch reads by itself; NULLs stay; the clock is of the row."""
    monkeypatch.setattr(SLOTS, lambda spark: 3)
    topic = f"{pipe.target}-keyed"
    pipe.broker.topic(topic)
    run(
        pipe.session,
        f"""CREATE TABLE k (v STRING, n INT, at_ltz TIMESTAMP_LTZ(3), PRIMARY KEY (v) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = '{topic}',
            'properties.bootstrap.servers' = '{pipe.broker.bootstrap}', 'key.format' = 'raw', 'value.format' = 'json')""",
    )
    before = time.time()
    pipe.start(
        "INSERT INTO k SELECT v, CAST(NULL AS INT), CURRENT_TIMESTAMP FROM a WHERE v > 'b' UNION ALL SELECT e, 1, NOW() FROM a CROSS JOIN UNNEST(SPLIT(v, ',')) AS u(e)"
    )
    pipe.consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    pipe.send("a", "c,d")
    pipe.receive(4)
    sent = sorted(pipe.came[i][1] for i in range(4))
    records = [json.loads(text) for text in sent]
    assert sorted((r["v"], r["n"]) for r in records if r["n"]) == [("a", 1), ("c", 1), ("d", 1)]
    assert [r["v"] for r in records if r["n"] is None] == ["c,d"]
    # Each row has the time at which it came, though the micro-batch began before.
    time.sleep(1.5)
    pipe.send("e")
    pipe.receive(6)
    late = json.loads(pipe.came[-1][1])["at_ltz"]
    assert abs(datetime.fromisoformat(late.replace(" ", "T").replace("Z", "+00:00")).timestamp() - time.time()) < 1 and before


@pytest.mark.postgres
def test_rows_of_a_database_are_those_of_now(pipe: Pipe, postgres) -> None:
    """By key, appended, and after the database was away; a row that it does not take fails the job."""

    postgres.run("DROP TABLE IF EXISTS by_key, appended", "CREATE TABLE by_key (k TEXT PRIMARY KEY, n INT)", "CREATE TABLE appended (v TEXT)")
    run(
        pipe.session,
        f"""CREATE TABLE by_key (k STRING, n INT, PRIMARY KEY (k) NOT ENFORCED) {options_text(postgres.options("by_key").items())};
            CREATE TABLE appended (v STRING) {options_text(postgres.options("appended").items())}""",
    )
    job = pipe.start("INSERT INTO by_key SELECT SUBSTRING(v FROM 1 FOR 1), CAST(SUBSTRING(v FROM 2) AS INT) FROM a")

    def there(expected: list[list[object]], table: str = "by_key", seconds: float = 10) -> None:
        until(lambda: postgres.run(f"SELECT * FROM {table} ORDER BY 1") == expected, seconds)

    pipe.send("a1", "b2", "a3")
    there([["a", 3], ["b", 2]])
    taken = []
    for n in range(30):
        pipe.send(f"c{n}")
        sent = time.monotonic()
        there([["a", 3], ["b", 2], ["c", n]])
        taken.append(time.monotonic() - sent)
    assert sorted(taken)[15] < 1
    pipe.send(*(f"d{n}" for n in range(30_000)))
    there([["a", 3], ["b", 2], ["c", 29], ["d", 29_999]], seconds=60)
    run(pipe.session, f"STOP JOB '{job.id}'; SET 'pipeline.name' = 'appended'")
    assert job.error is None
    job = pipe.start("INSERT INTO appended SELECT v FROM a WHERE v <> 'd5'")
    until(lambda: postgres.run("SELECT count(*), count(DISTINCT v) FROM appended") == [[30_032, 30_032]], 60)
    postgres.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%appended%' AND pid <> pg_backend_pid()")
    pipe.send("e1")
    until(lambda: postgres.run("SELECT count(*) FROM appended WHERE v = 'e1'") == [[1]], 30)
    postgres.run("ALTER TABLE appended ADD CHECK (v <> 'no')")
    run(pipe.session, "SET 'restart-strategy.type' = 'none'")
    pipe.send("no")
    # It is known at once, though no row comes behind it.
    assert job.done.wait(10)
    assert "check constraint" in job.error.message


def _names(folder: Path) -> str:
    """DDL of a table ``names`` of two rows in a file."""
    folder.mkdir()
    (folder / "rows.json").write_text('{"id": "1", "name": "one"}\n{"id": "2", "name": "two"}\n{"id": "2", "name": "zwei"}\n')
    return f"CREATE TABLE names (id STRING, name STRING) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json')"


STATIC_JOINS = {
    "inner": ("SELECT a.v || names.name FROM a JOIN names ON a.v = names.id", ["1one", "2two", "2zwei"]),
    "left": ("SELECT a.v || COALESCE(names.name, '-') FROM a LEFT JOIN names ON a.v = names.id", ["1one", "2two", "2zwei", "3-"]),
    "right, from the other side": ("SELECT a.v || COALESCE(n.name, '-') FROM names AS n RIGHT JOIN a ON a.v = n.id", ["1one", "2two", "2zwei", "3-"]),
    "of no equal columns": ("SELECT a.v || names.name FROM a JOIN names ON a.v < names.id", ["1two", "1zwei"]),
    "of all": ("SELECT a.v || names.name FROM a CROSS JOIN names WHERE names.id = '1'", ["1one", "2one", "3one"]),
    "exists": ("SELECT v FROM a WHERE EXISTS (SELECT * FROM names WHERE names.id = a.v)", ["1", "2"]),
    "not exists": ("SELECT v FROM a WHERE NOT EXISTS (SELECT * FROM names WHERE names.id = a.v)", ["3"]),
    "in": ("SELECT v FROM a WHERE v IN (SELECT id FROM names GROUP BY id HAVING COUNT(*) > 1)", ["2"]),
}


@pytest.mark.parametrize("how", STATIC_JOINS)
def test_rows_are_joined_with_a_table_that_is_there(pipe: Pipe, tmp_path: Path, how: str) -> None:
    query, expected = STATIC_JOINS[how]
    run(pipe.session, _names(tmp_path / "names"))
    pipe.start(f"INSERT INTO b {query}")
    pipe.send("1", "2", "3")
    assert sorted(pipe.receive(len(expected))) == expected
    taken = []
    for n in range(2, 7):
        pipe.send("1", "2", "3")
        sent = time.monotonic()
        assert sorted(pipe.receive(n * len(expected))) == sorted(n * expected)
        taken.append(time.monotonic() - sent)
    assert min(taken) < 1 and pipe.job.real_time
    run(pipe.session, f"STOP JOB '{pipe.job.id}'")
    # It goes on with the table as it was.
    (tmp_path / "names" / "rows.json").unlink()
    pipe.send("1", "2", "3")
    pipe.start(f"INSERT INTO b {query}")
    assert sorted(pipe.receive(7 * len(expected))) == sorted(7 * expected)


def test_a_large_table_is_not_copied_to_each_task_unasked(pipe: Pipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(pipe.session, f"{_names(tmp_path / 'names')}; SET 'execution.real-time' = 'auto'")
    query = "INSERT INTO b SELECT a.v || names.name FROM a JOIN names ON a.v = names.id"
    assert pipe.start(query).real_time
    run(pipe.session, f"STOP JOB '{pipe.job.id}'; SET 'pipeline.name' = 'large'")
    monkeypatch.setattr(Work, "_most_copied", lambda work: 10)
    pipe.start(query)
    pipe.send("1")
    assert pipe.receive(1) == ["1one"]
    assert not pipe.job.real_time


@pytest.mark.postgres
def test_each_row_is_looked_up_as_it_comes(pipe: Pipe, postgres) -> None:
    postgres.run("DROP TABLE IF EXISTS looked_up", "CREATE TABLE looked_up (id TEXT, name TEXT)", "INSERT INTO looked_up VALUES ('1', 'one')")
    run(pipe.session, f"CREATE TABLE d (id STRING, name STRING) {options_text(postgres.options('looked_up').items())}")
    pipe.start(
        "INSERT INTO b SELECT x.v || COALESCE(d.name, '-') FROM (SELECT v, PROCTIME() AS p FROM a) AS x LEFT JOIN d FOR SYSTEM_TIME AS OF x.p ON x.v = d.id"
    )
    pipe.send("1")
    assert pipe.receive(1) == ["1one"]
    pipe.send("2")
    assert pipe.receive(2)[1:] == ["2-"]
    postgres.run("INSERT INTO looked_up VALUES ('2', 'two')")
    pipe.send("2", "1")
    assert pipe.receive(4)[2:] == ["2two", "1one"] and pipe.job.real_time


def test_rows_are_printed_at_once(pipe: Pipe) -> None:
    """In their order, also after a restart; of a job that failed to print, what was not printed comes again."""
    run(pipe.session, "CREATE TABLE p (v STRING, n INT, t TIMESTAMP(3), kind STRING) WITH ('connector' = 'print', 'print-identifier' = 'ü')")
    insert = "INSERT INTO p SELECT v, CHAR_LENGTH(v), IF(v = 'x', NULL, TIMESTAMP '2020-01-01 00:00:00'), '\"' FROM a"
    expected: list[str] = []
    for _ in range(2):
        pipe.start(insert)
        for value in ("a", "x", "€,\n"):
            pipe.send(value)
            expected.append(f'ü> +I[{value}, {len(value)}, {"null" if value == "x" else "2020-01-01T00:00"}, "]')
            sent = time.monotonic()
            until(partial(eq, pipe.printed, expected), 20)
            taken = time.monotonic() - sent
        assert taken < 1 and pipe.job.real_time
        many = [str(n) for n in range(20_000)]
        pipe.send(*many)
        expected += [f'ü> +I[{value}, {len(value)}, 2020-01-01T00:00, "]' for value in many]
        until(partial(eq, pipe.printed, expected), 60)
        run(pipe.session, f"STOP JOB '{pipe.job.id}'")
        assert pipe.job.error is None
    broken = []

    def fail(line: str) -> None:
        broken.append(line)
        raise BrokenPipeError("nobody looks")

    pipe.session.context.jobs._emit = fail
    run(pipe.session, "SET 'restart-strategy.type' = 'none'")
    pipe.start(insert)
    pipe.send("last")
    assert pipe.job.done.wait(10)
    assert pipe.job.error is not None and "nobody looks" in pipe.job.error.message and len(broken) == 1


REFUSED = {
    "an aggregate": ("INSERT INTO c SELECT v, COUNT(*) FROM a GROUP BY v", "It has GroupAggregate"),
    "a sink of micro-batches": ("INSERT INTO p SELECT v FROM a", "A 'blackhole' table, as "),
    "a sink of transactions": (
        "INSERT INTO x SELECT v FROM a",
        "A 'kafka' table, as `default_catalog`.`default_database`.`x`, is written by micro-batches, for its 'sink.delivery-guarantee' is 'exactly-once'.",
    ),
    "a source of micro-batches": ("INSERT INTO b SELECT CAST(n AS STRING) FROM d", "A 'datagen' table, as "),
    "an input that ends": (
        "INSERT INTO b SELECT v FROM a /*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */",
        "is read by micro-batches, for it ends",
    ),
    "the clock of a condition": (
        "INSERT INTO b SELECT v FROM a WHERE NOW() > TIMESTAMP '2020-01-01 00:00:00'",
        "The time is that of a micro-batch in Calc",
    ),
    "more partitions than slots": (
        "INSERT INTO b SELECT x.v FROM (SELECT v FROM a UNION ALL SELECT v FROM a3) AS x",
        "Real time needs a slot of Spark's for each task of job 'pipe' (4), and one for all else; there are 2.",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_can_not_run_so_is_refused(pipe: Pipe, what: str) -> None:
    statement, reason = REFUSED[what]
    pipe.broker.topic("three", 3)
    run(
        pipe.session,
        f"""CREATE TABLE a3 (v STRING) WITH ('connector' = 'kafka', 'topic' = 'three', 'properties.bootstrap.servers' = '{pipe.broker.bootstrap}',
              'format' = 'raw', 'scan.startup.mode' = 'earliest-offset');
            CREATE TABLE c (v STRING, n BIGINT, PRIMARY KEY (v) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = '{pipe.target}',
              'properties.bootstrap.servers' = '{pipe.broker.bootstrap}', 'key.format' = 'raw', 'value.format' = 'json');
            CREATE TABLE x (v STRING) WITH ('connector' = 'kafka', 'topic' = '{pipe.target}', 'properties.bootstrap.servers' = '{pipe.broker.bootstrap}',
              'format' = 'raw', 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'x');
            CREATE TABLE p (v STRING) WITH ('connector' = 'blackhole');
            CREATE TABLE d (n BIGINT) WITH ('connector' = 'datagen')""",
    )
    with pytest.raises(SqlStreamError, match=re.escape(reason)):
        submit(pipe.session, statement)


def test_explain_says_what_runs_so(pipe: Pipe) -> None:
    run(pipe.session, "CREATE TABLE p (v STRING) WITH ('connector' = 'print')")

    def told(statement: str) -> str:
        return explained(pipe.session, statement).partition("== Real Time ==\n")[2].partition("\n")[0]

    assert told("INSERT INTO b SELECT v FROM a") == "Row by row."
    run(pipe.session, "RESET 'execution.real-time'")
    assert told("INSERT INTO b SELECT v FROM a").startswith("Row by row, where Spark has a slot for each partition")
    assert told("INSERT INTO p SELECT v FROM a").endswith("is looked at by people, for whom micro-batches are as fast.")
    run(pipe.session, "SET 'table.exec.mini-batch.enabled' = 'true'")
    assert told("INSERT INTO b SELECT v FROM a") == "By micro-batches. SET 'execution.real-time' = 'true' runs it row by row."
    run(pipe.session, "RESET 'table.exec.mini-batch.enabled'; SET 'execution.real-time' = 'false'")
    assert told("INSERT INTO b SELECT v FROM a") == "By micro-batches. SET 'execution.real-time' = 'true' runs it row by row."
    assert told("INSERT INTO p SELECT v FROM a").startswith("By micro-batches. SET ")
    run(pipe.session, "SET 'execution.runtime-mode' = 'batch'")
    assert "Real Time" not in explained(pipe.session, "INSERT INTO p VALUES ('a')")


SCRIPT = """
SET 'execution.real-time' = 'true';
SET 'execution.checkpointing.interval' = '5 s';
CREATE TABLE a (v STRING) WITH ('connector' = 'kafka', 'topic' = 'killed-in', 'properties.bootstrap.servers' = '${BOOTSTRAP}', 'format' = 'raw',
  'scan.startup.mode' = 'earliest-offset');
CREATE TABLE b (v STRING) WITH ('connector' = 'kafka', 'topic' = 'killed-out', 'properties.bootstrap.servers' = '${BOOTSTRAP}', 'format' = 'raw');
INSERT INTO b SELECT v FROM a;
"""


@pytest.mark.long
def test_after_a_kill_no_row_is_missing(tmp_path: Path, broker) -> None:
    """Those since the last offsets come again."""
    (tmp_path / "job.sql").write_text(SCRIPT)
    for topic in ("killed-in", "killed-out"):
        broker.topic(topic)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "killed", "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition("killed-out", 0, OFFSET_BEGINNING)])
    came: list[str] = []
    sent: list[str] = []

    def go_on() -> None:
        sent.append(str(len(sent)))
        broker.send("killed-in", (0, None, sent[-1]))
        while (message := consumer.poll(0.01)) is not None:
            if message.error() is None:
                came.append(message.value().decode())

    command = [
        sys.executable,
        "-m",
        "sqlstream",
        "--project",
        str(tmp_path),
        "-f",
        str(tmp_path / "job.sql"),
        "--var",
        f"BOOTSTRAP={broker.bootstrap}",
    ]
    for kill in (True, True, False):
        before = len(set(came))
        with (tmp_path / "run.log").open("ab") as log:
            process = subprocess.Popen(
                [*command, "-D", "spark.master=local[2]"], stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )

        def meanwhile(process=process) -> None:
            go_on()
            ensure_runs(process, tmp_path / "run.log")

        try:
            until(lambda before=before: len(set(came)) > before + 100, 120, every=0.02, meanwhile=meanwhile)
            if not kill:
                until(lambda: set(came) == set(sent), 60, every=0.02, meanwhile=meanwhile)
        finally:
            kill_group(process)
    consumer.close()
    assert sorted(set(came), key=int) == sent[: len(set(came))]


def test_partitions_without_a_slot_fail_the_job(pipe: Pipe) -> None:
    """They would wait for ever, and nobody would know."""
    run(pipe.session, "SET 'execution.checkpointing.interval' = '5 s'")
    job = pipe.start()
    pipe.send("a")
    pipe.receive(1)
    admin = AdminClient({"bootstrap.servers": pipe.broker.bootstrap})
    admin.create_partitions([NewPartitions(pipe.source, 3)])[pipe.source].result()
    assert job.done.wait(60)
    assert job.error is not None and "(3), and one for all else; there are 2." in job.error.message
    assert job.error.hint == "'spark.master' = 'local[4]' gives so many on one machine: they mostly wait."


def test_auto_takes_real_time_where_it_can(pipe: Pipe) -> None:
    """And goes on by micro-batches when a partition would have no slot."""
    run(
        pipe.session,
        "SET 'execution.real-time' = 'auto'; SET 'execution.checkpointing.interval' = '5 s'; CREATE TABLE p (n BIGINT) WITH ('connector' = 'print')",
    )
    assert not submit(pipe.session, "SET 'pipeline.name' = 'counted'; INSERT INTO p SELECT COUNT(*) FROM a").real_time
    run(pipe.session, "STOP JOB 'counted'; SET 'pipeline.name' = 'pipe'")
    job = pipe.start()
    assert job.real_time and explained(pipe.session, "INSERT INTO b SELECT v FROM a").count("Row by row, where Spark has a slot for each partition")
    assert dict(rows(pipe.session, "DESCRIBE JOB 'pipe'"))["mode"] == "real time"
    pipe.send("a")
    assert pipe.receive(1) == ["a"]
    admin = AdminClient({"bootstrap.servers": pipe.broker.bootstrap})
    admin.create_partitions([NewPartitions(pipe.source, 3)])[pipe.source].result()
    pipe.broker.send(pipe.source, *((n, None, str(n)) for n in range(3)))
    assert sorted(pipe.receive(4, 60)) == ["0", "1", "2", "a"]
    # Its partitions are counted every second.
    lacking = "micro-batches; real time lacks slots of Spark's"
    until(lambda: dict(rows(pipe.session, "DESCRIBE JOB 'pipe'"))["mode"] == lacking)
    assert job.status is JobStatus.RUNNING and pipe.told[-1].startswith("Job 'pipe' goes on by micro-batches")
    assert sorted(pipe.later()) == ["0", "1", "2", "a"]


def test_a_broker_that_is_away_is_waited_for(tmp_path: Path, engine, own_broker) -> None:
    one = Pipe(tmp_path, engine, own_broker, "away")
    try:
        job = one.start()
        one.send("a")
        assert one.receive(1) == ["a"]
        own_broker.broker.stop()
        time.sleep(5)
        own_broker.broker.start()
        one.send("b")
        assert one.receive(2, 60) == ["a", "b"] and job.error is None
    finally:
        one.session.close()
        one.consumer.close()
