"""A micro-batch's changes, folded to one row a primary key."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqlstream.connectors.upserts import DELETED, upserts
from sqlstream.core.changelog import KIND, ChangelogMode
from sqlstream.sql import types as T
from sqlstream.sql.tables import PrimaryKey

pytestmark = pytest.mark.spark

INSERT, BEFORE, AFTER, DELETE = range(4)


@pytest.fixture
def fold(run, make_table):
    """A function: (k, v, n) rows, with their kind where ``mode`` carries it, to what is left of each k: (v, n), or None."""

    def folded(mode, rows, *, keys=(), parts=1, value="INT"):
        types = {"INT": T.INT, "MAP<STRING, INT>": T.map_of(T.STRING, T.INT)}
        table = replace(
            make_table([("k", T.STRING.not_null()), ("the `v`", types[value]), ("n", T.INT)], {"connector": "blackhole"}),
            primary_key=PrimaryKey(("k",)),
        )
        schema = f"k STRING, `the ``v``` {value}, n INT" + (f", {KIND} TINYINT" if mode.carries_kinds else "")
        frame = run.spark.createDataFrame(run.spark.sparkContext.parallelize(rows, parts), schema)
        found = upserts(frame, run.write(table, frame, mode=mode, keys=keys))
        assert found.columns == ["k", "the `v`", "n", DELETED]
        out = [(r[0], None if r[3] else (r[1], r[2])) for r in found.collect()]
        assert len(dict(out)) == len(out)
        return dict(out)

    return folded


def test_rows_without_kind(fold):
    rows = [("a", 1, None), ("b", None, 2), ("a", None, None), ("c", 1, 1), ("b", 3, None)]
    assert fold(ChangelogMode.APPEND, rows, parts=2) == {"a": (None, None), "b": (3, None), "c": (1, 1)}
    assert fold(ChangelogMode.UPSERT, rows, keys=("k", "n"), parts=2) == {"a": (None, None), "b": (3, None), "c": (1, 1)}
    assert fold(ChangelogMode.UPSERT, rows[2:], keys=("k",)) == {"a": (None, None), "c": (1, 1), "b": (3, None)}


def test_deletes_by_key(fold):
    rows = [("a", 1, 1, INSERT), ("a", None, None, DELETE), ("b", None, None, DELETE), ("b", 2, 2, INSERT), ("b", 3, 3, AFTER)]
    assert fold(ChangelogMode.UPSERT_DELETE, rows) == {"a": None, "b": (3, 3)}


def test_rows_that_cancel(fold):
    rows = [
        ("a", 1, None, BEFORE), ("a", 2, None, AFTER), ("a", 2, None, BEFORE), ("a", 3, None, AFTER),
        ("b", 1, None, INSERT), ("b", 1, None, DELETE),
        ("c", None, None, DELETE), ("c", None, 1, INSERT),
        ("d", 5, 5, DELETE),
        ("e", 1, 1, BEFORE), ("e", 2, 2, AFTER), ("e", 2, 2, BEFORE), ("e", 1, 1, AFTER),
    ]  # fmt: skip
    expected = {"a": (3, None), "c": (None, 1), "d": None, "e": (1, 1)}
    assert fold(ChangelogMode.RETRACT_DELETE, rows) == expected
    assert fold(ChangelogMode.RETRACT_DELETE, rows, parts=3) == expected


def test_a_row_that_goes_before_it_comes_is_there(fold):
    rows = [("a", 1, 1, DELETE), ("a", 1, 1, INSERT), ("b", 1, 1, DELETE), ("b", 1, 1, DELETE), ("b", 1, 1, INSERT)]
    assert fold(ChangelogMode.RETRACT_DELETE, rows) == {"a": (1, 1), "b": (1, 1)}
    # Of tasks that gave it both the later may have given it first.
    assert fold(ChangelogMode.RETRACT_DELETE, [rows[2], rows[4], rows[3], rows[3], rows[3], rows[4]], parts=2) == {"b": None}


def test_the_last_of_several_rows_of_a_key_stands(fold):
    rows = [("a", 1, 1, INSERT), ("a", 2, 2, INSERT), ("a", 3, 3, INSERT), ("a", 3, 3, DELETE), ("a", 9, 9, DELETE)]
    assert fold(ChangelogMode.RETRACT_DELETE, rows) == {"a": (2, 2)}


def test_maps(fold):
    rows = [("a", {"x": 1, "y": 2}, None, BEFORE), ("a", {"y": 2, "x": 1}, None, INSERT), ("b", None, None, BEFORE), ("b", {}, None, AFTER)]
    assert fold(ChangelogMode.RETRACT, rows, value="MAP<STRING, INT>") == {"a": ({"x": 1, "y": 2}, None), "b": ({}, None)}
