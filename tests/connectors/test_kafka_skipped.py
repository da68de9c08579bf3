"""Single records that a job leaves out: all others are there, whatever was written before it failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.connectors.kafka.skipped import parsed
from sqlstream.core.errors import ValidationError
from tests.support.sessions import catch_up, open_session, rows, run, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

TABLES = """
CREATE TABLE events (id INT) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{bootstrap}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset', 'scan.topic-partition-discovery.interval' = '1 s');
CREATE TABLE shown (id INT) WITH ('connector' = 'print');
CREATE TABLE sums (n BIGINT, total INT) WITH ('connector' = 'print');
"""
COPY = "SET 'pipeline.name' = 'copy'; INSERT INTO shown SELECT id FROM events"
SUM = "SET 'pipeline.name' = 'sum'; INSERT INTO sums SELECT COUNT(*), SUM(id) FROM events"


@pytest.mark.parametrize("spec", ["", ";", "earliest", "partition:0", "partition:0,offset:-1"])
def test_what_says_no_records_is_refused(spec: str) -> None:
    with pytest.raises(ValidationError, match="says no records") as caught:
        parsed(spec)
    assert "partition:0,offset:42" in str(caught.value.hint)


@pytest.mark.spark
@pytest.mark.kafka
def test_a_record_that_is_met_in_real_time_before_any_offset_is_recorded(tmp_path: Path, engine, broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlstream.runtime.jobs.run.work.executor_slots", lambda spark: 2)
    monkeypatch.setattr("sqlstream.runtime.jobs.run.slots.cores", lambda: 1)
    topic, shown = "skip-at-once", []
    broker.topic(topic, 1)
    broker.send(topic, (0, None, "{nothing"), (0, None, '{"id":4}'))
    tables = TABLES.format(topic=topic, bootstrap=broker.bootstrap)
    session = open_session(tmp_path, tables, options={"execution.real-time": "true"}, emit=shown.append, engine=engine)
    job = submit(session, COPY)
    job.done.wait(60)
    assert "'partition:0,offset:0'" in str(job.error and job.error.hint)
    run(session, f"ALTER JOB 'copy' SKIP RECORDS ('{topic}' = 'partition:0,offset:0')")
    submit(session, COPY)
    until(lambda: shown == ["+I[4]"], 60)
    session.close()


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.parametrize(("sql", "first", "second"), [
    (COPY, ["1", "2", "4", "5"], ["1", "2", "4", "5", "6", "8"]), (SUM, ["4, 12"], ["6, 26"]),
])  # fmt: skip
@pytest.mark.parametrize("real_time", ["auto", "false"])
def test_only_the_record_is_left_out(tmp_path: Path, engine, broker, sql: str, first: list[str], second: list[str], real_time: str) -> None:
    topic, shown = f"skip-{first[0][0]}-{real_time}", []
    broker.topic(topic, 2)
    tables = TABLES.format(topic=topic, bootstrap=broker.bootstrap)
    session = open_session(tmp_path, tables, options={"execution.real-time": real_time}, emit=shown.append, engine=engine)
    sent = ['{"id":1}', '{"id":2}', "{nothing", '{"id":4}']
    broker.send(topic, *((0, None, value) for value in sent), (1, None, '{"id":5}'))

    def last() -> list[str]:
        found = [line.partition("[")[2].rstrip("]") for line in shown]
        return sorted(set(found)) if sql == COPY else found[-1:]

    def fails(offset: int) -> None:
        job = submit(session, sql)
        job.done.wait(60)
        assert job.error is not None
        assert str(job.error.hint).endswith(f"SKIP RECORDS ('{topic}' = 'partition:0,offset:{offset}').")

    fails(2)
    name = "copy" if sql == COPY else "sum"
    with pytest.raises(ValidationError, match="The job reads no topic 'x'.") as caught:
        run(session, f"ALTER JOB '{name}' SKIP RECORDS ('x' = 'partition:0,offset:2')")
    assert caught.value.hint == f"It reads {topic}."
    run(session, f"ALTER JOB '{name}' SKIP RECORDS ('{topic}' = 'partition:0,offset:2')")
    job = submit(session, sql)
    catch_up(job)
    assert last() == first
    with pytest.raises(ValidationError, match="is running"):
        run(session, f"ALTER JOB '{name}' SKIP RECORDS ()")
    # What was left out stays so, and another one is added, in the midst of what nobody has written yet.
    run(session, f"STOP JOB '{job.id}'")
    broker.send(topic, (0, None, '{"id":6}'), (0, None, "[7"), (0, None, '{"id":8}'))
    fails(5)
    run(session, f"ALTER JOB '{name}' SKIP RECORDS ('{topic}' = 'partition:0,offset:5')")
    catch_up(submit(session, sql))
    assert last() == second
    assert dict(rows(session, f"DESCRIBE JOB '{name}'"))[f"records left out of {topic}"] == "partition:0,offset:2;partition:0,offset:5"
    session.close()
