"""STOP JOB WITH SAVEPOINT WITH DRAIN: the input as it stands at that moment, every window, the end; and what the same statement does then."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed, ValidationError
from sqlstream.core.job_names import short_name
from sqlstream.runtime.jobs.machine import JobStatus
from tests.support.sessions import feed, open_session, run, submit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlstream.runtime.jobs.job import Job

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted"), pytest.mark.timeout(300)]

TABLES = """
CREATE TABLE events (id INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'events', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE made (id BIGINT, ts AS LOCALTIMESTAMP, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'rows-per-second' = '500');
CREATE TABLE counted (what STRING, ids BIGINT) WITH ('connector' = 'print');
CREATE TABLE copies (id INT) WITH ('connector' = 'delta', 'table-path' = 'copies');
"""
SENT = """
CREATE TABLE sent (id INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka', 'topic' = 'drained-in-parts', 'format' = 'json',
  'properties.bootstrap.servers' = '{}', 'scan.startup.mode' = 'earliest-offset', 'scan.micro-batch.max-records' = '10');
"""
COUNTS = "INSERT INTO counted SELECT 'events', COUNT(*) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end;"


class Client:
    """A session over the tables of this module, what it prints and what it says."""

    def __init__(self, project: Path, engine) -> None:
        (project / "events").mkdir(exist_ok=True)
        self.project = project
        self.rows: list[str] = []
        self.said: list[str] = []
        self.emit = self.rows.append
        self.session = open_session(project, TABLES, engine=engine, emit=lambda row: self.emit(row), notify=self.said.append)

    def submit(self, sql: str) -> Job:
        return submit(self.session, sql)

    def drain(self, job) -> None:
        list(self.session.run(f"STOP JOB '{job.id}' WITH SAVEPOINT WITH DRAIN;"))

    def feed(self, number: int) -> None:
        feed(self.project / "events", {"id": number, "ts": f"2026-01-01 00:00:{number % 60:02}Z"})

    @contextmanager
    def fed(self) -> Iterator[None]:
        """Without a pause."""
        over = threading.Event()

        def going_on() -> None:
            number = 1000
            while not over.wait(0.05):
                self.feed(number)
                number += 1

        feeding = threading.Thread(target=going_on, daemon=True)
        feeding.start()
        try:
            yield
        finally:
            over.set()
            feeding.join()


@pytest.fixture
def client(tmp_path: Path, engine):
    made = Client(tmp_path, engine)
    yield made
    made.session.close()


def test_sources_that_never_pause(client: Client) -> None:
    generated = COUNTS.replace("events", "made")
    with client.fed():
        job = client.submit(f"EXECUTE STATEMENT SET BEGIN {COUNTS} {generated} END;")
        while not all(query.rows_in > 0 for query in job.sampled().queries):
            job.done.wait(0.1)
        client.drain(job)
    assert job.status is JobStatus.FINISHED
    counts = dict(row.removeprefix("+I[").removesuffix("]").split(", ") for row in client.rows)
    events, made = (query.rows_in for query in job.metrics.queries)
    assert counts == {"events": str(events), "made": str(made)}
    assert job.metrics.late == 0


@pytest.mark.kafka
def test_a_backlog_of_several_micro_batches(client: Client, broker) -> None:
    broker.produce("drained-in-parts", [json.dumps({"id": n, "ts": f"2026-01-01 00:00:{n % 60:02}Z"}) for n in range(200)])
    run(client.session, SENT.format(broker.bootstrap))
    counts = COUNTS.replace("events", "sent")
    job = client.submit(counts)
    client.drain(job)
    assert client.rows == ["+I[sent, 200]"] and job.metrics.late == 0
    # A table that ends is one micro-batch, whatever the option says.
    ended = client.submit(counts.replace("TABLE sent", "(SELECT * FROM sent /*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */)"))
    assert ended.done.wait(120) and ended.error is None
    assert client.rows[1:] == ["+I[sent, 200]"] and ended.metrics.late == 0


def test_a_micro_batch_that_a_stop_interrupts_as_it_is_committed_is_counted(client: Client) -> None:
    writing, go_on = threading.Event(), threading.Event()

    def held(row: str) -> None:
        writing.set()
        assert go_on.wait(60)
        client.rows.append(row)

    client.emit = held
    client.feed(1)
    job = client.submit("INSERT INTO counted SELECT 'all', COUNT(*) FROM events;")
    assert writing.wait(60)
    (query,) = job.queries
    stopping = threading.Thread(target=client.session.jobs.stop, args=(job.id,))
    stopping.start()
    while query.isActive:
        job.done.wait(0.01)
    go_on.set()
    stopping.join()
    assert (job.checkpoint / "0_counted" / "commits" / "0").exists() and client.rows == ["+I[all, 1]"]
    assert job.metrics.rows_in == 1


def test_the_same_statement_starts_anew_and_says_so(client: Client) -> None:
    client.feed(1)
    job = client.submit(COUNTS)
    client.drain(job)
    assert client.rows == ["+I[events, 1]"] and client.said == []
    client.feed(2)
    again = client.submit(COUNTS)
    assert client.said == [
        f"Job '{short_name(job.name)}' was drained: it starts anew, without state, and reads its sources from where their options say."
    ]
    list(client.session.run(f"STOP JOB '{again.id}';"))
    third = client.submit(COUNTS)
    assert client.said[1:] == [f"Job '{short_name(job.name)}' continues where it stopped ({again.folder})."]
    client.drain(third)
    assert client.rows[1:] == ["+I[events, 2]"]


def test_a_drain_that_was_cut_off_is_completed(client: Client) -> None:
    client.feed(1)
    job = client.submit(COUNTS)
    job.queries[0].processAllAvailable()
    client.session.jobs.stop(job.id)
    # As a kill leaves it.
    (job.folder / "draining").touch()
    again = client.submit(COUNTS)
    assert client.rows == ["+I[events, 1]"]
    assert [line.partition("'")[2].partition("' ")[2].partition(" (")[0] for line in client.said] == [
        "ended while it was being drained: the drain is completed first",
        "was drained: it starts anew, without state, and reads its sources from where their options say.",
    ]
    assert again.folder.name == "2" and (job.folder / "finished").exists()


def test_an_interrupt_ends_a_drain(client: Client) -> None:
    job = client.submit(COUNTS)
    with pytest.raises(JobFailed, match="was stopped while it was being drained"):
        client.session.jobs.stop(job.id, drain=True, interrupted=lambda: True)
    assert job.done.wait(30) and job.status is JobStatus.CANCELED


def test_what_runs_in_batch_mode_has_no_savepoint(client: Client) -> None:
    list(
        client.session.run(
            "CREATE TABLE many (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '100000000'); SET 'execution.runtime-mode' = 'batch';"
        )
    )
    job = client.submit("INSERT INTO copies SELECT CAST(SUM(id) AS INT) FROM many;")
    for how in ("WITH SAVEPOINT", "WITH SAVEPOINT WITH DRAIN"):
        with pytest.raises(ValidationError, match="is not a streaming job"):
            list(client.session.run(f"STOP JOB '{job.id}' {how};"))
    assert job.status is JobStatus.RUNNING
    list(client.session.run(f"STOP JOB '{job.id}';"))
    assert job.status is JobStatus.CANCELED
