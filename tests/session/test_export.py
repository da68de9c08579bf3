"""The last result: kept as it passes, written to files, drawn."""

import csv
import io
import json

import pytest
from sqlglot import exp

from sqlstream.core.changelog import Change, RowKind
from sqlstream.core.errors import JobFailed, NotSupported, ValidationError
from sqlstream.plan.nodes import Field
from sqlstream.session import export
from sqlstream.session.plot import chart
from sqlstream.session.runs.on_spark import remembered
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax.data_types import flink_type
from tests.support.sessions import open_session

INS, UB, UA, D = RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE


def _type(text):
    return flink_type(parse(f"SELECT CAST(NULL AS {text})").find(exp.DataType))


def columns(**types):
    return tuple(Field(name, _type(text)) for name, text in types.items())


def kept(cols, *changes, limit=100):
    one = export.LastResult(cols, limit)
    assert list(one.passing(iter(changes))) == list(changes)
    return one


WORDS = columns(word="STRING", n="INT", ok="BOOLEAN", amount="DECIMAL(5, 2)", d="DOUBLE", tags="ARRAY<INT>")
ROWS = (
    Change(INS, ('a "b", c', "1", "TRUE", "1.50", "1.0E10", "[1, 2]")),
    Change(INS, ("", None, "FALSE", "-0.50", "NaN", None)),
    Change(INS, (None, "3", None, None, None, "[]")),
)


def test_csv_is_that_of_the_rfc(tmp_path):
    assert export.write(kept(WORDS, *ROWS), tmp_path / "a.csv", "csv", "UTC", lambda: None) == 3
    text = (tmp_path / "a.csv").read_bytes().decode()
    assert text.splitlines()[1] == '"a ""b"", c",1,TRUE,1.50,1.0E10,"[1, 2]"'
    assert text.split("\r\n")[2:] == ['"",,FALSE,-0.50,NaN,', ",3,,,,[]", ""]
    assert list(csv.reader(io.StringIO(text, newline="")))[1][0] == 'a "b", c'


def test_json_has_numbers_and_booleans(tmp_path):
    export.write(kept(WORDS, *ROWS), tmp_path / "a.json", "json", "UTC", lambda: None)
    first, second, third = map(json.loads, (tmp_path / "a.json").read_text().splitlines())
    assert first == {"word": 'a "b", c', "n": 1, "ok": True, "amount": 1.5, "d": 1e10, "tags": "[1, 2]"}
    assert second == {"word": "", "n": None, "ok": False, "amount": -0.5, "d": "NaN", "tags": None}
    assert set(third.values()) == {None, 3, "[]"}


def test_changes_have_their_kind(tmp_path):
    one = kept(columns(n="INT"), Change(INS, ("1",)), Change(UB, ("1",)), Change(UA, ("2",)))
    export.write(one, tmp_path / "a.csv", "csv", "UTC", lambda: None)
    assert (tmp_path / "a.csv").read_bytes() == b"op,n\r\n+I,1\r\n-U,1\r\n+U,2\r\n"
    export.write(one, tmp_path / "a.json", "json", "UTC", lambda: None)
    assert json.loads((tmp_path / "a.json").read_text().splitlines()[1]) == {"op": "-U", "n": 1}


def test_the_last_rows_are_kept():
    one = kept(columns(n="INT"), *(Change(INS, (str(i),)) for i in range(5)), limit=2)
    assert [c.row for c in one.changes] == [("3",), ("4",)]
    assert one.forgotten == 3
    assert not kept(columns(n="INT"), Change(INS, ("1",)), limit=0).changes


def test_parquet_needs_spark(tmp_path):
    with pytest.raises(NotSupported, match="has not started"):
        export.write(kept(columns(n="INT"), Change(INS, ("1",))), tmp_path / "a", "parquet", "UTC", lambda: None)
    with pytest.raises(NotSupported, match="nested column 'tags'"):
        export.write(kept(WORDS), tmp_path / "a", "parquet", "UTC", lambda: None)


