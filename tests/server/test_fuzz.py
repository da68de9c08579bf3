"""Requests as nobody would make them, from the server's own OpenAPI document: each is answered, and none with a defect of ours."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings, strategies
from schemathesis import GenerationMode

if TYPE_CHECKING:
    from tests.server.client import Client

SETTINGS = settings(max_examples=25, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
STATEMENTS = (
    "SHOW TABLES",
    "SET 'a' = 'b'",
    "USE x",
    "CREATE TABLE t (a INT) WITH ('connector' = 'datagen')",
    "SELEC 1",
    ";",
    "DROP TABLE t;;",
    "EXPLAIN",
)


# The parser of the server needs more of it than a test begins with.
@pytest.mark.filterwarnings("ignore:The recursion limit will not be reset")
def test_no_request_meets_a_defect(client: Client) -> None:
    schema = schemathesis.openapi.from_url(f"{client.address}/openapi.json")
    known = _of_a_session(client)
    asked: Counter[str] = Counter()

    def ask(case: schemathesis.Case, is_known: bool, statement: str | None) -> None:
        if is_known and case.path_parameters:
            case.path_parameters |= {name: known[name] for name in known if name in case.path_parameters}
        if statement is not None and isinstance(case.body, dict) and "statement" in case.body:
            case.body["statement"] = statement
        answer = case.call(timeout=60)
        asked[case.operation.label] += 1
        assert answer.status_code < 500, (case.as_curl_command(), answer.content[:500])
        if answer.status_code >= 400 and answer.headers.get("Content-Type", [""])[0] == "application/json":
            assert json.loads(answer.content)["errors"]

    for found in schema.get_all_operations():
        endpoint = found.ok()
        cases = strategies.one_of(*(endpoint.as_strategy(generation_mode=mode) for mode in GenerationMode))
        SETTINGS(given(cases, strategies.booleans(), strategies.sampled_from((None, *STATEMENTS)))(ask))()
        if client.get(f"/sessions/{known['session']}").status == 404:  # a request has closed it
            known |= _of_a_session(client)
    assert len(asked) == len(list(schema.get_all_operations())) and min(asked.values()) >= 2
    assert client.open().run("SHOW CURRENT CATALOG").rows == [["default_catalog"]]


def _of_a_session(client: Client) -> dict[str, str]:
    """The handles of a session and of an operation, by what paths call them."""
    session = client.open()
    return {"session": session.handle, "operation": session.begin("SHOW CATALOGS").rpartition("/")[2]}
