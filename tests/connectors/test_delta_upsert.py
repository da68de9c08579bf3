"""Delta tables with a primary key: every change is written by it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqlstream.connectors import find_connector
from sqlstream.core.changelog import KIND, ChangelogMode
from sqlstream.sql import types as T
from sqlstream.sql.tables import PrimaryKey

# The first MERGE of a process takes ten seconds.
pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted"), pytest.mark.xdist_group("delta")]

INSERT, BEFORE, AFTER, DELETE = range(4)
COLUMNS = [("k", T.STRING.not_null()), ("n", T.INT), ("ts", T.timestamp(3)), ("p", T.STRING)]


@pytest.fixture
def delta(make_table):
    def make(columns=COLUMNS, key=("k",), path="d", partition_keys=(), **options):
        table = make_table(columns, {"connector": "delta", "table-path": path, **options}, partition_keys=partition_keys)
        return replace(table, primary_key=PrimaryKey(key))

    return make


@pytest.fixture
def changes(run):
    """A function: a frame of rows (kind, k, n) or (kind, k, n, p)."""

    def frame(*rows):
        cells = [(k, n, *(p or ("p",)), kind) for kind, k, n, *p in rows]
        made = run.spark.createDataFrame(run.spark.sparkContext.parallelize(cells, 1), f"k STRING, n INT, p STRING, {KIND} TINYINT")
        return made.selectExpr("k", "n", "timestamp_seconds(n) AS ts", "p", KIND)

    return frame


def rows(run, table):
    return sorted(run.rows(table, "k", "n", "p"))


def history(run, path="d"):
    return run.spark.sql(f"DESCRIBE HISTORY delta.`{run.project / path}`").collect()


def test_changes_are_written_by_key(run, delta, changes):
    table = delta()
    first = changes((INSERT, "a", 1), (INSERT, "b", None), (INSERT, "c", 3))
    run.insert(table, first, mode=ChangelogMode.RETRACT_DELETE)
    assert run.frame(table).dtypes == first.drop(KIND).dtypes
    second = changes((BEFORE, "a", 1), (AFTER, "a", None), (DELETE, "c", 3), (DELETE, "never", 1), (BEFORE, "b", None), (AFTER, "b", None))
    run.insert(table, second, mode=ChangelogMode.RETRACT_DELETE)
    assert rows(run, table) == [("a", None, "p"), ("b", None, "p")]


def test_rows_of_appends_and_aggregates_replace_those_of_their_key(run, delta, changes):
    run.insert(delta(), changes((INSERT, "a", 1), (INSERT, "b", 1), (INSERT, "a", 2)).drop(KIND))
    run.insert(delta(), changes((INSERT, "b", 5), (INSERT, "c", None)).drop(KIND), mode=ChangelogMode.UPSERT, keys=("k",))
    assert rows(run, delta()) == [("a", 2, "p"), ("b", 5, "p"), ("c", None, "p")]


def test_partitions_in_and_outside_of_the_key(run, delta, changes):
    outside = delta(partition_keys=("p",))
    inside = delta([("k", T.STRING.not_null()), ("n", T.INT), ("ts", T.timestamp(3)), ("p", T.STRING.not_null())], ("k", "p"), "e", ("p",))
    first = changes((INSERT, "a", 1, "x"), (INSERT, "b", 1, "y"))
    second = changes((BEFORE, "a", 1, "x"), (AFTER, "a", 1, "y"), (BEFORE, "b", 1, "y"), (AFTER, "b", 2, "y"))
    for table in (outside, inside):
        for frame in (first, second):
            run.insert(table, frame, mode=ChangelogMode.RETRACT)
        assert rows(run, table) == [("a", 1, "y"), ("b", 2, "y")]


def test_keys_alone_in_every_type(run, delta):
    """Every type that a key can have, and a table of nothing else."""
    values = {
        "i": (T.BIGINT, "CAST({0} AS BIGINT)"), "s": (T.STRING, r"'it\'s\\{0}'"), "d": (T.DATE, "date_add(DATE'2020-01-01', {0})"),
        "ts": (T.timestamp(6), "timestamp_micros({0})"), "l": (T.timestamp_ltz(3), "timestamp_millis({0})"),
        "x": (T.decimal(38, 10), "CAST({0} AS DECIMAL(38, 10)) / 7"), "f": (T.DOUBLE, "CAST({0} AS DOUBLE) / 7"),
        "b": (T.BOOLEAN, "({0} = 1)"), "y": (T.BYTES, "CAST('{0}' AS BINARY)"), "r": (T.row(("a",), (T.INT,)), "named_struct('a', {0})"),
    }  # fmt: skip
    table = delta([(n, t.not_null()) for n, (t, _) in values.items()], tuple(values))
    for numbers in ((1, 2), (2, 3), (-1,)):
        parts = [run.spark.sql("SELECT " + ", ".join(f"{sql.format(n)} AS {c}" for c, (_, sql) in values.items())) for n in numbers]
        run.insert(table, parts[0] if len(parts) == 1 else parts[0].unionAll(parts[1]))
    assert [r[0] for r in sorted(run.rows(table, "i"))] == [-1, 1, 2, 3]


def test_a_micro_batch_that_comes_again_is_passed_over(run, delta, changes):
    sink = find_connector("delta")
    table = delta()
    frame = changes((INSERT, "a", 1)).drop(KIND)
    for version in (("job", 0), ("job", 0), ("other", 0)):
        sink.write_batch(run.write(table, frame.selectExpr("k", "n + 1 AS n", "ts", "p"), version=version))
        frame = run.frame(table)
    assert rows(run, table) == [("a", 3, "p")]


def test_only_files_with_the_keys_are_rewritten(run, delta):
    """Files are left out by the range of the keys; what a changed file keeps is not written anew, its old rows are marked."""
    table = delta([("k", T.BIGINT.not_null()), ("n", T.INT)])
    for first in (0, 1000):
        run.insert(table, run.spark.range(first, first + 1000, 1, 1).selectExpr("id AS k", "0 AS n"))
    run.insert(table, run.spark.range(1990, 2010, 1, 1).selectExpr("id AS k", "1 AS n"))
    metrics = history(run)[0]["operationMetrics"]
    expected = {"numTargetRowsUpdated": "10", "numTargetRowsInserted": "10", "numTargetRowsCopied": "0", "numTargetDeletionVectorsAdded": "1"}
    assert {k: metrics[k] for k in expected} == expected
    assert sum(r[0] for r in run.rows(table, "n")) == 20
