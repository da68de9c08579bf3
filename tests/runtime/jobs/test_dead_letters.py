"""What a query leaves out comes into a table: records that can't be read, rows for which a function fails, NULLs; once, whatever happens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SqlStreamError
from sqlstream.runtime.jobs.run import dead_letters
from tests.support import sessions
from tests.support.sessions import catch_up, open_session, rows, run, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlstream.session.session import Session

LETTERS = "left_out_at TIMESTAMP_LTZ(3), job STRING, kind STRING, source STRING, place STRING, reason STRING, record STRING"
DECLARED = f"""
CREATE TABLE bad ({LETTERS}) WITH ('connector' = 'delta', 'table-path' = 'bad');
CREATE TABLE visits (id INT, word STRING, at_ TIME)
WITH ('connector' = 'filesystem', 'path' = 'visits', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE kept (id INT, word STRING NOT NULL, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'kept', 'format' = 'json');
"""
MODULE = """
from sqlstream.udf import udf

@udf
def third(x: int) -> int:
    return 6 // (x - 3)
"""


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    """Jobs that run on would slow down all that follows."""
    yield
    for session in sessions.opened:
        session.jobs.stop_all()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "visits").mkdir()
    (tmp_path / "udfs").mkdir()
    (tmp_path / "udfs" / "thirds.py").write_text(MODULE)
    return tmp_path


def put(project: Path, *lines: str) -> None:
    number = len(list((project / "visits").iterdir()))
    part = project / "visits" / f".{number}"
    part.write_text("".join(f"{line}\n" for line in lines))
    part.rename(project / "visits" / f"{number}.json")


def letters(session: Session, columns: str = "kind, source, record") -> list[tuple]:
    return sorted(rows(session, f"SET 'execution.runtime-mode' = 'batch'; SELECT {columns} FROM bad; RESET 'execution.runtime-mode';"))


FOUR = ('{"id": 1, "word": "a", "at_": "10:00:00"}', '{"id": 2, "word": null}', '{"id": 3, "word": "c"}', "{nothing", '{"id": "x"}')
OF_FOUR = [
    ("function", "THIRD", {"id": 3, "word": "c", "at_": None}),
    ("not null", "kept", {"id": 2, "word": None, "n": -6}),
    ("record", "visits", {"id": "x"}),
    ("record", "visits", "{nothing"),
]


def read(found: list[tuple]) -> list[tuple]:
    return [(kind, source, record if record == "{nothing" else json.loads(record)) for kind, source, record in found]


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_what_is_left_out_comes_into_a_table(project: Path, engine, mode: str) -> None:
    session = open_session(project, DECLARED + "SET 'table.exec.dead-letter' = 'bad';", engine=engine)
    put(project, *FOUR)
    if mode == "batch":
        run(session, "ALTER TABLE visits RESET ('source.monitor-interval'); SET 'execution.runtime-mode' = 'batch'; SET 'table.dml-sync' = 'true'")
    job = submit(session, "SET 'pipeline.name' = 'mine'; INSERT INTO kept SELECT id, word, third(id) FROM visits") if mode == "streaming" else None
    if job is None:
        run(session, "SET 'pipeline.name' = 'mine'; INSERT INTO kept SELECT id, word, third(id) FROM visits")
    else:
        catch_up(job)
        until(lambda: len(letters(session)) == 4)
    assert read(letters(session)) == OF_FOUR
    told = letters(session, "kind, job, place, reason, left_out_at > TIMESTAMP '2020-01-01 00:00:00'")
    assert {row[1] for row in told} == {"mine"} and {row[4] for row in told} == {"TRUE"}
    reasons = [row[3] for row in told]
    assert "ZeroDivisionError" in reasons[0] and reasons[1] == "Column 'word' is NOT NULL, however, a null value is being written into it"
    assert all(row[2].startswith("file ") and "Failed to deserialize JSON" in row[3] for row in told[2:])
    if job is not None:
        (described,) = run(session, f"DESCRIBE JOB EXTENDED '{job.id}'")
        assert dict(described.rows)["rows left out"] == "4"


@pytest.mark.spark
def test_each_comes_once_whatever_happens(project: Path, engine) -> None:
    session = open_session(project, DECLARED + "SET 'table.exec.dead-letter' = 'bad';", engine=engine)
    insert = "INSERT INTO kept SELECT id, word, third(id) FROM visits"
    put(project, *FOUR)
    job = submit(session, insert)
    catch_up(job)
    until(lambda: len(letters(session)) == 4)
    session.jobs.stop(job.id)
    # As after a crash: those of a micro-batch that is committed and not written; of one that comes again; of one that is in the table.
    (folder,) = (job.folder / dead_letters.FOLDER).iterdir()
    line = {"time": "2026-01-02T03:04:05.678Z", "kind": "record", "source": "visits", "error": "e", "into": "default_catalog.default_database.bad"}
    numbers = sorted(int(f.name) for f in (job.checkpoint / folder.name / "commits").glob("[0-9]*"))
    for batch, record in ((numbers[-1], "in the table"), (numbers[-1] + 1, "comes again")):
        (folder / str(batch)).mkdir()
        (folder / str(batch) / "0-0.jsonl").write_text(json.dumps({**line, "record": record, "partition": 0, "number": 0}) + "\n")
    put(project, "[5", '{"id": 6, "word": "f"}')
    job = submit(session, insert)
    catch_up(job)
    until(lambda: len(letters(session)) == 5)
    assert [record for _, _, record in letters(session) if record not in ("{nothing", '{"id": "x"}')][-1] == "[5"
    assert "comes again" not in str(letters(session)) and "in the table" not in str(letters(session))
    assert not any(folder.iterdir())


@pytest.mark.spark
def test_a_sink_that_reads_a_micro_batch_twice(project: Path, engine) -> None:
    session = open_session(project, DECLARED + "SET 'table.exec.dead-letter' = 'bad';", engine=engine)
    run(session, "CREATE TABLE totals (word STRING, n BIGINT, PRIMARY KEY (word) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'totals')")
    put(project, *FOUR, *("{again",) * 3)
    job = submit(session, "INSERT INTO totals SELECT word, SUM(third(id)) FROM visits WHERE word IS NOT NULL GROUP BY word")
    catch_up(job)
    until(lambda: len(letters(session)) >= 6)
    assert sorted(record for _, _, record in letters(session)) == sorted(
        ["{again"] * 3 + ["{nothing", '{"id": "x"}', '{"id":3,"word":"c","at_":null}']
    )


@pytest.mark.spark
@pytest.mark.parametrize(
    ("format_", "columns", "good", "bad"),
    [
        ("csv", "id INT, at_ DATE", ["1,2026-01-02"], ["x,2026-01-02", "3", '4,"2026-01-02', "5,2026-13-02"]),
        ("raw", "id INT", [], ["ab", "12345"]),
        ("debezium-json", "id INT", ['{"before": null, "after": {"id": 1}, "op": "c"}'], ["{", '{"op": "z"}']),
    ],
)
def test_formats(project: Path, engine, format_: str, columns: str, good: list[str], bad: list[str]) -> None:
    declared = (
        f"CREATE TABLE given ({columns}) WITH ('connector' = 'filesystem', 'path' = 'visits', 'format' = '{format_}', 'scan.dead-letter' = 'bad');"
    )
    session = open_session(project, DECLARED + declared + "SET 'table.dml-sync' = 'true';", engine=engine)
    put(project, *good, *bad)
    to = "debezium-json" if format_ == "debezium-json" else "json"
    run(session, f"CREATE TABLE out_ WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = '{to}') AS SELECT * FROM given")
    written = [line for file in (project / "out").glob("part-*") for line in file.read_text().splitlines()]
    assert len(written) == len(good)
    shown = [line.encode().hex().upper() for line in bad] if format_ == "raw" else bad
    assert letters(session) == sorted(("record", "given", record) for record in shown)


@pytest.mark.spark
def test_a_query_says_what_it_leaves_out(project: Path, engine) -> None:
    told: list[str] = []
    session = open_session(project, DECLARED + "SET 'table.exec.dead-letter' = 'bad';", engine=engine, notify=told.append)
    put(project, *FOUR)
    run(session, "ALTER TABLE visits RESET ('source.monitor-interval')")
    assert rows(session, "SELECT id, third(id) FROM visits") == [(1, -3), (2, -6)] or rows(session, "SELECT id FROM visits")
    left_out = [line.partition(": ")[0] for line in told if "left out" in line]
    assert sorted(set(left_out)) == [
        "[NOTICE] 1 row was left out, for which THIRD failed",
        "[NOTICE] 2 rows were left out, which can't be read in visits",
    ]


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("CREATE VIEW bad AS SELECT 1", "table.exec.dead-letter names 'bad', which is a view: nothing can be written into it."),
        ("CREATE TABLE bad (reason STRING) WITH ('connector' = 'datagen')", "table.exec.dead-letter names 'bad', which takes no rows: its connector is 'datagen'."),
        ("CREATE TABLE bad (reasons STRING) WITH ('connector' = 'print')", "table.exec.dead-letter names 'bad', whose column 'reasons' no dead letter has."),
        ("CREATE TABLE bad (reason INT) WITH ('connector' = 'print')", "table.exec.dead-letter names 'bad', whose column 'reason' is INT."),
        ("SELECT 1", "table.exec.dead-letter names 'bad', which is not there: Object 'bad' not found."),
    ],
)  # fmt: skip
def test_a_table_that_can_not_take_them(tmp_path: Path, declared: str, message: str) -> None:
    session = open_session(tmp_path, "CREATE TABLE a (x INT) WITH ('connector' = 'datagen'); CREATE TABLE b (x INT) WITH ('connector' = 'print');")
    if declared != "SELECT 1":
        run(session, declared)
    run(session, "SET 'table.exec.dead-letter' = 'bad'")
    with pytest.raises(SqlStreamError) as caught:
        rows(session, "EXPLAIN INSERT INTO b SELECT x FROM a")
    assert caught.value.message == message


@pytest.mark.kafka
@pytest.mark.spark
def test_records_of_a_topic_have_their_place(tmp_path: Path, engine, broker) -> None:
    broker.topic("letters-in", 2)
    broker.topic("letters-out", 1)
    broker.send("letters-in", (0, None, '{"id": 1}'), (1, None, "{bad"), (0, None, "worse"))
    common = f"'properties.bootstrap.servers' = '{broker.bootstrap}', 'scan.startup.mode' = 'earliest-offset', 'format' = 'json'"
    session = open_session(
        tmp_path,
        f"""
        CREATE TABLE bad (place STRING, record STRING) WITH ('connector' = 'kafka', 'topic' = 'letters-out', {common});
        CREATE TABLE a (id INT) WITH ('connector' = 'kafka', 'topic' = 'letters-in', {common}, 'scan.dead-letter' = '`bad`');
        CREATE TABLE b (id INT) WITH ('connector' = 'filesystem', 'path' = 'b', 'format' = 'json');
        """,
        engine=engine,
    )
    job = submit(session, "INSERT INTO b SELECT id FROM a")
    catch_up(job)
    found: list[tuple] = []

    def come() -> bool:
        bounded = "/*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */"
        found[:] = rows(session, f"SET 'execution.runtime-mode' = 'batch'; SELECT * FROM bad {bounded}; RESET 'execution.runtime-mode';")
        return len(found) == 2

    until(come)
    assert sorted(found) == [("topic letters-in, partition 0, offset 1", "worse"), ("topic letters-in, partition 1, offset 0", "{bad")]
