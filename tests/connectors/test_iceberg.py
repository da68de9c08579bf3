"""Iceberg tables in a folder."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from sqlstream.connectors import find_connector
from sqlstream.connectors.iceberg.catalog import opened
from sqlstream.core.changelog import KIND, ChangelogMode, RowKind
from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.sql import types as T
from sqlstream.sql.tables import PrimaryKey

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted"), pytest.mark.xdist_group("iceberg")]

ALL = [
    ("b", T.BOOLEAN), ("t", T.TINYINT), ("si", T.SMALLINT), ("i", T.INT.not_null()), ("l", T.BIGINT), ("f", T.FLOAT), ("d", T.DOUBLE),
    ("n", T.decimal(10, 2)), ("s", T.STRING), ("by", T.BYTES), ("day", T.DATE), ("ts", T.timestamp(3)), ("at", T.timestamp_ltz(3)),
    ("a", T.array(T.SMALLINT)), ("m", T.map_of(T.STRING, T.INT)), ("r", T.row(("x", "t"), (T.TINYINT, T.timestamp(3)))),
]  # fmt: skip
VALUES = (
    "SELECT true AS b, 1Y AS t, 2S AS si, {i} AS i, 4L AS l, 1.5F AS f, 2.5D AS d, CAST(1.25 AS DECIMAL(10, 2)) AS n, 'é \"q\"' AS s, X'00FF' AS by,"
    " DATE'2024-02-29' AS day, TIMESTAMP'2024-03-31 02:30:00.123' AS ts, TIMESTAMP'2024-03-31 00:30:00' AS at, array(1S, NULL) AS a,"
    " map('k', 1) AS m, named_struct('x', 1Y, 't', TIMESTAMP'2020-01-02 03:04:05.5') AS r"
)
TWO = [("k", T.STRING), ("n", T.INT)]


def options(**more: str) -> dict[str, str]:
    return {
        "connector": "iceberg",
        "catalog-name": "lake",
        "catalog-type": "hadoop",
        "warehouse": "lake",
        **{k.replace("_", "-"): v for k, v in more.items()},
    }


@pytest.fixture
def two(make_table):
    def make(columns=TWO, *, key=(), partition_keys=(), **more):
        made = make_table(columns, {**options(), **more}, partition_keys=partition_keys)
        return replace(made, primary_key=PrimaryKey(tuple(key)) if key else None)

    return make


def frame(run, *values, kinds: bool = False):
    return run.spark.createDataFrame(list(values), "k string, n int" + (f", {KIND} tinyint" if kinds else ""))


def summaries(run, table) -> list[dict[str, str]]:
    """Of each snapshot, the oldest first."""
    return [{"operation": s.operation(), **dict(s.summary())} for s in opened(run.spark, table, run.project).load().snapshots()]


def test_each_type_comes_back_as_it_was(run, make_table):
    table = make_table(ALL, options(), partition_keys=("s",))
    assert run.rows(table) == []  # made by its first use
    rows = run.spark.sql(VALUES.format(i=3))
    empty = run.spark.sql(VALUES.format(i=4)).selectExpr(*(f"CAST(NULL AS {t.spark}) AS {n}" if n != "i" else n for n, t in ALL))
    run.insert(table, rows.unionByName(empty))
    found = run.frame(table).orderBy("i")
    assert found.dtypes == rows.dtypes
    assert found.collect() == [*rows.collect(), *empty.collect()]
    made = opened(run.spark, table, run.project).load()
    assert (run.project / "lake" / "default_database" / "t" / "metadata").is_dir()
    assert made.schema().findType("ts").toString() == "timestamp"
    assert made.schema().findType("at").toString() == "timestamptz"
    assert made.spec().fields()[0].name() == "s"


def test_what_is_declared_of_a_table_is_in_it(run, two):
    table = two(
        key=("k",), **{"catalog-database": "shop", "catalog-table": "prices", "format-version": "2", "write.parquet.compression-codec": "zstd"}
    )
    keyed = replace(table, columns=(replace(table.columns[0], type=T.STRING.not_null()), table.columns[1]))
    run.rows(keyed)
    made = opened(run.spark, keyed, run.project).load()
    assert made.name() == "lake.shop.prices"
    assert set(made.schema().identifierFieldNames()) == {"k"}
    assert made.properties().get("write.parquet.compression-codec") == "zstd"
    assert "catalog-database" not in dict(made.properties())


def test_rows_are_added_without_a_key_and_a_batch_only_once(run, two):
    for version in (("job", 1), ("job", 1), ("job", 2), ("other", 1)):
        run.insert(two(), frame(run, ("a", 1)), version=version)
    run.insert(two(), frame(run, ("a", 1)))
    assert run.rows(two()) == [("a", 1)] * 4
    assert [s["operation"] for s in summaries(run, two())] == ["append"] * 4


def test_rows_with_a_key_stay_unless_the_table_says_otherwise(run, two):
    """As with Flink: rows that are only added are not looked for."""
    run.insert(two(key=("k",)), frame(run, ("a", 1)))
    run.insert(two(key=("k",)), frame(run, ("a", 2), ("b", 3)))
    assert sorted(run.rows(two())) == [("a", 1), ("a", 2), ("b", 3)]
    upserted = two(key=("k",), **{"catalog-table": "u", "write.upsert.enabled": "true"})
    run.insert(upserted, frame(run, ("a", 1), ("a", 5)).coalesce(1))
    run.insert(upserted, frame(run, ("a", 2), ("b", 3)))
    # The result of an aggregate, which a stream has as changes.
    run.insert(two(key=("k",)), frame(run, ("b", 7)), keys=("k",))
    assert sorted(run.rows(two())) == [("a", 1), ("a", 2), ("b", 7)]
    # The table says so itself.
    run.insert(two(key=("k",), **{"catalog-table": "u"}), frame(run, ("b", 4)))
    assert sorted(run.rows(upserted)) == [("a", 2), ("b", 4)]


def test_changes_are_merged_by_key(run, two):
    table = two(key=("k",))
    kinds = {kind.value: kind.code for kind in RowKind}
    for changes in (
        [("a", 1, "+I"), ("b", 1, "+I"), ("c", 1, "+I"), ("c", 1, "-D")],
        [("a", 1, "-U"), ("a", 2, "+U"), ("b", 1, "-D"), ("z", None, "+I")],
        [],
    ):
        coded = [(k, n, kinds[kind]) for k, n, kind in changes]
        run.insert(table, frame(run, *coded, kinds=True).coalesce(1), keys=("k",), mode=ChangelogMode.RETRACT_DELETE)
    assert sorted(run.rows(table)) == [("a", 2), ("z", None)]
    assert [s["operation"] for s in summaries(run, table)] == ["append", "overwrite"]


@pytest.mark.parametrize("name", ["s", "t", "sqlstream_given", "given", "a b", "ü", "a.b", "`"])
def test_columns_of_any_name_are_merged(run, make_table, name):
    made = make_table([("k", T.STRING), (name, T.row((name,), (T.INT,)))], options())
    table = replace(made, primary_key=PrimaryKey(("k",)))
    quoted = f"`{name.replace('`', '``')}`"
    for value in (1, 2):
        rows = run.spark.sql(f"SELECT 'x' AS k, named_struct('{name}', {value}) AS {quoted}")
        run.insert(table, rows, keys=("k",), mode=ChangelogMode.UPSERT)
    assert [(row[0], row[1][0]) for row in run.rows(table)] == [("x", 2)]


def test_an_overwrite_replaces_the_partitions_that_have_rows(run, two):
    table = two(partition_keys=("k",))
    run.insert(table, frame(run, ("a", 1), ("b", 2)))
    run.insert(table, frame(run, ("a", 9)), overwrite=True)
    assert sorted(run.rows(table)) == [("a", 9), ("b", 2)]
    whole = two(**{"catalog-table": "w"})
    run.insert(whole, frame(run, ("a", 1), ("b", 2)))
    run.insert(whole, frame(run, ("c", 9)), overwrite=True)
    assert run.rows(whole) == [("c", 9)]


def test_null_in_a_column_that_takes_none(run, two):
    run.rows(two([("k", T.STRING.not_null()), ("n", T.INT)]))
    with pytest.raises(Exception, match=r"Column 'k' is NOT NULL in the Iceberg table.*The row is"):
        run.insert(two(), frame(run, (None, 1)))


def test_snapshots_branches_and_tags(run, two):
    run.insert(two(), frame(run, ("a", 1)))
    run.insert(two(), frame(run, ("b", 2)))
    first, second = opened(run.spark, two(), run.project).load().snapshots()
    opened(run.spark, two(), run.project).load().manageSnapshots().createTag("v1", first.snapshotId()).commit()
    run.insert(two(branch="audit"), frame(run, ("c", 3)))
    number, time = str(first.snapshotId()), str(first.timestampMillis())

    def keys(**more: str) -> list[str]:
        return sorted(k for k, _ in run.rows(two(**{key.replace("_", "-"): value for key, value in more.items()})))

    assert keys() == ["a", "b"]
    assert keys(snapshot_id=number) == keys(as_of_timestamp=time) == keys(tag="v1") == ["a"]
    assert keys(branch="audit") == ["a", "b", "c"]
    moment = datetime.fromtimestamp(first.timestampMillis() / 1000, UTC)
    assert run.rows(find_connector("iceberg").as_of(two(), moment)) == [("a", 1)]
    assert keys(start_snapshot_id=number) == ["b"]
    assert keys(start_snapshot_id=number, end_snapshot_id=str(second.snapshotId())) == ["b"]
    for wrong, message in (
        ({"snapshot-id": "7"}, "Cannot find snapshot with ID 7"),
        ({"as-of-timestamp": "7"}, "Cannot find a snapshot of 't' older than 7."),
        ({"tag": "v2"}, "'t' has no tag 'v2'."),
        ({"branch": "v1"}, "'t' has no branch 'v1'."),
    ):
        with pytest.raises(ValidationError, match=message.replace("'", ".")):
            run.rows(two(**wrong))


STARTS = [
    ({}, ["b", "c"]),
    ({"starting-strategy": "INCREMENTAL_FROM_LATEST_SNAPSHOT_EXCLUSIVE"}, ["c"]),
    ({"starting-strategy": "INCREMENTAL_FROM_EARLIEST_SNAPSHOT"}, ["a", "b", "c"]),
    ({"starting-strategy": "TABLE_SCAN_THEN_INCREMENTAL"}, ["a", "b", "c"]),
    ({"starting-strategy": "INCREMENTAL_FROM_SNAPSHOT_ID", "start-snapshot-id": "FIRST"}, ["a", "b", "c"]),
    ({"starting-strategy": "INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP", "start-snapshot-timestamp": "TIME"}, ["b", "c"]),
]


@pytest.mark.parametrize(("start", "found"), STARTS)
def test_a_stream_has_the_rows_of_new_snapshots(run, two, start, found):
    for row in (("a", 1), ("b", 2)):
        run.insert(two(), frame(run, row))
    first, second = opened(run.spark, two(), run.project).load().snapshots()
    given = {"FIRST": str(first.snapshotId()), "TIME": str(second.timestampMillis())}
    table = two(streaming="true", **{k: given.get(v, v) for k, v in start.items()})
    before = [k for k, _ in run.streamed(table, checkpoint="c")]
    run.insert(two(), frame(run, ("c", 3)))
    assert sorted(before + [k for k, _ in run.streamed(table, checkpoint="c")]) == found


def test_a_stream_of_an_empty_table_waits(run, two):
    assert run.streamed(two(streaming="true"), checkpoint="c") == []
    run.insert(two(), frame(run, ("a", 1)))
    assert run.streamed(two(streaming="true"), checkpoint="c") == [("a", 1)]


def test_a_stream_passes_changes_over(run, two):
    """As Flink's."""
    keyed = two(key=("k",))
    for value in (1, 2):
        run.insert(keyed, frame(run, ("a", value)), keys=("k",), mode=ChangelogMode.UPSERT)
    run.insert(two(), frame(run, ("b", 3)))
    assert run.streamed(two(streaming="true", **{"starting-strategy": "INCREMENTAL_FROM_EARLIEST_SNAPSHOT"})) == [("a", 1), ("b", 3)]
    with pytest.raises(ValidationError, match="can't be streamed before its new ones: snapshot .* has changed or removed rows"):
        run.streamed(two(streaming="true", **{"starting-strategy": "TABLE_SCAN_THEN_INCREMENTAL"}))


