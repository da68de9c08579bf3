"""A job goes on in a folder that an earlier release has written, also changed; ``python -m tests.runtime.jobs.test_earlier_release`` records one anew."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SqlStreamError, ValidationError
from tests.support.edited import Project

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]
FOLDER = Path(__file__).with_name("earlier_release.zip")
PLACE = b"/its/project"
# State of Spark's own aggregate, of operators of ours (rows are taken back), and of a window.
SUMS = "INSERT INTO sums SELECT item, COUNT(*), SUM(price), MAX(price) FROM bids GROUP BY item;"
AGAIN = "INSERT INTO counted SELECT item, COUNT(*) FROM (SELECT item, MAX(price) AS p FROM bids GROUP BY item) GROUP BY item;"
WINDOWS = (
    "INSERT INTO by_minute SELECT item, COUNT(*), SUM(price) FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
    "GROUP BY item, window_start, window_end;"
)
SET = f"EXECUTE STATEMENT SET BEGIN {SUMS} {AGAIN} {WINDOWS} END;"
BEFORE = ((1, "a", 1), (2, "b", 5), (3, "a", 7))


@pytest.fixture
def project(tmp_path: Path, engine) -> Iterator[Project]:
    """The project as it was when the job was stopped."""
    with zipfile.ZipFile(FOLDER) as archive:
        for name in archive.namelist():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(archive.read(name).replace(PLACE, str(tmp_path).encode()))
    shutil.rmtree(tmp_path / "bids")
    made = Project(tmp_path, engine)
    # The job has read it.
    (tmp_path / "bids" / "1.json").touch()
    yield made
    made.session.close()


@pytest.mark.slow
def test_the_same_goes_on(project: Project) -> None:
    project.feed("bids", (4, "a", 2), (5, "c", 1))
    project.run(SET)
    assert any("continues where it stopped" in line for line in project.said)
    assert project.rows("SELECT * FROM sums;") == [("a", "3", "10", "7"), ("b", "1", "5", "5"), ("c", "1", "1", "1")]
    assert project.rows("SELECT * FROM counted;") == [("a", "1"), ("b", "1"), ("c", "1")]


def test_a_changed_one_goes_on(project: Project) -> None:
    project.set("last-state")
    project.feed("bids", (4, "a", 2), (5, "b", 1))
    project.run(SET.replace("COUNT(*), SUM(price), MAX(price) FROM bids", "COUNT(*), SUM(price), MAX(price) FROM bids WHERE price > 1"))
    assert project.rows("SELECT * FROM sums;") == [("a", "3", "10", "7"), ("b", "1", "5", "5")]


def test_one_of_a_newer_release_is_refused(project: Project, tmp_path: Path) -> None:
    version = tmp_path / ".sqlstream" / "jobs" / "job" / "1" / "version.json"
    version.write_text(json.dumps({**json.loads(version.read_text()), "later": 1}))
    with pytest.raises(ValidationError, match="version.json can't be read"):
        project.run(SET)
    (tmp_path / ".sqlstream" / "jobs" / "job" / "job.json").write_text(json.dumps({"layout": 99, "name": "job", "sinks": []}))
    with pytest.raises(SqlStreamError, match="has layout 99, of a newer release"):
        project.run(SET)


def record() -> None:
    """Write ``earlier_release.zip``."""
    from sqlstream.runtime.engine.session import Engine

    with TemporaryDirectory() as folder:
        used = Engine(Path(folder), lambda: {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}, print)
        path = Path(folder) / "project"
        path.mkdir()
        made = Project(path, used)
        made.feed("bids", *BEFORE)
        made.run(SET)
        with zipfile.ZipFile(FOLDER, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(p for p in path.rglob("*") if p.is_file() and not _of_the_machine(p.relative_to(path))):
                archive.writestr(str(file.relative_to(path)), file.read_bytes().replace(str(path).encode(), PLACE))
        made.session.close()
        used.stop()


def _of_the_machine(file: Path) -> bool:
    return file.suffix == ".crc" or file.name in ("lock", "status.json") or file.parts[:2] == (".sqlstream", "log")


if __name__ == "__main__":
    record()
