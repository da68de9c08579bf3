"""The csv and raw formats against what real Flink gives."""

from __future__ import annotations

import pytest

from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.formats.base import Encoded
from sqlstream.formats.csv import Csv
from sqlstream.formats.raw import Raw
from sqlstream.sql import types as T

COLUMNS = {
    "b": T.BOOLEAN, "ti": T.TINYINT, "i": T.INT, "f": T.FLOAT, "d": T.DOUBLE, "de": T.decimal(5, 2), "s": T.STRING, "by": T.BYTES,
    "da": T.DATE, "t": T.time(0), "t3": T.timestamp(3), "l": T.timestamp_ltz(3), "a": T.array(T.INT), "as": T.array(T.STRING),
    "r": T.row(("a", "b"), (T.INT, T.STRING)),
}  # fmt: skip

# A cell, and the columns in which real Flink finds a value; in all others it is an error.
CASES = [
    ("12", {"b": "false", "ti": "12", "i": "12", "f": "12.0", "d": "12.0", "de": "12.00", "s": "12", "a": "[12]", "as": "[12]", "r": "{12, null}"}),
    (" 12 ", {"b": "false", "ti": "12", "i": "12", "f": "12.0", "d": "12.0", "s": " 12 ", "a": "[12]", "as": "[ 12 ]", "r": "{12, null}"}),
    ("1.5", {"b": "false", "f": "1.5", "d": "1.5", "de": "1.50", "s": "1.5", "a": "[null]", "as": "[1.5]", "r": "{null, null}"}),
    (" true", {"b": "true", "s": " true", "a": "[null]", "as": "[ true]", "r": "{null, null}"}),
    ("", {"b": "false", "s": "", "by": "", "a": "[]", "as": "[]"}),
    ('""', {"b": "false", "s": "", "by": "", "a": "[]", "as": "[]"}),
    ("3000000000", {"b": "false", "f": "3.0E9", "d": "3.0E9", "s": "3000000000", "a": "[null]", "as": "[3000000000]", "r": "{null, null}"}),
    ("2020-1-2", {"b": "false", "s": "2020-1-2", "da": "2020-01-02", "a": "[null]", "as": "[2020-1-2]", "r": "{null, null}"}),
    ("2020-01-02 03:04:05.5", {"b": "false", "s": "2020-01-02 03:04:05.5", "t3": "2020-01-02 03:04:05.5", "a": "[null]",
                               "as": "[2020-01-02 03:04:05.5]", "r": "{null, null}"}),
    ("2020-01-02 03:04:05Z", {"b": "false", "s": "2020-01-02 03:04:05Z", "l": "2020-01-02 03:04:05", "a": "[null]",
                              "as": "[2020-01-02 03:04:05Z]", "r": "{null, null}"}),
    ("03:04", {"b": "false", "s": "03:04", "t": "03:04:00", "a": "[null]", "as": "[03:04]", "r": "{null, null}"}),
    ("AP8Q", {"b": "false", "s": "AP8Q", "by": "00ff10", "a": "[null]", "as": "[AP8Q]", "r": "{null, null}"}),
    ('" q ""x"" "', {"b": "false", "s": ' q "x" ', "a": "[null]", "as": '[ q "x" ]', "r": "{null, null}"}),
    ("1;2", {"b": "false", "s": "1;2", "a": "[1, 2]", "as": "[1, 2]", "r": "{1, 2}"}),
    ("1;;x", {"b": "false", "s": "1;;x", "a": "[1, null, null]", "as": "[1, , x]", "r": "{1, }"}),
    (";", {"b": "false", "s": ";", "a": "[null, null]", "as": "[, ]", "r": "{null, }"}),
    ('a"b', {"b": "false", "s": 'a"b', "a": "[null]", "as": '[a"b]', "r": "{null, null}"}),
    ("back\\slash", {"b": "false", "s": "back\\slash", "a": "[null]", "as": "[back\\slash]", "r": "{null, null}"}),
]  # fmt: skip


def decoded(spark, lines, columns, options=None, format_=None):
    frame = spark.createDataFrame([(line,) for line in lines], "value STRING").coalesce(1)
    out = (format_ or Csv()).decode(Encoded(frame, "value", "'place'"), tuple(columns.items()), options or {})
    return out.drop("value")


@pytest.mark.spark
def test_coercions(spark, texts):
    lines = [",".join([cell] * len(COLUMNS)) for cell, _ in CASES]
    found = texts(decoded(spark, lines, COLUMNS, {"ignore-parse-errors": "true"}))
    for (cell, expected), row in zip(CASES, found, strict=True):
        assert {c: v for c, v in zip(COLUMNS, row, strict=True) if v is not None} == expected, cell


