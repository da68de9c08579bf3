"""What would become of a job, told before anything starts: EXPLAIN UPGRADE, jobs diff, jobs upgrade; and DROP JOB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.cli.main import main
from sqlstream.core.errors import ValidationError
from tests.support.edited import COUNT, TABLES, Project
from tests.support.sessions import catch_up, explained, submit

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]

FILTERED = "INSERT INTO counted SELECT item, COUNT(*) FROM bids WHERE price > 2 GROUP BY item;"
OTHER = "INSERT INTO counted SELECT item, MAX(price) FROM bids GROUP BY item;"


@pytest.fixture
def project(tmp_path: Path, engine):
    made = Project(tmp_path, engine)
    yield made
    made.session.close()


def diff(project: Project, sql: str, capsys, *options: str) -> tuple[int, str]:
    (project.path / "job ä.sql").write_text(f"{TABLES}\nSET 'pipeline.name' = 'job';\n{sql}")
    capsys.readouterr()
    code = main(["jobs", "--project", str(project.path), "diff", str(project.path / "job ä.sql"), "-D", "table.local-time-zone=UTC", *options])
    return code, capsys.readouterr().out


def test_what_would_become_of_a_job_is_told_and_nothing_done(project: Project, capsys) -> None:
    new = "Job 'job' is new: it begins where the options of its sources say.\n"
    assert explained(project.session, "UPGRADE " + COUNT) == new and diff(project, COUNT, capsys) == (0, new)
    project.feed("bids", (1, "a", 1))
    project.run(COUNT)
    before = sorted(p for p in (project.path / ".sqlstream" / "jobs").rglob("*"))
    for told in (explained(project.session, "UPGRADE " + COUNT), diff(project, COUNT, capsys)[1]):
        assert told == "Job 'job' resumes where it stopped: it is unchanged, version 1.\n"
    code, told = diff(project, FILTERED, capsys)
    assert code == 0 and told == explained(project.session, "UPGRADE " + FILTERED) and "would be version 2" in told
    assert "kept" in told and "'last-state' resumes with all of it." in told
    code, told = diff(project, OTHER, capsys)
    assert code == 1 and told == explained(project.session, "UPGRADE " + OTHER) and "lost" in told and "'last-state' would be refused" in told
    # The second of one name is a job of its own, by the order of the script.
    code, told = diff(project, COUNT + COUNT, capsys)
    assert code == 0 and "Job 'job' resumes" in told and "Job 'job-2' is new" in told
    assert sorted(p for p in (project.path / ".sqlstream" / "jobs").rglob("*")) == before
    # Of one that runs: what would be, were it stopped.
    submit(project.session, COUNT)
    assert "Job 'job' has changed" in explained(project.session, f"UPGRADE STATEMENT SET BEGIN {FILTERED} END;")
    with pytest.raises(ValidationError, match="Cannot find table"):
        explained(project.session, "UPGRADE INSERT INTO nowhere SELECT 1;")


def test_a_script_without_jobs_and_a_broken_one(project: Project, capsys) -> None:
    assert diff(project, "SELECT 1;", capsys) == (0, "There is no job in it.\n")
    assert diff(project, f"EXPLAIN {COUNT} EXPLAIN STATEMENT SET BEGIN {COUNT} END;", capsys) == (0, "There is no job in it.\n")
    assert diff(project, "EXPLAIN INSERT INTO counted SELECT nothing FROM bids;", capsys)[0] == 1
    assert diff(project, "INSERT INTO counted SELECT nothing FROM bids;", capsys)[0] == 1
    assert diff(project, "SET 'execution.runtime-mode' = 'batch'; INSERT INTO copied VALUES (1, 'a');", capsys)[1].startswith("Job 'job' is new")


def test_a_job_that_has_stopped_is_dropped_by_name_and_begins_anew(project: Project) -> None:
    project.feed("bids", (1, "a", 1))
    job = submit(project.session, COUNT)
    catch_up(job)
    with pytest.raises(ValidationError, match="Job 'job' is running"):
        list(project.session.run("DROP JOB 'job';"))
    project.session.jobs.stop(job.id)
    list(project.session.run(f"DROP JOB '{job.id[:6]}';"))
    assert not job.folder.exists() and project.rows("SHOW JOBS;") == []
    assert project.rows("SET 'execution.runtime-mode' = 'batch'; SELECT item, n FROM counted;") == [("a", "1")]
    with pytest.raises(ValidationError, match="Job job does not exist"):
        list(project.session.run("DROP JOB 'job';"))
    list(project.session.run("DROP JOB IF EXISTS 'job';"))
    list(project.session.run("SET 'execution.runtime-mode' = 'streaming';"))
    assert "is new" in explained(project.session, "UPGRADE " + COUNT)
