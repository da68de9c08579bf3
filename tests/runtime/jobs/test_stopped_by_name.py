"""A job that somebody has stopped stays so until somebody starts it; one job of a script is stopped, started and restarted alone."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed, ValidationError
from sqlstream.runtime.jobs.control import registry
from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.runtime.jobs.machine import JobStatus
from sqlstream.session import results
from tests.support.sessions import catch_up, feed, open_session, rows, run

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.runtime.jobs.control.registry import JobRecord
    from sqlstream.runtime.jobs.job import Job
    from sqlstream.session.session import Session

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]
SCRIPT = """
CREATE TABLE numbers (n INT) WITH ('connector' = 'filesystem', 'path' = 'read', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE a (n INT) WITH ('connector' = 'delta', 'table-path' = 'a');
CREATE TABLE b (n INT) WITH ('connector' = 'delta', 'table-path' = 'b');
SET 'pipeline.name' = 'to_a'; INSERT INTO a SELECT n FROM numbers;
SET 'pipeline.name' = 'to_b'; INSERT INTO b SELECT n FROM numbers;
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "read").mkdir()
    feed(tmp_path / "read", {"n": 1})
    return tmp_path


def of(project: Path, name: str) -> JobRecord:
    return registry.find(project / ".sqlstream" / "jobs", name)


def states(session: Session) -> list[tuple[str, str]]:
    return sorted((job.name, job.status.value) for job in session.jobs)


def job(session: Session, name: str) -> Job:
    (found,) = (one for one in session.jobs if one.name == name)
    return found


def table(session: Session, name: str) -> list[tuple]:
    run(session, "SET 'execution.runtime-mode' = 'batch';")
    found = sorted(rows(session, f"SELECT * FROM {name};"))
    run(session, "RESET 'execution.runtime-mode';")
    return found


def test_it_stays_stopped_where_its_script_comes_again_by_itself(project: Path, engine) -> None:
    first = open_session(project, SCRIPT, engine=engine)
    of(project, "to_b").ask(Action.STOP)
    assert states(first) == [("to_a", "RUNNING"), ("to_b", "CANCELED")]
    # All else ends with its process.
    since = of(project, "to_b").since
    first.close()
    feed(project / "read", {"n": 2})
    said: list[str] = []
    again = open_session(project, engine=engine, keep_stopped=True, notify=said.append)
    assert [type(outcome) for outcome in run(again, SCRIPT) if hasattr(outcome, "job_id")] == [results.Submitted, results.HeldBack]
    assert states(again) == [("to_a", "RUNNING"), ("to_b", "CANCELED")]
    assert "Job 'to_b' stays stopped: sqlstream jobs start to_b starts it." in said
    assert of(project, "to_b").state == "CANCELED" and of(project, "to_b").since == since
    # A second of its name is not begun in its place.
    assert "to_b-2" not in [record.name for record in registry.records(project / ".sqlstream" / "jobs")]
    of(project, "to_b").ask(Action.START)
    assert states(again) == [("to_a", "RUNNING"), ("to_b", "RUNNING")]
    for name in ("to_a", "to_b"):
        catch_up(job(again, name))
    assert table(again, "a") == table(again, "b") == [("1",), ("2",)]
    # Started, it is as any other.
    again.close()
    assert states(open_session(project, SCRIPT, engine=engine, keep_stopped=True)) == [("to_a", "RUNNING"), ("to_b", "RUNNING")]


def test_who_submits_its_statement_starts_it(project: Path, engine) -> None:
    session = open_session(project, SCRIPT, engine=engine)
    run(session, "STOP JOB 'to_b';")
    session.close()
    for keep_stopped in (False, True):
        session = open_session(project, SCRIPT, engine=engine, keep_stopped=keep_stopped)
        assert states(session) == [("to_a", "RUNNING"), ("to_b", "RUNNING")]
        session.close()


def test_a_script_of_one_job_goes_on_while_that_is_restarted(project: Path, engine) -> None:
    session = open_session(project, SCRIPT.rpartition("SET")[0], engine=engine)
    before = job(session, "to_a")
    catch_up(before)
    feed(project / "read", {"n": 2})
    waiting = threading.Thread(target=session.wait)
    waiting.start()
    of(project, "to_a").ask(Action.RESTART)
    after = job(session, "to_a")
    assert (before.status, after.status, after.id == before.id) == (JobStatus.CANCELED, JobStatus.RUNNING, False)
    catch_up(after)
    waiting.join(2)
    assert waiting.is_alive()
    session.interrupt()
    waiting.join()
    assert table(session, "a") == [("1",), ("2",)]


def test_why_a_job_of_another_process_gives_nothing(project: Path, engine) -> None:
    session = open_session(project, SCRIPT.replace("FROM numbers;", "FROM numbers WHERE n > 5;"), engine=engine)
    for one in session.jobs:
        catch_up(one)
        one.sampled()
    other = open_session(project, engine=engine)
    said = rows(other, "EXPLAIN JOB")
    assert [row[0] for row in said] == ["to_a", "to_b"]
    assert said == [*rows(session, "EXPLAIN JOB 'to_a'"), *rows(session, "EXPLAIN JOB 'to_b'")] == [*rows(other, "EXPLAIN JOB 'to_a'"), said[1]]
    assert said[0][1] == "All rows are filtered out: none of 1 row passes WHERE (n > 5)."


def test_what_can_not_be_started(project: Path, engine) -> None:
    session = open_session(project, SCRIPT, engine=engine)
    with pytest.raises(ValidationError, match="'to_a' is running, in process") as running:
        of(project, "to_a").ask(Action.START)
    assert running.value.hint == "sqlstream jobs restart to_a stops it first."
    of(project, "to_b").ask(Action.STOP)
    # Another session has run it since: its process is asked, and nobody else.
    other = open_session(project, SCRIPT.replace("INSERT INTO a SELECT n FROM numbers;", ""), engine=engine)
    assert states(other) == [("to_b", "RUNNING")]
    other.close()
    of(project, "to_a").ask(Action.STOP)
    (project / "read").rename(project / "gone")
    with pytest.raises(JobFailed, match="read"):
        of(project, "to_a").ask(Action.START)
    (project / "gone").rename(project / "read")
    of(project, "to_a").ask(Action.START)
    assert states(session) == [("to_a", "RUNNING"), ("to_b", "CANCELED")]
    of(project, "to_a").ask(Action.DRAIN)
    with pytest.raises(ValidationError, match="'to_a' was drained") as finished:
        of(project, "to_a").ask(Action.START)
    assert "submitted again, begins anew" in (finished.value.hint or "")


def test_one_that_was_drained_stays_finished_where_its_script_comes_again_by_itself(project: Path, engine) -> None:
    first = open_session(project, SCRIPT, engine=engine)
    catch_up(job(first, "to_b"))
    of(project, "to_b").ask(Action.DRAIN)
    first.close()
    said: list[str] = []
    again = open_session(project, SCRIPT, engine=engine, keep_stopped=True, notify=said.append)
    assert states(again) == [("to_a", "RUNNING"), ("to_b", "FINISHED")]
    assert (of(project, "to_b").state, of(project, "to_b").finished) == ("FINISHED", "was drained")
    assert "Job 'to_b' has finished, and does not begin anew by itself." in said
    again.close()
    assert states(open_session(project, SCRIPT, engine=engine)) == [("to_a", "RUNNING"), ("to_b", "RUNNING")]
