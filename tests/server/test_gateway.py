"""The gateway without Spark: sessions, operations, tokens, errors, and requests that are wrong."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from tests.server.client import Client, GatewayError, at_once
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

TABLE = "CREATE TABLE t (a INT NOT NULL, b STRING, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'datagen')"


@pytest.mark.parametrize("prefix", ["", "/v1", "/v2", "/v3", "/v4"])
def test_every_version_says_who_it_is(client: Client, prefix: str) -> None:
    assert client.ask("GET", f"{prefix}/api_versions").body == {"versions": ["V1", "V2", "V3", "V4"]}
    assert client.ask("GET", f"{prefix}/info").body["productName"] == "Apache Flink"


def test_a_session_has_its_options_and_keeps_its_declarations_to_itself(client: Client) -> None:
    first, second = client.open(execution__runtime_mode="batch"), client.open()
    assert client.get(first.path).body["properties"] == {"execution.runtime-mode": "batch", "table.local-time-zone": "UTC"}
    assert first.run(TABLE).rows == [["OK"]]
    assert first.run("SHOW TABLES").rows == [["t"]]
    assert second.run("SHOW TABLES").rows == []
    assert client.post(f"{first.path}/heartbeat").body == {}
    assert first.close().body == {"status": "CLOSED"}
    assert client.get(first.path).status == 404
    assert first.close().status == 404
    assert second.run("SHOW CURRENT DATABASE").rows == [["default_database"]]


def test_what_a_client_of_flink_sends_of_its_own_configuration_is_left_out(client: Client) -> None:
    sent = {"execution.target": "local", "$internal.deployment.config-dir": "/x", "parallelism.default": "1", "execution.attached": "true"}
    answer = client.post("/sessions", {"sessionName": "a", "properties": sent})
    assert answer.status == 200
    assert "execution.target" not in client.get(f"/sessions/{answer.body['sessionHandle']}").body["properties"]


def test_a_value_that_is_none_is_refused(client: Client) -> None:
    answer = client.post("/sessions", {"properties": {"execution.runtime-mode": "sometimes"}})
    assert answer.status == 400
    assert "Invalid value for 'execution.runtime-mode'" in answer.error


def test_secrets_are_not_in_the_options(client: Client) -> None:
    session = client.open()
    session.run("SET 'my.password' = 'hunter2'")
    assert client.get(session.path).body["properties"]["my.password"] == "******"
    assert ["my.password", "******"] in session.run("SET").rows


def test_kinds_of_results(client: Client) -> None:
    session = client.open()
    declared = session.run(TABLE)
    assert (declared.kind, declared.query, declared.rows) == ("SUCCESS", False, [["OK"]])
    assert [c["name"] for c in declared.columns] == ["result"]
    listed = session.run("SHOW TABLES")
    assert (listed.kind, listed.query, listed.rows) == ("SUCCESS_WITH_CONTENT", False, [["t"]])
    assert [c["name"] for c in listed.columns] == ["table name"]
    assert session.run("SET 'table.local-time-zone' = 'UTC'").rows == [["OK"]]
    assert ["table.local-time-zone", "UTC"] in session.run("SET").rows


def test_a_description_has_flinks_types(client: Client) -> None:
    session = client.open()
    session.run(TABLE)
    described = session.run("DESCRIBE t")
    assert [c["logicalType"]["type"] for c in described.columns] == ["VARCHAR", "VARCHAR", "BOOLEAN", "VARCHAR", "VARCHAR", "VARCHAR"]
    assert described.rows == [["a", "INT", False, "PRI(a)", None, None], ["b", "STRING", True, None, None, None]]
    assert session.run("DESCRIBE t", format_="PLAIN_TEXT").rows == [
        ["a", "INT", "FALSE", "PRI(a)", None, None],
        ["b", "STRING", "TRUE", None, None, None],
    ]


def test_a_piece_can_be_asked_for_again_and_no_other(client: Client) -> None:
    session = client.open()
    operation = session.begin("SHOW CURRENT CATALOG")
    session.fetch(operation)
    first = client.get(f"{operation}/result/0?rowFormat=JSON")
    assert first.body["results"]["data"] == [{"kind": "INSERT", "fields": ["default_catalog"]}]
    assert client.get(f"{operation}/result/1?rowFormat=JSON").body["resultType"] == "EOS"
    # The end is given again, too; the piece before it is gone.
    assert client.get(f"{operation}/result/1?rowFormat=JSON").body["resultType"] == "EOS"
    for token in (2, 5):
        refused = client.get(f"{operation}/result/{token}?rowFormat=JSON")
        assert refused.status == 400
        assert f"Expecting token to be 1 or 0, but found {token}." in refused.error


def test_an_operation_that_is_closed_is_gone(client: Client) -> None:
    session = client.open()
    operation = session.begin("SHOW CATALOGS")
    session.fetch(operation)
    assert client.get(f"{operation}/status").body == {"status": "FINISHED"}
    assert client.post(f"{operation}/cancel").body == {"status": "FINISHED"}
    assert client.delete(f"{operation}/close").body == {"status": "CLOSED"}
    for answer in (client.get(f"{operation}/status"), client.get(f"{operation}/result/0"), client.post(f"{operation}/cancel")):
        assert answer.status == 404
        assert "Can not find the submitted operation" in answer.error


ERRORS = {
    "a word": ("SELEC 1", 'ParseException: Encountered "SELEC" at line 1, column 1.\n --> line 1:1\n  SELEC 1\n  ^^^^^\nhint: Did you mean'),
    "nothing": ("", 'ParseException: Encountered "<EOF>" at line 0, column 0.'),
    "comments": ("-- nothing", 'Encountered "<EOF>"'),
    "half a statement": ("CREATE TABLE t (a INT", 'Encountered "<EOF>"'),
    "two statements": ("SHOW TABLES; SHOW VIEWS", "ValidationException: only single statement supported"),
    "a table that is not there": ("EXPLAIN SELECT * FROM nope", "ValidationException: Object 'nope' not found"),
    "what is about the client": ("CLEAR", "The statement is about the client"),
    "the end of the client": ("QUIT", "The statement is about the client"),
    "what is not supported": ("ANALYZE TABLE t COMPUTE STATISTICS", "TableException: "),
}


@pytest.mark.parametrize(("statement", "told"), ERRORS.values(), ids=ERRORS)
def test_errors_are_those_of_the_statement(client: Client, statement: str, told: str) -> None:
    session = client.open()
    operation = session.begin(statement)
    with pytest.raises(GatewayError) as refused:
        session.fetch(operation)
    # Flink's client shows what stands there.
    assert told in str(refused.value).split("Caused by: ")[-1].split("\tat")[0]
    assert client.get(f"{operation}/status").body == {"status": "ERROR"}
    assert session.run("SHOW TABLES").rows == []


@pytest.mark.parametrize(
    "statement",
    [
        "SOURCE 'a.sql'",
        "EXPORT LAST TO 'a.csv'",
        "SET 'pipeline.jars' = '/tmp/a.jar'",
        "SET 'python.files' = '../a.py'",
        "SET 'python.executable' = '/tmp/python'",
        "SET 'spark.sql.shuffle.partitions' = '1'",
        "SET 'execution.checkpointing.dir' = '/tmp/x'",
        "SET 'alert.to' = 'touch /tmp/x'",
        "SET 'lineage.file' = '/tmp/x'",
        "SET 'lineage.url' = 'http://127.0.0.1:9'",
        "SET 'execution.checkpointing.savepoint-dir' = '/tmp/x'",
    ],
)
def test_what_is_the_servers_alone(client: Client, statement: str) -> None:
    session = client.open()
    with pytest.raises(GatewayError, match="server"):
        session.run(statement)
    refused = client.post(f"{session.path}/configure-session", {"statement": statement})
    assert refused.status == 400


def test_options_of_the_server_at_the_opening_of_a_session(client: Client) -> None:
    for key in ("pipeline.jars", "spark.master", "execution.checkpointing.dir"):
        refused = client.post("/sessions", {"properties": {key: "x"}})
        assert refused.status == 400 and key in refused.error
        session = client.open()
        with pytest.raises(GatewayError, match=key):
            session.fetch(session.begin("SHOW TABLES", executionConfig={key: "x"}))


def test_a_saved_query_is_run_to_its_end(client: Client, tmp_path: Path) -> None:
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "two.sql").write_text(f"{TABLE};\nCREATE VIEW v AS SELECT a FROM t;\nSHOW VIEWS;\n")
    session = client.open()
    assert session.run("EXECUTE QUERY two").rows == [["v"]]
    assert session.run("SHOW TABLES").rows == [["t"], ["v"]]


def test_a_statement_may_end_with_its_sign(client: Client) -> None:
    assert client.open().run("SHOW CURRENT CATALOG;").rows == [["default_catalog"]]


def test_a_session_is_configured_by_declarations_alone(client: Client) -> None:
    session = client.open()
    assert client.post(f"{session.path}/configure-session", {"statement": TABLE}).body == {}
    assert session.run("SHOW TABLES").rows == [["t"]]
    refused = client.post(f"{session.path}/configure-session", {"statement": "SHOW TABLES"})
    assert refused.status == 400 and "Unsupported statement for configuring session" in refused.error
    wrong = client.post(f"{session.path}/configure-session", {"statement": "CREATE TABLE u (a INTT) WITH ('connector' = 'datagen')"})
    assert wrong.status == 400 and "INTT" in wrong.error


def test_completion(client: Client) -> None:
    session = client.open()
    session.run(TABLE)
    asked = {"statement": "SELECT * FROM ", "position": 14}
    assert "t" in client.get(f"{session.path}/complete-statement", asked).body["candidates"]
    assert client.get(f"{session.path}/complete-statement", {"statement": "SELEC", "position": 500}).status == 200
    assert client.get(f"{session.path}/complete-statement", {"statement": "SELEC"}).status == 400


def test_options_of_one_statement(client: Client) -> None:
    session = client.open()
    operation = session.begin("SET", executionConfig={"execution.runtime-mode": "batch"})
    assert ["execution.runtime-mode", "batch"] in session.fetch(operation).rows
    assert not any(key == "execution.runtime-mode" for key, _ in session.run("SET").rows)
    with pytest.raises(GatewayError, match="Invalid value for 'execution.runtime-mode'"):
        session.fetch(session.begin("SET", executionConfig={"execution.runtime-mode": "x"}))


def test_materialized_tables_are_refused_by_name(client: Client) -> None:
    session = client.open()
    assert "Materialized tables are not supported" in client.post(f"{session.path}/materialized-tables/t/refresh", {}).error


def test_a_script_runs_in_a_session_of_its_own(client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = client.open()
    script = f"{TABLE}; CREATE VIEW v AS SELECT a FROM t; SELECT nope FROM v;"
    deployed = client.post(f"{session.path}/scripts", {"script": script})
    assert deployed.status == 200
    until(lambda: len(client.server.sessions) == 1)
    assert f"The script of session {deployed.body['clusterID']} has failed: Column 'nope' not found in any table" in capsys.readouterr().out
    assert session.run("SHOW TABLES").rows == []
    assert "scriptUri" in client.post(f"{session.path}/scripts", {"scriptUri": "file:///etc/passwd"}).error
    for wrong in ({}, {"script": 1}, {"script": "SHOW TABLES; SOURCE 'a.sql'"}):
        assert client.post(f"{session.path}/scripts", wrong).status == 400
    assert len(client.server.sessions) == 1


SESSION = str(uuid.UUID(int=1))
WRONG = {
    "no session": ("GET", f"/v4/sessions/{SESSION}", None, 404),
    "no handle": ("GET", "/v4/sessions/zzz", None, 400),
    "no address": ("GET", "/v4/nothing", None, 404),
    "no version": ("GET", "/v9/info", None, 404),
    "another method": ("PUT", "/v4/info", None, 405),
    "no JSON": ("POST", "/v4/sessions", b"{", 400),
    "no object": ("POST", "/v4/sessions", b"[]", 400),
    "no texts": ("POST", "/v4/sessions", b'{"properties": {"a": 1}}', 400),
    "no UTF-8": ("POST", "/v4/sessions", b'"\xff"', 400),
    "half a character": ("POST", "/v4/sessions", b'{"properties": {"a": "\\ud800"}}', 400),
    "deep": ("POST", "/v4/sessions", b"[" * 100_000, 400),
}


@pytest.mark.parametrize(("method", "path", "body", "status"), WRONG.values(), ids=WRONG)
def test_requests_that_are_wrong(client: Client, method: str, path: str, body: bytes | None, status: int) -> None:
    answer = client.ask(method, path, raw=body)
    assert answer.status == status
    assert answer.body["errors"]


def test_parts_of_an_operation_that_are_wrong(client: Client) -> None:
    session = client.open()
    operation = session.begin("SHOW TABLES")
    session.fetch(operation)
    for path in (f"{operation}/result/x", f"{operation}/result/-1", f"{operation}/result/0?rowFormat=XML", f"{operation}/result/{'9' * 40}"):
        assert client.get(path).status == 400, path
    assert client.get(f"{session.path}/operations/{SESSION}/status").status == 404
    assert client.get(f"{session.path}/operations/x/status").status == 400
    assert client.post(f"{session.path}/statements", {"statement": 1}).status == 400
    assert client.post(f"{session.path}/statements", {"statement": "SHOW TABLES", "executionTimeout": "soon"}).status == 400


@pytest.mark.parametrize("millis", [0, -1, 1e300, 10**30, float("inf"), float("nan")])
def test_a_statement_that_may_take_for_ever(client: Client, millis: float) -> None:
    session = client.open()
    assert session.fetch(session.begin("SHOW CURRENT CATALOG", executionTimeout=millis)).rows == [["default_catalog"]]
    session.close()


def test_a_body_is_not_needed(client: Client) -> None:
    assert client.ask("POST", "/v1/sessions").status == 200


def test_many_clients_at_once(client: Client) -> None:
    def work(number: int) -> None:
        session = client.open()
        for i in range(3):
            session.run(f"CREATE TABLE t{number}_{i} (a INT) WITH ('connector' = 'datagen')")
        assert session.run("SHOW TABLES").rows == [[f"t{number}_{i}"] for i in range(3)]
        session.close()

    assert at_once(work, 50, 120) == []
    assert len(client.server.sessions) == 0


def test_a_session_that_nobody_uses_is_closed(serve: Callable[..., AbstractContextManager[Client]]) -> None:
    with serve(**{"sql-gateway.session.idle-timeout": "1 s"}) as client:
        idle, used = client.open(), client.open()
        until(lambda: len(client.server.sessions) == 1, meanwhile=lambda: client.post(f"{used.path}/heartbeat"))
        assert client.get(used.path).status == 200
        assert client.get(idle.path).status == 404


def test_there_are_only_so_many_sessions(serve: Callable[..., AbstractContextManager[Client]]) -> None:
    with serve(**{"sql-gateway.session.max-num": "1"}) as client:
        session = client.open()
        refused = client.post("/sessions", {})
        assert refused.status == 400 and "the count of active sessions exceeds the max count: 1" in refused.error
        session.close()
        assert client.post("/sessions", {}).status == 200