def test_a_job_writes_each_row_once(run, two):
    """Also where Spark does not know that a micro-batch is through."""
    source, sink = two(streaming="true", **{"starting-strategy": "INCREMENTAL_FROM_EARLIEST_SNAPSHOT"}), two(**{"catalog-table": "copy"})
    for i in range(3):
        run.insert(two(), frame(run, (str(i), i)))
        run.stream(sink, run.frame(source, streaming=True))
        for noted in (str(i), f".{i}.crc"):
            (run.project / "sink" / "commits" / noted).unlink()
    run.stream(sink, run.frame(source, streaming=True))
    assert sorted(run.rows(sink)) == [("0", 0), ("1", 1), ("2", 2)]
    assert [(s["sqlstream.batch"], s["added-records"]) for s in summaries(run, sink)] == [("0", "1"), ("1", "1"), ("2", "1")]
    connector, request = find_connector("iceberg"), run.write(sink, frame(run))
    query = summaries(run, sink)[0]["sqlstream.query"]
    assert [connector.landed(request, query, batch) for batch in (0, 2, 3)] == [True, True, False]
    assert connector.landed(request, "another", 0) is False


def test_a_micro_batch_without_rows_makes_no_snapshot(run, two):
    source, sink = two(streaming="true"), two(**{"catalog-table": "copy"})
    run.insert(two(), frame(run, ("a", 1)))
    run.stream(sink, run.frame(source, streaming=True).where("n > 5"))
    assert summaries(run, sink) == []


