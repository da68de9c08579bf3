"""Jobs that write into an index of a search server: the documents are those of all records, whatever happens to the server or to Spark."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from sqlstream.catalog.ddl import options_text
from tests.support.background import Background
from tests.support.keyed_run import SHAPES, KeyedRun, Rows
from tests.support.sessions import open_session, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.opensearch import OpenSearch

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


@pytest.fixture
def stream(broker, request) -> Iterator[KeyedRun]:
    made = KeyedRun(broker, f"search-{abs(hash(request.node.name))}")
    yield made
    made.consumer.close()


def declared(opensearch: OpenSearch, stream: KeyedRun, shape: str) -> str:
    """The topics, and an index of the run's name with the rows of ``shape``."""
    options = {"connector": "opensearch-2", "hosts": opensearch.url, "index": stream.name}
    columns, keys = SHAPES[shape].columns, SHAPES[shape].keys
    return f"{stream.declared()}; CREATE TABLE documents ({columns}, PRIMARY KEY ({keys}) NOT ENFORCED) {options_text(options.items())}"


def found(opensearch: OpenSearch, stream: KeyedRun, shape: str) -> Rows:
    names = [c.split()[0] for c in SHAPES[shape].columns.split(", ")]
    keys = SHAPES[shape].keys.split(", ")
    return {tuple(d[k] for k in keys): tuple(d[n] for n in names if n not in keys) for d in opensearch.written(stream.name)}


def await_all(opensearch: OpenSearch, stream: KeyedRun, shape: str) -> None:
    until(lambda: found(opensearch, stream, shape) == stream.expected(shape), 90, every=0.2)


def test_a_server_that_is_away_is_waited_for(tmp_path: Path, engine, stream: KeyedRun, opensearch: OpenSearch) -> None:
    """Also rows that are taken away again are."""
    options = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "100", "restart-strategy.fixed-delay.delay": "500 ms"}
    told: list[str] = []
    with closing(open_session(tmp_path, declared(opensearch, stream, "odd"), options=options, engine=engine, notify=told.append)) as session:
        stream.send(20)
        job = submit(session, f"INSERT INTO documents {SHAPES['odd'].query}")
        await_all(opensearch, stream, "odd")
        opensearch.stop()
        stream.send(20)
        until(lambda: any("The search server does not answer" in line for line in told), 60)
        opensearch.start()
        await_all(opensearch, stream, "odd")
        assert job.lives and not job.real_time


def test_each_row_is_written_at_once(tmp_path: Path, engine, stream: KeyedRun, opensearch: OpenSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlstream.runtime.jobs.run.work.executor_slots", lambda spark: 4)
    script = declared(opensearch, stream, "semi")
    with closing(open_session(tmp_path, script, options={"execution.real-time": "true"}, engine=engine)) as session:
        job = submit(session, "INSERT INTO documents SELECT id, v FROM e")
        for _ in range(5):
            stream.send(20)
            until(lambda: found(opensearch, stream, "semi") == {(r["id"],): (r["v"],) for r in stream.sent["e"]}, 60, every=0.1)
        assert job.real_time


@pytest.mark.long
def test_after_kills_the_documents_are_those_of_all_records(tmp_path: Path, stream: KeyedRun, opensearch: OpenSearch) -> None:
    project = Background(tmp_path, f"{declared(opensearch, stream, 'odd')};\nINSERT INTO documents {SHAPES['odd'].query};\n")
    try:
        stream.send(20)
        assert "FAILED" not in project.start(**{"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"})
        await_all(opensearch, stream, "odd")
        for _ in range(2):
            stream.send(200)
            project.kill()
            stream.send(20)
            await_all(opensearch, stream, "odd")
    finally:
        project.stop()
