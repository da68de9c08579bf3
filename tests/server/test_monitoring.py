"""Flink's monitoring interface: the jobs of the project, and what is asked of them."""

from __future__ import annotations

import re
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from tests.server.client import Client

NONE = "0" * 32


def test_without_jobs(client: Client) -> None:
    client.version = "v1"
    assert client.get("/jobs/overview").body == {"jobs": []}
    assert client.get("/jobs").body == {"jobs": []}
    about = client.get("/overview").body
    assert (about["jobs-running"], about["jobs-failed"], about["taskmanagers"]) == (0, 0, 1)
    assert client.ask("GET", "/config").body["flink-version"].startswith("sqlstream ")


@pytest.mark.parametrize("path", ["", "/plan", "/exceptions", "/checkpoints", "/metrics", f"/savepoints/{NONE}"])
def test_a_job_that_is_not_there(client: Client, path: str) -> None:
    answer = client.ask("GET", f"/jobs/{NONE}{path}")
    assert answer.status == 404 and f"Job {NONE} not found" in answer.error
    assert client.ask("GET", f"/jobs/..%2f..{path}").status == 404


def test_nothing_is_asked_of_a_job_that_is_not_there(client: Client) -> None:
    assert client.ask("PATCH", f"/jobs/{NONE}?mode=cancel").status == 404
    assert client.ask("PATCH", f"/jobs/{NONE}?mode=stop").status == 400
    for what in ("stop", "savepoints"):
        assert client.ask("POST", f"/jobs/{NONE}/{what}", {}).status == 404
        assert client.ask("POST", f"/jobs/{NONE}/{what}", raw=b"[").status == 400


@pytest.mark.spark
@pytest.mark.usefixtures("interpreted")
def test_a_job(on_spark: Client, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    session = on_spark.open(pipeline__name="counting")
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', 'format' = 'json', 'source.monitor-interval' = '1 s'"
    session.run(f"CREATE TABLE f (id INT) WITH ({options})")
    session.run(f"CREATE TABLE t (id INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = '{tmp_path / 't'}')")
    insert = "INSERT INTO t SELECT id, COUNT(*) FROM f GROUP BY id"
    job = session.run(insert).job_id
    feed(tmp_path / "in", {"id": 1}, {"id": 2})
    (listed,) = on_spark.ask("GET", "/v1/jobs/overview").body["jobs"]
    assert (listed["jid"], listed["name"], listed["state"], listed["end-time"], listed["tasks"]["running"]) == (job, "counting", "RUNNING", -1, 1)

    def vertex() -> dict:
        (found,) = on_spark.ask("GET", f"/v1/jobs/{job}").body["vertices"]
        return found

    until(lambda: vertex()["metrics"]["read-records"] == 2)

    def values(of: str, *names: str) -> dict[str, float]:
        return {m["id"]: float(m["value"]) for m in on_spark.ask("GET", f"/v1/jobs/{job}{of}/metrics?get={','.join(names)}").body}

    assert values("", "numRestarts") == {"numRestarts": 0}
    written, below = "0.Sink__t.numRecordsOut", f"/vertices/{vertex()['id']}"
    assert {"id": written} in on_spark.ask("GET", f"/jobs/{job}{below}/metrics").body
    until(lambda: values(below, written, "nothing") == {written: 2})
    assert on_spark.ask("GET", f"/jobs/{job}/vertices/{NONE}/metrics").status == 404

    def exposed() -> list[str]:
        with urllib.request.urlopen(f"{on_spark.address}/metrics", timeout=60) as answer:
            return answer.read().decode().splitlines()

    read = f'sqlstream_rows_read_total{{job_id="{job}",job_name="counting",task_name="Sink: t"}} 2.0'
    until(lambda: read in exposed())
    until(lambda: on_spark.ask("GET", f"/jobs/{job}/checkpoints").body["counts"]["completed"] > 0)
    last = on_spark.ask("GET", f"/jobs/{job}/checkpoints").body["latest"]["completed"]
    time.sleep(0.05)
    again = on_spark.ask("GET", f"/jobs/{job}/checkpoints").body["latest"]["completed"]
    assert again == last and last["latest_ack_timestamp"] - last["trigger_timestamp"] == last["end_to_end_duration"] > 0
    assert vertex()["name"] == "Sink: t" and vertex()["status"] == "RUNNING"
    (node,) = on_spark.ask("GET", f"/jobs/{job}/plan").body["plan"]["nodes"]
    assert node["id"] == vertex()["id"] and re.fullmatch("[0-9a-f]{32}", node["id"])
    assert on_spark.ask("GET", f"/jobs/{job}/exceptions").body["root-exception"] is None

    def made(number: str) -> str:
        def answer() -> dict:
            return on_spark.ask("GET", f"/v1/jobs/{job}/savepoints/{number}").body

        until(lambda: answer()["status"]["id"] == "COMPLETED")
        return answer()["operation"]["location"]

    begun = on_spark.ask("POST", f"/v1/jobs/{job}/savepoints", {"cancel-job": False})
    assert begun.status == 202
    assert Path(made(begun.body["request-id"]).removeprefix("file://")).is_dir()
    refused = on_spark.ask("POST", f"/v1/jobs/{job}/savepoints", {"target-directory": "/tmp/elsewhere"})
    assert refused.status == 400 and "A savepoint is not written to '/tmp/elsewhere'" in refused.error
    assert on_spark.ask("GET", f"/v1/jobs/{job}/savepoints/{NONE}").status == 404

    for wrong in ("stop", {"drain": "x"}), ("stop", {"drain": 1}), ("savepoints", {"cancel-job": "true"}):
        assert on_spark.ask("POST", f"/v1/jobs/{job}/{wrong[0]}", wrong[1]).status == 400
    stopped = on_spark.ask("POST", f"/v1/jobs/{job}/stop", {"drain": False})
    assert Path(made(stopped.body["request-id"]).removeprefix("file://")).is_dir()
    (listed,) = on_spark.ask("GET", "/v1/jobs/overview").body["jobs"]
    assert listed["state"] == "CANCELED" and listed["end-time"] > listed["start-time"]
    again = on_spark.ask("POST", f"/v1/jobs/{job}/stop", {})
    until(lambda: on_spark.ask("GET", f"/v1/jobs/{job}/savepoints/{again.body['request-id']}").status == 400)

    second = session.run(insert).job_id
    assert on_spark.ask("PATCH", f"/v1/jobs/{second}?mode=cancel").status == 202
    assert on_spark.ask("GET", f"/v1/jobs/{second}").body["state"] == "CANCELED"
    assert on_spark.ask("GET", "/v1/overview").body["jobs-cancelled"] == 2
