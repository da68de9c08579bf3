"""Queries and jobs over the gateway: values as Flink's gateway writes them, rows as they come, and what ends with the client, and what does not."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from tests.server.client import GatewayError, at_once
from tests.server.conftest import FILES
from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.client import Client

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]

# What Flink 2.3's gateway answers.
VALUES = {
    "CAST(1 AS TINYINT)": "1",
    "CAST(9223372036854775807 AS BIGINT)": "9223372036854775807",
    "CAST(2.50 AS DECIMAL(5, 2))": "2.5",
    "CAST(1.5 AS DOUBLE)": "1.5",
    "CAST(1e10 AS DOUBLE)": "1.0E10",
    "'ä \"x\"'": '"ä \\"x\\""',
    "CAST('a' AS CHAR(3))": '"a  "',
    "TIMESTAMP '2020-01-01 10:00:00'": '"2020-01-01T10:00:00"',
    "TIMESTAMP '2020-01-01 10:00:00.120'": '"2020-01-01T10:00:00.12"',
    "CAST(TIMESTAMP '2020-10-25 02:30:00' AS TIMESTAMP_LTZ(3))": '"2020-10-25T02:30:00Z"',
    "DATE '2020-01-02'": '"2020-01-02"',
    "TIME '10:00:01'": '"10:00:01"',
    "TRUE": "true",
    "x'0aff'": '"Cv8="',
    "ARRAY[1, CAST(NULL AS INT)]": "[1,null]",
    "MAP['a', 1]": '{"a":1}',
    "ROW(1, 'b')": '{"EXPR$0":1,"EXPR$1":"b"}',
    "CAST(ROW(TIMESTAMP '2020-01-01 10:00:00', x'01') AS ROW<t TIMESTAMP(3), b BYTES>)": '{"t":"2020-01-01T10:00:00","b":"AQ=="}',
    "INTERVAL '1' DAY": "86400000",
    "INTERVAL '2' MONTH": "2",
    "CAST(NULL AS INT)": "null",
    "CAST(NULL AS ARRAY<INT>)": "null",
}


def test_values(on_spark: Client) -> None:
    text = on_spark.open().run("SELECT " + ", ".join(VALUES)).text
    assert text.partition('"fields":[')[2].partition("]}]}")[0] == ",".join(VALUES.values())
    assert json.loads(text)["results"]["data"][0]["kind"] == "INSERT"


def test_a_value_that_json_has_no_form_for_is_a_text_all_the_same(on_spark: Client) -> None:
    session = on_spark.open()
    with pytest.raises(GatewayError, match="Column 'm' of type MAP<INT NOT NULL, INT NOT NULL> can't be written as JSON"):
        session.run("SELECT MAP[1, 2] AS m")
    assert session.run("SELECT MAP[1, 2] AS m", format_="PLAIN_TEXT").rows == [["{1=2}"]]


def test_texts_are_those_of_the_client(on_spark: Client) -> None:
    session = on_spark.open(table__local_time_zone="Europe/Prague")
    columns = "TIMESTAMP '2020-01-01 10:00:00.120', ARRAY[1, 2], ROW(1, 'b'), TRUE, x'0aff', CAST(NULL AS INT)"
    found = session.run(f"SELECT {columns}", format_="PLAIN_TEXT")
    assert found.rows == [["2020-01-01 10:00:00.120", "[1, 2]", "(1, b)", "TRUE", "x'0aff'", None]]
    assert found.query and found.kind == "SUCCESS_WITH_CONTENT" and len(found.job_id or "") == 32


@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_a_query_that_ends(on_spark: Client, files: Path, mode: str) -> None:
    feed(files, {"id": 1, "n": 2}, {"id": 1, "n": 3})
    session = on_spark.open(execution__runtime_mode=mode)
    session.run(f"CREATE TABLE f (id INT, n INT) WITH ('connector' = 'filesystem', 'path' = '{files}', 'format' = 'json')")
    found = session.run("SELECT id, SUM(n) AS s FROM f GROUP BY id")
    assert found.complete and found.query
    assert found.rows == [[1, 5]]


def test_rows_as_they_come(on_spark: Client, files: Path) -> None:
    session = on_spark.open()
    session.run(FILES.format(files))
    operation = session.begin("SELECT id, COUNT(*) AS c FROM f GROUP BY id")
    until(lambda: on_spark.get(f"{operation}/status").body["status"] == "FINISHED")
    feed(files, {"id": 1})
    first = session.fetch(operation, rows=1)
    assert first.data == [{"kind": "INSERT", "fields": [1, 1]}]
    feed(files, {"id": 1})
    more = session.fetch(operation, after=first.next, rows=2)
    assert more.data == [{"kind": "UPDATE_BEFORE", "fields": [1, 1]}, {"kind": "UPDATE_AFTER", "fields": [1, 2]}]
    # The session answers meanwhile, and has another query.
    assert session.run("SHOW TABLES").rows == [["f"]]
    second = session.begin("SELECT id FROM f")
    assert sorted(session.fetch(second, rows=2).rows) == [[1], [1]]
    assert on_spark.delete(f"{second}/close").body == {"status": "CLOSED"}
    feed(files, {"id": 2})
    assert session.fetch(operation, after=more.next, rows=1).data == [{"kind": "INSERT", "fields": [2, 1]}]
    assert on_spark.delete(f"{operation}/close").body == {"status": "CLOSED"}
    until(lambda: not on_spark.queries())


def test_a_client_that_leaves_takes_its_queries_along(on_spark: Client, files: Path) -> None:
    feed(files, {"id": 1})
    session = on_spark.open()
    session.run(FILES.format(files))
    operations = [session.begin("SELECT id FROM f") for _ in range(2)]
    for operation in operations:
        session.fetch(operation, rows=1)
    assert len(on_spark.queries()) == 2
    session.close()
    until(lambda: not on_spark.queries())


def test_a_query_that_is_cancelled(on_spark: Client, files: Path) -> None:
    feed(files, {"id": 1})
    session = on_spark.open()
    session.run(FILES.format(files))
    operation = session.begin("SELECT id FROM f")
    session.fetch(operation, rows=1)
    assert on_spark.post(f"{operation}/cancel").body == {"status": "CANCELED"}
    until(lambda: not on_spark.queries())
    assert on_spark.get(f"{operation}/status").body == {"status": "CANCELED"}
    assert on_spark.get(f"{operation}/result/1").status == 400


def test_a_statement_that_takes_too_long(on_spark: Client) -> None:
    session = on_spark.open(execution__runtime_mode="batch")
    session.run("CREATE TABLE many (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '2000000000')")
    operation = session.begin("SELECT COUNT(DISTINCT id) FROM many", executionTimeout=1500)
    begun = time.monotonic()
    until(lambda: on_spark.get(f"{operation}/status").body["status"] == "TIMEOUT")
    assert session.run("SHOW CURRENT CATALOG").rows == [["default_catalog"]]
    assert time.monotonic() - begun < 60


def test_a_batch_query_is_cancelled_while_it_computes(on_spark: Client) -> None:
    session = on_spark.open(execution__runtime_mode="batch")
    session.run("CREATE TABLE many (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '2000000000')")
    operation = session.begin("SELECT COUNT(DISTINCT id) FROM many")
    until(lambda: on_spark.get(f"{operation}/status").body["status"] == "RUNNING")
    assert on_spark.post(f"{operation}/cancel").body == {"status": "CANCELED"}
    assert session.run("SHOW CURRENT CATALOG", seconds=60).rows == [["default_catalog"]]


def test_a_client_that_reads_nothing_costs_little(on_spark: Client, files: Path) -> None:
    session = on_spark.open()
    session.run("CREATE TABLE many (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '200000')")
    operation = session.begin("SELECT id FROM many")
    until(lambda: on_spark.get(f"{operation}/status").body["status"] == "FINISHED")
    held = on_spark.server.sessions.operations()[-1]
    until(lambda: held.waiting == 5_000)
    time.sleep(2)
    assert held.waiting == 5_000
    on_spark.delete(f"{operation}/close")
    until(lambda: not on_spark.queries())


@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_a_result_of_many_rows(on_spark: Client, mode: str) -> None:
    session = on_spark.open(execution__runtime_mode=mode)
    options = "'connector' = 'datagen', 'number-of-rows' = '30000', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '30000'"
    session.run(f"CREATE TABLE many (id BIGINT, text STRING) WITH ({options})")
    found = session.run("SELECT id, text FROM many")
    assert found.complete and sorted(row[0] for row in found.rows) == list(range(1, 30_001))


@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_a_result_that_nobody_wants_any_more_is_not_computed_on(on_spark: Client, mode: str) -> None:
    tracker = on_spark.server.spark.sparkContext.statusTracker()
    session = on_spark.open(execution__runtime_mode=mode)
    session.run("CREATE TABLE many (id BIGINT, text STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '100000000')")
    session.begin("SELECT id, text FROM many")
    until(lambda: tracker.getActiveStageIds())
    time.sleep(1)
    on_spark.delete(session.path)
    until(lambda: not tracker.getActiveStageIds() and not on_spark.queries(), 30)


def test_a_job_goes_on_without_its_client(on_spark: Client, files: Path, tmp_path: Path) -> None:
    session = on_spark.open()
    session.run(FILES.format(files))
    session.run(f"CREATE TABLE t (id INT, n INT) WITH ('connector' = 'delta', 'table-path' = '{tmp_path / 'delta'}')")
    submitted = session.run("INSERT INTO t SELECT * FROM f")
    assert submitted.rows == [[submitted.job_id]] and [c["name"] for c in submitted.columns] == ["job id"]
    session.close()
    feed(files, {"id": 1, "n": 1})
    other = on_spark.open(execution__runtime_mode="batch")
    other.run(f"CREATE TABLE t (id INT, n INT) WITH ('connector' = 'delta', 'table-path' = '{tmp_path / 'delta'}')")

    def rows() -> list:
        try:
            return other.run("SELECT * FROM t").rows
        except GatewayError as error:
            assert "does not exist" in str(error) or "no table" in str(error).lower(), error
            return []

    until(lambda: rows() == [[1, 1]])
    # dbt finds a job by the second column, and stops it by the first.
    listed = other.run("SHOW JOBS")
    assert [column["name"] for column in listed.columns] == ["job id", "job name", "status", "start time"]
    assert [row[:3] for row in listed.rows] == [[submitted.job_id, "insert-into_default_catalog.default_database.t", "RUNNING"]]
    jobs = other.run("SHOW JOBS EXTENDED").rows
    assert [(row[0], row[2]) for row in jobs] == [(submitted.job_id, "RUNNING")]
    # The same statement again is the same job, which runs.
    assert other.run(f"STOP JOB '{submitted.job_id}'").rows == [["OK"]]
    assert [row[2] for row in other.run("SHOW JOBS EXTENDED").rows] == ["CANCELED"]


def test_many_clients_query_at_once(on_spark: Client) -> None:
    def work(number: int) -> None:
        session = on_spark.open()
        assert session.run(f"SELECT {number} AS n, id FROM (VALUES (1), (2)) AS t (id)").rows == [[number, 1], [number, 2]]
        session.close()

    assert at_once(work, 20, 240) == []
