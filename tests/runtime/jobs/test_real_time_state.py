"""Queries that keep state in real time: the rows of their keys are those of the whole input, whatever happens."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import OFFSET_BEGINNING, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from sqlstream.catalog.ddl import options_text
from sqlstream.core.job_names import short_name
from sqlstream.runtime.jobs.job import Job
from sqlstream.runtime.jobs.run import backlog
from sqlstream.runtime.jobs.run.work import Work
from tests.support.keyed_run import SHAPES, KeyedRun, Rows
from tests.support.sessions import open_session, rows, run, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.spark_release("4.3")]


@pytest.fixture
def stream(broker, request) -> Iterator[KeyedRun]:
    made = KeyedRun(broker, f"state-{abs(hash(request.node.name))}")
    yield made
    made.consumer.close()


@pytest.mark.parametrize("shape", SHAPES)
def test_the_rows_by_key_are_those_of_all_records(tmp_path: Path, engine, stream: KeyedRun, shape: str, two_partitions) -> None:
    """Also after a restart, by micro-batches in between, and with a savepoint of each mode for the other one."""
    declared = f"{stream.declared(shape)}; SET 'pipeline.name' = '{stream.name}'"
    options = {"spark.version": "4.3", "execution.real-time": "true"}
    with closing(open_session(tmp_path, declared, options=options, engine=engine)) as session:
        insert = stream.watch(shape)
        stream.send(50)
        job = submit(session, insert)
        stream.arrive(shape)
        for _ in range(3):
            stream.send(20)
            stream.arrive(shape)
        assert job.real_time
        for mode in ("true", "false", "true"):
            run(session, f"STOP JOB '{job.id}'; SET 'execution.real-time' = '{mode}'")
            assert job.error is None
            stream.send(30)
            job = submit(session, insert)
            stream.arrive(shape)
            assert job.real_time is (mode == "true")
        for mode in ("false", "true"):
            run(session, f"STOP JOB '{job.id}' WITH SAVEPOINT")
            assert job.savepoint and job.error is None
            stream.send(10)
            run(session, f"DROP JOB '{job.id}'; SET 'execution.state-recovery.path' = '{job.savepoint}'; SET 'execution.real-time' = '{mode}'")
            job = submit(session, insert)
            stream.arrive(shape)
            assert job.real_time is (mode == "true")


def test_a_backlog_is_worked_off_by_micro_batches(tmp_path: Path, engine, stream: KeyedRun, two_partitions, monkeypatch: pytest.MonkeyPatch) -> None:
    """And then the job goes on in real time."""
    for name, value in (("_MOST_RECORDS", 1_000), ("_SECONDS", 0.0), ("_RATE_MS", 500), ("_LEAST_SECONDS", 1.0)):
        monkeypatch.setattr(backlog, name, value)

    def send_many() -> None:
        first = len(stream.sent["e"])
        records = [{"id": n, "k": n % 5, "v": n % 100} for n in range(first, first + 50_000)]
        stream.sent["e"] += records
        stream.broker.send(stream.topic("e"), *((r["id"] % 2, None, json.dumps(r)) for r in records))

    for _ in range(10):
        send_many()
    told: list[str] = []
    options = {"spark.version": "4.3", "execution.real-time": "true"}
    with closing(open_session(tmp_path, stream.declared("totals"), options=options, engine=engine, notify=told.append)) as session:
        job = submit(session, stream.watch("totals"))

        def changes() -> list[str]:
            return [line.partition("' ")[2] for line in told if "real time" in line]

        # It must not have caught up by the time that its figures are looked at.
        until(lambda: bool(changes()), 60, meanwhile=send_many)
        stream.arrive("totals", 120)
        until(lambda: len(changes()) == 2, 60, said=changes)
        behind, caught_up = changes()
        assert behind.endswith("records behind: micro-batches catch up sooner, after which it goes on in real time.")
        assert caught_up == "has caught up, and goes on in real time."
        stream.send(50)
        stream.arrive("totals")
        assert job.real_time and job.error is None and not job.restarts.count


@pytest.mark.parametrize("order", ["ASC", "DESC"])
def test_rows_have_their_own_processing_times(tmp_path: Path, engine, stream: KeyedRun, two_partitions, order: str) -> None:
    """By which the first or the last of a key is kept, within a micro-batch and after it."""
    stream.broker.topic(stream.topic("kept"), 2)
    declared = f"""{stream.declared()}; SET 'execution.checkpointing.interval' = '5 s';
        CREATE TABLE kept (id INT, v INT, p TIMESTAMP_LTZ(3), PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
          'topic' = '{stream.topic("kept")}', 'properties.bootstrap.servers' = '{stream.broker.bootstrap}', 'key.format' = 'json',
          'value.format' = 'json')"""
    query = f"""INSERT INTO kept SELECT id, v, p FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY p {order}) AS n
        FROM (SELECT id, v, PROCTIME() AS p FROM e)) WHERE n = 1"""
    stream.consumer.assign([TopicPartition(stream.topic("kept"), number, OFFSET_BEGINNING) for number in range(2)])
    kept: dict[int, tuple[int, str]] = {}

    def read() -> None:
        while (message := stream.consumer.poll(0.05)) is not None:
            if message.error() is None and message.value() is not None:
                row = json.loads(message.value())
                kept[row["id"]] = (row["v"], row["p"])

    def expected() -> dict[int, int]:
        sent = stream.sent["e"]
        return {r["id"]: r["v"] for r in (sent if order == "DESC" else reversed(sent))}

    options = {"spark.version": "4.3", "execution.real-time": "true"}
    with closing(open_session(tmp_path, declared, options=options, engine=engine)) as session:
        job = submit(session, query)
        for round_ in range(8):
            stream.send_ids("e", [*range(10), *range(10), 100 + round_])
            until(lambda: {id_: v for id_, (v, _) in kept.items()} == expected(), 60, every=0.05, meanwhile=read)
            time.sleep(1)
        assert job.real_time
    # Not that of the micro-batches.
    assert len({kept[100 + round_][1] for round_ in range(8)}) == 8


@pytest.mark.parametrize("mode", ["true", "false", "edited"])
def test_what_was_written_after_the_last_offsets_is_taken_back(
    tmp_path: Path, engine, stream: KeyedRun, two_partitions, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """The job dies; what it reads again comes in another order, in which its rows never are. Those from before it keep their values."""
    told: list[str] = []
    options = {"spark.version": "4.3", "execution.real-time": "true", "execution.upgrade-mode": "last-state"}
    declared = f"{stream.declared('anti')}; SET 'pipeline.name' = '{stream.name}'"
    with closing(open_session(tmp_path, declared, options=options, engine=engine, notify=told.append)) as session:
        insert = stream.watch("anti")
        stream.send_ids("e", range(10))
        job = submit(session, insert)
        stream.arrive("anti")
        run(session, f"STOP JOB '{job.id}'")
        job = submit(session, insert)
        stream.send_ids("e", range(5, 40))
        stream.arrive("anti")
        with monkeypatch.context() as patched:
            # As if it were killed: what it has read is not written down.
            patched.setattr(Job, "await_pause", lambda job, seconds=0: None)
            run(session, f"STOP JOB '{job.id}'")
        for file in job.checkpoint.rglob("*"):
            # As after a copy of the project.
            os.utime(file, (time.time() + 3600,) * 2)
        stream.send_ids("f", range(8, 30))
        if mode == "edited":
            insert = insert.replace("WHERE", "WHERE l.id < 1000 AND", 1)
        else:
            run(session, f"SET 'execution.real-time' = '{mode}'")
        job = submit(session, insert)
        stream.send_ids("e", range(100, 101))
        stream.arrive("anti")
        assert job.real_time is (mode != "false")
        assert [line for line in told if "taken back" in line] == [
            f"Job '{short_name(stream.name)}': 35 rows of 'anti' written after the last offsets are taken back."
        ]


def test_a_record_that_can_not_be_read_fails_the_job_at_once(tmp_path: Path, engine, stream: KeyedRun, two_partitions) -> None:
    """By its own error, whichever of the tasks is heard of first: those that it sends rows to fail with it."""
    told: list[str] = []
    options = {"spark.version": "4.3", "execution.real-time": "true"}
    with closing(open_session(tmp_path, stream.declared("totals"), options=options, engine=engine, notify=told.append)) as session:
        insert = stream.watch("totals")
        stream.send(20)
        job = submit(session, insert)
        stream.arrive("totals")
        stream.broker.send(stream.topic("e"), (1, None, "{oops"))
        assert job.done.wait(120)
        assert job.error is not None and job.error.message.startswith("Failed to deserialize JSON '{oops' (topic "), job.error
        assert not job.restarts.count and not any("taken back" in line for line in told), told
        # Its rows stay until it goes on.
        stream.arrive("totals")
        run(session, "ALTER TABLE e SET ('json.ignore-parse-errors' = 'true')")
        stream.send(20)
        submit(session, insert)
        stream.arrive("totals")


@pytest.mark.parametrize(("mode", "first"), [("auto", "us"), ("auto", "Spark"), ("true", "Spark")])
def test_partitions_for_which_there_are_no_slots(
    tmp_path: Path, engine, stream: KeyedRun, two_partitions, monkeypatch: pytest.MonkeyPatch, mode: str, first: str
) -> None:
    """The job goes on by micro-batches, or says what it lacks; who notices ``first`` is a matter of luck."""
    told: list[str] = []
    if first == "Spark":
        monkeypatch.setattr(Work, "has_slots", lambda work: True)
    options = {"spark.version": "4.3", "execution.real-time": mode, "execution.checkpointing.interval": "5 s"}
    declared = f"{stream.declared('totals')}; ALTER TABLE e SET ('scan.topic-partition-discovery.interval' = '1 s')"
    with closing(open_session(tmp_path, declared, options=options, engine=engine, notify=told.append)) as session:
        insert = stream.watch("totals")
        stream.send(20)
        job = submit(session, insert)
        stream.arrive("totals")
        assert job.real_time
        topic = stream.topic("e")
        admin = AdminClient({"bootstrap.servers": stream.broker.bootstrap})
        admin.create_partitions([NewPartitions(topic, 16)])[topic].result()
        if mode == "true":
            assert job.done.wait(120)
            assert job.error is not None and job.error.message.startswith("Real time needs a slot of Spark's for each task of job"), job.error
            return
        until(lambda: not job.real_time, 120, said=lambda: told)
        stream.send(20)
        stream.sent["e"].append({"id": 1_000, "k": 1, "v": 1})
        stream.broker.send(topic, (15, None, json.dumps(stream.sent["e"][-1])))
        stream.arrive("totals")
        assert [line.partition("' ")[2] for line in told if "micro-batches" in line] == [
            "goes on by micro-batches: too few of Spark's slots are left for the partitions that it reads by now."
        ]
        assert job.error is None and not job.restarts.count


@pytest.mark.postgres
def test_a_database_has_the_rows_of_all_records(tmp_path: Path, engine, stream: KeyedRun, two_partitions, postgres) -> None:
    """Also those that a condition above the groups takes away again."""
    postgres.run("DROP TABLE IF EXISTS odd", "CREATE TABLE odd (k INT PRIMARY KEY, n BIGINT)")
    odd = f"CREATE TABLE odd (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) {options_text(postgres.options('odd').items())}"
    declared = f"{stream.declared()}; {odd}"
    with closing(open_session(tmp_path, declared, options={"spark.version": "4.3", "execution.real-time": "true"}, engine=engine)) as session:
        job = submit(session, f"INSERT INTO odd {SHAPES['odd'].query}")
        for _ in range(5):
            stream.send(20)
            until(lambda: {(k,): (n,) for k, n in postgres.run("SELECT * FROM odd")} == stream.expected("odd"), 30, every=0.1)
        assert job.real_time


def test_an_index_has_the_rows_of_all_records(tmp_path: Path, engine, stream: KeyedRun, two_partitions, opensearch) -> None:
    options = {"connector": "opensearch-2", "hosts": opensearch.url, "index": stream.name}
    declared = f"{stream.declared()}; CREATE TABLE odd (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) {options_text(options.items())}"
    with closing(open_session(tmp_path, declared, options={"spark.version": "4.3", "execution.real-time": "true"}, engine=engine)) as session:
        job = submit(session, f"INSERT INTO odd {SHAPES['odd'].query}")
        for _ in range(5):
            stream.send(20)
            until(lambda: {(d["k"],): (d["n"],) for d in opensearch.written(stream.name)} == stream.expected("odd"), 30, every=0.1)
        assert job.real_time


def test_changes_are_printed_in_their_order(tmp_path: Path, engine, stream: KeyedRun, two_partitions) -> None:
    """Of each key from one task: what a row was before what it is."""
    declared = f"{stream.declared()}; CREATE TABLE p (k INT, n BIGINT) WITH ('connector' = 'print')"
    lines: list[str] = []
    options = {"spark.version": "4.3", "execution.real-time": "true"}
    with closing(open_session(tmp_path, declared, options=options, engine=engine, emit=lines.append)) as session:
        job = submit(session, "INSERT INTO p SELECT k, COUNT(*) FROM e GROUP BY k")
        stream.send(200)
        counts = Counter(record["k"] for record in stream.sent["e"])
        until(lambda: len(lines) == sum(2 * n - 1 for n in counts.values()), 60)
        assert job.real_time
    for k, count in counts.items():
        of_key = [line for line in lines if f"[{k}, " in line]
        assert of_key == [f"+I[{k}, 1]", *(line for n in range(1, count) for line in (f"-U[{k}, {n}]", f"+U[{k}, {n + 1}]"))]


def test_state_expires(tmp_path: Path, engine, stream: KeyedRun, two_partitions) -> None:
    """Of a key that was silent for so long, at the moment; of one that stays so, when a micro-batch begins."""
    options = {"spark.version": "4.3", "execution.real-time": "true", "table.exec.state.ttl": "6 s", "execution.checkpointing.interval": "5 s"}
    with closing(open_session(tmp_path, stream.declared("totals"), options=options, engine=engine)) as session:
        job = submit(session, stream.watch("totals"))

        def sent(k: int, v: int) -> None:
            stream.broker.send(stream.topic("e"), (0, None, json.dumps({"id": 0, "k": k, "v": v})))

        def counts(expected: Rows) -> None:
            until(lambda: stream.rows["totals"] == expected, 30, every=0.05, meanwhile=stream.read)

        sent(1, 10)
        sent(2, 20)
        sent(1, 5)
        counts({(1,): (2, 15, 10), (2,): (1, 20, 20)})
        assert job.real_time
        time.sleep(6.5)
        sent(1, 7)
        counts({(1,): (1, 7, 7), (2,): (1, 20, 20)})
        sent(1, 1)
        counts({(1,): (2, 8, 7), (2,): (1, 20, 20)})
        # Micro-batches of 5 s: one hears the time, the next one forgets.
        time.sleep(22)
        # The clock's rows are not counted.
        assert job.metrics.rows_in == 5
        run(session, f"STOP JOB '{job.id}' WITH SAVEPOINT")
        declared = dict(rows(session, f"DESCRIBE SAVEPOINT '{job.savepoint}'"))
        (table,) = (text for name, text in declared.items() if name.endswith(": table"))
        run(session, "SET 'execution.runtime-mode' = 'batch'")
        run(session, table.rstrip(";"))
        assert rows(session, "SELECT * FROM state") == []
