"""Files: round trips, partitions, exactly-once writes, monitored folders."""

from __future__ import annotations

import os
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from sqlstream.connectors import find_connector
from sqlstream.connectors.files.batches import write_batch
from sqlstream.connectors.files.folder import Folder
from sqlstream.connectors.files.partition_commit import PartitionCommit, PartitionTime
from sqlstream.core.errors import ValidationError
from sqlstream.runtime.engine.failures import job_error
from sqlstream.sql import types as T

pytestmark = pytest.mark.spark

COLUMNS = {
    "b": (T.BOOLEAN, "true"), "i": (T.INT, "3"), "d": (T.DOUBLE, "1.5D"), "de": (T.decimal(10, 3), "CAST(1234.5 AS DECIMAL(10,3))"),
    "s": (T.STRING, "'a \"q\", é'"), "by": (T.BYTES, "X'00ff10'"), "da": (T.DATE, "DATE'2020-02-03'"),
    "ts": (T.timestamp(3), "TIMESTAMP'2020-01-02 03:04:05.1'"), "l": (T.timestamp_ltz(3), "TIMESTAMP'2020-01-02 03:04:05'"),
    "a": (T.array(T.INT), "array(1, 2)"), "r": (T.row(("a", "s"), (T.INT, T.STRING)), "named_struct('a', 1, 's', 'x')"),
}  # fmt: skip


def everything(spark):
    return spark.range(1).selectExpr(*[f"{v} AS `{c}`" for c, (_, v) in COLUMNS.items()])


def columns_of():
    return [(c, t) for c, (t, _) in COLUMNS.items()]


@pytest.mark.parametrize("format_", ["json", "csv", "parquet", "orc"])
def test_round_trip(run, make_table, format_):
    table = make_table(columns_of(), {"connector": "filesystem", "path": "data", "format": format_})
    frame = everything(run.spark)
    run.insert(table, frame)
    run.insert(table, frame)
    found = run.frame(table)
    assert found.dtypes == frame.dtypes
    assert found.collect() == frame.collect() * 2


def test_times_of_parquet(run, make_table):
    # As Flink has them: a TIME is milliseconds, a TIMESTAMP or TIMESTAMP_LTZ INT96, or INT64 in no zone.
    inner = T.row(("u", "m"), (T.time(0), T.map_of(T.STRING, T.time(3))))
    columns = [("t", T.time(3)), ("a", T.array(T.time(0))), ("r", inner), ("l", T.timestamp_ltz(3))]
    frame = run.spark.sql("SELECT TIME'01:02:03.5' AS t, array(TIME'01:02:03', NULL) AS a, TIMESTAMP'1969-12-31 23:59:59.5' AS l, "
                          "named_struct('u', TIME'00:00:01', 'm', map('k', TIME'23:59:59.999')) AS r").select("t", "a", "r", "l")  # fmt: skip
    for path, options, kind in ("int96", {}, "int96"), ("int64", {"parquet.write.int64.timestamp": "true"}, "isAdjustedToUTC=false"):
        table = make_table(columns, {"connector": "filesystem", "path": path, "format": "parquet", **options})
        run.insert(table, frame)
        assert run.frame(table).collect() == frame.collect()
        (file,) = (run.project / path).glob("*.parquet")
        schema = str(pq.ParquetFile(file).schema)
        assert kind in schema.splitlines()[-2]
        assert "int32 field_id=-1 t;" in schema


def test_raw_lines(run, make_table):
    table = make_table([("x", T.STRING)], {"connector": "filesystem", "path": "data", "format": "raw"})
    (run.project / "data").mkdir()
    (run.project / "data" / "f").write_bytes(b"a\n\n b \r\nlast")
    assert run.rows(table) == [("a",), ("",), (" b ",), ("last",)]