@pytest.mark.spark
def test_parquet_has_the_types(tmp_path, spark):
    cols = columns(s="STRING", n="BIGINT", p="DECIMAL(5, 2)", t="TIMESTAMP(3)", z="TIMESTAMP_LTZ(3)", d="DATE")
    row = ("x", "7", "1.50", "2026-01-01 10:00:00.500", "2026-07-01 10:00:00.000", "2026-01-02")
    export.write(kept(cols, Change(INS, row), Change(D, row)), tmp_path / "p", "parquet", "Europe/Prague", lambda: spark)
    frame = spark.read.parquet(str(tmp_path / "p"))
    assert frame.dtypes == [
        ("op", "string"), ("s", "string"), ("n", "bigint"), ("p", "decimal(5,2)"), ("t", "timestamp_ntz"), ("z", "timestamp"), ("d", "date"),
    ]  # fmt: skip
    assert (tmp_path / "p").is_file()
    told = frame.selectExpr("op", "n", "p", "string(t)", "date_format(z, 'HH:mm')", "string(d)").collect()
    assert [tuple(map(str, r)) for r in told] == [(op, "7", "1.50", "2026-01-01 10:00:00.5", "08:00", "2026-01-02") for op in ("+I", "-D")]


def test_statements_without_a_last_result(tmp_path):
    session = open_session(tmp_path)
    for statement in ("EXPORT LAST TO 'a.csv'", "PLOT"):
        with pytest.raises(ValidationError, match="no SELECT has run"):
            list(session.run(statement))


def test_the_statements(tmp_path):
    session = open_session(tmp_path)
    list(remembered(session.context, columns(n="INT"), iter([Change(INS, ("1",)), Change(INS, ("2",))])))
    (done,) = session.run("EXPORT LAST TO 'a.csv'")
    assert done.notices == (f"2 rows written to {tmp_path / 'a.csv'}.",)
    assert (tmp_path / "a.csv").read_text() == "n\n1\n2\n"
    (drawn,) = session.run("PLOT n")
    assert drawn.lines.startswith("n\n")
    with pytest.raises(ValidationError, match="does not say which format"):
        list(session.run("EXPORT LAST TO 'a.txt'"))


def test_what_is_there_is_replaced_only_on_demand(tmp_path):
    session = open_session(tmp_path)
    list(remembered(session.context, columns(n="INT"), iter([Change(INS, ("1",))])))
    (tmp_path / "a.csv").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine").touch()
    for statement in ("EXPORT LAST TO 'a.csv'", "EXPORT LAST TO 'a.csv' FORMAT JSON"):
        with pytest.raises(ValidationError, match="already exists"):
            list(session.run(statement))
    for format_ in ("CSV", "JSON", "PARQUET"):
        with pytest.raises(ValidationError, match="is not a file, so it is not replaced"):
            list(session.run(f"EXPORT LAST TO 'folder' FORMAT {format_} OVERWRITE"))
    with pytest.raises(ValidationError, match="is not a file"):
        list(session.run("EXPORT LAST TO '/dev/null' FORMAT CSV OVERWRITE"))
    with pytest.raises(ValidationError, match="can't be the name of a file"):
        list(session.run(f"EXPORT LAST TO '{'x' * 300}.csv'"))
    assert (tmp_path / "a.csv").read_text() == "mine"
    list(session.run("EXPORT LAST TO 'a.csv' OVERWRITE"))
    assert (tmp_path / "a.csv").read_text() == "n\n1\n"
    with pytest.raises(NotSupported, match="has not started"):
        list(session.run("EXPORT LAST TO 'a.csv' FORMAT PARQUET OVERWRITE"))
    assert (tmp_path / "a.csv").read_text() == "n\n1\n"
    assert {p.name for p in tmp_path.iterdir()} <= {"a.csv", "folder", ".sqlstream"}


def test_a_column_that_is_named_op(tmp_path):
    one = kept(columns(op="INT", _op="INT"), Change(INS, ("1", "2")), Change(D, ("1", "2")))
    export.write(one, tmp_path / "a.csv", "csv", "UTC", lambda: None)
    assert (tmp_path / "a.csv").read_text().splitlines()[0] == "__op,op,_op"
    export.write(one, tmp_path / "a.json", "json", "UTC", lambda: None)
    assert json.loads((tmp_path / "a.json").read_text().splitlines()[1]) == {"__op": "-D", "op": 1, "_op": 2}


SERIES = columns(window_start="TIMESTAMP(3)", window_end="TIMESTAMP(3)", item="STRING", total="DECIMAL(10, 2)", n="BIGINT")


