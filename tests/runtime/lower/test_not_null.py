"""NOT NULL that a source does not keep, in each format and at each sink: rows leave a query without NULLs, or not at all."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SqlStreamError
from tests.support.sessions import catch_up, feed, open_session, rows, run, submit

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]
COLUMNS = "id INT, n INT NOT NULL, s STRING NOT NULL"
# What is read, and the columns that are missing in its second row.
JSON = '{"id": 1, "n": 5, "s": "a"}\n{"id": 2, "s": "b"}\n{"id": 3, "n": 7, "s": "c"}\n'
CSV = "1,5,a\n2,none,b\n3,7,c\n"
DEBEZIUM = "".join(f'{{"before": null, "after": {line}, "op": "c"}}\n' for line in JSON.splitlines())
FORMATS = {"json": JSON, "csv": CSV, "debezium-json": DEBEZIUM}
WRITTEN = "Column 'n' is NOT NULL, however, a null value is being written into it. The row is {2, null, b}"


@pytest.fixture(params=[*FORMATS, "parquet", "delta", "kafka", "upsert-kafka"])
def session(request: pytest.FixtureRequest, tmp_path: Path, engine, spark) -> Session:
    """One with a table ``loose`` of three rows."""
    name = request.param
    options = {"connector": "filesystem", "path": "read", "format": name}
    columns = COLUMNS
    if name in FORMATS:
        (tmp_path / "read").mkdir()
        (tmp_path / "read" / "rows").write_text(FORMATS[name])
        options |= {"csv.null-literal": "none"} if name == "csv" else {}
    elif name in ("parquet", "delta"):
        frame = spark.createDataFrame([(1, 5, "a"), (2, None, "b"), (3, 7, "c")], "id INT, n INT, s STRING")
        frame.write.format(name).save(str(tmp_path / "read"))
        options = {"connector": "delta", "table-path": "read"} if name == "delta" else options
    else:
        broker, topic = request.getfixturevalue("broker"), f"loose-{uuid.uuid4().hex[:8]}"
        keyed = name == "upsert-kafka"
        broker.topic(topic)
        broker.send(topic, *((0, f'{{"id": {n}}}' if keyed else None, line) for n, line in enumerate(JSON.splitlines(), 1)))
        options = {"connector": name, "topic": topic, "properties.bootstrap.servers": broker.bootstrap, "value.format": "json"}
        options |= {"key.format": "json"} if keyed else {"scan.startup.mode": "earliest-offset"}
        options["scan.bounded.mode"] = "latest-offset"
        columns = f"{COLUMNS}, PRIMARY KEY (id) NOT ENFORCED" if keyed else COLUMNS
    said = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    return open_session(tmp_path, f"CREATE TABLE loose ({columns}) WITH ({said});", engine=engine)


def test_what_leaves_a_source(session: Session) -> None:
    with pytest.raises(SqlStreamError) as failed:
        rows(session, "SELECT * FROM loose")
    assert failed.value.message == WRITTEN
    assert failed.value.hint is not None and "'table.exec.sink.not-null-enforcer' = 'DROP'" in failed.value.hint
    assert sorted(rows(session, "SELECT id FROM loose WHERE n IS NOT NULL")) == [("1",), ("2",), ("3",)]
    assert rows(session, "SELECT id FROM loose WHERE n IS NULL") == []
    assert rows(session, "SELECT COUNT(n) AS c FROM loose")[-1] == ("3",)
    with pytest.raises(SqlStreamError, match="Column 'n' is NOT NULL, however, a null value is being aggregated"):
        rows(session, "SELECT AVG(n) AS c FROM loose")
    run(session, "SET 'table.exec.sink.not-null-enforcer' = 'DROP'")
    assert sorted(rows(session, "SELECT * FROM loose")) == [("1", "5", "a"), ("3", "7", "c")]


SINKS = {
    "print": "'connector' = 'print'",
    "filesystem": "'connector' = 'filesystem', 'path' = 'written', 'format' = 'json'",
    "delta": "'connector' = 'delta', 'table-path' = 'written'",
}
LOOSE = f"""
CREATE TABLE loose ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = 'read', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE strict ({COLUMNS}) WITH ({{sink}});
CREATE TABLE easy (id INT, n INT, s STRING) WITH ({{sink}});
"""


@pytest.mark.parametrize("name", SINKS)
def test_what_reaches_a_sink(tmp_path: Path, engine, name: str) -> None:
    (tmp_path / "read").mkdir()
    emitted: list[str] = []
    session = open_session(tmp_path, LOOSE.format(sink=SINKS[name]), engine=engine, emit=emitted.append)
    (tmp_path / "read" / "rows.json").write_text(JSON)

    def failure(insert: str) -> str:
        job = submit(session, insert)
        assert job.done.wait(60)
        assert job.error is not None
        return job.error.message

    assert failure("INSERT INTO strict SELECT * FROM loose") == WRITTEN
    # Here Flink writes -1.
    assert failure("INSERT INTO easy SELECT id, n + 1, s FROM loose") == WRITTEN
    assert failure("INSERT INTO easy SELECT id + 1, n, s FROM loose") == WRITTEN.replace("2", "3")
    run(session, "SET 'table.exec.sink.not-null-enforcer' = 'DROP'")
    job = submit(session, "INSERT INTO strict SELECT * FROM loose")
    catch_up(job)
    feed(tmp_path / "read", {"id": 4, "n": 4}, {"id": 5, "n": 5, "s": "e"})
    catch_up(job)
    session.jobs.stop(job.id)
    found = sorted(line[3:-1] for line in emitted) if name == "print" else [", ".join(row) for row in sorted(rows(session, "SELECT * FROM strict"))]
    assert found == ["1, 5, a", "3, 7, c", "5, 5, e"]


def test_a_null_that_only_passes_stays_one(tmp_path: Path, engine) -> None:
    """As in Flink, where nothing else is computed of the row."""
    (tmp_path / "read").mkdir()
    emitted: list[str] = []
    session = open_session(tmp_path, LOOSE.format(sink=SINKS["print"]), engine=engine, emit=emitted.append)
    (tmp_path / "read" / "rows.json").write_text(JSON)
    job = submit(session, "INSERT INTO easy SELECT * FROM loose WHERE id > 1")
    catch_up(job)
    session.jobs.stop(job.id)
    assert sorted(emitted) == ["+I[2, null, b]", "+I[3, 7, c]"]