THREE = {"id": T.INT, "x": T.STRING, "y": T.STRING}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("line", "options", "row"),
    [
        ("1,a,b", {}, ("1", "a", "b")),
        ("2,a", {}, ("2", "a", None)),
        ("4,a,b,c", {}, None),
        ("4,a,b,", {}, ("4", "a", "b")),
        ("", {}, None),
        ("   ", {}, (None, None, None)),
        ("", {"allow-comments": "true"}, None),
        ("#6,a,b", {}, (None, "a", "b")),
        ("#6,a,b", {"allow-comments": "true"}, None),
        ('10,x "a",b', {}, ("10", 'x "a"', "b")),
        (" 11 , a , b ", {}, ("11", " a ", " b ")),
        ('12,NIL,"NIL"', {"null-literal": "NIL"}, ("12", None, None)),
        ("NIL,NIL,", {"null-literal": "NIL"}, (None, None, "")),
        ('12,NIL,"NIL"', {"disable-quote-character": "true"}, ("12", "NIL", '"NIL"')),
        ("13,a\\,b,c", {"quote-character": "'", "escape-character": "\\"}, ("13", "a,b", "c")),
        ("14,'a,b',c", {"quote-character": "'", "escape-character": "\\"}, ("14", "a,b", "c")),
        ("15|a|b", {"field-delimiter": "|"}, ("15", "a", "b")),
        ("15\ta\tb", {"field-delimiter": "\\t"}, ("15", "a", "b")),
        ('5,"multi\nline",b', {}, ("5", "multi\nline", "b")),
    ],
)
def test_shapes(spark, texts, line, options, row):
    found = texts(decoded(spark, [line], THREE, {"ignore-parse-errors": "true", **options}))
    assert found == ([] if row is None else [row])


@pytest.mark.spark
@pytest.mark.parametrize("line", ["2,a", "4,a,b,c", "x,a,b", ",a,b", ""])
def test_bad_line_fails_and_is_named(spark, line):
    for asked in ("id", "1"):
        if asked == "1" and line.count(",") == 2:
            continue  # a cell that no one asks for is not converted
        with pytest.raises(Exception, match="Failed to deserialize CSV") as e:
            decoded(spark, ["1,a,b", line], THREE).selectExpr(asked).collect()
        assert f"<<record {line} record>> (place)" in str(e.value)


@pytest.mark.spark
def test_lines_of_many_cells(spark, texts):
    long = "a," * 30_000
    lines = [f'1,"{long}",b', "," * 50_000, "x" * 30_000 + ",a,b", "2,a,b"]
    assert texts(decoded(spark, lines, THREE, {"ignore-parse-errors": "true"})) == [("1", long, "b"), (None, "a", "b"), ("2", "a", "b")]
    for wrong in lines[1:3]:
        with pytest.raises(Exception, match="Failed to deserialize CSV"):
            decoded(spark, [wrong], THREE).collect()


@pytest.mark.spark
def test_null_literal_in_collections(spark, texts):
    columns = {"i": T.INT, "a": T.array(T.STRING)}
    found = texts(decoded(spark, ["1,NIL;a", "NIL,b"], columns, {"null-literal": "NIL"}))
    assert found == [("1", "[null, a]"), (None, "[b]")]