def window(minute, item, total, kind=INS):
    return Change(kind, (f"2026-01-01 10:0{minute}:00.000", f"2026-01-01 10:0{minute + 1}:00.000", item, total, "1"))


def test_a_chart_of_two_series():
    rows = [window(0, "pen", "0"), window(1, "pen", "13"), window(0, "ink", "13"), window(1, "ink", "6"), window(1, "ink", None)]
    lines = chart(SERIES, rows, None, None, 60)
    assert lines[0] == "total over window_end by item"
    assert lines[1] == "13 |o" + " " * 54 + "*"
    assert lines[8] == " 6 |" + " " * 55 + "o"
    assert lines[14] == " 0 |*"
    assert lines[15] == "   +" + "-" * 56
    assert lines[16].lstrip().startswith("2026-01-01 10:01:00.000  ")
    assert lines[16].endswith("2026-01-01 10:02:00.000")
    assert lines[17] == "* pen  o ink"
    assert max(map(len, lines)) == 60


@pytest.mark.parametrize("key", ["shop", "shop_id", "shopId"])
def test_a_key_is_no_series(key):
    keyed = columns(**{key: "BIGINT", "n": "BIGINT"})
    assert chart(keyed, [Change(RowKind.INSERT, ("7", "1"))], None, None, 40)[0] == "n"
    named = columns(**{"item": "STRING", key: "BIGINT"})
    assert chart(named, [Change(RowKind.INSERT, ("pen", "7"))], None, None, 40)[0] == f"{key} by item"


def test_what_has_changed_is_drawn_as_it_is_now():
    rows = [window(0, "pen", "5"), window(0, "pen", "5", UB), window(0, "pen", "9", UA), window(1, "pen", "3"), window(1, "pen", "3", D)]
    lines = chart(SERIES, rows, "total", None, 40)
    assert lines[1].endswith("9 |*")
    assert sum("*" in line for line in lines[1:15]) == 1


def test_what_cannot_be_drawn_is_told():
    with pytest.raises(ValidationError, match="no numeric column 'item'"):
        chart(SERIES, [window(0, "a", "1")], "item", None, 60)
    with pytest.raises(ValidationError, match="'total' has no values"):
        chart(SERIES, [], None, None, 60)
    with pytest.raises(ValidationError, match="no numeric column"):
        chart(columns(s="STRING"), [], None, None, 60)
    assert len(chart(columns(n="INT"), [Change(INS, ("5",))], None, None, 10)) == 17


def test_a_result_that_failed_is_not_exported(tmp_path):
    def failing():
        yield ROWS[0]
        raise ValidationError("It is broken.")

    session = open_session(tmp_path)
    with pytest.raises(ValidationError, match="broken"):
        list(remembered(session.context, WORDS, failing()))
    with pytest.raises(ValidationError, match="The last SELECT failed"):
        list(session.run("EXPORT LAST TO 'a.csv'"))
    assert not (tmp_path / "a.csv").exists()
    list(remembered(session.context, WORDS, iter(ROWS)))
    list(session.run("EXPORT LAST TO 'a.csv'"))
    assert (tmp_path / "a.csv").exists()


def test_a_result_that_failed_before_its_first_row_is_not_plotted(tmp_path):
    session = open_session(tmp_path)
    session.context.last_result = export.LastResult(WORDS, 0, failed=True)
    with pytest.raises(ValidationError, match="The last SELECT failed before its first row") as refused:
        list(session.run("PLOT"))
    assert refused.value.hint == "Run it again, or SELECT what does not fail."


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_a_query_that_fails_before_its_first_row_is_the_last_one(tmp_path, engine, mode):
    session = open_session(tmp_path, engine=engine)
    list(session.run(f"SET 'execution.runtime-mode' = '{mode}'"))

    def read(query):
        for outcome in session.run(query):
            list(getattr(outcome, "changes", ()))

    read("SELECT a FROM (VALUES (1)) AS t(a)")
    with pytest.raises(JobFailed, match="by zero"):
        read("SELECT 1 / (a - a) AS x FROM (VALUES (1)) AS t(a)")
    with pytest.raises(ValidationError, match="The last SELECT failed"):
        list(session.run("EXPORT LAST TO 'a.csv'"))
    session.close()