def test_a_table_that_is_another_than_declared(run, two):
    run.rows(two())
    for columns, difference in (
        ([("k", T.STRING), ("n", T.BIGINT)], "column 'n' is INT in it, and BIGINT here"),
        ([*TWO, ("more", T.INT)], "column 'more' is not in it"),
    ):
        with pytest.raises(ValidationError, match=f"is not as 't' declares it: {difference}"):
            run.rows(two(columns))
    assert run.rows(two([("n", T.INT)])) == []
    with pytest.raises(ValidationError, match="column 'k' is only in it"):
        run.insert(two([("n", T.INT)]), run.spark.sql("SELECT 1 AS n"))


def test_columns_are_added(run, two):
    run.insert(two(), frame(run, ("a", 1)))
    wider = two([*TWO, ("more", T.timestamp(3)), ("sure", T.INT.not_null())])
    connector = find_connector("iceberg")
    with pytest.raises(ValidationError, match="Column 'sure' can't be added"):
        connector.add_columns(run.write(wider, frame(run)), ["more", "sure"])
    wider = two([*TWO, ("more", T.timestamp(3))])
    for _ in range(2):
        connector.add_columns(run.write(wider, frame(run)), ["more"])
    assert run.rows(wider) == [("a", 1, None)]


def test_what_a_catalog_does_not_have(run, two):
    with pytest.raises(SqlStreamError) as met:
        run.rows(two(**{"catalog-impl": "no.such.Catalog"}))
    assert met.value.message.startswith("Iceberg's catalog 'lake' can't give the table 't': Cannot initialize Catalog implementation no.such.Catalog")