def test_file_and_uri(run, make_table):
    (run.project / "one.csv").write_text("1,a\n2,b\n")
    for path in ("one.csv", str(run.project / "one.csv"), (run.project / "one.csv").as_uri()):
        table = make_table([("i", T.INT), ("s", T.STRING)], {"connector": "filesystem", "path": path, "format": "csv"})
        assert run.rows(table) == [(1, "a"), (2, "b")]


def test_missing_path(run, make_table):
    with pytest.raises(ValidationError, match="does not exist"):
        run.rows(make_table([("i", T.INT)], {"connector": "filesystem", "path": "nowhere", "format": "csv"}))


def test_error_names_the_file(run, make_table):
    (run.project / "bad.json").write_text('{"i":1}\n{"i":')
    table = make_table([("i", T.INT)], {"connector": "filesystem", "path": "bad.json", "format": "json"})
    with pytest.raises(Exception, match="Failed to deserialize JSON") as failed:
        run.rows(table)
    assert job_error(failed.value).message == f"Failed to deserialize JSON '{{\"i\":' (file {run.project / 'bad.json'}, line 2)."


def partitioned(make_table, format_="json", **options):
    options = {k.replace("_", "-"): v for k, v in options.items()}
    return make_table(
        [("s", T.STRING), ("k", T.INT), ("day", T.DATE)],
        {"connector": "filesystem", "path": "data", "format": format_, **options},
        partition_keys=("day", "k"),
    )


ROWS = "VALUES ('x', 1, DATE'2020-01-02'), ('y', 2, NULL), ('z', NULL, DATE'2020-01-03') AS t(s, k, day)"


@pytest.mark.parametrize("format_", ["json", "csv", "parquet"])
def test_partitions(run, make_table, format_):
    table = partitioned(make_table, format_)
    frame = run.spark.sql(f"SELECT * FROM {ROWS}")
    run.insert(table, frame)
    assert sorted(str(p.relative_to(run.project / "data")) for p in (run.project / "data").glob("*/*") if p.parent.name[0] != ".") == [
        "day=2020-01-02/k=1", "day=2020-01-03/k=__DEFAULT_PARTITION__", "day=__DEFAULT_PARTITION__/k=2",
    ]  # fmt: skip
    assert sorted(map(str, run.rows(table))) == sorted(str(tuple(r)) for r in frame.collect())
    if format_ == "json":
        (file,) = (run.project / "data" / "day=2020-01-02" / "k=1").glob("part-*")
        assert file.read_text() == '{"s":"x"}\n'


def test_overwrite(run, make_table):
    table = partitioned(make_table)
    run.insert(table, run.spark.sql(f"SELECT * FROM {ROWS}"))
    run.insert(table, run.spark.sql("SELECT 'new' AS s, 1 AS k, DATE'2020-01-02' AS day"), overwrite=True)
    assert sorted(r[0] for r in run.rows(table)) == ["new", "y", "z"]
    run.insert(
        table, run.spark.sql("SELECT 'none' AS s, 1 AS k, DATE'2020-01-02' AS day WHERE false"), overwrite=True,
        partition={"day": "2020-01-02", "k": "1"},
    )  # fmt: skip
    assert sorted(r[0] for r in run.rows(table)) == ["y", "z"]
    plain = make_table([("i", T.INT)], {"connector": "filesystem", "path": "plain", "format": "csv"})
    run.insert(plain, run.spark.sql("SELECT 1 AS i"))
    run.insert(plain, run.spark.sql("SELECT 2 AS i"), overwrite=True)
    assert run.rows(plain) == [(2,)]


def test_success_file(run, make_table):
    table = partitioned(make_table, **{"sink.partition-commit.policy.kind": "success-file", "sink.partition-commit.success-file.name": "_DONE"})
    run.insert(table, run.spark.sql("SELECT 's' AS s, 1 AS k, DATE'2020-01-02' AS day"))
    assert (run.project / "data" / "day=2020-01-02" / "k=1" / "_DONE").exists()
    assert run.rows(table, "s") == [("s",)]


