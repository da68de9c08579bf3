"""The formats of change data capture against what real Flink reads and writes."""

from __future__ import annotations

import pytest

from sqlstream.core.changelog import KIND, RowKind
from sqlstream.core.errors import ValidationError
from sqlstream.formats import find_format
from sqlstream.formats.base import Encoded
from sqlstream.sql import types as T

COLUMNS = (("id", T.INT), ("name", T.STRING), ("n", T.INT))

READ = {
    "debezium-json": (
        [
            '{"before":null,"after":{"id":1,"name":"a","n":5},"op":"c","ts_ms":1,"source":{"ts_ms":2,"db":"d"}}',
            '{"before":{"id":1,"name":"a","n":5},"after":{"id":1,"name":"b","n":5},"op":"u"}',
            '{"before":{"id":1,"name":"b","n":5},"after":null,"op":"d"}',
            "",
            None,
            '{"after":{"id":7,"more":[1]},"op":"r"}',
        ],
        ["+I 1 a 5", "-U 1 a 5", "+U 1 b 5", "-D 1 b 5", "+I 7 None None"],
    ),
    "canal-json": (
        [
            '{"data":[{"id":"1","name":"a","n":5},{"id":"2","name":null}],"old":null,"type":"INSERT"}',
            '{"data":[{"id":"1","name":"b","n":5}],"old":[{"name":"a"}],"type":"UPDATE"}',
            '{"data":[{"id":"1","name":"b","n":null}],"old":[{"n":5}],"type":"UPDATE"}',
            '{"data":[{"id":"2","name":"x","n":1}],"old":[{"name":null,"n":null}],"type":"UPDATE"}',
            '{"data":[{"id":"1","name":"c","n":7},{"id":"2","name":"y","n":1}],"old":[{"name":"b","n":null},{"name":"x"}],"type":"UPDATE"}',
            '{"data":[{"id":"1","name":"c","n":7},{"id":"2","name":"y","n":1}],"old":null,"type":"DELETE"}',
            '{"data":null,"old":null,"type":"CREATE"}',
        ],
        ["+I 1 a 5", "+I 2 None None", "-U 1 a 5", "+U 1 b 5", "-U 1 b 5", "+U 1 b None", "-U 2 None None", "+U 2 x 1",
         "-U 1 b None", "+U 1 c 7", "-U 2 x None", "+U 2 y 1", "-D 1 c 7", "-D 2 y 1"],
    ),
    "maxwell-json": (
        [
            '{"database":"d","table":"t","type":"insert","ts":1,"data":{"id":1,"name":"a","n":5}}',
            '{"type":"update","data":{"id":1,"name":"b","n":5},"old":{"name":"a"}}',
            '{"type":"update","data":{"id":1,"name":"b","n":null},"old":{"n":5}}',
            '{"type":"update","data":{"id":1,"name":"b","n":1},"old":{"n":null}}',
            '{"type":"delete","data":{"id":1,"name":"b","n":1}}',
        ],
        ["+I 1 a 5", "-U 1 a 5", "+U 1 b 5", "-U 1 b 5", "+U 1 b None", "-U 1 b None", "+U 1 b 1", "-D 1 b 1"],
    ),
    "ogg-json": (
        [
            '{"table":"OGG.T","op_type":"I","primary_keys":["id"],"after":{"id":1,"name":"a","n":5}}',
            '{"op_type":"U","before":{"id":1,"name":"a","n":5},"after":{"id":1,"name":"b","n":5}}',
            '{"op_type":"D","before":{"id":1,"name":"b","n":5}}',
        ],
        ["+I 1 a 5", "-U 1 a 5", "+U 1 b 5", "-D 1 b 5"],
    ),
}  # fmt: skip

# Broken for Flink; skipped where errors are ignored.
BROKEN = [
    '{"before":null,"after":{"id":1,"name":"a"},"op":"u"}',
    '{"before":null,"after":{"id":1,"name":"a"},"op":"x"}',
    "[1]",
    "5",
    " ",
    '{"after":{"id":1,"name":"a"}}',
    '{"before":{"id":4},"after":null,"op":"u"}',
    '{"op":"d","before":7}',
]


def decoded(spark, name, lines, options=None, properties=()):
    frame = spark.createDataFrame([(line,) for line in lines], "value STRING").coalesce(1)
    return find_format(name).decode(Encoded(frame, "value", "'place'", properties=properties), COLUMNS, options or {}).drop("value")


def rows(frame) -> list[str]:
    kinds = list(RowKind)
    return [" ".join([kinds[row[KIND]].value, *(str(row[c]) for c, _ in COLUMNS)]) for row in frame.collect()]


@pytest.mark.spark
@pytest.mark.parametrize("name", READ)
def test_read(spark, name):
    lines, expected = READ[name]
    assert rows(decoded(spark, name, lines)) == expected