def test_two_writers_of_one_table(run, two):
    """Each sees that the other has changed it, and merges again."""
    table = two(key=("k",))
    run.rows(table)

    def add(writer: int) -> None:
        for i in range(4):
            run.insert(table, frame(run, ("shared", writer), (f"{writer}-{i}", i)), keys=("k",), mode=ChangelogMode.UPSERT)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(add, range(2)))
    found = dict(run.rows(table))
    assert len(run.rows(table)) == len(found)
    assert found.keys() == {"shared", *(f"{writer}-{i}" for writer in range(2) for i in range(4))}


def test_a_stream_looks_up_the_table_as_it_is(run, two):
    """Each micro-batch sees what another process has written since."""
    source, names = two(streaming="true", **{"starting-strategy": "INCREMENTAL_FROM_EARLIEST_SNAPSHOT"}), two(**{"catalog-table": "names"})
    run.insert(names, frame(run, ("a", 10)))
    out: list[tuple] = []
    found = run.frame(names).withColumnRenamed("n", "m")
    joined = run.frame(source, streaming=True).join(found, "k")
    query = joined.writeStream.foreachBatch(lambda batch, _: out.extend(map(tuple, batch.collect())))
    query = query.option("checkpointLocation", str(run.project / "c")).start()
    try:
        for row in (("a", 1), ("b", 2)):
            run.insert(names, frame(run, ("b", 20)))
            run.insert(two(), frame(run, row))
            query.processAllAvailable()
    finally:
        query.stop()
    assert out == [("a", 1, 10), ("b", 2, 20), ("b", 2, 20)]


