"""The join of our own: what it keeps of a key with very many rows, and of two joins in a row, over restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.printing import PrintingJob

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

INPUTS = {"a": "id INT, k STRING, filler STRING", "b": "id INT, k STRING", "c": "id INT, k STRING"}


def test_a_key_with_more_rows_than_one_value_of_the_state_holds(tmp_path: Path, engine) -> None:
    query = "SELECT a.id, b.id, CHAR_LENGTH(a.filler) FROM a JOIN b ON a.k = b.k AND a.id >= b.id"
    job = PrintingJob(tmp_path, engine, INPUTS, "a INT, b INT, n INT", query)
    filler = "x" * 1000
    # In steps of sizes that end within chunks of 64 KiB, at their ends, and fill several.
    ids = iter(range(300))
    for count in (1, 62, 1, 10, 200):
        assert job.feed("a", *[(next(ids), "k", filler) for _ in range(count)]) == []
    job.restart()
    assert job.feed("b", (272, "k"), (0, "other")) == ["+I[272, 272, 1000]", "+I[273, 272, 1000]"]
    assert len(job.feed("b", (0, "k"))) == 274
    job.close()


def test_a_join_of_a_join(tmp_path: Path, engine) -> None:
    query = "SELECT a.id, b.id, c.id FROM a JOIN b ON a.k = b.k JOIN c ON b.k = c.k AND b.id = c.id"
    job = PrintingJob(tmp_path, engine, INPUTS, "a INT, b INT, c INT", query)
    assert job.feed("a", (1, "k", ""), (2, "k", ""), (3, None, "")) == []
    assert job.feed("c", (7, "k")) == []
    job.restart()
    assert job.feed("b", (7, "k"), (8, "k"), (7, None)) == ["+I[1, 7, 7]", "+I[2, 7, 7]"]
    assert job.feed("c", (8, "k"), (8, None)) == ["+I[1, 8, 8]", "+I[2, 8, 8]"]
    job.close()


def test_conditions_that_share_parts_and_keys_that_are_null_on_both_sides(tmp_path: Path, engine) -> None:
    query = "SELECT a.id, b.id FROM a JOIN b ON a.k IS NOT DISTINCT FROM b.k AND a.id > NULLIF(b.id, 0)"
    job = PrintingJob(tmp_path, engine, INPUTS, "a INT, b INT", query)
    assert job.feed("a", (1, None, ""), (2, "k", "")) == []
    assert job.feed("b", (0, None), (-1, None), (1, "k")) == ["+I[1, -1]", "+I[2, 1]"]
    job.close()


def test_an_aggregate_over_a_join(tmp_path: Path, engine) -> None:
    query = "SELECT a.k, COUNT(*), COUNT(DISTINCT b.id) FROM a JOIN b ON a.k = b.k GROUP BY a.k"
    job = PrintingJob(tmp_path, engine, INPUTS, "k STRING, n BIGINT, d BIGINT", query)
    assert job.feed("a", (1, "k", ""), (2, "k", "")) == []
    assert job.feed("b", (7, "k"), (8, "k"), (8, "k")) == ["+I[k, 6, 2]"]
    job.restart()
    assert job.feed("a", (3, "k", "")) == ["+U[k, 9, 2]", "-U[k, 6, 2]"]
    job.close()


def test_more_rows_of_one_key_than_are_held_at_once(tmp_path: Path, engine) -> None:
    job = PrintingJob(tmp_path, engine, INPUTS, "n BIGINT", "SELECT COUNT(*) FROM a JOIN b ON a.k = b.k AND MOD(a.id, 10000) = b.id")
    assert job.feed("b", (0, "k"), (9_999, "k"), (5, None)) == []
    assert job.feed("a", *[(n, "k", "") for n in range(140_000)]) == ["+I[28]"]
    assert job.feed("b", (1, "k")) == ["+U[42]", "-U[28]"]
    job.close()
