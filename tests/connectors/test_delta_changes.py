"""The changes of a Delta table as a source."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqlstream.connectors import find_connector
from sqlstream.core.changelog import KIND, ChangelogMode
from sqlstream.core.errors import ValidationError
from sqlstream.sql import types as T
from sqlstream.sql.tables import PrimaryKey

COLUMNS = [("k", T.STRING.not_null()), ("n", T.INT), ("ts", T.timestamp(3))]
VERSION = ("v", T.BIGINT, "_commit_version", True)


@pytest.fixture
def delta(make_table):
    def make(metadata=(), **options):
        table = make_table(COLUMNS, {"connector": "delta", "table-path": "d", **options}, metadata=metadata)
        return replace(table, primary_key=PrimaryKey(("k",)))

    return make


def test_metadata_is_of_changes_only(delta):
    metadata = (VERSION, ("at", T.timestamp_ltz(3), "_commit_timestamp", True))
    assert find_connector("delta").check(delta(metadata, mode="changes")) == []
    with pytest.raises(ValidationError, match="Invalid metadata key '_commit_version'"):
        find_connector("delta").check(delta(metadata))
    with pytest.raises(ValidationError, match="declare it VIRTUAL"):
        find_connector("delta").check(delta([VERSION[:3]], mode="changes"))


def test_a_table_of_changes_is_read_as_a_stream(delta):
    connector = find_connector("delta")
    assert connector.source_mode(delta()) is connector.source_mode(delta(mode="streaming")) is ChangelogMode.APPEND
    assert "'mode' = 'changes' reads such changes" in connector.check(delta(mode="streaming"))[0]
    table = delta(mode="changes", startingVersion="1")
    assert connector.check(table) == []
    assert connector.source_mode(table) is ChangelogMode.RETRACT_DELETE
    assert not connector.bounded(table)


@pytest.mark.spark
@pytest.mark.xdist_group("delta")
@pytest.mark.usefixtures("interpreted")
def test_changes_of_an_upsert_job(run, delta):
    """An upsert job feeds the change data feed; each commit's kinds come back, and the table is its first rows plus all changes."""
    spark, ensured = run.spark, delta((VERSION,), mode="changes")
    assert run.streamed(ensured, checkpoint="c") == []

    def write(*rows):
        frame = spark.createDataFrame(rows, f"k STRING, n INT, {KIND} TINYINT").selectExpr("k", "n", "timestamp_seconds(n) AS ts", KIND)
        run.insert(delta(), frame, mode=ChangelogMode.RETRACT_DELETE)

    def changes(**more):
        rows = [(r[0], r[1], r[3], r[4]) for r in run.streamed(delta((VERSION,), mode="changes", **more), checkpoint=None if more else "c")]
        # A key's rows stand in the order of the commits.
        return sorted(rows, key=lambda row: row[0])

    write(("a", 1, 0), ("b", None, 0))
    assert changes() == [("a", 1, 1, 0), ("b", None, 1, 0)]
    write(("a", 1, 1), ("a", 2, 2), ("b", None, 3), ("c", 3, 0))
    write(("a", 2, 1), ("a", None, 2))
    third = [("a", 2, 3, 1), ("a", None, 3, 2)]
    assert changes() == [("a", 1, 2, 1), ("a", 2, 2, 2), *third, ("b", None, 2, 3), ("c", 3, 2, 0)]
    assert changes(startingVersion="3") == third
    # A new reader finds the table as it is.
    assert {(r[0], r[1], r[3]) for r in run.streamed(delta(mode="changes"))} == {("a", None, 0), ("c", 3, 0)}


@pytest.mark.spark
def test_a_table_without_feed(run, delta):
    run.rows(delta())
    with pytest.raises(ValidationError, match="keeps no change data feed"):
        run.streamed(delta(mode="changes"))