ENCODED = {
    "b": "true", "i": "3", "d": "1e10D", "de": "CAST(1234.5 AS DECIMAL(10,3))", "c": "'abc  '", "by": "X'00ff10'",
    "da": "DATE'2020-02-03'", "t": "TIME'12:13:14'", "t0": "TIMESTAMP'2020-01-02 03:04:05'", "l": "TIMESTAMP'2020-01-02 02:04:05.123'",
    "a": "array(1, NULL, 3)", "sa": "array('a', NULL)",
}  # fmt: skip
ENCODED_TYPES = {
    "b": T.BOOLEAN, "i": T.INT, "d": T.DOUBLE, "de": T.decimal(10, 3), "c": T.char(5), "by": T.BYTES, "da": T.DATE, "t": T.time(0),
    "t0": T.timestamp(0), "l": T.timestamp_ltz(3), "a": T.array(T.INT), "sa": T.array(T.STRING), "s": T.STRING,
    "r": T.row(("a", "s"), (T.INT, T.STRING)),
}  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize(
    ("text", "options", "line"),
    [
        ("'plain'", {}, 'true,3,1.0E10,1234.5,"abc  ",AP8Q,2020-02-03,12:13:14,"2020-01-02 03:04:05","2020-01-02 02:04:05.123Z",1;;3,a;,plain,1;plain'),
        ("'a \"q\", é'", {}, '...,"a ""q"", é","1;a ""q"", é"'),
        ("''", {}, "...,,1;"),
        ("NULL", {}, "...,,1;"),
        ("'multi\\nline'", {}, '...,"multi\nline","1;multi\nline"'),
        ("'it''s'", {}, '...,"it\'s","1;it\'s"'),
        ("'x|y'", {}, "...,x|y,1;x|y"),
        ("NULL", {"null-literal": "NIL"}, "...,1;NIL;3,a;NIL,NIL,1;NIL"),
        ("'x|y'", {"field-delimiter": "|"}, 'true|3|1.0E10|1234.5|"abc  "|"AP8Q"|"2020-02-03"|"12:13:14"|"2020-01-02 03:04:05"|"2020-01-02 02:04:05.123Z"|"1;;3"|"a;"|"x|y"|"1;x|y"'),
        ("'a \"q\", é'", {"disable-quote-character": "true"}, 'true,3,1.0E10,1234.5,abc  ,AP8Q,2020-02-03,12:13:14,2020-01-02 03:04:05,2020-01-02 02:04:05.123Z,1;;3,a;,a "q", é,1;a "q", é'),
        ("'back\\\\slash'", {"quote-character": "'", "escape-character": "\\"}, "...,'back\\\\slash','1;back\\\\slash'"),
    ],
)  # fmt: skip
def test_encode_as_flink(spark, text, options, line):
    frame = spark.range(1).selectExpr(*[f"{v} AS `{c}`" for c, v in ENCODED.items()], f"CAST({text} AS STRING) AS s")
    frame = frame.selectExpr("*", "named_struct('a', 1, 's', s) AS r")
    found = frame.select(Csv().encode(tuple(ENCODED_TYPES.items()), options, lines=True)).first()[0]
    assert found.endswith(line[3:]) if line.startswith("...") else found == line


@pytest.mark.spark
def test_encoded_nulls(spark):
    frame = spark.range(1).selectExpr(*[f"CAST(NULL AS {t.spark}) AS `{c}`" for c, t in ENCODED_TYPES.items()])
    fields = tuple(ENCODED_TYPES.items())
    assert frame.select(Csv().encode(fields, {})).first()[0] == "," * 13
    assert frame.select(Csv().encode(fields, {"null-literal": "NIL"})).first()[0] == ",".join(["NIL"] * 14)


def test_csv_check():
    for type_ in (T.map_of(T.STRING, T.INT), T.array(T.array(T.INT))):
        with pytest.raises(SqlStreamError):
            Csv().check((("m", type_),), {})
    with pytest.raises(ValidationError, match="disabled quote character"):
        Csv().check((("a", T.INT),), {"quote-character": "'", "disable-quote-character": "true"})
    with pytest.raises(ValidationError, match="single character"):
        Csv().check((("a", T.INT),), {"field-delimiter": "||"})


@pytest.mark.spark
@pytest.mark.parametrize(
    ("type_", "value", "options", "bytes_"),
    [
        (T.STRING, "'é'", {}, "C3A9"),
        (T.STRING, "'é'", {"charset": "ISO-8859-1"}, "E9"),
        (T.STRING, "'é'", {"charset": "UTF-16LE"}, "E900"),
        (T.BYTES, "X'00FF'", {}, "00FF"),
        (T.INT, "1633837924", {}, "61626364"),
        (T.INT, "-2", {}, "FFFFFFFE"),
        (T.INT, "-2", {"endianness": "little-endian"}, "FEFFFFFF"),
        (T.BIGINT, "-9223372036854775808L", {}, "8000000000000000"),
        (T.BIGINT, "258L", {"endianness": "little-endian"}, "0201000000000000"),
        (T.SMALLINT, "CAST(-1 AS SMALLINT)", {}, "FFFF"),
        (T.BOOLEAN, "true", {}, "01"),
    ],
)
def test_raw_both_ways(spark, type_, value, options, bytes_):
    fields = (("x", type_),)
    frame = spark.range(1).selectExpr(f"{value} AS x")
    encoded = frame.select(frame.x.alias("wanted"), Raw().encode(fields, options).alias("value"))
    assert encoded.selectExpr("hex(value)").first()[0] == bytes_
    back = Raw().decode(Encoded(encoded, "value", "'place'"), fields, options)
    assert back.selectExpr("x = wanted").first()[0] is True


@pytest.mark.spark
def test_raw_wrong_size(spark):
    with pytest.raises(Exception, match="Size of data received"):
        decoded(spark, ["abc"], {"x": T.INT}, format_=Raw()).collect()


def test_raw_check():
    with pytest.raises(ValidationError, match="single physical column"):
        Raw().check((("a", T.INT), ("b", T.INT)), {})
    with pytest.raises(ValidationError, match="doesn't supports 'DATE' as column type"):
        Raw().check((("a", T.DATE),), {})
    with pytest.raises(ValidationError, match="charset"):
        Raw().check((("a", T.STRING),), {"charset": "nope"})
