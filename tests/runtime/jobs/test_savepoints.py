"""Savepoints: made of jobs that stop or run, whole and of their own; jobs that begin with them, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.runtime.jobs.begin import savepoints
from sqlstream.session.session import Session
from tests.support.edited import COUNT, Project
from tests.support.sessions import catch_up, rows

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]


def saved(project: Project, job, how: str = "WITH SAVEPOINT") -> Path:
    (outcome,) = project.session.run(f"STOP JOB '{job.id}' {how};")
    return Path(unquote(urlparse(outcome.rows[0][0]).path))


def recover(project: Project, path: str | Path | None) -> None:
    list(project.session.run("RESET 'execution.state-recovery.path';" if path is None else f"SET 'execution.state-recovery.path' = '{path}';"))


def test_a_job_begins_with_a_savepoint_moved_elsewhere_while_its_own_folder_is_gone(on_delta: Project, tmp_path: Path) -> None:
    on_delta.feed("bids", (1, "a", 1), (2, "b", 5))
    made = saved(on_delta, on_delta.submit(COUNT))
    assert made.parent == tmp_path / ".sqlstream" / "savepoints" and json.loads((made / "savepoint.json").read_text())["job"] == "job"
    moved = tmp_path / "elsewhere ä %20"
    shutil.move(made, moved)
    shutil.rmtree(tmp_path / ".sqlstream" / "jobs")
    on_delta.feed("bids", (3, "a", 1))
    recover(on_delta, moved.name)
    job = on_delta.submit(COUNT)
    on_delta.session.jobs.stop(job.id)
    assert on_delta.table("counted") == [("a", "2"), ("b", "1")]
    assert any("begins with the savepoint" in said for said in on_delta.said)
    on_delta.feed("bids", (4, "a", 1))
    # Submitted again with the same setting it goes on where it is, and not from the savepoint once more.
    on_delta.run(COUNT)
    assert on_delta.table("counted") == [("a", "3"), ("b", "1")]
    assert any("continues where it stopped" in said for said in on_delta.said)


def test_a_savepoint_of_a_job_that_runs_is_of_what_was_committed_then(project: Project) -> None:
    project.feed("bids", (1, "a", 1))
    job = project.submit(COUNT)
    (outcome,) = project.session.run(f"SAVEPOINT JOB '{job.id}';")
    made = Path(unquote(urlparse(outcome.rows[0][0]).path))
    assert job.lives
    project.feed("bids", (2, "a", 1))
    catch_up(job)
    project.session.jobs.stop(job.id)
    assert project.table("counted") == [("a", "2")]
    # Another job, by its name, of the same statement.
    list(project.session.run("SET 'pipeline.name' = 'other';"))
    list(project.session.run("CREATE TABLE again LIKE counted;"))
    recover(project, made)
    with pytest.raises(ValidationError, match="Job 'other' is another one than that of job 'job' in the savepoint"):
        project.submit("INSERT INTO again SELECT item, COUNT(*) FROM asks GROUP BY item;")
    project.set("stateless")
    with pytest.raises(ValidationError, match="It can't resume where that one stopped"):
        project.submit("INSERT INTO again SELECT item, COUNT(*) FROM asks GROUP BY item;")
    project.may_lose()
    with pytest.raises(ValidationError, match="shares nothing with job 'other'"):
        project.submit("INSERT INTO again SELECT item, COUNT(*) FROM asks GROUP BY item;")
    list(project.session.run("RESET 'execution.upgrade-mode'; RESET 'execution.state-recovery.ignore-unclaimed-state';"))
    project.run(COUNT)
    assert project.table("counted") == [("a", "2")]


def test_what_is_gone_while_it_is_copied_is_copied_as_it_is_by_then(project: Project, monkeypatch) -> None:
    project.feed("bids", (1, "a", 1))
    job = project.submit(COUNT)
    batches, derive = [], savepoints.derive

    def gone(spark, old, new, batch) -> None:
        batches.append(batch)
        if len(batches) == 1:
            project.feed("bids", (2, "a", 1))
            catch_up(job)
            raise OSError("the file of that micro-batch is not there")
        derive(spark, old, new, batch)

    monkeypatch.setattr(savepoints, "derive", gone)
    made = Path(unquote(urlparse(project.session.jobs.save(job.id)).path))
    assert batches[1] > batches[0] and savepoints.read(made).job == "job"
    before = sorted(made.parent.iterdir())

    def always(*_: object) -> None:
        raise OSError("the disk is full")

    # What was begun of it is not left behind.
    monkeypatch.setattr(savepoints, "derive", always)
    with pytest.raises(SqlStreamError, match="the disk is full"):
        project.session.jobs.save(job.id)
    assert sorted(made.parent.iterdir()) == before and job.lives


def test_savepoints_are_listed_described_and_deleted(project: Project, tmp_path: Path) -> None:
    list(project.session.run("SHOW SAVEPOINTS;"))
    project.feed("bids", (1, "a", 1))
    made = saved(project, project.submit(COUNT))
    (made.parent / "half" / "operators").mkdir(parents=True)
    (made.parent / "half" / "savepoint.unfinished").touch()
    shown = {(job, status, path) for job, _, _, status, path in rows(project.session, "SHOW SAVEPOINTS;")}
    assert shown == {(None, "INCOMPLETE", (made.parent / "half").as_uri()), ("job", "COMPLETED", made.as_uri())}
    told = dict(project.rows(f"DESCRIBE SAVEPOINT '{made}';"))
    assert told["job name"] == "job" and told["statement"].startswith("INSERT INTO counted SELECT item") and told["drained"] == "false"
    assert "GroupAggregate(groupBy=[item]" in told["0_counted/0: operator"] and told["0_counted: bids"] == '{"logOffset":0}'
    for path in (made, made.parent / "half"):
        list(project.session.run(f"DROP SAVEPOINT '{path}';"))
        assert not path.exists()
    assert project.rows("SHOW SAVEPOINTS;") == []
    (tmp_path / "mine").mkdir()
    with pytest.raises(ValidationError, match="There is no savepoint in"):
        list(project.session.run("DROP SAVEPOINT 'mine';"))
    assert (tmp_path / "mine").exists()


@pytest.mark.parametrize("folder", [".sqlstream/jobs/job/1", ".sqlstream/jobs/job", "mine"])
def test_what_is_no_savepoint_is_not_deleted_as_one(project: Project, tmp_path: Path, folder: str) -> None:
    project.feed("bids", (1, "a", 1))
    job = project.submit(COUNT)
    (tmp_path / "mine" / "operators").mkdir(parents=True)
    (tmp_path / "mine" / "savepoint.json").write_text("{}")
    with pytest.raises(ValidationError, match="savepoint in"):
        list(project.session.run(f"DROP SAVEPOINT '{folder}';"))
    assert (tmp_path / folder).exists()
    project.feed("bids", (2, "a", 1))
    catch_up(job)
    project.session.jobs.stop(job.id)
    assert project.table("counted") == [("a", "2")]


def test_an_edit_after_a_savepoint_is_judged_by_the_job_and_not_the_savepoint(project: Project) -> None:
    project.feed("bids", (1, "a", 1))
    made = saved(project, project.submit(COUNT))
    recover(project, made)
    project.feed("bids", (2, "a", 1))
    project.run(COUNT)
    edited = "INSERT INTO counted SELECT item, n * 10 FROM (SELECT item, COUNT(*) AS n FROM bids GROUP BY item);"
    with pytest.raises(ValidationError, match="has changed"):
        project.submit(edited)
    project.set("last-state")
    project.feed("bids", (3, "a", 1))
    project.run(edited)
    project.feed("bids", (4, "a", 1))
    project.run(edited)
    assert project.table("counted") == [("a", "40")]


def test_a_changed_statement_begins_with_a_savepoint_if_no_state_is_lost(project: Project) -> None:
    project.feed("bids", (1, "a", 1), (2, "b", 5))
    made = saved(project, project.submit(COUNT))
    recover(project, made)
    with pytest.raises(ValidationError, match="can't resume with all of that state"):
        project.submit("INSERT INTO counted SELECT item, MAX(price) FROM bids GROUP BY item;")
    project.feed("bids", (3, "a", 1), (4, "a", 5))
    project.run("INSERT INTO counted SELECT item, COUNT(*) FROM bids WHERE price > 2 GROUP BY item;")
    assert project.table("counted") == [("a", "2"), ("b", "1")]


def test_what_is_drained_goes_on_without_state_only(project: Project) -> None:
    project.feed("bids", (1, "a", 1))
    made = saved(project, project.submit(COUNT), "WITH SAVEPOINT WITH DRAIN")
    recover(project, made)
    with pytest.raises(ValidationError, match="was drained"):
        project.submit(COUNT)
    project.set("stateless")
    project.feed("bids", (2, "b", 1))
    project.run(COUNT)
    assert project.table("counted") == [("a", "1"), ("b", "1")]


def test_what_is_no_whole_savepoint_is_refused_by_name(project: Project, tmp_path: Path) -> None:
    project.feed("bids", (1, "a", 1))
    made = saved(project, project.submit(COUNT))

    def refused(path: str | Path, message: str, sql: str = COUNT) -> None:
        recover(project, path)
        with pytest.raises(ValidationError, match=message):
            project.submit(sql)

    refused("nowhere", "There is no savepoint in")
    refused("hdfs://host/x", "can't|local folders")
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    (copy / "savepoint.json").unlink()
    refused(copy, "its copy was not completed")
    shutil.rmtree(copy)
    shutil.copytree(made, copy)
    state = next(p for p in sorted((copy / "checkpoint").rglob("*")) if p.suffix in (".zip", ".delta", ".changelog", ".snapshot"))
    state.write_bytes(state.read_bytes()[:-1] + b"!")
    refused(copy, f"Its file checkpoint/.*{state.name} is not as it was written")
    state.unlink()
    refused(copy, f"Its file checkpoint/.*{state.name} is not there")
    shutil.rmtree(copy)
    shutil.copytree(made, copy)
    told = json.loads((copy / "savepoint.json").read_text())
    (copy / "savepoint.json").write_text(json.dumps({**told, "layout": 2}))
    refused(copy, "layout 2, of a newer release")
    (copy / "savepoint.json").write_text("{")
    refused(copy, "can't be read")
    list(project.session.run("SET 'execution.runtime-mode' = 'batch';"))
    refused(made, "batch mode keeps no state", "INSERT INTO copied VALUES (1, 'a');")
    list(project.session.run("RESET 'execution.runtime-mode';"))
    project.set("from-start")
    refused(made, "begins a job anew, and 'execution.state-recovery.path' with a savepoint")


def test_where_savepoints_go_is_set_and_a_folder_that_cannot_be_written_stops_nothing(project: Project, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    job = project.submit(COUNT)
    list(project.session.run("SET 'execution.checkpointing.savepoint-dir' = 'file/below';"))
    with pytest.raises(ValidationError, match="Savepoints can't be written"):
        saved(project, job)
    assert job.lives
    list(project.session.run(f"SET 'execution.checkpointing.savepoint-dir' = '{(tmp_path / 'kept').as_uri()}';"))
    # Nothing has come yet.
    made = saved(project, job)
    assert made.parent == tmp_path / "kept"
    shutil.rmtree(tmp_path / ".sqlstream" / "jobs")
    recover(project, made)
    project.feed("bids", (1, "a", 1))
    project.run(COUNT)
    assert project.table("counted") == [("a", "1")]


def test_another_process_asks_for_a_savepoint(project: Project, engine) -> None:
    project.feed("bids", (1, "a", 1))
    job = project.submit(COUNT)
    other = Session(project.path, options={}, engine=engine)
    try:
        (outcome,) = other.run("SAVEPOINT JOB 'job';")
        assert outcome.rows[0][0].startswith("file:") and job.lives
        (outcome,) = other.run("STOP JOB 'job' WITH SAVEPOINT;")
        path = Path(unquote(urlparse(outcome.rows[0][0]).path))
        assert (path / "savepoint.json").exists() and job.done.wait(10)
    finally:
        other.close()
    # The folder of the job is free.
    project.run(COUNT)