BY_TIME = {
    "sink.partition-commit.trigger": "partition-time", "sink.partition-commit.policy.kind": "success-file",
    "partition.time-extractor.timestamp-pattern": "$dt $hour:00:00", "sink.partition-commit.delay": "1 h",
}  # fmt: skip
HOUR = 3_600_000
SEVEN = 1767250800000  # 2026-01-01 07:00:00 UTC


class Hours:
    """A table of hours that a stream writes into: each batch is a run of its own, as after a restart."""

    def __init__(self, run, make_table, **options) -> None:
        columns = [("s", T.STRING), ("dt", T.STRING), ("hour", T.STRING)]
        given = {"connector": "filesystem", "path": "data", "format": "csv", **BY_TIME, **options}
        self.table = make_table(columns, given, partition_keys=("dt", "hour"))
        self.run, self.input, self.batches = run, run.project / "in", 0
        self.input.mkdir()

    def write(self, *rows: str, watermark: int | None) -> list[str]:
        """Writes rows ``s,dt,hour``; the partitions that are committed then."""
        self.batches += 1
        (self.input / f"{self.batches}.csv").write_text("".join(f"{r}\n" for r in rows) or "\n")
        frame = self.run.spark.readStream.name("source").schema("s STRING, dt STRING, hour STRING").csv(str(self.input)).where("s IS NOT NULL")
        request = replace(self.run.write(self.table, frame), watermark=lambda: watermark)
        writer = (
            find_connector("filesystem").write_stream(request).option("checkpointLocation", str(self.run.project / "sink")).trigger(availableNow=True)
        )
        writer.start().awaitTermination()
        return self.committed()

    def committed(self) -> list[str]:
        data = self.run.project / "data"
        return sorted(str(p.parent.relative_to(data)) for p in data.glob("dt=*/*/_SUCCESS"))


def test_partitions_are_committed_when_the_watermark_has_passed_their_time(run, make_table):
    hours = Hours(run, make_table)
    assert hours.write("a,2026-01-01,07", "b,2026-01-01,08", watermark=None) == []
    assert hours.write("c,2026-01-01,08", watermark=SEVEN + HOUR) == []  # as in Flink it must be past it
    assert hours.write(watermark=SEVEN + HOUR + 1) == ["dt=2026-01-01/hour=07"]
    # A watermark that is not known again after a restart is the last one.
    assert hours.write("d,2026-01-01,06", watermark=None) == ["dt=2026-01-01/hour=06", "dt=2026-01-01/hour=07"]
    (run.project / "data" / "dt=2026-01-01" / "hour=07" / "_SUCCESS").unlink()
    assert hours.write("late,2026-01-01,07", watermark=SEVEN + 2 * HOUR + 1) == [f"dt=2026-01-01/hour=0{i}" for i in (6, 7, 8)]
    assert sorted(run.rows(hours.table, "s")) == [("a",), ("b",), ("c",), ("d",), ("late",)]


def test_a_kill_between_moving_and_committing_loses_no_commit(run, make_table, monkeypatch):
    hours = Hours(run, make_table)
    before = PartitionCommit.commit

    def killed(self, folder, writer):
        raise RuntimeError("killed")

    monkeypatch.setattr(PartitionCommit, "commit", killed)
    with pytest.raises(Exception, match="killed"):
        hours.write("a,2026-01-01,07", watermark=SEVEN + HOUR + 1)
    assert hours.committed() == []
    monkeypatch.setattr(PartitionCommit, "commit", before)
    # The batch is tried again; its rows, and so the watermark, are not seen another time.
    assert hours.write("b,2026-01-01,09", watermark=None) == ["dt=2026-01-01/hour=07"]
    assert sorted(run.rows(hours.table, "s")) == [("a",), ("b",)]


