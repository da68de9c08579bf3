"""datagen, print and blackhole against what real Flink gives."""

from __future__ import annotations

import re

import pytest

from sqlstream.connectors import find_connector
from sqlstream.core.changelog import KIND, VALUES, Change, ChangelogMode, RowKind, changes
from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.sql import types as T

ALL = [
    ("b", T.BOOLEAN), ("ti", T.TINYINT), ("si", T.SMALLINT), ("i", T.INT), ("bi", T.BIGINT), ("f", T.FLOAT), ("d", T.DOUBLE),
    ("de", T.decimal(10, 3)), ("de2", T.decimal(38, 10)), ("s", T.STRING), ("c", T.char(5)), ("vc", T.varchar(7)), ("by", T.BYTES),
    ("bn", T.Type("BINARY", (2,))), ("da", T.DATE), ("t0", T.time(0)), ("ts", T.timestamp(3)), ("l", T.timestamp_ltz(3)),
    ("ar", T.array(T.array(T.INT))), ("mm", T.map_of(T.STRING, T.INT)), ("r", T.row(("a", "s"), (T.INT, T.STRING))),
    ("ms", T.multiset(T.INT)),
]  # fmt: skip


@pytest.mark.spark
def test_defaults(run, make_table):
    table = make_table(ALL, {"connector": "datagen", "number-of-rows": "200", "fields.r.s.length": "3", "fields.ts.max-past": "1 d"})
    assert find_connector("datagen").check(table) == []
    frame = run.frame(table)
    carried = run.spark.range(1).selectExpr(*[f"CAST(NULL AS {t.spark}) AS {c}" for c, t in ALL])
    assert [f.dataType.simpleString() for f in frame.schema] == [f.dataType.simpleString() for f in carried.schema]
    rows = frame.selectExpr(
        "length(s) = 100", "s RLIKE '^[0-9a-f]*$'", "length(c) = 5", "length(vc) = 7", "octet_length(by) = 100",
        "octet_length(bn) = 2", "size(ar) = 3 AND size(ar[0]) = 3", "size(mm) <= 3", "length(r.s) = 3", "de >= 0", "de2 IS NOT NULL",
        "f >= 0 AND d >= 0", "ts <= current_timestamp() AND ts > current_timestamp() - INTERVAL 25 HOURS",
        "forall(map_values(ms), v -> v BETWEEN 0 AND 10)", "da = current_date()",
    ).collect()  # fmt: skip
    assert len(rows) == 200
    assert all(all(row) for row in rows)
    spread = frame.selectExpr("count(DISTINCT bi)", "min(i) < -1000000000 AND max(i) > 1000000000", "count(DISTINCT ti) > 50",
                              "count(DISTINCT s) = 200", "count(DISTINCT b) = 2", "count(DISTINCT de) > 190").first()  # fmt: skip
    assert spread[0] == 200
    assert all(spread[1:])


@pytest.mark.spark
def test_fields(run, make_table):
    columns = [("i", T.INT), ("d", T.decimal(5, 2)), ("s", T.STRING), ("f", T.DOUBLE), ("a", T.array(T.INT)), ("n", T.STRING)]
    options = {
        "fields.i.kind": "sequence", "fields.i.start": "1", "fields.i.end": "300", "fields.d.min": "1", "fields.d.max": "2",
        "fields.s.length": "4", "fields.s.var-len": "true", "fields.f.null-rate": "0.5", "fields.a.element.min": "1",
        "fields.a.element.max": "3", "fields.a.length": "2", "fields.n.kind": "sequence", "fields.n.start": "7", "fields.n.end": "1000",
    }  # fmt: skip
    table = make_table(columns, {"connector": "datagen", "number-of-rows": "500", **options})
    assert find_connector("datagen").bounded(table) and find_connector("datagen").static(table)
    rows = run.rows(table)
    assert [r[0] for r in rows] == list(range(1, 301))
    assert [r[5] for r in rows] == [str(i) for i in range(7, 307)]
    assert all(1 <= r[1] <= 2 for r in rows)
    assert {len(r[2]) for r in rows} == {1, 2, 3, 4}
    assert 100 < sum(r[3] is None for r in rows) < 200
    assert {x for r in rows for x in r[4]} == {1, 2, 3} and all(len(r[4]) == 2 for r in rows)


@pytest.mark.spark
def test_the_same_rows_in_one_job(run, make_table):
    table = make_table([("i", T.BIGINT)], {"connector": "datagen", "number-of-rows": "10"})
    assert run.rows(table) == run.rows(table)


@pytest.mark.spark
def test_endless(run, make_table):
    table = make_table([("i", T.INT)], {"connector": "datagen", "rows-per-second": "5"})
    assert not find_connector("datagen").bounded(table)
    frame = run.frame(table, streaming=True)
    assert frame.isStreaming


def test_datagen_check(make_table):
    def check(columns, **options):
        given = {k.replace("__", ".").replace("_", "-"): v for k, v in options.items()}
        find_connector("datagen").check(make_table(columns, {"connector": "datagen", **given}))

    with pytest.raises(ValidationError, match=r"fields\.j\.min") as e:
        check([("i", T.INT)], fields__j__min="1")
    assert "fields.i" in (e.value.hint or "")
    with pytest.raises(ValidationError, match="start"):
        check([("i", T.INT)], fields__i__kind="sequence", fields__i__end="3")
    with pytest.raises(ValidationError, match="sequence generator"):
        check([("i", T.DATE)], fields__i__kind="sequence", fields__i__start="1", fields__i__end="3")
    with pytest.raises(ValidationError, match="fixed-length"):
        check([("i", T.char(3))], fields__i__length="2")
    with pytest.raises(ValidationError, match="greater"):
        check([("i", T.INT)], fields__i__min="2", fields__i__max="1")
    with pytest.raises(SqlStreamError, match="INTERVAL"):
        check([("i", T.INTERVAL_MONTHS)])


