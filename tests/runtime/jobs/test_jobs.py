"""Jobs on Spark: submitted, finished, stopped, resumed, refused; several sinks; what a SELECT gives."""

from __future__ import annotations

import io
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from benchmarks.torture.tables import Lines
from sqlstream.core.errors import JobFailed, SqlStreamError, ValidationError
from sqlstream.core.job_names import short_name
from sqlstream.runtime.jobs.machine import JobStatus
from sqlstream.runtime.jobs.run.runner import JobRunner
from sqlstream.session.results import Completed, Declined, Rows, Submitted
from sqlstream.shell.screen import Screen, Script
from sqlstream.shell.script import run_script
from tests.support.sessions import catch_up, explained, feed, open_session, rows, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from sqlstream.session.session import Session

pytestmark = pytest.mark.spark

NUMBERS = """
CREATE TABLE numbers (id INT, word STRING) WITH ('connector' = 'filesystem', 'path' = 'numbers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE copies (id INT, word STRING) WITH ('connector' = 'filesystem', 'path' = 'copies', 'format' = 'json');
CREATE TABLE words (word STRING) WITH ('connector' = 'filesystem', 'path' = 'words', 'format' = 'json');
"""


def client(project: Path, engine, emit=print) -> Session:
    (project / "numbers").mkdir(exist_ok=True)
    return open_session(project, NUMBERS, engine=engine, emit=emit)


def put(project: Path, *ids: int) -> None:
    feed(project / "numbers", *({"id": i, "word": f"w{i}"} for i in ids))


def ids(folder: Path) -> list[int]:
    return sorted(id_ for id_, _ in Lines(folder).rows().elements())