@pytest.mark.spark
def test_broken(spark):
    for line in BROKEN:
        with pytest.raises(Exception, match=r"Corrupt Debezium JSON message <<record .* record>> \(place\)"):
            decoded(spark, "debezium-json", [line]).collect()
    for change, name in (('"op":"u"', "UPDATE"), ('"op":"d"', "DELETE")):
        for wrapped in (False, True):
            line = f'{{"before":null,"after":{{"id":1}},{change}}}'
            options = {"schema-include": "true"} if wrapped else {}
            with pytest.raises(Exception, match=rf'\(place\)\. The "before" field of {name} message is null, .* REPLICA IDENTITY to FULL level\.'):
                decoded(spark, "debezium-json", [f'{{"schema":null,"payload":{line}}}' if wrapped else line], options).collect()
    # A field that can't be read is NULL.
    lines = [*BROKEN, '{"before":{"id":1},"after":{"id":"y","name":"a"},"op":"u"}', '{"before":{"id":4},"after":{"name":{"x": 1}},"op":"u"}']
    found = rows(decoded(spark, "debezium-json", lines, {"ignore-parse-errors": "true"}))
    assert found == ["-U 1 None None", "+U None a None", "-U 4 None None", '+U None {"x":1} None']


@pytest.mark.spark
def test_properties(spark):
    line = '{"after":{"id":1},"op":"c","ts_ms":1500,"source":{"ts_ms":2500,"db":"d","schema":"s","table":"t"}}'
    keys = ("source.table", "ingestion-timestamp", "source.timestamp", "source.database", "source.schema", "source.properties", "schema")

    def found(line, options):
        (row,) = decoded(spark, "debezium-json", [line], options, keys).collect()
        times = [row[k].timestamp() for k in ("ingestion-timestamp", "source.timestamp")]
        return [
            row["id"],
            *times,
            row["source.table"],
            row["source.database"],
            row["source.schema"],
            row["source.properties"]["ts_ms"],
            row["schema"],
        ]

    assert found(line, {}) == [1, 1.5, 2.5, "t", "d", "s", "2500", None]
    wrapped = f'{{"schema":{{"a":1}},"payload":{line}}}'
    assert found(wrapped, {"schema-include": "true"}) == [1, 1.5, 2.5, "t", "d", "s", "2500", '{"a":1}']


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        (
            "canal-json",
            '{"data":[{"id":1}],"type":"INSERT","database":"d","table":"t","sqlType":{"id":4},"pkNames":["id"],"ts":1500,"es":2500}',
            {"database": "d", "table": "t", "sql-type": "{id -> 4}", "pk-names": "[id]", "ingestion-timestamp": "1970-01-01 00:00:01.5",
             "event-timestamp": "1970-01-01 00:00:02.5"},
        ),
        (
            "maxwell-json",
            '{"database":"d","table":"t","type":"insert","ts":1500,"primary_key_columns":["id"],"data":{"id":1}}',
            {"database": "d", "table": "t", "primary-key-columns": "[id]", "ingestion-timestamp": "1970-01-01 00:25:00"},
        ),
        (
            "ogg-json",
            '{"table":"OGG.T","op_type":"I","op_ts":"2020-05-13 15:40:06.123456","current_ts":"2020-05-13T15:40:07.5","after":{"id":3}}',
            {"table": "OGG.T", "primary-keys": None, "ingestion-timestamp": "2020-05-13 15:40:07.5", "event-timestamp": "2020-05-13 15:40:06.123"},
        ),
    ],
)  # fmt: skip
def test_properties_of_others(spark, name, line, expected):
    assert [p.key for p in find_format(name).properties] == list(expected)
    frame = decoded(spark, name, [line], {}, tuple(expected))
    assert frame.selectExpr(*[f"CAST(`{key}` AS STRING)" for key in expected]).first() == tuple(expected.values())


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "comes", "goes"),
    [
        ("debezium-json", '{"before":null,"after":%s,"op":"c"}', '{"before":%s,"after":null,"op":"d"}'),
        ("canal-json", '{"data":[%s],"type":"INSERT"}', '{"data":[%s],"type":"DELETE"}'),
        ("maxwell-json", '{"data":%s,"type":"insert"}', '{"data":%s,"type":"delete"}'),
        ("ogg-json", '{"before":null,"after":%s,"op_type":"I"}', '{"before":%s,"after":null,"op_type":"D"}'),
    ],
)
def test_written(spark, name, comes, goes):
    fields = (("id", T.INT), ("s", T.STRING), ("d", T.decimal(10, 2)), ("l", T.timestamp_ltz(3)))
    frame = spark.sql(f"SELECT 3 AS id, CAST(NULL AS STRING) AS s, 100000BD AS d, TIMESTAMP'2020-01-02 03:04:05.5' AS l, {KIND} "
                      f"FROM VALUES (0Y), (1Y), (2Y), (3Y) AS k({KIND})").coalesce(1)  # fmt: skip
    frame = frame.selectExpr("id", "s", "CAST(d AS DECIMAL(10, 2)) AS d", "l", KIND)

    def written(options):
        return [r[0] for r in frame.select(find_format(name).encode(fields, options)).collect()]

    row = '{"id":3,"s":null,"d":1E+5,"l":"2020-01-02 03:04:05.5Z"}'
    assert written({}) == [comes % row, goes % row, comes % row, goes % row]
    short = '{"id":3,"d":100000.00,"l":"2020-01-02T03:04:05.5Z"}'
    comes, goes = (text.replace('"before":null,', "").replace('"after":null,', "") % short for text in (comes, goes))
    options = {"encode.ignore-null-fields": "true", "timestamp-format.standard": "ISO-8601", "encode.decimal-as-plain-number": "true"}
    assert written(options) == [comes, goes, comes, goes]


def test_refused():
    with pytest.raises(ValidationError, match="serialization doesn't support 'debezium-json.schema-include'"):
        find_format("debezium-json").encode(COLUMNS, {"schema-include": "true"})
