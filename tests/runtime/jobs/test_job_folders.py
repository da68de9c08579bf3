"""Job folders without Spark: which one a job gets, by name, plan and order; what earlier releases left; what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.runtime.jobs.begin.digests import digest, first_digest
from sqlstream.runtime.jobs.folder.generations import FINISHED, JobFolder, find, other_plan
from sqlstream.runtime.jobs.folder.versions import Origin, Version
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session

TABLES = """
CREATE TABLE bids (item STRING, price INT) WITH ('connector' = 'datagen');
CREATE TABLE shown (item STRING, price INT) WITH ('connector' = 'print');
"""
NAME = "insert-into_default_catalog.default_database.shown"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return open_session(tmp_path, TABLES)


def plan(session: Session, query: str):
    from sqlstream.sql.statements.parsing import parse

    planner = session.planner
    return (planner.planned(parse(f"INSERT INTO shown {query}"), planner.environment()).plan,)


A, B = "SELECT item, price FROM bids", "SELECT item, price + 1 FROM bids"


class Jobs:
    """The folders of jobs, as ``Jobs`` uses them."""

    def __init__(self, folder: Path, session: Session) -> None:
        self.folder = folder
        self.session = session

    def find(self, query: str, name: str = NAME, taken=()) -> JobFolder:
        sinks = plan(self.session, query)
        return find(self.folder, sinks, name, digest(sinks, "UTC"), "UTC", taken)

    def begin(self, query: str, name: str = NAME, taken=()) -> JobFolder:
        home = self.find(query, name, taken)
        with home.lock():
            sinks = plan(self.session, query)
            home.describe(sinks)
            last, found = home.latest(), digest(sinks, "UTC")
            if last is None or not last.is_open or not last.runs(found):
                number = 1 if last is None or last.version is None else last.version.number + (last.version.digest != found)
                Version(number, found, query).write(home.next_generation())
        return home


@pytest.fixture
def jobs(tmp_path: Path, session: Session) -> Jobs:
    (tmp_path / "kept").mkdir()
    return Jobs(tmp_path / "kept", session)


def test_a_job_is_found_by_its_name_whatever_its_plan(jobs: Jobs) -> None:
    first = jobs.begin(A)
    assert (first.path.name, first.name) == (NAME, NAME)
    assert jobs.begin(B).path == first.path
    assert [g.version.number for g in first.generations()] == [1, 2]
    assert jobs.begin(A, "other").path.name == "other"


def test_the_second_of_a_name_has_a_number_and_is_found_by_its_plan(jobs: Jobs) -> None:
    first = jobs.begin(A)
    second = jobs.begin(B, taken={first.path})
    assert second.name == f"{NAME}-2"
    # Submitted the other way round each goes on with its own.
    assert jobs.find(B).path == second.path
    assert jobs.find(A).path == first.path
    # The same plan twice: by order.
    third = jobs.begin(A, taken={first.path, second.path})
    assert third.name == f"{NAME}-3"
    assert jobs.find(A, taken={first.path}).path == third.path
    # Another plan: the first that is free.
    assert jobs.find("SELECT 'x', 1", taken={first.path}).path == second.path


@pytest.mark.parametrize("name", ["a/b", "a b", "ä", "..", ".hidden", "_x", "x" * 300, "x" * 299 + "y", "a-0123456789ab", "a\nb", "*", "a[1]"])
def test_names_that_no_folder_can_have(jobs: Jobs, name: str) -> None:
    home = jobs.begin(A, name)
    assert home.path.parent == jobs.folder and home.path.is_dir() and len(home.path.name) < 100
    assert jobs.find(A, name).path == home.path
    assert jobs.find(A, f"{name}!").path != home.path
    assert json.loads((home.path / "job.json").read_text())["name"] == name


def test_a_name_with_a_number_is_that_job(jobs: Jobs) -> None:
    first = jobs.begin(A)
    second = jobs.begin(A, taken={first.path})
    assert jobs.find(B, f"{NAME}-2").path == second.path


def test_a_generation_that_was_being_made_when_the_process_ended_was_not_begun(jobs: Jobs) -> None:
    home = jobs.begin(A)
    (home.path / "2" / "checkpoint").mkdir(parents=True)
    assert home.latest().folder.name == "1"
    assert home.next_generation() == home.path / "2" and not (home.path / "2").exists()


def test_what_has_finished_begins_anew(jobs: Jobs) -> None:
    home = jobs.begin(A)
    (home.path / "1" / FINISHED).touch()
    jobs.begin(A)
    assert [g.folder.name for g in home.generations()] == ["1", "2"]
    assert {g.version.number for g in home.generations()} == {1}


def first_layout(jobs: Jobs, query: str, suffix: str = "") -> Path:
    """A folder as an earlier release left it."""
    folder = jobs.folder / f"{NAME}-{first_digest(plan(jobs.session, query), 'UTC')}{suffix}"
    (folder / "1" / "checkpoint").mkdir(parents=True)
    (folder / "job.json").write_text(json.dumps({"name": NAME, "sql": query}))
    return folder


def test_a_folder_of_layout_1_is_continued_by_its_plan(jobs: Jobs) -> None:
    first, second = first_layout(jobs, A), first_layout(jobs, A, "-2")
    home = jobs.find(A)
    assert home.path == first and home.latest().runs("any") and home.latest().version is None
    assert jobs.find(A, taken={first}).path == second
    # Once continued it is the job of that name.
    Version(1, digest(plan(jobs.session, A), "UTC"), A).write(home.latest().folder)
    assert jobs.find(A).path == first
    home.describe(plan(jobs.session, A))
    assert jobs.find(B).path == first


def test_a_folder_of_layout_1_with_another_plan_is_told(jobs: Jobs) -> None:
    before = first_layout(jobs, B)
    home = jobs.find(A)
    assert home.path == jobs.folder / NAME
    assert other_plan(home, ()).folder == before / "1"
    (before / "1" / FINISHED).touch()
    assert other_plan(home, ()) is None


def test_what_a_newer_release_left_is_refused(jobs: Jobs) -> None:
    home = jobs.begin(A)
    (home.path / "job.json").write_text(json.dumps({"layout": 3, "name": NAME}))
    with pytest.raises(ValidationError, match="has layout 3, of a newer release"):
        jobs.find(A).generations()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"number": 1}', '{"number": 1, "digest": "", "sql": "", "sqlstream": "", "created": 1, "origin": null, "more": 1}']
)
def test_a_version_that_can_not_be_read_is_an_error(jobs: Jobs, text: str) -> None:
    home = jobs.begin(A)
    (home.path / "1" / "version.json").write_text(text)
    with pytest.raises(ValidationError, match="version.json can't be read"):
        home.latest()


def test_a_version_is_kept_as_it_was(tmp_path: Path) -> None:
    version = Version(3, "d", "INSERT ..", origin=Origin("last-state", generation=2))
    version.write(tmp_path)
    assert Version.read(tmp_path) == version


@pytest.mark.parametrize(("lost", "said"), [(True, ", without what was lost"), (False, ""), (None, ", as far as it could be used")])
def test_how_a_version_began_is_said_as_far_as_it_is_known(tmp_path: Path, lost: bool | None, said: str) -> None:
    Version(2, "d", "INSERT ..", origin=Origin("last-state", 1, lost=lost)).write(tmp_path)
    written = json.loads((tmp_path / "version.json").read_text())
    if lost is None:
        # As an earlier release wrote it.
        del written["origin"]["lost"]
        (tmp_path / "version.json").write_text(json.dumps(written))
    version = Version.read(tmp_path)
    assert version is not None and version.origin is not None
    assert version.origin.said == f"with the state of the version before{said}"
    assert Origin("stateless", 1, lost=lost).said == "at the offsets of the version before, with empty state"