def test_a_bounded_write_commits_all_partitions(run, make_table):
    hours = Hours(run, make_table, **{"sink.partition-commit.success-file.name": "_SUCCESS"})
    run.insert(hours.table, run.spark.sql("SELECT 'a' AS s, 'none' AS dt, '7' AS hour"))
    assert hours.committed() == ["dt=none/hour=7"]


def test_how_the_time_of_a_partition_is_read(run):
    java = Folder(run.spark, str(run.project)).java

    def millis(values: str, keys: str = "dt hour", *, pattern=None, formatter=None, zone="UTC") -> int:
        steps = tuple(f"{k}={v}" for k, v in zip(keys.split(), values.split(), strict=True))
        return PartitionTime(tuple(keys.split()), pattern, formatter, zone, 0).millis(steps, java)

    assert millis("2026-01-01 07") == SEVEN - 7 * HOUR  # the first key alone
    assert millis("2026-1-1 7", pattern="$dt $hour:00:00") == SEVEN
    assert millis("2026-01-01%2007%3A00%3A00.5", "t") == SEVEN + 500
    assert millis("2025-12-31 31", pattern="$dt $hour:00:00") == SEVEN  # Flink's default is lenient
    assert millis("20260101 07", pattern="$dt/$hour", formatter="yyyyMMdd/HH") == SEVEN
    assert millis("20260101 07", formatter="yyyyMMdd") == SEVEN - 7 * HOUR
    assert millis("20260101 0700", pattern="$dt $hour", formatter="yyyyMMdd HHmm") == SEVEN
    assert millis("2026-01-01 08", pattern="$dt $hour:00:00", zone="Europe/Prague") == SEVEN
    for values, given in ("__HIVE__ 7", {}), ("2026-01-01 x", {"pattern": "$dt $hour:00:00"}), ("2026-01-01 7", {"formatter": "yyyyMMdd"}):
        with pytest.raises(ValidationError, match="The time of partition 'dt="):
            millis(values, **given)


def test_metadata_and_pattern(run, make_table):
    folder = run.project / "in put"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.csv").write_text("1\n")
    (folder / "sub" / "b.txt").write_text("22\n")
    os.utime(folder / "a.csv", (1_600_000_000, 1_600_000_000.5))
    metadata = [
        ("p", T.STRING, "file.path"), ("n", T.STRING, "file.name"), ("z", T.BIGINT, "file.size"),
        ("m", T.timestamp_ltz(3), "file.modification-time"),
    ]  # fmt: skip
    options = {"connector": "filesystem", "path": "in put", "format": "csv"}
    table = make_table([("i", T.INT)], options, metadata=metadata)
    rows = sorted(run.rows(table, "i", "p", "n", "z", "CAST(m AS STRING)"))
    assert rows[0] == (1, str(folder / "a.csv"), "a.csv", 2, "2020-09-13 12:26:40.5")
    assert rows[1][:4] == (22, str(folder / "sub" / "b.txt"), "b.txt", 3)
    only = make_table([("i", T.INT)], {**options, "source.path.regex-pattern": r".*/[a-z]\.txt"})
    assert run.rows(only) == [(22,)]


def test_streaming_sink_and_source(run, make_table):
    source = make_table([("i", T.INT)], {"connector": "filesystem", "path": "in", "format": "csv", "source.monitor-interval": "1 s"})
    sink = make_table([("i", T.INT)], {"connector": "filesystem", "path": "out", "format": "json"})
    (run.project / "in").mkdir()
    (run.project / "in" / "1").write_text("1\n2\n")
    run.stream(sink, run.frame(source, streaming=True))
    (run.project / "in" / "2").write_text("3\n")
    os.utime(run.project / "in" / "2", (1_000_000_000, 1_000_000_000))  # a file that looks old is new all the same
    run.stream(sink, run.frame(source, streaming=True))
    assert sorted(run.rows(sink)) == [(1,), (2,), (3,)]
    # Another job on the same folder begins again at batch 0: its rows come on top.
    run.stream(sink, run.frame(source, streaming=True), checkpoint="other")
    run.insert(sink, run.spark.sql("SELECT 9 AS i"))
    assert sorted(run.rows(sink)) == [(1,), (1,), (2,), (2,), (3,), (3,), (9,)]