def test_tables_of_one_name_in_two_catalogs(run, two):
    """Spark knows each by a name of its own, also where nothing was read of the one before the other."""
    run.insert(two(), frame(run, ("a", 1)))
    run.insert(two(warehouse="other"), frame(run, ("b", 2)))
    one, other = (opened(run.spark, table, run.project) for table in (two(), two(warehouse="other")))
    first, second = (each.given(each.load(), "r") for each in (one, other))
    (snapshot,) = one.load().snapshots()
    assert len({first, second, one.given(one.load(), "r", snapshot.snapshotId())}) == 3
    assert [[row.k for row in run.spark.table(name).collect()] for name in (first, second)] == [["a"], ["b"]]


def test_what_is_wrong_with_a_declaration(two):
    def problem(**more: str) -> str:
        with pytest.raises(ValidationError) as met:
            find_connector("iceberg").check(two(**{k.replace("_", "-"): v for k, v in more.items()}))
        return met.value.message

    assert problem(snapshot_id="1", streaming="true") == "Option 'snapshot-id' belongs to 'streaming' = 'false'."
    assert problem(starting_strategy="TABLE_SCAN_THEN_INCREMENTAL") == "Option 'starting-strategy' belongs to 'streaming' = 'true'."
    assert problem(snapshot_id="1", tag="v") == "Options 'snapshot-id' and 'tag' are mutually exclusive."
    assert "needs the option 'start-snapshot-id'" in problem(streaming="true", starting_strategy="incremental_from_snapshot_id")
    assert problem(catalog_type="rest") == "A catalog of type 'rest' needs the option 'uri'."
    assert "catalog-name" in problem(catalog_nam="x") and "Unsupported options" in problem(catalog_nam="x")
    plain = two()
    without = replace(plain, options={k: v for k, v in plain.options.items() if k != "warehouse"})
    with pytest.raises(ValidationError, match="needs the option 'warehouse'"):
        find_connector("iceberg").check(without)
    notices = find_connector("iceberg").check(two(streaming="true", **{"start-snapshot-id": "1", "monitor-interval": "1s"}))
    assert [n.partition(" has no effect")[0] for n in notices] == [
        "Option 'monitor-interval' of 'iceberg'",
        "Option 'start-snapshot-id' of 'iceberg'",
    ]
