"""No secret that a client names is in an answer, in the metrics, or in what the server says and writes, but for the script of its job."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING

import pytest

from tests.server.conftest import serving
from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.runtime.engine.session import Engine
    from tests.server.client import Client

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]
CANARY = "c4n4ry-5ecret"
KAFKA = f"""CREATE TABLE k (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = '127.0.0.1:1', 'format' = 'json',
  'properties.sasl.jaas.config' = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="{CANARY}";',
  'properties.ssl.keystore.password' = '{CANARY}', 'properties.request.timeout.ms' = '500', 'properties.default.api.timeout.ms' = '500')"""
JDBC = f"CREATE TABLE d (a INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://u:{CANARY}@127.0.0.1:1/x', 'table-name' = 'x', 'password' = '{CANARY}')"
STATEMENTS = (
    KAFKA,
    JDBC,
    "SHOW CREATE TABLE k",
    "SHOW CREATE TABLE d",
    "DESCRIBE EXTENDED k",
    f"CREATE VIEW v AS SELECT * FROM k /*+ OPTIONS('properties.ssl.key.password' = '{CANARY}') */",
    "SHOW CREATE VIEW v",
    "SELECT * FROM k",
    "SELECT * FROM d",
    "INSERT INTO d SELECT a FROM k",
    f"INSERT INTO d SELECT a FROM v WHERE a > 1 password='{CANARY}'",
    f"CREATE CATALOG c WITH ('type' = 'jdbc', 'password' = '{CANARY}', 'base-url' = 'jdbc:postgresql://127.0.0.1:1', 'username' = 'u')",
    f"SET 'spark.hadoop.fs.s3a.secret.key' = '{CANARY}'",
    f"SET 'my.password' = '{CANARY}'",
    "SET",
    "EXPLAIN SELECT * FROM v",
    f"SELECT 'x' FROM k WHERE password = '{CANARY}'",
    "SHOW JOBS",
    "SHOW JOBS EXTENDED",
)


def test_canaries(tmp_path: Path, engine: Engine, capfd: pytest.CaptureFixture[str]) -> None:
    heard: list[str] = []
    (tmp_path / "in").mkdir()
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', 'format' = 'json', 'source.monitor-interval' = '1 s'"
    running = [
        f"CREATE TABLE f (id INT, password STRING) WITH ({options})",
        "CREATE TABLE p (id INT) WITH ('connector' = 'print')",
        f"INSERT INTO p SELECT id FROM f WHERE password <> '{CANARY}'",
    ]
    with serving(tmp_path, {}, engine) as client:
        session = client.open(properties__ssl__key__password=CANARY)
        for statement in (*STATEMENTS, *running):
            heard += _answers(client, session.path, statement)
        feed(tmp_path / "in", {"id": 1, "password": "y"})
        heard.append(json.dumps(client.get(session.path).body))
        heard.append(json.dumps(client.get(f"{session.path}/complete-statement", {"statement": "SELECT * FROM k WHERE ", "position": 22}).body))
        jobs = client.ask("GET", "/jobs/overview").body["jobs"]
        assert [job["state"] for job in jobs] == ["RUNNING"]
        for path in ("", "/plan", "/exceptions", "/checkpoints", "/metrics"):
            heard.append(json.dumps(client.ask("GET", f"/jobs/{jobs[0]['jid']}{path}").body))
        until(lambda: client.ask("GET", f"/jobs/{jobs[0]['jid']}").body["vertices"][0]["metrics"]["read-records"] == 1)
        with urllib.request.urlopen(f"{client.address}/metrics", timeout=60) as answer:
            heard.append(answer.read().decode())
        heard += _answers(client, session.path, f"DESCRIBE JOB '{jobs[0]['jid']}' EXTENDED") + _answers(client, session.path, "SHOW JOB METRICS")
    heard += capfd.readouterr()
    assert len(heard) > 100
    assert not [text for text in heard if CANARY in text], "\n".join(text for text in heard if CANARY in text)
    own = tmp_path / ".sqlstream"
    holding = {file.relative_to(own).parts[0] for file in own.rglob("*") if file.is_file() and CANARY.encode() in file.read_bytes()}
    assert holding <= {"served"}


def _answers(client: Client, session: str, statement: str) -> list[str]:
    """All that a client is answered to a statement, up to its end, its first rows or its error."""
    begun = client.post(f"{session}/statements", {"statement": statement})
    said, path = [begun.text], ""
    if begun.status == 200:
        path = f"{session}/operations/{begun.body['operationHandle']}"
        until(lambda: client.get(f"{path}/status").body["status"] not in ("PENDING", "RUNNING", "INITIALIZED"))
        for token in (0, 1):
            said += [client.get(f"{path}/result/{token}?rowFormat={kind}").text for kind in ("JSON", "PLAIN_TEXT")]
        client.delete(f"{path}/close")
    return said