def test_a_batch_is_written_once(run, tmp_path):
    folder = Folder(run.spark, str(tmp_path / "out"))

    def stage(path: str) -> None:
        run.spark.range(4).repartition(2).selectExpr("CAST(id AS STRING)").write.mode("overwrite").text(path)

    def rows() -> list[str]:
        return sorted(r[0] for r in run.spark.read.option("recursiveFileLookup", "true").text(folder.path).collect())

    write_batch(folder, "w", 0, stage)
    write_batch(folder, "w", 0, stage)
    assert rows() == ["0", "1", "2", "3"]

    # Killed between two renames: what was staged is moved on, not written again.
    def die_half_way(path: str) -> None:
        stage(path)
        first = sorted(p for p in (tmp_path / "out/.sqlstream/w/batch-1").glob("part-*"))[0]
        first.rename(tmp_path / "out" / "part-moved")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_batch(folder, "w", 1, die_half_way)

    def never(path: str) -> None:
        raise AssertionError("staged twice")

    write_batch(folder, "w", 1, never)
    assert rows() == sorted(["0", "1", "2", "3"] * 2)

    # Killed while staging: the remains are thrown away.
    half = tmp_path / "out/.sqlstream/w/batch-2"
    half.mkdir(parents=True)
    (half / "part-half").write_text("broken\n")
    write_batch(folder, "w", 2, stage)
    assert rows() == sorted(["0", "1", "2", "3"] * 3)


def test_a_batch_takes_the_place_of_others_whatever_fails(run, tmp_path):
    folder = Folder(run.spark, str(tmp_path / "out"))

    def stage(value: str):
        return lambda path: run.spark.createDataFrame([(value,)], "v STRING").coalesce(1).write.mode("overwrite").text(path)

    def rows() -> list[str]:
        return sorted(r[0] for r in run.spark.read.option("recursiveFileLookup", "true").text(folder.path).collect())

    def die(*names: str):
        """``write_batch`` fails at the first call of one of these."""

        class Dies(Folder):
            def __getattribute__(self, name: str):
                if name in names:
                    raise KeyboardInterrupt
                return super().__getattribute__(name)

        return Dies(run.spark, folder.path)

    def never(path: str) -> None:
        raise AssertionError("staged twice")

    write_batch(folder, "other", 0, stage("old"))
    # Staged, but nothing of the old is gone.
    with pytest.raises(KeyboardInterrupt):
        write_batch(die("write", "move"), "w", 0, stage("new"), replace="*")
    assert rows() == ["old"]
    write_batch(folder, "w", 0, never, replace="*")
    assert rows() == ["new"]
    # The old is gone, and nothing has taken its place.
    with pytest.raises(KeyboardInterrupt):
        write_batch(die("move"), "w", 1, stage("newer"), replace="*")
    write_batch(folder, "w", 1, never, replace="*")
    assert rows() == ["newer"]
    # What was begun is ended, and what was not is dropped, before another batch takes the place of all.
    with pytest.raises(KeyboardInterrupt):
        write_batch(die("write"), "w", 2, stage("dropped"))
    with pytest.raises(KeyboardInterrupt):
        write_batch(die("move"), "w", 3, stage("begun"))
    assert rows() == ["newer"]
    write_batch(folder, "w", 4, stage("last"))
    assert rows() == ["begun", "last", "newer"]
    write_batch(folder, "w", 5, stage("only"), replace="*")
    assert rows() == ["only"]
    assert [p.name for p in (tmp_path / "out/.sqlstream/w").iterdir() if not p.name.startswith(".")] == ["done"]