def test_a_stopped_job_goes_on_where_it_was(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    insert = "INSERT INTO copies SELECT id, word FROM numbers WHERE id > 0"
    put(tmp_path, 0, 1, 2)
    job = submit(session, insert)
    catch_up(job)
    assert ids(tmp_path / "copies") == [1, 2]
    (stopped,) = session.run(f"STOP JOB '{job.id}' WITH SAVEPOINT")
    assert stopped.columns[0].name == "savepoint path" and stopped.rows[0][0].startswith("file:")
    assert job.status is JobStatus.CANCELED
    put(tmp_path, 3)
    again = submit(session, "INSERT   INTO copies -- the same\nSELECT id, word FROM numbers WHERE id > 0")
    catch_up(again)
    assert ids(tmp_path / "copies") == [1, 2, 3]
    assert again.folder == job.folder
    assert again.sampled().rows_in == 1
    (shown,) = session.run("SHOW JOBS EXTENDED")
    assert [row[2] for row in shown.rows] == ["CANCELED", "RUNNING"]
    # What is over is not shown beside what goes on.
    for statement in ("SHOW JOBS", "SHOW JOB METRICS"):
        assert [row[:2] for row in rows(session, statement)] == [("copies", "RUNNING")]
    other = client(tmp_path, engine)
    list(session.run(f"STOP JOB '{again.id}'"))
    again = submit(other, insert)
    assert [row[:2] for one in (session, other) for row in rows(one, "SHOW JOBS")] == [("copies", "RUNNING")] * 2
    list(other.run(f"STOP JOB '{again.id}'"))
    other.close()
    assert all(all(row[8:]) for row in shown.rows)
    (described,) = session.run(f"DESCRIBE JOB '{again.id}'")
    assert [name for name, value in described.rows if value][-3:] == ["version", "size", "last progress"]
    with pytest.raises(ValidationError, match="is not running"):
        list(session.run(f"STOP JOB '{job.id}'"))
    session.close()
    assert again.status is JobStatus.CANCELED


def test_a_second_job_of_the_same_statement_is_its_own(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    put(tmp_path, 1)
    first, second = (submit(session, "INSERT INTO copies SELECT id, word FROM numbers") for _ in range(2))
    catch_up(first)
    catch_up(second)
    assert ids(tmp_path / "copies") == [1, 1]
    session.close()


def test_another_process_is_kept_out(tmp_path: Path, engine) -> None:
    first, second = client(tmp_path, engine), client(tmp_path, engine)
    submit(first, "INSERT INTO copies SELECT id, word FROM numbers")
    with pytest.raises(ValidationError, match="is already running, in process"):
        submit(second, "INSERT INTO copies SELECT id, word FROM numbers")
    first.close()
    submit(second, "INSERT INTO copies SELECT id, word FROM numbers")
    second.close()


def test_a_statement_set_is_one_job(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    put(tmp_path, 1, 2)
    job = submit(
        session,
        "EXECUTE STATEMENT SET BEGIN INSERT INTO copies SELECT id, word FROM numbers; INSERT INTO words SELECT UPPER(word) FROM numbers; END",
    )
    catch_up(job)
    assert ids(tmp_path / "copies") == [1, 2]
    assert len(job.queries) == 2 and len(list(session.jobs)) == 1
    session.jobs.stop(job.id)
    list(session.run("SET 'execution.upgrade-mode' = 'from-start'"))
    submitted = list(
        session.run("BEGIN STATEMENT SET; INSERT INTO copies SELECT id, word FROM numbers; INSERT INTO words SELECT word FROM numbers; END")
    )
    assert isinstance(submitted[-1], Submitted)
    session.close()


def test_when_one_sink_fails_the_job_fails(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    job = submit(
        session,
        "EXECUTE STATEMENT SET BEGIN INSERT INTO copies SELECT id, word FROM numbers; "
        "INSERT INTO words SELECT CAST(1 / (id - 7) AS STRING) FROM numbers; END",
    )
    put(tmp_path, 7)
    assert job.done.wait(60)
    assert job.status is JobStatus.FAILED
    assert isinstance(job.error, JobFailed) and "/ by zero" in job.error.message
    assert not any(q.isActive for q in job.queries)
    (described,) = session.run(f"DESCRIBE JOB '{job.id}'")
    assert ("status", "FAILED") in described.rows
    session.close()


def test_bounded_inputs_finish(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    put(tmp_path, 1, 2)
    list(session.run("SET 'table.dml-sync' = 'true'"))
    bounded = "INSERT INTO copies SELECT id, word FROM numbers_once"
    list(session.run("CREATE TABLE numbers_once (id INT, word STRING) WITH ('connector' = 'filesystem', 'path' = 'numbers', 'format' = 'json')"))
    assert isinstance(list(session.run(bounded))[-1], Completed)
    assert ids(tmp_path / "copies") == [1, 2]
    list(session.run(bounded))  # As in Flink, a finished job that is submitted again reads all again.
    assert ids(tmp_path / "copies") == [1, 1, 2, 2]
    list(session.run("INSERT INTO copies (word, id) VALUES ('x', 9), (NULL, 10)"))
    assert rows(session, "SELECT id, word FROM copies WHERE id > 8") in ([("9", "x"), ("10", None)], [("10", None), ("9", "x")])
    session.close()


def test_create_table_as(tmp_path: Path, engine, spark) -> None:
    session = client(tmp_path, engine)
    list(session.run("SET 'table.dml-sync' = 'true'"))
    list(
        session.run("CREATE TABLE made WITH ('connector' = 'delta', 'table-path' = 'made') AS SELECT 1 AS id, TIMESTAMP '2026-01-01 00:00:00' AS ts")
    )
    assert rows(session, "SELECT * FROM made") == [("1", "2026-01-01 00:00:00")]
    assert dict(spark.read.format("delta").load(str(tmp_path / "made")).dtypes) == {"id": "int", "ts": "timestamp_ntz"}
    session.close()


def test_not_null(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    list(
        session.run(
            "CREATE TABLE strict (n INT NOT NULL, id INT NOT NULL) WITH ('connector' = 'delta', 'table-path' = 'strict'); SET 'table.dml-sync' = 'true'"
        )
    )
    insert = "INSERT INTO strict SELECT x, NULLIF(y, 2) FROM (VALUES (1, 1), (CAST(NULL AS INT), 3), (5, 2)) AS t(x, y)"
    for name, row in (("n", "null, 3"), ("id", "5, null")):
        with pytest.raises(JobFailed) as failed:
            list(session.run(f"{insert} WHERE {'y > 2' if name == 'n' else 'x > 0'}"))
        assert failed.value.message == f"Column '{name}' is NOT NULL, however, a null value is being written into it. The row is {{{row}}}"
    list(session.run(f"SET 'table.exec.sink.not-null-enforcer' = 'drop'; {insert}"))
    assert rows(session, "SELECT id FROM strict") == [("1",)]
    session.close()


def test_a_job_that_is_submitted_while_the_session_ends_is_stopped_and_none_comes_after_it(
    tmp_path: Path, engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = client(tmp_path, engine)
    put(tmp_path, 1)
    begun, go_on = threading.Event(), threading.Event()

    def start(runner: JobRunner, *, resumed: bool) -> None:
        begun.set()
        assert go_on.wait(60)
        start_of_it(runner, resumed=resumed)

    start_of_it = JobRunner.start
    monkeypatch.setattr(JobRunner, "start", start)
    with ThreadPoolExecutor(2) as pool:
        submitted = pool.submit(submit, session, "INSERT INTO words SELECT word FROM numbers;")
        assert begun.wait(60)
        closed = pool.submit(session.close)
        until(lambda: session.jobs._closing)
        go_on.set()
        closed.result(60)
        job = submitted.result(60)
    assert (job.status, job.error) == (JobStatus.CANCELED, None)
    assert job.done.is_set() and not any(query.isActive for query in job.queries)
    with pytest.raises(JobFailed, match="The session ends"):
        submit(session, "INSERT INTO words SELECT UPPER(word) FROM numbers;")
    with pytest.raises(JobFailed, match="The session ends"):
        session.jobs.start(job.id)


def test_a_streaming_select_with_a_limit_ends(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    put(tmp_path, 1, 2, 3)
    assert len(rows(session, "SELECT word FROM numbers LIMIT 2")) == 2
    session.close()


def test_an_interrupt_ends_a_select(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    put(tmp_path, 1)
    (stream,) = session.run("SELECT word, COUNT(*) FROM numbers GROUP BY word")
    changes = iter(stream.changes)
    assert next(changes).row == ("w1", "1")
    began = time.monotonic()
    session.interrupt()
    assert list(changes) == []
    assert time.monotonic() - began < 30
    session.close()


def test_an_updating_select_without_its_key(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    put(tmp_path, 1, 2)
    (stream,) = session.run("SELECT COUNT(*) AS n FROM numbers GROUP BY word LIMIT 2")
    changes = iter(stream.changes)
    assert [next(changes).row for _ in range(2)] == [("1",), ("1",)]
    # The first two may change yet.
    session.interrupt()
    assert list(changes) == []
    session.close()


def test_global_aggregates(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    nothing = "SELECT COUNT(*) AS n FROM (VALUES (1)) AS t(x) WHERE x > 1"
    assert rows(session, nothing) == [], "a stream without rows gives no row"
    list(session.run("SET 'execution.runtime-mode' = 'batch'"))
    assert rows(session, nothing) == [("0",)], "a batch gives one"
    assert isinstance(next(iter(session.run("SELECT 1"))), Rows)
    session.close()


def test_batch_mode_sorts_and_limits(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    list(session.run("SET 'execution.runtime-mode' = 'batch'"))
    values = "(VALUES (3, 'c'), (1, 'a'), (2, 'b')) AS t(n, s)"
    assert rows(session, f"SELECT s FROM {values} ORDER BY s DESC LIMIT 2") == [("c",), ("b",)]
    assert rows(session, f"SELECT s, n FROM {values} ORDER BY 2 OFFSET 1") == [("b", "2"), ("c", "3")]
    session.close()


def test_explain_shows_the_plan_of_spark(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    (explained,) = session.run("EXPLAIN INSERT INTO copies SELECT id, word FROM numbers WHERE id > 0")
    assert "== Spark Plan ==" in explained.rows[0][0] and "Filter" in explained.rows[0][0].partition("== Spark Plan ==")[2]
    session.close()


def test_an_existing_delta_table_of_another_shape_is_refused(tmp_path: Path, engine, spark) -> None:
    spark.range(3).write.format("delta").save(str(tmp_path / "kept"))
    session = client(tmp_path, engine)
    list(session.run("CREATE TABLE kept (id INT, word STRING) WITH ('connector' = 'delta', 'table-path' = 'kept')"))
    with pytest.raises(SqlStreamError) as caught:
        list(session.run("INSERT INTO kept SELECT id, word FROM numbers"))
    assert "kept" in caught.value.message
    assert rows(session, "SHOW JOBS EXTENDED") == []
    session.close()


def test_what_is_refused_once_its_source_is_opened_is_no_job(tmp_path: Path, engine, spark) -> None:
    spark.range(3).write.format("delta").save(str(tmp_path / "kept"))
    session = client(tmp_path, engine)
    list(session.run("CREATE TABLE kept (id BIGINT) WITH ('connector' = 'delta', 'table-path' = 'kept', 'mode' = 'changes')"))
    list(session.run("CREATE TABLE seen (id BIGINT) WITH ('connector' = 'print'); SET 'pipeline.name' = 'follows'"))
    for _ in range(2):
        with pytest.raises(SqlStreamError, match="keeps no change data feed"):
            list(session.run("INSERT INTO seen SELECT id FROM kept"))
        assert rows(session, "SHOW JOBS EXTENDED") == []
    spark.sql(f"ALTER TABLE delta.`{tmp_path / 'kept'}` SET TBLPROPERTIES (delta.enableChangeDataFeed = true)")
    list(session.run("INSERT INTO seen SELECT id FROM kept"))
    ((_, name, *_),) = rows(session, "SHOW JOBS EXTENDED")
    assert name == "follows"
    session.close()


def test_odd_identifiers(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    list(session.run("SET 'table.dml-sync' = 'true'"))
    list(
        session.run(
            "CREATE TABLE `ž.a b` (`select` INT, `a``b` STRING, `Ünï` INT) WITH ('connector' = 'filesystem', 'path' = 'odd', 'format' = 'json')"
        )
    )
    list(session.run("INSERT INTO `ž.a b` VALUES (1, 'it''s \\ \"x\" $1 ${y}', 2)"))
    assert rows(session, "SELECT `a``b`, t.`select` + `Ünï` AS `sum of` FROM `ž.a b` AS t") == [('it\'s \\ "x" $1 ${y}', "3")]
    session.close()


def test_what_did_not_start_leaves_nothing_and_is_explained_all_the_same(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    list(
        session.run(
            "CREATE TABLE gone (id INT) WITH ('connector' = 'filesystem', 'path' = 'nowhere', 'format' = 'json', 'source.monitor-interval' = '1 s');"
        )
    )
    with pytest.raises(ValidationError, match="does not exist"):
        list(session.run("INSERT INTO copies SELECT id, 'x' FROM gone;"))
    assert not list((tmp_path / ".sqlstream" / "jobs").glob("*/1"))
    text = explained(session, "SELECT id FROM gone WHERE id > 1;")
    assert "Calc(where=[(id > 1)])" in text and "(unknown: The path '" in text


def test_windows_are_shown_in_their_order(tmp_path: Path, engine) -> None:
    lines: list[str] = []
    session = client(tmp_path, engine, emit=lines.append)
    (tmp_path / "at").mkdir()
    (tmp_path / "at" / "1.json").write_text("".join(f'{{"t": {(i * 7919) % 100 * 1000}}}\n' for i in range(100)))
    windows = """
    CREATE TABLE events (t BIGINT, ts AS TO_TIMESTAMP_LTZ(t, 3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'at', 'format' = 'json');
    CREATE VIEW w AS SELECT COUNT(*) AS n, window_end AS e FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY window_start, window_end;
    CREATE TABLE shown (n BIGINT, e TIMESTAMP(3)) WITH ('connector' = 'print');
    SET 'table.dml-sync' = 'true';
    """
    list(session.run(windows))
    selected = [row[1] for row in rows(session, "SELECT * FROM w;")]
    assert len(selected) == 50
    assert selected == sorted(selected)
    list(session.run("INSERT INTO shown SELECT * FROM w;"))
    assert lines[:2] == ["+I[2, 1970-01-01T00:00:02]", "+I[2, 1970-01-01T00:00:04]"]
    assert lines[:29] == sorted(lines[:29])


def test_joins_and_distinct_outside_of_windows(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    list(session.run("CREATE TABLE fixed (id INT, name STRING) WITH ('connector' = 'filesystem', 'path' = 'fixed', 'format' = 'json')"))
    (tmp_path / "fixed").mkdir()
    (tmp_path / "fixed" / "1.json").write_text('{"id": 1, "name": "one"}\n{"id": 3, "name": "three"}\n{"id": null, "name": "none"}\n')
    put(tmp_path, 1, 1, 2, 3)
    for sql, wanted in {
        "SELECT DISTINCT word FROM numbers LIMIT 3": [("w1",), ("w2",), ("w3",)],
        "SELECT a.id, b.word FROM numbers AS a JOIN numbers AS b ON a.id = b.id AND a.word <= b.word LIMIT 6": [("1", "w1")] * 4
        + [("2", "w2"), ("3", "w3")],
        "SELECT f.name, n.id FROM numbers AS n, fixed AS f WHERE f.id = n.id AND n.id > 1 LIMIT 1": [("three", "3")],
        "SELECT DISTINCT f.name FROM numbers AS n JOIN fixed AS f ON f.id = n.id LIMIT 2": [("one",), ("three",)],
        "SELECT v.x, n.word FROM numbers AS n JOIN (VALUES (2, 'b')) AS v(id, x) ON v.id = n.id LIMIT 1": [("b", "w2")],
        "SELECT a.name, b.name FROM fixed AS a JOIN fixed AS b ON a.id = b.id": [("one", "one"), ("three", "three")],
    }.items():
        assert sorted(rows(session, sql)) == wanted, sql
    list(session.run("SET 'execution.runtime-mode' = 'batch'"))
    for sql, wanted in {
        "SELECT a.name, b.id FROM fixed AS a LEFT JOIN fixed AS b ON a.id = b.id AND b.id > 1": [
            ("none", "<NULL>"),
            ("one", "<NULL>"),
            ("three", "3"),
        ],
        "SELECT name FROM fixed WHERE id IN (SELECT id FROM fixed WHERE id < 2)": [("one",)],
        "SELECT name FROM fixed AS a WHERE NOT EXISTS (SELECT 1 FROM fixed AS b WHERE b.id = a.id AND b.id < 2)": [("none",), ("three",)],
        "SELECT name FROM fixed WHERE id NOT IN (SELECT id FROM fixed WHERE id < 2)": [("three",)],
        "SELECT name FROM fixed WHERE id NOT IN (SELECT id FROM fixed)": [],
    }.items():
        assert sorted(tuple("<NULL>" if c is None else c for c in row) for row in rows(session, sql)) == wanted, sql
    session.close()


def script(project: Path, engine, text: str) -> tuple[int, str, str]:
    """The exit code of a script, what it says and the states of its jobs when it ends."""
    session = client(project, engine)
    screen = Screen(io.StringIO(), io.StringIO())
    code = run_script(lambda: session, Script(text, "s.sql"), screen)
    return code, screen.err.getvalue(), " ".join(job.status.value for job in session.jobs)


@pytest.mark.parametrize(
    "behind",
    ["", "SELECT word FROM numbers WHERE id < 0;", "SET 'table.dml-sync' = 'true'; INSERT INTO words SELECT word FROM numbers WHERE id < 0;",
     "SET 'execution.runtime-mode' = 'batch'; SELECT SUM(id) FROM many;"],
    ids=["wait", "select", "dml-sync", "batch"],
)  # fmt: skip
def test_a_failed_job_ends_a_script_while_others_run(tmp_path: Path, engine, behind: str) -> None:
    (tmp_path / "numbers").mkdir()
    put(tmp_path, 7)
    text = "CREATE TABLE many (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '100000000');\n"
    text += "INSERT INTO copies SELECT id, word FROM numbers;\nINSERT INTO words\n SELECT CAST(1 / (id - 7) AS STRING) FROM numbers;\n"
    code, said, states = script(tmp_path, engine, text + behind)
    assert code == 1
    assert said.count("[ERROR]") == 1 and "/ by zero" in said and " --> s.sql:4:14\n" in said, said
    assert states.split()[:2] == ["CANCELED", "FAILED"] and "RUNNING" not in states
    (folder,) = (tmp_path / ".sqlstream" / "jobs").glob("*copies*")
    assert (folder / "1" / "checkpoint").exists() and not (folder / "1" / "finished").exists()


def test_the_same_statement_again_is_asked_about(tmp_path: Path, engine) -> None:
    """In a prompt; another statement into the table is none of that, and a script is not asked."""
    (tmp_path / "numbers").mkdir()
    asked: list[str] = []
    answers = [False, True]

    def ask(question: str, _interrupted: Callable[[], bool]) -> bool:
        asked.append(question)
        return answers[len(asked) - 1]

    session = open_session(tmp_path, NUMBERS, engine=engine, ask=ask)
    word, upper = (f"INSERT INTO words SELECT {value} FROM numbers;" for value in ("word", "UPPER(word)"))
    first = submit(session, word)
    submit(session, upper)
    assert not asked
    folders = sorted((tmp_path / ".sqlstream/jobs").glob("*/job.json"))
    (outcome,) = session.run(word)
    assert isinstance(outcome, Declined) and outcome.notices == ("Job 'words-3' was not started.", "Job 'words' goes on.")
    assert sorted((tmp_path / ".sqlstream/jobs").glob("*/job.json")) == folders
    third = submit(session, word)
    assert third.name == f"{first.name}-3"
    assert asked == ["This statement runs already, as job 'words'. A second job, 'words-3', writes each row once more. Start it?"] * 2
    session.jobs.stop(first.id)
    assert submit(session, word).name == first.name
    assert len(asked) == 2


def test_a_script_that_is_ended_says_that_state_is_kept(tmp_path: Path, engine) -> None:
    (tmp_path / "numbers").mkdir()
    said: list[str] = []
    session = open_session(tmp_path, NUMBERS, engine=engine, notify=said.append)
    submit(session, "INSERT INTO words SELECT word FROM numbers;")
    session.close()
    assert said[-1] == "Stopped, with its state: words. The same statement goes on from there."
    anew = open_session(tmp_path, NUMBERS, engine=engine, notify=said.append)
    submit(anew, "INSERT INTO words SELECT word FROM numbers;")
    assert "continues where it stopped" in said[-1]


def test_a_changed_statement_is_refused_unless_it_is_to_begin_anew(tmp_path: Path, engine) -> None:
    """What it has read already it would read again; two jobs into one table are none of that."""
    (tmp_path / "numbers").mkdir()
    said: list[str] = []
    session = open_session(tmp_path, NUMBERS, engine=engine, notify=said.append)
    put(tmp_path, 1)
    word, upper = (f"INSERT INTO words SELECT {value} FROM numbers;" for value in ("word", "UPPER(word)"))
    first, second = submit(session, word), submit(session, upper)
    assert second.name == f"{first.name}-2"
    catch_up(first)
    assert said == ["There is a job 'words' already: this one is 'words-2', and writes beside it."]
    said.clear()
    session.jobs.stop(first.id)
    list(session.run("ALTER TABLE numbers MODIFY id BIGINT;"))
    with pytest.raises(ValidationError, match="has changed: the one that stopped under this name") as refused:
        submit(session, word)
    assert str(first.folder) in refused.value.message and "'from-start' starts over" in refused.value.hint
    assert "words    kept  nothing is written twice" in refused.value.message
    # Nothing has become of the refused one: neither a generation nor the lock.
    assert [p.name for p in first.folder.parent.iterdir() if p.name.isdigit()] == ["1"]
    list(session.run("SET 'execution.upgrade-mode' = 'from-start';"))
    anew = submit(session, word)
    assert said == [
        f"Job '{short_name(first.name)}' has changed: it starts anew, without state, and reads its sources from where their options say. "
        f"The version before it stays in {first.folder}."
    ]
    catch_up(anew)
    assert sorted(r[0] for r in rows(session, "SELECT word FROM words WHERE word = 'w1'")) == ["w1", "w1"]
    session.jobs.stop(anew.id)
    # The mode stays set, and the same statement continues.
    again = submit(session, word)
    assert said[1:] == [f"Job '{short_name(first.name)}' continues where it stopped ({anew.folder})."]
    assert (again.folder, again.folder.parent == first.folder.parent, second.status) == (anew.folder, True, JobStatus.RUNNING)
    session.jobs.stop(again.id)
    session.close()


def test_what_has_read_nothing_can_be_changed(tmp_path: Path, engine) -> None:
    session = client(tmp_path, engine)
    put(tmp_path, 7)
    failing = submit(session, "INSERT INTO words SELECT CAST(1 / (id - 7) AS STRING) FROM numbers")
    assert failing.done.wait(60) and failing.status is JobStatus.FAILED
    mended = submit(session, "INSERT INTO words SELECT CAST(1 / (id - 8) AS STRING) FROM numbers")
    catch_up(mended)
    assert (mended.name, mended.folder.name) == (failing.name, "2")
    assert rows(session, "SELECT word FROM words") == [("-1",)]
    session.close()


def asked_about(tmp_path: Path, engine, asked: list[str], answers: Iterable[bool]) -> Session:
    (tmp_path / "numbers").mkdir()
    following = iter(answers)
    return open_session(
        tmp_path, NUMBERS, engine=engine, interactive=True,
        ask=lambda question, interrupted: asked.append(question) or next(following),
    )  # fmt: skip


@pytest.mark.parametrize("answer", [True, False])
def test_the_shell_asks_about_a_changed_statement(tmp_path: Path, engine, answer: bool) -> None:
    asked: list[str] = []
    session = asked_about(tmp_path, engine, asked, [answer, False])
    put(tmp_path, 1)
    first = submit(session, "INSERT INTO words SELECT word FROM numbers;")
    catch_up(first)
    session.jobs.stop(first.id)
    changed = "INSERT INTO words SELECT UPPER(word) FROM numbers;"
    if answer:
        second = submit(session, changed)
        catch_up(second)
        put(tmp_path, 2)
        catch_up(second)
        assert sorted(rows(session, "SELECT word FROM words")) == [("W2",), ("w1",)]
    else:
        (outcome,) = session.run(changed)
        assert isinstance(outcome, Declined) and outcome.notices[0].endswith("was not started.")
        assert rows(session, "SELECT word FROM words") == [("w1",)]
    question, *other = asked
    assert question.startswith(f"Job '{short_name(first.name)}' has changed") and question.endswith("Resume with that state?")
    assert other == [] if answer else [f"Submit it as another job, '{short_name(first.name)}-2'?"]
    session.close()


def test_in_the_shell_a_changed_statement_may_be_another_job(tmp_path: Path, engine) -> None:
    asked: list[str] = []
    session = asked_about(tmp_path, engine, asked, [False, True, False, True, False, True])
    put(tmp_path, 1)
    statements = [f"INSERT INTO words SELECT CONCAT(word, '{n}') FROM numbers;" for n in range(3)]
    names = []
    for statement in statements:
        job = submit(session, statement)
        catch_up(job)
        session.jobs.stop(job.id)
        names.append(job.name)
    first = names[0]
    assert names == [first, f"{first}-2", f"{first}-3"]
    # The third is not the second, either.
    assert [q.rpartition("\n")[2] for q in asked] == [
        "Resume with that state?", f"Submit it as another job, '{short_name(first)}-2'?",
        "Resume with that state?", f"Submit it as another job, '{short_name(first)}-2'?",
        "Resume with that state?", f"Submit it as another job, '{short_name(first)}-3'?",
    ]  # fmt: skip
    put(tmp_path, 2)
    for number, statement in enumerate(statements):
        (explained,) = session.run(f"EXPLAIN {statement}")
        assert explained.rows[0][0].endswith(f"== Job ==\nJob '{short_name(names[number])}' resumes where it stopped: it is unchanged, version 1.\n")
        again = submit(session, statement)
        catch_up(again)
        assert again.name == names[number]
    (shown,) = session.run("SHOW JOBS EXTENDED")
    assert [(row[1], row[8]) for row in shown.rows] == [(name, "1") for name in names] * 2
    # All of them run: another one would be the fourth.
    (explained,) = session.run("EXPLAIN INSERT INTO words SELECT word FROM numbers;")
    assert explained.rows[0][0].endswith(f"Job '{short_name(first)}-4' is new: it begins where the options of its sources say.\n")
    assert sorted(rows(session, "SELECT word FROM words")) == [(f"w{id_}{n}",) for id_ in (1, 2) for n in range(3)]
    session.close()
