"""The aggregate of our own: DISTINCT over a stream, its state after a restart, with more values than it holds, with functions that are programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.printing import PrintingJob

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

BIDS = {"bids": "item STRING, bidder BIGINT"}


def test_what_was_seen_is_kept_over_a_restart(tmp_path: Path, engine) -> None:
    query = "SELECT item, COUNT(*), COUNT(DISTINCT bidder), COUNT(DISTINCT bidder) FILTER (WHERE bidder > 1) FROM bids GROUP BY item"
    job = PrintingJob(tmp_path, engine, BIDS, "item STRING, n BIGINT, bidders BIGINT, others BIGINT", query)
    assert job.feed("bids", ("a", 1), ("a", 1), ("a", 2), (None, None)) == ["+I[a, 3, 2, 1]", "+I[null, 1, 0, 0]"]
    job.restart()
    assert job.feed("bids", ("a", 2), ("a", 3), ("a", 1)) == ["+U[a, 6, 3, 2]", "-U[a, 3, 2, 1]"]
    job.close()


def test_a_key_with_more_values_than_are_held_at_once(tmp_path: Path, engine) -> None:
    job = PrintingJob(tmp_path, engine, BIDS, "bidders BIGINT", "SELECT COUNT(DISTINCT bidder) FROM bids")
    # Each value twice in one micro-batch, far apart, and then once more.
    values = [("a", n) for n in range(270_000)]
    assert job.feed("bids", *values, *values) == ["+I[270000]"]
    assert job.feed("bids", *values[-10:], ("a", 270_000)) == ["+U[270001]", "-U[270000]"]
    job.close()


def test_functions_that_are_programs(tmp_path: Path, engine) -> None:
    query = "SELECT item, LISTAGG(DISTINCT CAST(bidder AS STRING)), COLLECT(bidder), COUNT(DISTINCT bidder) FROM bids GROUP BY item"
    job = PrintingJob(tmp_path, engine, BIDS, "item STRING, bidders STRING, counts MULTISET<BIGINT>, n BIGINT", query)
    assert job.feed("bids", ("a", 1), ("a", 1)) == ["+I[a, 1, {1=2}, 1]"]
    assert job.feed("bids", ("a", 2), ("b", None)) == ["+I[b, null, {}, 0]", "+U[a, 1,2, {1=2, 2=1}, 2]", "-U[a, 1, {1=2}, 1]"]
    job.close()


def test_nothing_comes_out_where_nothing_changes(tmp_path: Path, engine) -> None:
    job = PrintingJob(tmp_path, engine, BIDS, "item STRING, bidders BIGINT", "SELECT item, COUNT(DISTINCT bidder) FROM bids GROUP BY item")
    assert job.feed("bids", ("a", 1)) == ["+I[a, 1]"]
    assert job.feed("bids", ("a", 1), ("a", None)) == []
    job.close()


def test_averages_of_whole_numbers_and_decimals_beside_distinct(tmp_path: Path, engine) -> None:
    query = "SELECT item, AVG(bidder), AVG(DISTINCT bidder), AVG(CAST(bidder AS DECIMAL(4, 1))), NULLIF(COUNT(DISTINCT bidder), 3) FROM bids GROUP BY item"
    job = PrintingJob(tmp_path, engine, BIDS, "item STRING, a BIGINT, b BIGINT, c DECIMAL(38, 6), n BIGINT", query)
    assert job.feed("bids", ("a", 1), ("a", 1), ("a", 7), ("b", None)) == ["+I[a, 3, 4, 3.000000, 2]", "+I[b, null, null, null, 0]"]
    job.close()


def test_keys_of_zero_are_one_whatever_their_sign(tmp_path: Path, engine) -> None:
    job = PrintingJob(tmp_path, engine, {"t": "d DOUBLE, b INT"}, "d DOUBLE, n BIGINT", "SELECT d, COUNT(DISTINCT b) FROM t GROUP BY d")
    assert job.feed("t", (0.0, 1), (-0.0, 2)) == ["+I[0.0, 2]"]
    assert job.feed("t", (-0.0, 3)) == ["+U[0.0, 3]", "-U[0.0, 2]"]
    job.close()
