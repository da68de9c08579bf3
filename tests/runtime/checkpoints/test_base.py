"""A micro-batch that was begun and not committed counts if its sink has it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from benchmarks.torture.tables import DeltaTable, Lines
from sqlstream.connectors import find_connector
from sqlstream.connectors.base import Write
from sqlstream.plan.properties import changelog_mode
from sqlstream.runtime.checkpoints import Base, base, derive
from tests.support.kept import Kept
from tests.support.sessions import catch_up, feed, open_session, submit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]

DELTA = "CREATE TABLE IF NOT EXISTS answers (k STRING, c BIGINT{key}) WITH ('connector' = 'delta', 'table-path' = 'answers');"
FILES = "CREATE TABLE IF NOT EXISTS answers (k STRING, c BIGINT) WITH ('connector' = 'filesystem', 'path' = 'answers', 'format' = 'json');"
PLAIN = "SELECT k, CAST(n AS BIGINT) FROM bids"
COUNTS = "SELECT k, COUNT(*) FROM bids GROUP BY k"
SINKS = {
    "delta append": (DELTA.format(key=""), PLAIN),
    "delta merge": (DELTA.format(key=", PRIMARY KEY (k) NOT ENFORCED"), COUNTS),
    "files": (FILES, PLAIN),
}


class Bids:
    """A job over files of bids, one run at a time, each up to what is there."""

    def __init__(self, project: Path, engine, sink: str, query: str) -> None:
        self.project = project
        self.engine = engine
        self.session = open_session(project, engine=engine, emit=lambda _: None)
        bids = "CREATE TABLE IF NOT EXISTS bids (k STRING, n INT) WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json', 'source.monitor-interval' = '1 s');"
        self.sql = f"{bids} {sink} INSERT INTO answers {query};"
        (project / "bids").mkdir()

    def run(self, *rows: tuple[str, int]) -> None:
        feed(self.project / "bids", *({"k": k, "n": n} for k, n in rows))
        self.job = submit(self.session, self.sql)
        catch_up(self.job)
        self.session.jobs.stop(self.job.id)

    @property
    def checkpoint(self) -> Path:
        return self.job.checkpoint / "0_answers"

    def landed(self, query: str, batch: int) -> bool | None:
        sink = self.job.sinks[0]
        request = Write(
            spark=self.engine.spark, table=sink.table, frame=None, mode=changelog_mode(sink.input), keys=(), name="0_answers", zone="UTC",
            project=self.project, emit=lambda _: None,
        )  # fmt: skip
        return find_connector(sink.table.connector).landed(request, query, batch)

    def rows(self) -> list[tuple[str, int]]:
        answers = self.project / "answers"
        return sorted((DeltaTable if (answers / "_delta_log").exists() else Lines)(answers).rows().elements())


@dataclass(frozen=True)
class Made:
    """A job that has run twice. ``kept`` is its project by then, ``answers`` what its sink had before the second time."""

    name: str
    bids: Bids
    kept: Kept
    answers: Path


@pytest.fixture(scope="module", params=SINKS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, engine) -> Iterator[Made]:
    project, answers = tmp_path_factory.mktemp("bids"), tmp_path_factory.mktemp("before") / "answers"
    bids = Bids(project, engine, *SINKS[request.param])
    bids.run(("a", 1), ("b", 2))
    shutil.copytree(project / "answers", answers)
    bids.run(("a", 3))
    yield Made(request.param, bids, Kept(project), answers)
    bids.session.close()


@pytest.mark.parametrize("landed", [True, False])
def test_what_has_landed_counts(made: Made, landed: bool, engine) -> None:
    """As after kill -9 between the sink's commit and the log's, or before both."""
    bids, spark = made.bids, engine.spark
    made.kept.put_back()
    if not landed:
        shutil.rmtree(bids.project / "answers")
        shutil.copytree(made.answers, bids.project / "answers")
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    commits = bids.checkpoint / "commits"
    (commits / "1").unlink()
    (commits / ".1.crc").unlink(missing_ok=True)
    assert base(spark, str(bids.checkpoint)) == Base(0, doubtful=True)
    reached = base(spark, str(bids.checkpoint), bids.landed)
    assert reached == Base(1 if landed else 0)
    moved = bids.project / "moved"
    shutil.move(bids.checkpoint, moved)
    derive(spark, str(moved), str(bids.checkpoint), reached.batch)
    bids.run(("b", 4))
    assert bids.rows() == ([("a", 2), ("b", 2)] if "merge" in made.name else [("a", 1), ("a", 3), ("b", 2), ("b", 4)])
