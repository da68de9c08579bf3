"""Delta tables by path."""

from __future__ import annotations

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.sql import types as T

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted"), pytest.mark.xdist_group("delta")]

COLUMNS = [
    ("i", T.INT), ("s", T.STRING.not_null()), ("ts", T.timestamp(3)), ("l", T.timestamp_ltz(3)),
    ("r", T.row(("a", "t"), (T.INT, T.timestamp(3)))), ("k", T.STRING),
]  # fmt: skip
ROW = (
    "SELECT {i} AS i, 's' AS s, TIMESTAMP'2020-01-02 03:04:05.5' AS ts, TIMESTAMP'2020-01-02 03:04:05' AS l,"
    " named_struct('a', 1, 't', TIMESTAMP'2020-01-02 03:04:05.5') AS r, '{k}' AS k"
)


@pytest.fixture
def delta(make_table):
    def make(**options):
        return make_table(COLUMNS, {"connector": "delta", "table-path": "d", **options}, partition_keys=("k",))

    return make


def ids(run, table):
    return sorted(r[0] for r in run.rows(table, "i"))


def test_round_trip(run, delta):
    table = delta(**{"delta.appendOnly": "false"})
    assert run.rows(table) == []  # made by its first use, as CREATE TABLE does
    frame = run.spark.sql(ROW.format(i=1, k="a"))
    run.insert(table, frame)
    found = run.frame(table)
    assert found.dtypes == frame.dtypes
    assert found.collect() == frame.collect()
    stored = run.spark.read.format("delta").load(str(run.project / "d")).schema
    assert stored["ts"].dataType.simpleString() == "timestamp_ntz"
    assert stored["l"].dataType.simpleString() == "timestamp"
    assert stored["r"].dataType.simpleString() == "struct<a:int,t:timestamp_ntz>"
    detail = run.spark.sql(f"DESCRIBE DETAIL delta.`{run.project / 'd'}`").first()
    assert detail["partitionColumns"] == ["k"]
    assert detail["properties"]["delta.appendOnly"] == "false"


def test_not_null_holds(run, delta):
    table = delta()
    run.rows(table)
    with pytest.raises(Exception, match=r"NOT NULL|NOT_NULL"):
        run.insert(table, run.spark.sql(ROW.format(i=1, k="a").replace("'s' AS s", "CAST(NULL AS STRING) AS s")))


def test_versions(run, delta):
    for i in (1, 2):
        run.insert(delta(), run.spark.sql(ROW.format(i=i, k="a")))
    assert ids(run, delta(versionAsOf="1")) == [1]
    assert ids(run, delta()) == [1, 2]


def test_stream_both_ways(run, delta, make_table):
    sink = make_table(COLUMNS, {"connector": "delta", "table-path": "copy"})
    source = delta(mode="streaming")
    run.insert(delta(), run.spark.sql(ROW.format(i=1, k="a")))
    run.stream(sink, run.frame(source, streaming=True))
    run.insert(delta(), run.spark.sql(ROW.format(i=2, k="b")))
    run.stream(sink, run.frame(source, streaming=True))
    assert ids(run, sink) == [1, 2]
    assert [r[0] for r in run.streamed(delta(mode="streaming", startingVersion="2"))] == [2]


def test_idempotent_batch(run, delta):
    frame = run.spark.sql(ROW.format(i=1, k="a"))
    for version in (("job", 1), ("job", 1), ("job", 2), ("other", 1)):
        run.insert(delta(), frame, version=version)
    assert ids(run, delta()) == [1, 1, 1]


def test_overwrite(run, delta):
    for k in "ab":
        run.insert(delta(), run.spark.sql(ROW.format(i=1, k=k)))
    run.insert(delta(), run.spark.sql(ROW.format(i=5, k="b")), overwrite=True, partition={"k": "b"})
    assert ids(run, delta()) == [1, 5]
    run.insert(delta(), run.spark.sql(ROW.format(i=7, k="a")), overwrite=True)
    assert ids(run, delta()) == [5, 7]


def test_a_name_that_files_can_not_have(run, make_table):
    """It is refused, and possible where Delta calls the columns of files otherwise."""
    options = {"connector": "delta", "table-path": "d"}
    for columns, of in (([("a b", T.INT)], "Column 'a b' of"), ([("r", T.row(("a;b",), (T.INT,)))], "A field of a row of")):
        with pytest.raises(ValidationError, match=f"{of} .* can't be called so in a Delta table") as caught:
            run.rows(make_table(columns, options))
        assert "'delta.columnMapping.mode' = 'name'" in (caught.value.hint or "")
    mapped = make_table([("a b", T.INT)], {**options, "delta.columnMapping.mode": "name"})
    run.insert(mapped, run.spark.sql("SELECT 1 AS `a b`"))
    assert [tuple(row) for row in run.rows(mapped)] == [(1,)]


def test_another_schema(run, delta, make_table):
    run.insert(delta(), run.spark.sql(ROW.format(i=1, k="a")))
    other = make_table([("i", T.BIGINT), ("x", T.INT)], {"connector": "delta", "table-path": "d"})
    with pytest.raises(ValidationError, match="column 'i' is INT in it, and BIGINT here; column 'x' is not in it"):
        run.rows(other)
    with pytest.raises(ValidationError, match="is partitioned by"):
        run.rows(make_table(COLUMNS, {"connector": "delta", "table-path": "d"}, partition_keys=("s",)))
