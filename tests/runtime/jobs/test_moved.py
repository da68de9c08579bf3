"""A project is moved, or copied, with all that its jobs have kept: they go on, and read no file again."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.edited import COUNT, Project
from tests.support.sessions import run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]
# Its states name files, too.
PAIRS = """EXECUTE STATEMENT SET BEGIN
INSERT INTO pairs SELECT b.id, a.id FROM bids AS b JOIN asks AS a ON b.item = a.item;
INSERT INTO counted SELECT item, COUNT(*) FROM bids GROUP BY item;
END;"""


@pytest.fixture
def begun(tmp_path: Path, engine) -> Project:
    """A project in which a job has read some files, more than Spark's list has in one."""
    (tmp_path / "was").mkdir()
    project = Project(tmp_path / "was", engine)
    project.feed("bids", (1, "a", 10))
    project.feed("asks", (7, "a", 10))
    project.run(PAIRS)
    project.feed("bids", (2, "b", 20))
    project.run(PAIRS)
    return project


@pytest.mark.parametrize("how", [shutil.move, pytest.param(shutil.copytree, marks=pytest.mark.slow)])
def test_a_job_goes_on_where_it_stopped(begun: Project, tmp_path: Path, engine, how) -> None:
    place = tmp_path / "now ü %20"
    how(begun.path, place)
    project = Project(place, engine)
    project.feed("bids", (3, "a", 30))
    project.feed("asks", (8, "b", 10))
    project.run(PAIRS)
    assert any("was moved: it resumes where it stopped, with its state" in said for said in project.said)
    assert project.table("counted") == [("a", "2"), ("b", "1")]
    assert project.table("pairs") == [("1", "7"), ("2", "8"), ("3", "7")]
    project.feed("bids", (4, "b", 40))
    project.run(PAIRS)
    assert any("continues where it stopped" in said for said in project.said)
    assert project.table("counted") == [("a", "2"), ("b", "2")]
    assert project.table("pairs") == [("1", "7"), ("2", "8"), ("3", "7"), ("4", "8")]


def test_a_job_that_is_edited_goes_on(begun: Project, tmp_path: Path, engine) -> None:
    begun.path.rename(tmp_path / "now")
    project = Project(tmp_path / "now", engine)
    project.feed("bids", (3, "a", 30))
    project.set("last-state")
    project.run(PAIRS.replace("ON b.item = a.item", "ON b.item = a.item AND b.id > 1"))
    assert project.table("counted") == [("a", "2"), ("b", "1")]
    assert project.table("pairs") == [("1", "7"), ("3", "7")]


def test_a_job_that_begins_with_a_savepoint_goes_on(begun: Project, tmp_path: Path, engine) -> None:
    job = begun.submit(PAIRS)
    (saved,) = run(begun.session, f"STOP JOB '{job.id}' WITH SAVEPOINT;")[0].rows[0]
    place = tmp_path / "now"
    place.mkdir()
    for name in ("bids", "asks", "counted", "pairs"):
        shutil.copytree(begun.path / name, place / name)
    project = Project(place, engine)
    project.feed("bids", (3, "a", 30))
    run(project.session, f"SET 'execution.state-recovery.path' = '{saved}';")
    project.run(PAIRS)
    assert project.table("counted") == [("a", "2"), ("b", "1")]
    assert project.table("pairs") == [("1", "7"), ("3", "7")]


def test_checkpoints_that_are_kept_elsewhere(tmp_path: Path, engine) -> None:
    """The project stays where it is."""
    project = Project(tmp_path, engine)
    run(project.session, f"SET 'execution.checkpointing.dir' = '{tmp_path}/kept';")
    project.feed("bids", (1, "a", 10))
    project.run(COUNT)
    (tmp_path / "kept").rename(tmp_path / "now")
    run(project.session, f"SET 'execution.checkpointing.dir' = '{tmp_path}/now';")
    project.feed("bids", (2, "a", 10))
    project.run(COUNT)
    assert project.table("counted") == [("a", "2")]
