"""The json format against what real Flink gives."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.formats.base import Encoded
from sqlstream.formats.json import Json
from sqlstream.sql import types as T
from tests.support.floats import of_any_java

COLUMNS = {
    "b": T.BOOLEAN, "ti": T.TINYINT, "i": T.INT, "bi": T.BIGINT, "f": T.FLOAT, "d": T.DOUBLE, "de": T.decimal(5, 2), "s": T.STRING,
    "by": T.BYTES, "da": T.DATE, "t": T.time(0), "t0": T.timestamp(0), "t3": T.timestamp(3), "l": T.timestamp_ltz(3),
    "a": T.array(T.INT), "m": T.map_of(T.STRING, T.INT), "r": T.row(("a",), (T.INT,)),
}  # fmt: skip

# A token of JSON, and the columns in which real Flink finds a value; in all others it is an error.
CASES = [
    ("12", {"b": "false", "ti": "12", "i": "12", "bi": "12", "f": "12.0", "d": "12.0", "de": "12.00", "s": "12"}),
    ('" 12 "', {"b": "false", "ti": "12", "i": "12", "bi": "12", "f": "12.0", "d": "12.0", "de": "12.00", "s": " 12 "}),
    ("1.50", {"b": "false", "i": "1", "bi": "1", "f": "1.5", "d": "1.5", "de": "1.50", "s": "1.50"}),
    ('"1.5"', {"b": "false", "f": "1.5", "d": "1.5", "de": "1.50", "s": "1.5"}),
    ("1e3", {"b": "false", "i": "1000", "bi": "1000", "f": "1000.0", "d": "1000.0", "s": "1e3"}),
    ("true", {"b": "true", "s": "true"}),
    ('"TRUE"', {"b": "true", "s": "TRUE", "by": "4d1504"}),
    ('"yes"', {"b": "false", "s": "yes"}),
    ('""', {"b": "false", "s": "", "by": ""}),
    ("null", {}),
    ("3000000000", {"b": "false", "bi": "3000000000", "f": "3.0E9", "d": "3.0E9", "s": "3000000000"}),
    ('"NaN"', {"b": "false", "f": "NaN", "d": "NaN", "s": "NaN"}),
    ("99999999999999999999.5", {"b": "false", "f": "1.0E20", "d": "1.0E20", "s": "99999999999999999999.5"}),
    ("0.125", {"b": "false", "i": "0", "bi": "0", "f": "0.125", "d": "0.125", "de": "0.13", "s": "0.125"}),
    ('"1,000"', {"b": "false", "s": "1,000"}),
    ('"2020-01-02"', {"b": "false", "s": "2020-01-02", "da": "2020-01-02"}),
    ('"2020-1-2"', {"b": "false", "s": "2020-1-2"}),
    ('"2020-01-02 03:04:05.126456789"', {"b": "false", "s": "2020-01-02 03:04:05.126456789", "t0": "2020-01-02 03:04:05",
                                         "t3": "2020-01-02 03:04:05.126"}),
    ('"2020-01-02 03:04"', {"b": "false", "s": "2020-01-02 03:04"}),
    ('"2020-01-02T03:04:05"', {"b": "false", "s": "2020-01-02T03:04:05"}),
    ('"2020-01-02 03:04:05.1Z"', {"b": "false", "s": "2020-01-02 03:04:05.1Z", "l": "2020-01-02 03:04:05.1"}),
    ('"03:04:05.123456"', {"b": "false", "s": "03:04:05.123456", "t": "03:04:05"}),
    ("1577934245", {"b": "false", "i": "1577934245", "bi": "1577934245", "f": "1.57793421E9", "d": "1.577934245E9", "s": "1577934245"}),
    ('"AP8Q"', {"b": "false", "s": "AP8Q", "by": "00ff10"}),
    ('"+5"', {"b": "false", "ti": "5", "i": "5", "bi": "5", "f": "5.0", "d": "5.0", "de": "5.00", "s": "+5"}),
    ('"1d"', {"b": "false", "f": "1.0", "d": "1.0", "s": "1d"}),
    ('["1", null, "x"]', {"s": '["1",null,"x"]', "a": "[1, null, null]"}),
    ('{"a": 1, "a": 2}', {"s": '{"a":2}', "m": "{a -> 2}", "r": "{1}"}),
]  # fmt: skip


# NULL for Flink, no error: more digits than the DECIMAL has.
OVERFLOW = {(t, "de") for t in ("1e3", "3000000000", "99999999999999999999.5", "1577934245")}


def decoded(spark, lines, columns, options=None):
    frame = spark.createDataFrame([(line,) for line in lines], "value STRING").coalesce(1)
    out = Json().decode(Encoded(frame, "value", "'place'"), tuple(columns.items()), options or {})
    return out.drop("value")


@pytest.mark.spark
def test_coercions(spark, texts):
    lines = ["{" + ",".join(f'"{c}":{token}' for c in COLUMNS) + "}" for token, _ in CASES]
    found = texts(decoded(spark, lines, COLUMNS, {"ignore-parse-errors": "true"}))
    for (token, expected), row in zip(CASES, found, strict=True):
        assert of_any_java({c: v for c, v in zip(COLUMNS, row, strict=True) if v is not None}) == of_any_java(expected), token


@pytest.mark.spark
def test_types_are_the_carriers(spark):
    frame = decoded(spark, ["{}"], COLUMNS)
    carried = spark.range(1).selectExpr(*[f"CAST(NULL AS {t.spark}) AS {c}" for c, t in COLUMNS.items()])
    assert [f.dataType for f in frame.schema] == [f.dataType for f in carried.schema]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('{"id":1,', []),
        ("", []),
        ("null", []),
        ("5", []),
        ("[]", []),
        ('[{"id":1},{"id":"2"},{"id":{}}]', [(1,), (2,), (None,)]),
        ('{"id":903} {"id":904}', [(903,)]),
        ("{'id':906}", []),
        ('{"ID":1}', [(None,)]),
    ],
)
def test_records_that_are_ignored(spark, text, rows):
    found = [tuple(r) for r in decoded(spark, [text], {"id": T.INT}, {"ignore-parse-errors": "true"}).collect()]
    assert found == rows


@pytest.mark.spark
@pytest.mark.parametrize("text", ['{"id":1,', "null", "5", '{"id":"x"}', '{"id":{}}', '[{"id":1},{"id":true}]', "[1]"])
def test_bad_record_fails_and_is_named(spark, text):
    for asked in ("id", "1"):  # also where no column is used
        with pytest.raises(Exception, match="Failed to deserialize JSON") as e:
            decoded(spark, ['{"id":1}', text], {"id": T.INT}).selectExpr(asked).collect()
        assert "(place)" in str(e.value)
        assert text in str(e.value)


@pytest.mark.spark
def test_coercions_where_errors_fail(spark, texts):
    cases = [(token, good) for token, good in CASES if "null]" not in good.get("a", "")]  # an element that is ignored
    lines = ["{" + ",".join(f'"{c}":{token}' for c in good) + "}" for token, good in cases]
    for (token, expected), row in zip(cases, texts(decoded(spark, lines, COLUMNS)), strict=True):
        assert of_any_java({c: v for c, v in zip(COLUMNS, row, strict=True) if v is not None}) == of_any_java(expected), token
    bad = [(token, c) for token, good in CASES for c in COLUMNS if c not in good and token != "null"]
    bad = [(t, c) for t, c in bad if (t, c) not in OVERFLOW]
    for token, c in bad[::7]:
        with pytest.raises(Exception, match="Failed to deserialize JSON"):
            decoded(spark, [f'{{"{c}":{token}}}'], {c: COLUMNS[c]}).collect()


@pytest.mark.spark
@pytest.mark.parametrize("record", ["plain", "also corrupt"])
def test_numbers_keep_their_digits(spark, record):
    columns = {"s": T.STRING, "r": T.row(("s",), (T.STRING,)), "d": T.decimal(30, 15), "e": T.decimal(4, 2), "i": T.INT}
    line = '{"s":1.50,"r":{"s": 1e3},"d":123456789012345.012345678901234,"e":123.4,"i":%s}' % ("1" if record == "plain" else '"1"')
    (row,) = decoded(spark, [line], columns).collect()
    assert tuple(row) == ("1.50", ("1e3",), Decimal("123456789012345.012345678901234"), None, 1)
    (row,) = decoded(spark, ['{"s":"1.5","d":"1.5"}'], columns).collect()
    assert row[0] == "1.5" and row[2] == Decimal("1.5")
    with pytest.raises(Exception, match="Failed to deserialize JSON"):
        decoded(spark, ['{"d":"1,5"}'], columns).collect()


@pytest.mark.spark
def test_bad_time_fails(spark):
    for type_, value in ((T.timestamp(3), "1577934245"), (T.DATE, '"x"'), (T.time(0), '"3:4"'), (T.timestamp_ltz(3), '"2020-01-02 03:04:05"')):
        with pytest.raises(Exception, match="Failed to deserialize JSON"):
            decoded(spark, [f'{{"x":{value}}}'], {"x": type_}).collect()


@pytest.mark.spark
def test_nested(spark):
    columns = {"r": T.row(("A", "ts", "n"), (T.STRING, T.timestamp(3), T.row(("d",), (T.decimal(20, 10),)))),
               "l": T.array(T.row(("x",), (T.DATE,)))}  # fmt: skip
    line = '{"r":{"A":1.10,"ts":"2020-01-02 03:04:05.5","n":{"d":1234567890.0123456789}},"l":[{"x":"2020-01-02"},null]}'
    (row,) = decoded(spark, [line], columns).collect()
    assert row.r.A == "1.10"
    assert str(row.r.ts) == "2020-01-02 03:04:05.500000"
    assert row.r.n.d == Decimal("1234567890.0123456789")
    assert str(row.l[0].x) == "2020-01-02"
    assert row.l[1] is None


@pytest.mark.spark
@pytest.mark.parametrize(("parser", "row", "field"), [("true", [9, 7, None], 1), ("false", [9, 7, (1,)], 2)])
def test_fields_that_are_repeated(spark, parser, row, field):
    """The last counts, up to as many fields as there are columns, as in Flink, whose other way of reading has no such end."""
    columns = {"k": T.INT, "v": T.INT, "r": T.row(("a",), (T.INT,))}
    lines = ['{"k": 8, "k": 9, "v": 7, "r": {"a": 1}}', '{"k": 1, "v": 1, "v": 2}', '{"k": 2, "r": {"a": 1, "a": 2}}']
    first, second, third = decoded(spark, lines, columns, {"decode.json-parser.enabled": parser}).collect()
    assert [list(first), list(second)] == [row, [1, 2, None]]
    assert third.r == (field,)


@pytest.mark.spark
def test_missing_field(spark):
    columns = {"a": T.INT, "r": T.row(("b",), (T.INT,))}
    options = {"fail-on-missing-field": "true"}
    assert [tuple(r) for r in decoded(spark, ['{"a":null,"r":{"b":1}}', '{"a":1,"r":null}'], columns, options).selectExpr("a", "r.b").collect()] == [
        (None, 1), (1, None)
    ]  # fmt: skip
    columns |= {"l": T.array(columns["r"])}
    for text in ('{"r":{"b":1},"l":[]}', '{"a":1,"r":{},"l":[]}', '{"a":1,"r":null,"l":[{}]}'):
        with pytest.raises(Exception, match="Failed to deserialize"):
            decoded(spark, [text], columns, options).collect()


@pytest.mark.spark
def test_parsed_once(spark):
    frame = decoded(spark, ["{}"], {"a": T.INT, "b": T.STRING, "c": T.timestamp(3)}).where("a > 1 AND b = 'x'").select("b", "c")
    physical = frame._jdf.queryExecution().executedPlan().toString()
    assert "Python" not in physical
    # A filter that read again would be a second one.
    assert len(re.findall(r"JsonRecords@\w+\.read", physical)) == 1


ENCODED = {
    "b": "true", "ti": "CAST(1 AS TINYINT)", "i": "3", "bi": "4L", "f": "CAST(1.1 AS FLOAT)", "d": "1e10D", "s": "'a \"q\", é\\n\\\\ b'",
    "by": "X'00ff10'", "da": "DATE'2020-02-03'", "t": "TIME'12:13:14'", "t0": "TIMESTAMP'2020-01-02 03:04:05'",
    "t3": "TIMESTAMP'2020-01-02 03:04:05.1'", "l": "TIMESTAMP'2020-01-02 02:04:05.123'", "a": "array(1, NULL, 3)",
    "m": "map('k', 1, 'j', CAST(NULL AS INT))", "r": "named_struct('a', CAST(NULL AS INT))",
}  # fmt: skip


@pytest.mark.spark
def test_encode_as_flink(spark):
    columns = {c: COLUMNS[c] for c in ENCODED}
    frame = spark.range(1).selectExpr(*[f"{v} AS `{c}`" for c, v in ENCODED.items()])
    fields = tuple(columns.items())
    assert frame.select(Json().encode(fields, {})).first()[0] == (
        '{"b":true,"ti":1,"i":3,"bi":4,"f":1.1,"d":1.0E10,"s":"a \\"q\\", é\\n\\\\ b","by":"AP8Q","da":"2020-02-03","t":"12:13:14",'
        '"t0":"2020-01-02 03:04:05","t3":"2020-01-02 03:04:05.1","l":"2020-01-02 02:04:05.123Z","a":[1,null,3],"m":{"k":1,"j":null},'
        '"r":{"a":null}}'
    )
    options = {"timestamp-format.standard": "ISO-8601", "encode.ignore-null-fields": "true"}
    assert (
        '"t3":"2020-01-02T03:04:05.1","l":"2020-01-02T02:04:05.123Z","a":[1,null,3],"m":{"k":1,"j":null},"r":{}}'
        in (frame.select(Json().encode(fields, options)).first()[0])
    )


@pytest.mark.spark
@pytest.mark.parametrize(
    ("value", "type_", "scientific", "plain"),
    [
        ("1234.5", T.decimal(10, 3), "1234.5", "1234.500"),
        ("100000", T.decimal(10, 3), "1E+5", "100000.000"),
        ("-123000", T.decimal(20, 0), "-1.23E+5", "-123000"),
        ("0.001", T.decimal(10, 3), "0.001", "0.001"),
        ("0", T.decimal(10, 3), "0", "0.000"),
        ("12", T.decimal(20, 0), "12", "12"),
        ("0.0000001", T.decimal(20, 10), "1E-7", "0.0000001000"),
        ("10.5", T.decimal(20, 10), "10.5", "10.5000000000"),
    ],
)
def test_decimals(spark, value, type_, scientific, plain):
    frame = spark.range(1).selectExpr(f"CAST('{value}' AS {type_.spark}) AS x", f"array(CAST('{value}' AS {type_.spark})) AS a")
    fields = (("x", type_), ("a", T.array(type_)))
    assert frame.select(Json().encode(fields, {})).first()[0] == f'{{"x":{scientific},"a":[{scientific}]}}'
    options = {"encode.decimal-as-plain-number": "true"}
    assert frame.select(Json().encode(fields, options)).first()[0] == f'{{"x":{plain},"a":[{plain}]}}'
    assert json.loads(frame.select(Json().encode(fields, {})).first()[0])["x"] == float(value)


def test_check():
    fields = (("a", T.INT),)
    with pytest.raises(ValidationError, match="shouldn't both be true"):
        Json().check(fields, {"fail-on-missing-field": "true", "ignore-parse-errors": "true"})
    with pytest.raises(ValidationError, match="non-string as key type of map. The type is: MAP<INT, INT>"):
        Json().check((("m", T.map_of(T.INT, T.INT)),), {})