PRINTED = [
    ("b", T.BOOLEAN, "true", "true"),
    ("f", T.FLOAT, "CAST(1.1 AS FLOAT)", "1.1"),
    ("d", T.DOUBLE, "1e10D", "1.0E10"),
    ("de", T.decimal(10, 3), "CAST(1234.5 AS DECIMAL(10,3))", "1234.500"),
    ("s", T.STRING, "'a, \"q\"'", 'a, "q"'),
    ("by", T.BYTES, "X'00ff10'", "[0, -1, 16]"),
    ("da", T.DATE, "DATE'2020-02-03'", "2020-02-03"),
    ("t", T.time(0), "TIME'12:13:14'", "12:13:14"),
    ("t2", T.time(0), "TIME'12:13:00'", "12:13"),
    ("ts0", T.timestamp(0), "TIMESTAMP'2020-01-02 03:04:00'", "2020-01-02T03:04"),
    ("ts3", T.timestamp(3), "TIMESTAMP'2020-01-02 03:04:00.1'", "2020-01-02T03:04:00.100"),
    ("ts6", T.timestamp(6), "TIMESTAMP'2020-01-02 03:04:05.1234'", "2020-01-02T03:04:05.123400"),
    ("l0", T.timestamp_ltz(0), "TIMESTAMP'2020-01-02 02:04:00'", "2020-01-02T02:04:00Z"),
    ("l3", T.timestamp_ltz(3), "TIMESTAMP'2020-01-02 02:04:05.1'", "2020-01-02T02:04:05.100Z"),
    ("a", T.array(T.STRING), "array('a', NULL)", "[a, null]"),
    ("ab", T.array(T.BYTES), "array(X'80')", "[[-128]]"),
    ("m", T.map_of(T.STRING, T.INT), "map('j', NULL, 'k', 1)", "{j=null, k=1}"),
    ("r", T.row(("a", "s"), (T.INT, T.STRING)), "named_struct('a', CAST(NULL AS INT), 's', 's')", "+I[null, s]"),
    ("ar", T.array(T.row(("x", "y"), (T.DOUBLE, T.timestamp(3)))), "array(named_struct('x', 1.5D, 'y', TIMESTAMP'2020-01-02 03:04:05'))",
     "[+I[1.5, 2020-01-02T03:04:05]]"),
    ("mr", T.map_of(T.STRING, T.row(("q",), (T.decimal(5, 2),))), "map('z', named_struct('q', CAST(1.5 AS DECIMAL(5,2))))", "{z=+I[1.50]}"),
    ("n", T.INT, "CAST(NULL AS INT)", "null"),
    ("nr", T.row(("a",), (T.INT,)), "CAST(NULL AS STRUCT<a:INT>)", "null"),
]  # fmt: skip


@pytest.mark.spark
def test_printed_as_flink(run, make_table):
    table = make_table([(c, t) for c, t, *_ in PRINTED], {"connector": "print", "print-identifier": "out"})
    run.insert(table, run.spark.range(1).selectExpr(*[f"{v} AS {c}" for c, _, v, _ in PRINTED]))
    assert run.lines == ["out> +I[" + ", ".join(text for *_, text in PRINTED) + "]"]


@pytest.mark.spark
def test_print_stream_of_changes(run, make_table, capsys):
    columns = [("k", T.STRING), ("n", T.INT)]
    source = make_table([("k", T.STRING)], {"connector": "filesystem", "path": "in", "format": "csv", "source.monitor-interval": "1 s"})
    (run.project / "in").mkdir()
    (run.project / "in" / "1").write_text("a\nb\n")
    changed = run.frame(source, streaming=True).selectExpr("k", "1 AS n", f"CAST(if(k = 'a', 0, 3) AS TINYINT) AS {KIND}")
    sink = make_table(columns, {"connector": "print", "standard-error": "true"})
    writer = find_connector("print").write_stream(run.write(sink, changed, mode=ChangelogMode.RETRACT_DELETE, keys=("k",)))
    query = writer.option("checkpointLocation", str(run.project / "cp")).start()
    query.processAllAvailable()
    query.stop()
    lines = [line for line in capsys.readouterr().err.splitlines() if re.match(r"[-+]", line)]
    assert lines == ["+I[a, 1]", "-D[b, 1]"]


@pytest.mark.spark
def test_blackhole_runs_what_is_above(run, make_table):
    table = make_table([("i", T.INT)], {"connector": "blackhole"})
    run.insert(table, run.spark.sql("SELECT 1 AS i"))
    with pytest.raises(Exception, match="boom"):
        run.insert(table, run.spark.sql("SELECT id AS i FROM range(1) WHERE raise_error('boom') IS NULL"))


def test_rows_are_changes_of_the_kind_in_their_column():
    assert changes([("a", 0), ("a", 1), (None, 2), ("b", 3)], ["s", KIND]) == [
        Change(RowKind.INSERT, ("a",)), Change(RowKind.UPDATE_BEFORE, ("a",)), Change(RowKind.UPDATE_AFTER, (None,)), Change(RowKind.DELETE, ("b",)),
    ]  # fmt: skip
    assert changes([("a", "0")], ["s", "t"]) == [Change(RowKind.INSERT, ("a", "0"))]
    assert changes([("a", 3, ['"a"'])], ["s", KIND, VALUES]) == [Change(RowKind.DELETE, ("a",), ('"a"',))]
    assert changes([("a", ["null"])], ["s", VALUES]) == [Change(RowKind.INSERT, ("a",), ("null",))]
