"""Rows that go and never came, as of a topic that is read from its end: what takes them gives what it would without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.printing import PrintingJob
from tests.support.sessions import catch_up

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

SIDES = {"l": "k INT, v INT", "r": "k INT, w INT"}
BOTH = ("l", "r")


def begun(job: PrintingJob) -> list[str]:
    """What the job prints about all that has been written since it was stopped."""
    job.lines.clear()
    job.start()
    catch_up(job.job)
    return sorted(job.lines)


def test_outer_rows_stay_as_they_are(tmp_path: Path, engine) -> None:
    query = "SELECT l.k, v, w FROM l FULL JOIN r ON l.k = r.k AND v < w"
    job = PrintingJob(tmp_path, engine, SIDES, "k INT, v INT, w INT", query, changes=BOTH)
    assert job.feed("l", ("-", 1, 10), ("+", 1, 10), ("+", None, 5)) == ["+I[1, 10, null]", "+I[null, 5, null]", "-D[1, 10, null]"]
    # Told of as a match that goes, which takes none of the others away.
    assert job.feed("r", ("-", 1, 20), ("-", 1, 5)) == ["-D[1, 10, 20]", "-D[null, null, 5]"]
    assert job.feed("r", ("+", 1, 30), ("-", 1, 40)) == ["+I[1, 10, 30]", "-D[1, 10, 40]", "-D[1, 10, null]"]
    assert job.feed("r", ("-", 1, 30)) == ["+I[1, 10, null]", "-D[1, 10, 30]"]
    job.close()


def test_semi_and_anti_joins(tmp_path: Path, engine) -> None:
    query = "SELECT k, v FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND w > v)"
    job = PrintingJob(tmp_path, engine, SIDES, "k INT, v INT", query, changes=BOTH)
    assert job.feed("l", ("+", 1, 10)) == ["+I[1, 10]"]
    assert job.feed("r", ("-", 1, 17), ("-", 1, 18)) == []
    assert job.feed("r", ("+", 1, 17), ("-", 1, 18)) == ["-D[1, 10]"]
    assert job.feed("r", ("-", 1, 17), ("-", 1, 17), ("+", 1, 17)) == []
    job.close()


def test_what_a_join_gives_takes_nothing_away_twice(tmp_path: Path, engine) -> None:
    """Both rows of a pair go in one micro-batch: the group behind the join loses one row, and another one counts."""
    query = "SELECT COUNT(*) FROM (SELECT l.k FROM l JOIN r ON l.k = r.k)"
    job = PrintingJob(tmp_path, engine, SIDES, "n BIGINT", query, changes=BOTH)
    job.write("l", ("+", 1, 10))
    assert job.feed("r", ("+", 1, 20)) == ["+I[1]"]
    job.session.jobs.stop(job.job.id)
    job.write("l", ("-", 1, 10), ("+", 2, 10))
    job.write("r", ("-", 1, 20), ("+", 2, 20), ("+", 2, 21))
    assert begun(job) == ["+U[2]", "-U[1]"]
    job.session.jobs.stop(job.job.id)
    job.write("l", ("-", 2, 10))
    job.write("r", ("-", 2, 20), ("-", 2, 21))
    assert begun(job) == ["-D[2]"]
    job.close()


def test_files_of_one_micro_batch_are_in_their_order(tmp_path: Path, engine) -> None:
    job = PrintingJob(tmp_path, engine, SIDES, "k INT, n BIGINT", "SELECT k, COUNT(*) FROM l GROUP BY k", changes=BOTH)
    job.session.jobs.stop(job.job.id)
    for n in range(8):
        # Spark packs the greatest first.
        job.write("l", ("-", 1, n), ("+", 1, n + 1), *[("+", 2 + n, 0)] * n)
    assert begun(job) == sorted(["+I[1, 1]", *(f"+I[{2 + n}, {n}]" for n in range(1, 8))])
    job.close()
