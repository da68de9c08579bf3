"""Queries that keep state in real time: the rows of their keys are those of the whole input, whatever happens."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from sqlstream.sql.quoting import flink_string
from tests.support.keyed_run import SHAPES, KeyedRun
from tests.support.sessions import open_session, run, submit
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
    """Also after a restart, by micro-batches in between, and with a savepoint."""
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
        run(session, f"STOP JOB '{job.id}' WITH SAVEPOINT")
        assert job.savepoint and job.error is None
        stream.send(10)
        run(session, f"DROP JOB '{job.id}'; SET 'execution.state-recovery.path' = '{job.savepoint}'")
        submit(session, insert)
        stream.arrive(shape)


@pytest.mark.postgres
def test_a_database_has_the_rows_of_all_records(tmp_path: Path, engine, stream: KeyedRun, two_partitions, postgres) -> None:
    """Also those that a condition above the groups takes away again."""
    postgres.run("DROP TABLE IF EXISTS odd", "CREATE TABLE odd (k INT PRIMARY KEY, n BIGINT)")
    options = ", ".join(f"{flink_string(k)} = {flink_string(v)}" for k, v in postgres.options("odd").items())
    declared = f"{stream.declared()}; CREATE TABLE odd (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ({options})"
    with closing(open_session(tmp_path, declared, options={"spark.version": "4.3", "execution.real-time": "true"}, engine=engine)) as session:
        job = submit(session, f"INSERT INTO odd {SHAPES['odd'].query}")
        for _ in range(5):
            stream.send(20)
            until(lambda: {(k,): (n,) for k, n in postgres.run("SELECT * FROM odd")} == stream.expected("odd"), 30, every=0.1)
        assert job.real_time
