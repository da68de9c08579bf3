"""Jobs that update Delta tables by primary key."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from benchmarks.torture.tables import DeltaTable
from tests.support.sessions import catch_up, feed, open_session, submit

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]

TABLES = """
CREATE TABLE numbers (id INT, word STRING) WITH ('connector' = 'filesystem', 'path' = 'numbers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE words (word STRING, cnt BIGINT, biggest INT, PRIMARY KEY (word) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'words');
CREATE TABLE totals (name STRING, cnt BIGINT, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'totals');
CREATE TABLE latest (word STRING, id INT, PRIMARY KEY (word) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'latest');
"""
SET = """EXECUTE STATEMENT SET BEGIN
INSERT INTO words SELECT word, COUNT(*), MAX(id) FROM numbers GROUP BY word;
INSERT INTO totals SELECT 'all', COUNT(*) FROM numbers;
END"""
OTHERS = ("INSERT INTO totals SELECT 'odd', COUNT(*) FROM numbers WHERE id % 2 = 1", "INSERT INTO latest SELECT word, id FROM numbers")


@pytest.fixture
def session(tmp_path: Path, engine):
    (tmp_path / "numbers").mkdir()
    made = open_session(tmp_path, TABLES, engine=engine)
    yield made
    made.close()


@pytest.mark.slow
def test_jobs_at_once_and_a_crash_after_the_commit(tmp_path: Path, session: Session) -> None:
    """Four sinks, two of them into one table, each under ids of its own; a micro-batch that is done again after a crash changes nothing."""

    def put(*rows: tuple[int, str]) -> None:
        feed(tmp_path / "numbers", *({"id": i, "word": word} for i, word in rows))

    def table(name: str) -> list[tuple]:
        return sorted(DeltaTable(tmp_path / name).rows().elements())

    def versions() -> list[int]:
        return [len(list((tmp_path / name / "_delta_log").glob("*.json"))) for name in ("words", "totals", "latest")]

    def run():
        jobs = [submit(session, sql) for sql in (SET, *OTHERS)]
        for job in jobs:
            catch_up(job)
        return jobs

    put((1, "a"), (2, "b"), (3, "a"))
    for job in run():
        session.jobs.stop(job.id)
    put((4, "b"), (5, "b"), (6, "c"))
    for job in run():
        session.jobs.stop(job.id)
        for commits in job.checkpoint.glob("*/commits"):
            for name in ("1", ".1.crc"):
                (commits / name).unlink(missing_ok=True)
    expected = {
        "words": [("a", 2, 3), ("b", 3, 5), ("c", 1, 6)], "totals": [("all", 6), ("odd", 3)],
        "latest": [("a", 3), ("b", 5), ("c", 6)],
    }  # fmt: skip
    assert {name: table(name) for name in expected} == expected
    before = versions()
    run()
    assert versions() == before
    assert {name: table(name) for name in expected} == expected


def test_a_job_whose_folder_was_removed_begins_anew(tmp_path: Path, session: Session) -> None:
    """Its micro-batches have the numbers of those of the one before, and are others."""

    def settled(job) -> None:
        catch_up(job)
        session.jobs.stop(job.id)

    (tmp_path / "numbers" / "1.json").write_text('{"id": 1, "word": "a"}\n')
    job = submit(session, OTHERS[1])
    settled(job)
    shutil.rmtree(job.folder.parent)
    (tmp_path / "numbers" / "2.json").write_text('{"id": 2, "word": "b"}\n')
    settled(submit(session, OTHERS[1]))
    assert DeltaTable(tmp_path / "latest").rows() == Counter([("a", 1), ("b", 2)])
