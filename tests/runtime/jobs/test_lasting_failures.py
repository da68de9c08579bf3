"""What lies in a row or a table fails a job at once, with the row and what to do; what is left out by an option is passed over."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed
from sqlstream.runtime.jobs.machine import JobStatus
from tests.support.sessions import catch_up, feed, open_session, run, submit

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.core.errors import SqlStreamError
    from sqlstream.session.session import Session

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]
TABLES = """
CREATE TABLE numbers (n INT, s STRING) WITH ('connector' = 'filesystem', 'path' = 'read', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE plain (n INT, s STRING) WITH ('connector' = 'delta', 'table-path' = 'plain');
CREATE TABLE keyed (n INT, s STRING, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'keyed');
CREATE TABLE strict (n INT, s STRING) WITH ('connector' = 'delta', 'table-path' = 'strict');
CREATE TABLE strict_by_key (n INT, s STRING, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'strict');
CREATE TABLE news (n INT, s STRING) WITH ('connector' = 'delta', 'table-path' = 'plain', 'mode' = 'streaming');
CREATE TABLE copied (n INT, s STRING) WITH ('connector' = 'delta', 'table-path' = 'copied');
"""


@pytest.fixture
def session(tmp_path: Path, engine) -> Session:
    (tmp_path / "read").mkdir()
    return open_session(tmp_path, TABLES, engine=engine)


def failure(session: Session, insert: str, *records: dict[str, object]) -> SqlStreamError:
    """What the job fails with once it reads these, without having been started again."""
    job = submit(session, insert)
    feed(session.project / "read", *records)
    assert job.done.wait(60)
    assert (job.status, job.restarts.count) == (JobStatus.FAILED, 0)
    assert isinstance(job.error, JobFailed)
    return job.error


def test_rows_that_a_table_does_not_take(session: Session, spark) -> None:
    path = session.project
    spark.sql(f"CREATE TABLE delta.`{path / 'strict'}` (n INT, s STRING NOT NULL) USING delta")
    for table in ("strict", "strict_by_key"):
        told = failure(session, f"INSERT INTO {table} SELECT n, s FROM numbers", {"n": 1, "s": "a"}, {"n": 2})
        assert told.message == "Column 's' is NOT NULL in the Delta table, however, a null value is being written into it. The row is {2, null}"
        assert told.hint is not None and "WHERE" in told.hint
    for table in ("plain", "keyed"):
        spark.sql(f"CREATE TABLE delta.`{path / table}` (n INT, s STRING) USING delta")
        spark.sql(f"ALTER TABLE delta.`{path / table}` ADD CONSTRAINT `of 7` CHECK (n > 0 AND s <> '')")
        told = failure(session, f"INSERT INTO {table} SELECT n, s FROM numbers WHERE n < 0", {"n": -7, "s": "so\nso"})
        wanted = "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint of 7 ((n > 0) AND (NOT (s = ''))) violated by row with values: - n : -7 - s : so so"
        assert told.message == wanted


def test_a_table_whose_rows_stay(session: Session) -> None:
    run(session, "ALTER TABLE keyed SET ('delta.appendOnly' = 'true');")
    insert = "INSERT INTO keyed SELECT n, MAX(s) FROM numbers GROUP BY n"
    feed(session.project / "read", {"n": 1, "s": "a"})
    job = submit(session, insert)
    catch_up(job)
    session.jobs.stop(job.id)
    told = failure(session, insert, {"n": 1, "s": "b"})
    assert told.message == "[DELTA_CANNOT_MODIFY_APPEND_ONLY] This table is configured to only allow appends."
    assert told.hint is not None and "write into a table without 'delta.appendOnly'" in told.hint


def test_a_source_whose_rows_change(session: Session, spark) -> None:
    path = session.project
    run(session, "SET 'execution.runtime-mode' = 'batch'; SET 'table.dml-sync' = 'true'; INSERT INTO plain VALUES (1, 'a'), (2, 'b');")
    run(session, "RESET 'execution.runtime-mode'; RESET 'table.dml-sync';")
    job = submit(session, "INSERT INTO copied SELECT n, s FROM news")
    catch_up(job)
    spark.sql(f"UPDATE delta.`{path / 'plain'}` SET s = 'c' WHERE n = 1")
    assert job.done.wait(60)
    assert (job.status, job.restarts.count) == (JobStatus.FAILED, 0)
    assert job.error is not None and job.error.hint is not None
    # Its own advice is for users of DataFrames.
    assert job.error.message.startswith("[DELTA_SOURCE_TABLE_IGNORE_CHANGES] Detected a data update")
    assert job.error.message.endswith("This is currently not supported.")
    assert job.error.hint.startswith("'skipChangeCommits' = 'true' leaves out commits")
    run(session, "ALTER TABLE news SET ('skipChangeCommits' = 'true'); SET 'execution.upgrade-mode' = 'last-state';")
    again = submit(session, "INSERT INTO copied SELECT n, s FROM news")
    spark.sql(f"INSERT INTO delta.`{path / 'plain'}` VALUES (3, 'd')")
    catch_up(again)
    session.jobs.stop(again.id)
    found = spark.read.format("delta").load(str(path / "copied")).collect()
    assert sorted(map(tuple, found)) == [(1, "a"), (2, "b"), (3, "d")]


@pytest.mark.kafka
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("", "The record of 2014 bytes is larger than 1000, which is the value of 'properties.max.request.size'. It begins with {\"n\":2,\"s\":\"xxx"),
        (", 'key.format' = 'raw', 'key.fields' = 's', 'value.fields-include' = 'EXCEPT_KEY'", f"The record with the key {'x' * 100} of 2007 bytes is larger"),
    ],
)  # fmt: skip
def test_a_record_that_is_too_large(session: Session, broker, options: str, told: str) -> None:
    topic = f"large-{uuid.uuid4().hex[:8]}"
    broker.topic(topic, 1)
    run(
        session,
        f"CREATE TABLE small (n INT, s STRING) WITH ('connector' = 'kafka', 'topic' = '{topic}', '{'value.' if options else ''}format' = 'json',"
        f" 'properties.bootstrap.servers' = '{broker.bootstrap}', 'properties.max.request.size' = '1000'{options});",
    )
    found = failure(session, "INSERT INTO small SELECT n, s FROM numbers", {"n": 1, "s": "x" * 900}, {"n": 2, "s": "x" * 2000})
    assert found.message.startswith(told)


@pytest.mark.kafka
def test_a_record_that_the_broker_finds_too_large(session: Session, broker) -> None:
    topic = f"small-{uuid.uuid4().hex[:8]}"
    broker.topic(topic, 1)
    run(
        session,
        f"CREATE TABLE small (s STRING) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'format' = 'raw',"
        f" 'properties.bootstrap.servers' = '{broker.bootstrap}', 'properties.max.request.size' = '3000000');",
    )
    found = failure(session, "INSERT INTO small SELECT s FROM numbers", {"n": 2, "s": "x" * 2_000_000})
    assert "larger than the max message size the server will accept" in found.message
    assert found.hint is not None and "'properties.max.request.size'" in found.hint
