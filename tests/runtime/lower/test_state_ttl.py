"""State that goes when no row of its key has come for some time: groups, rows of a join, what a rank keeps."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.support.printing import PrintingJob
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


def test_a_group_that_was_idle_begins_anew(tmp_path: Path, engine) -> None:
    query = "SELECT /*+ STATE_TTL('bids' = '8 s') */ item, COUNT(*) FROM bids GROUP BY item"
    job = PrintingJob(tmp_path, engine, {"bids": "item STRING"}, "item STRING, n BIGINT", query)
    assert job.feed("bids", ("a",), ("b",), lines=2) == ["+I[a, 1]", "+I[b, 1]"]
    assert job.feed("bids", ("b",), lines=2) == ["+U[b, 2]", "-U[b, 1]"]
    time.sleep(9)
    assert job.feed("bids", ("a",), lines=1) == ["+I[a, 1]"]
    job.close()


def test_state_of_idle_keys_is_freed(tmp_path: Path, engine, spark) -> None:
    query = "SELECT a.id FROM a LEFT JOIN b ON a.k = b.k"
    job = PrintingJob(tmp_path, engine, {"a": "id INT, k STRING", "b": "k STRING"}, "id INT", query, {"table.exec.state.ttl": "15 s"})
    assert job.feed("a", (1, "x"), (2, "y"), lines=2) == ["+I[1]", "+I[2]"]
    (state,) = tmp_path.glob("**/state")

    def keys() -> int:
        return spark.read.format("statestore").option("stateVarName", "touched").load(str(state.parent)).count()

    assert keys() == 2
    until(lambda: keys() == 0, every=1)
    job.close()
