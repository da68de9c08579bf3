"""State that goes when no row of its key has come for some time: groups, rows of a join, what a rank keeps."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from printing import PrintingJob

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

TTL = 4.0


@pytest.mark.parametrize("hint", ["/*+ STATE_TTL('bids' = '4 s') */", ""])
def test_a_group_that_was_idle_begins_anew(tmp_path: Path, engine, hint: str) -> None:
    settings = {} if hint else {"table.exec.state.ttl": "4 s"}
    query = f"SELECT {hint} item, COUNT(*) FROM bids GROUP BY item"
    job = PrintingJob(tmp_path, engine, {"bids": "item STRING"}, "item STRING, n BIGINT", query, settings)
    assert job.feed("bids", ("a",), ("b",)) == ["+I[a, 1]", "+I[b, 1]"]
    assert job.feed("bids", ("b",)) == ["+U[b, 2]", "-U[b, 1]"]
    time.sleep(TTL + 1)
    assert job.feed("bids", ("a",)) == ["+I[a, 1]"]
    assert job.feed("bids", ("a",)) == ["+U[a, 2]", "-U[a, 1]"]
    job.close()


def test_state_of_idle_keys_is_freed(tmp_path: Path, engine) -> None:
    query = "SELECT a.id FROM a LEFT JOIN b ON a.k = b.k"
    job = PrintingJob(tmp_path, engine, {"a": "id INT, k STRING", "b": "k STRING"}, "id INT", query, {"table.exec.state.ttl": "4 s"})
    assert job.feed("a", (1, "x"), (2, "y")) == ["+I[1]", "+I[2]"]
    (query,) = job.job.queries
    kept = query.lastProgress["stateOperators"][0]["numRowsTotal"]
    deadline = time.monotonic() + 60
    while query.lastProgress["stateOperators"][0]["numRowsTotal"] >= kept and time.monotonic() < deadline:
        time.sleep(0.5)
    assert query.lastProgress["stateOperators"][0]["numRowsTotal"] < kept
    assert job.feed("b", ("x",)) == []
    job.close()


def test_a_side_that_is_kept_for_ever_keeps_both(tmp_path: Path, engine) -> None:
    query = "SELECT /*+ STATE_TTL('a' = '4 s', 'b' = '0 s') */ a.id FROM a JOIN b ON a.k = b.k"
    job = PrintingJob(tmp_path, engine, {"a": "id INT, k STRING", "b": "k STRING"}, "id INT", query)
    assert job.feed("a", (1, "x")) == []
    time.sleep(TTL + 1)
    assert job.feed("b", ("x",)) == ["+I[1]"]
    job.close()


def test_a_first_row_that_was_forgotten_comes_again(tmp_path: Path, engine) -> None:
    query = "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY p) AS n FROM a) WHERE n = 1"
    job = PrintingJob(tmp_path, engine, {"a": "id INT, p AS PROCTIME()"}, "id INT", query, {"table.exec.state.ttl": "4 s"})
    assert job.feed("a", (1,)) == ["+I[1]"]
    assert job.feed("a", (1,)) == []
    time.sleep(TTL + 1)
    assert job.feed("a", (1,)) == ["+I[1]"]
    job.close()
