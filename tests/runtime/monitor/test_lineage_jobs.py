"""What OpenLineage hears of real jobs: in a file, and at an address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed
from sqlstream.runtime.monitor.reporting import lineage as reporting
from tests.runtime.monitor.test_lineage_events import Backend, lines, states
from tests.support.sessions import catch_up, feed, open_session, run, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark
TABLES = """
CREATE TABLE bids (item STRING, price INT) WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE known (item STRING, price INT) WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json');
CREATE TABLE dear (item STRING, price INT) WITH ('connector' = 'filesystem', 'path' = 'dear', 'format' = 'json');
CREATE TABLE nothing (item STRING, price INT) WITH ('connector' = 'blackhole');
"""


def test_jobs_are_told_of_from_begin_to_end(tmp_path: Path, engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "_RUNNING_SECONDS", 0.2)
    (tmp_path / "bids").mkdir()
    feed(tmp_path / "bids", {"item": "a", "price": 5})
    backend, file, said = Backend(200), tmp_path / "events.jsonl", []
    with backend.listening() as url:
        options = {"lineage.url": url, "lineage.file": "events.jsonl", "restart-strategy.type": "none"}
        session = open_session(tmp_path, TABLES, engine=engine, options=options, notify=said.append)
        stream = submit(session, "INSERT INTO dear SELECT UPPER(item), price FROM bids WHERE price > 1")
        catch_up(stream)
        until(lambda: "RUNNING" in states(lines(file)))
        run(session, f"STOP JOB '{stream.id}' WITH SAVEPOINT WITH DRAIN")
        run(session, "SET 'execution.runtime-mode' = 'batch'; SET 'table.dml-sync' = 'true'")
        inserts = [f"INSERT INTO {'nothing' if n else 'dear'} SELECT item, price + {n} FROM known;" for n in range(5)]
        run(session, f"EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END")
        with pytest.raises(JobFailed):
            run(session, "INSERT INTO nothing SELECT item, CAST(item AS INT) FROM known")
        session.close()
    told = lines(file)
    by_run = {run_id: states([e for e in told if e["run"]["runId"] == run_id]) for run_id in dict.fromkeys(e["run"]["runId"] for e in told)}
    of_stream, of_set, of_failed = by_run.values()
    assert (of_stream[0], {*of_stream[1:-1]}, of_stream[-1]) == ("START", {"RUNNING"}, "COMPLETE")
    assert of_set == ["START", "COMPLETE"] and of_failed == ["START", "FAIL"]
    assert [e["run"]["runId"] for e in backend.events if e["eventType"] != "RUNNING"] == [
        e["run"]["runId"] for e in told if e["eventType"] != "RUNNING"
    ]
    first, set_, failed = told[0], told[-3], told[-1]
    assert (first["inputs"][0]["namespace"], first["inputs"][0]["name"]) == ("file", str(tmp_path / "bids"))
    assert first["job"]["name"] == stream.name and first["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    assert "UPPER(item)" in first["job"]["facets"]["sql"]["query"]
    (read,) = first["outputs"][0]["facets"]["columnLineage"]["fields"]["item"]["inputFields"]
    assert (read["field"], read["transformations"]) == ("item", [{"type": "DIRECT", "subtype": "TRANSFORMATION"}])
    assert (len(set_["inputs"]), len(set_["outputs"])) == (1, 2) and set_["job"]["facets"]["jobType"]["processingType"] == "BATCH"
    assert failed["run"]["facets"]["errorMessage"]["message"]
    assert not [line for line in said if "OpenLineage" in line]
