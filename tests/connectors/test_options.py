"""Options of every connector and format, checked without a JVM."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sqlstream import formats
from sqlstream.connectors import CONNECTORS, REFUSED, doubts, find_connector, lasting_options
from sqlstream.connectors.jdbc.dialects import dialect
from sqlstream.connectors.kafka.offsets import parse_specific
from sqlstream.connectors.paths import resolve
from sqlstream.core.errors import NotSupported, SqlStreamError, ValidationError
from sqlstream.core.options import Option, OptionKind, Role, Support
from sqlstream.core.options import parse_value as parse_option
from sqlstream.core.secrets import is_secret
from sqlstream.sql import types as T

KAFKA = {"connector": "kafka", "topic": "t", "properties.bootstrap.servers": "b:9092", "format": "json"}
FILES = {"connector": "filesystem", "path": "p", "format": "json"}
DELTA = {"connector": "delta", "table-path": "d"}
JDBC = {"connector": "jdbc", "url": "jdbc:postgresql://h:1/d", "table-name": "t"}


@pytest.fixture
def check(make_table):
    def run(base, more=None, columns=(("i", T.INT), ("k", T.STRING)), **rest):
        options = {k: v for k, v in {**base, **(more or {})}.items() if v is not None}
        return find_connector(options["connector"]).check(make_table(columns, options, **rest))

    return run


def test_no_jvm():
    code = "import sys, sqlstream.connectors; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_find():
    assert [c.name for c in CONNECTORS.builtin] == sorted(c.name for c in CONNECTORS.builtin)
    with pytest.raises(ValidationError, match="There is no connector 'kafak'") as e:
        find_connector("kafak", at=7)
    assert ", ".join(CONNECTORS.names()) in e.value.message
    assert e.value.hint == "Did you mean 'kafka'?"
    assert e.value.offset == 7
    for name in REFUSED:
        with pytest.raises(NotSupported, match=name):
            find_connector(name)
    with pytest.raises(ValidationError, match="connector"):
        find_connector("")
    with pytest.raises(ValidationError, match="There is no format 'jsn'"):
        formats.find_format("jsn")
    for name in formats.REFUSED:
        with pytest.raises(NotSupported, match=name):
            formats.find_format(name)


PLACED = {"kafka": KAFKA, "upsert-kafka": KAFKA, "filesystem": FILES, "delta": DELTA, "jdbc": JDBC}


@pytest.mark.parametrize("connector", CONNECTORS.builtin, ids=lambda c: c.name)
def test_places_are_by_the_options_that_are_declared_so(connector, make_table):
    """Offsets belong to places: every option of every connector and format is changed, one by one."""
    base = {**PLACED.get(connector.name, {}), "connector": connector.name}
    before = make_table((("i", T.INT),), base)
    of_formats = [option for format_ in formats.FORMATS.builtin for option in formats.table_options(format_)]
    for option in (*connector.options, *of_formats):
        key = option.key.replace("#", "f").replace("*", "x")
        edited = make_table((("i", T.INT),), {**base, key: "5"})
        is_place = option in connector.options and option.role is Role.PLACE
        assert (connector.places(edited) != connector.places(before)) == is_place, key
        lasts = option.role is not Role.TUNING and option.use is not Support.NOTICE and not is_secret(key)
        assert option not in connector.options or (lasting_options(edited) != lasting_options(before)) == lasts, key


@pytest.mark.parametrize("connector", CONNECTORS.builtin, ids=lambda c: c.name)
def test_declarations(connector):
    keys = [o.key for o in connector.options]
    assert len(set(keys)) == len(keys)
    for option in connector.options:
        assert option.why if option.use is not Support.HONOURED else option.summary, option.key
    assert connector.is_source or connector.is_sink


@pytest.mark.parametrize("base", [KAFKA, FILES, DELTA, {"connector": "print"}, {"connector": "blackhole"}, {"connector": "datagen"}])
def test_good_and_misspelt(check, base):
    assert check(base) == []
    with pytest.raises(ValidationError, match="Unsupported options"):
        check(base, {"nonsense": "1"})


def test_misspelt_names_the_nearest_and_all(check):
    with pytest.raises(ValidationError) as e:
        check(KAFKA, {"scan.startup.mod": "earliest-offset", "properties.sasl.jaas.config": "user password=hunter2"})
    assert e.value.hint == "Did you mean 'scan.startup.mode'?"
    for known in ("scan.bounded.mode", "json.ignore-parse-errors", "key.fields"):
        assert known in e.value.message
    assert "hunter2" not in e.value.message


@pytest.mark.parametrize(
    ("base", "more", "message"),
    [
        (KAFKA, {"topic": None}, "Either 'topic' or 'topic-pattern' must be set"),
        (KAFKA, {"topic-pattern": "x"}, "shouldn't be set together"),
        (KAFKA, {"properties.bootstrap.servers": None}, "properties.bootstrap.servers"),
        (KAFKA, {"format": None}, "format"),
        (KAFKA, {"format": "parquet"}, "is for files"),
        (KAFKA, {"json.ignore-parse-errors": "perhaps"}, "neither true nor false"),
        (KAFKA, {"csv.null-literal": "x"}, "Unsupported options"),
        (KAFKA, {"key.format": "json"}, "requires the declaration of one or more of key fields"),
        (KAFKA, {"key.fields": "k"}, "can only be declared if a key format"),
        (KAFKA, {"key.format": "json", "key.fields": "nope"}, "Could not find the field 'nope'"),
        (KAFKA, {"key.format": "json", "key.fields": "k", "key.fields-prefix": "x_", "value.fields-include": "EXCEPT_KEY"}, "must be prefixed"),
        (KAFKA, {"key.format": "json", "key.fields": "k", "key.fields-prefix": "k"}, "key prefix is not allowed"),
        (KAFKA, {"scan.startup.mode": "earliest"}, "'earliest' is not one of"),
        (KAFKA, {"scan.startup.mode": "timestamp"}, "scan.startup.timestamp-millis"),
        (KAFKA, {"scan.startup.mode": "specific-offsets"}, "scan.startup.specific-offsets"),
        (KAFKA, {"scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": "0:42"}, "partition:0,offset:42"),
        (KAFKA, {"scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": "x"}, "partition:0,offset:42"),
        (KAFKA, {"scan.bounded.mode": "group-offsets"}, "Property group.id is required"),
        (KAFKA, {"sink.partitioner": "org.example.Mine"}, "can't name a class"),
        (KAFKA, {"sink.partitioner": "round-robin", "key.format": "json", "key.fields": "k"}, "only works when option 'key.fields' is not specified"),
        (KAFKA, {"sink.semantic": "exactly-once"}, "'sink.semantic' of 'kafka' is not supported"),
        (KAFKA, {"sink.delivery-guarantee": "exactly-once"}, "sink.transactional-id-prefix must be specified when using DeliveryGuarantee.EXACTLY_ONCE."),
        (FILES, {"path": None}, "path"),
        (FILES, {"format": None}, "format"),
        (FILES, {"format": "avro-glue"}, "Format 'avro-glue' is not supported"),
        (FILES, {"partition.time-extractor.kind": "custom"}, "not one of default"),
        (FILES, {"partition.time-extractor.class": "a.B"}, "is not supported"),
        (FILES, {"sink.partition-commit.watermark-time-zone": "Mars"}, "not a time zone"),
        (FILES, {"sink.partition-commit.delay": "1 h"}, "must be 0 s"),
        (FILES, {"sink.partition-commit.policy.kind": "metastore"}, "success-file"),
        (FILES, {"source.path.regex-pattern": "("}, "regex-pattern"),
        (FILES, {"format": "parquet", "parquet.no.such": "1"}, "is not supported"),
        (FILES, {"format": "parquet", "parquet.write.int64.timestamp": "true", "parquet.timestamp.time.unit": "nanos"}, "can't be 'nanos'"),
        (FILES, {"format": "parquet", "parquet.compression": "zip"}, "not one of"),
        (FILES, {"format": "avro", "avro.encoding": "json"}, "avro.encoding"),
        (KAFKA, {"format": "avro", "avro.codec": "null"}, "avro.codec"),
        (DELTA, {"table-path": None}, "table-path"),
        (DELTA, {"versionAsOf": "1", "timestampAsOf": "2020-01-01"}, "are mutually exclusive"),
        (DELTA, {"versionAsOf": "1", "mode": "streaming"}, "belongs to 'mode' = 'batch'"),
        (DELTA, {"startingVersion": "1"}, "belongs to 'mode' = 'streaming'"),
    ],
)  # fmt: skip
def test_refused(check, base, more, message):
    with pytest.raises(SqlStreamError) as e:
        check(base, more)
    assert message in e.value.message


@pytest.mark.parametrize(
    ("base", "more"),
    [
        (KAFKA, {"scan.parallelism": "4"}),
        (FILES, {"sink.rolling-policy.file-size": "1MB"}),
        (FILES, {"auto-compaction": "true"}),
        (DELTA, {"mode": "streaming", "updateCheckIntervalMillis": "10"}),
    ],
)
def test_notices(check, base, more):
    (notice,) = check(base, more)
    assert f"'{next(reversed(more))}'" in notice


@pytest.mark.parametrize(
    ("base", "more"),
    [
        (KAFKA, {"properties.security.protocol": "SASL_SSL", "properties.sasl.jaas.config": "x"}),
        (KAFKA, {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "x"}),
        (KAFKA, {"format": None, "value.format": "csv", "value.csv.field-delimiter": "|", "key.format": "raw", "key.fields": "k",
                 "key.raw.charset": "UTF-8"}),
        (KAFKA, {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "1"}),
        (KAFKA, {"format": "raw", "value.fields-include": "EXCEPT_KEY", "key.format": "raw", "key.fields": "k"}),
        (FILES, {"source.monitor-interval": "1 s", "sink.partition-commit.policy.kind": "success-file"}),
        (FILES, {"sink.partition-commit.trigger": "partition-time", "sink.partition-commit.delay": "1 h", "sink.partition-commit.policy.kind": "success-file",
                 "sink.partition-commit.watermark-time-zone": "Europe/Prague", "partition.time-extractor.kind": "default",
                 "partition.time-extractor.timestamp-pattern": "$dt", "partition.time-extractor.timestamp-formatter": "yyyyMMdd"}),
        (DELTA, {"delta.appendOnly": "true"}),
        (DELTA, {"mode": "streaming", "startingVersion": "3", "ignoreDeletes": "true"}),
    ],
)  # fmt: skip
def test_accepted(check, base, more):
    assert check(base, more) == []


def test_metadata_keys(check):
    for base in (KAFKA, FILES):
        with pytest.raises(ValidationError, match="Invalid metadata key 'nosuch' in column 'm'"):
            check(base, metadata=[("m", T.STRING, "nosuch")])
    for key in ("leader-epoch", "header-list"):
        with pytest.raises(NotSupported, match=key):
            check(KAFKA, metadata=[("m", T.STRING, key)])


def test_partition_columns(check):
    for base in (FILES, DELTA):
        assert check(base, partition_keys=("k",)) == []
        with pytest.raises(ValidationError, match="Partition column 'x' not defined"):
            check(base, partition_keys=("x",))


def test_bounded(make_table):
    def table(base, **more):
        return make_table([("i", T.INT)], {**base, **{k.replace("_", "."): v for k, v in more.items()}})

    kafka, files, delta = find_connector("kafka"), find_connector("filesystem"), find_connector("delta")
    assert not kafka.bounded(table(KAFKA))
    assert kafka.bounded(table(KAFKA, scan_bounded_mode="latest-offset")) and not kafka.static(table(KAFKA))
    assert files.bounded(table(FILES)) and files.static(table(FILES))
    assert not files.bounded(make_table([("i", T.INT)], {**FILES, "source.monitor-interval": "1 s"}))
    assert delta.static(table(DELTA)) and not delta.static(table(DELTA, mode="streaming"))


def test_specific_offsets():
    assert parse_specific("partition:0,offset:42; partition:1,offset:300;") == {0: 42, 1: 300}
    with pytest.raises(ValueError, match="partition:0,offset:42"):
        parse_specific("partition:0")
    for text in (f"partition:0,offset:{2**63}", f"partition:{'9' * 5000},offset:1"):
        with pytest.raises(ValueError, match="is not a whole number"):
            parse_specific(text)


def test_paths(tmp_path):
    assert resolve("a/b", tmp_path) == str(tmp_path / "a" / "b")
    assert resolve("/a/b", tmp_path) == "/a/b"
    for uri in ("s3a://bucket/x", "file:///x", "hdfs://h:1/x", "file:/x"):
        assert resolve(uri, tmp_path) == uri
    for flinks in ("s3://bucket/s3://x", "s3p://bucket/s3://x"):
        assert resolve(flinks, tmp_path) == "s3a://bucket/s3://x"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"url": None}, "Missing required options are:\n\nurl"),
        ({"url": "jdbc:nosuch:x"}, "There is no dialect for the url 'jdbc:nosuch:x'"),
        ({"url": "jdbc:oracle:x"}, "The database of 'oracle' is not supported"),
        ({"scan.partition.num": "2"}, "Either all or none of the following options should be provided:\nscan.partition.column"),
        ({"scan.partition.column": "i", "scan.partition.num": "2", "scan.partition.lower-bound": "9", "scan.partition.upper-bound": "1"},
         "'scan.partition.lower-bound'='9' must not be larger than 'scan.partition.upper-bound'='1'"),
        ({"lookup.max-retries": "-1"}, "The value of 'lookup.max-retries' option shouldn't be negative, but is -1"),
        ({"lookup.cache": "FULL"}, "'FULL' is not one of none, partial"),
        ({"password": "secret", "sink.max-retries": "x"}, "Invalid value for option 'sink.max-retries'"),
    ],
)  # fmt: skip
def test_jdbc_options(check, more, message):
    with pytest.raises(SqlStreamError) as e:
        check(JDBC, more)
    assert message in e.value.message


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("properties.bootstrap.server", "Did you mean 'properties.bootstrap.servers' where you wrote 'properties.bootstrap.server'?"),
        ("properties.group.id", "Comma-separated brokers, host:port."),
    ],
)
def test_a_required_option_that_a_pattern_takes_is_misspelt(check, key, hint):
    with pytest.raises(SqlStreamError) as e:
        check({"connector": "kafka", "topic": "t", "format": "json"}, {key: "x"})
    assert "Missing required options are:\n\nproperties.bootstrap.servers" in e.value.message and e.value.hint == hint


def test_jdbc_types_and_notices(check):
    assert check(JDBC, {"scan.auto-commit": "false", "properties.ssl": "true"}) == [
        "Option 'scan.auto-commit' of 'jdbc' has no effect: it is set as reading in parts needs it"
    ]
    with pytest.raises(NotSupported, match="can't carry type ARRAY"):
        check(JDBC, columns=(("a", T.array(T.INT)),))


def test_jdbc_statements():
    postgres, mysql = (dialect(f"jdbc:{name}://h/d") for name in ("postgresql", "mysql"))
    assert postgres.upsert("s.t", ["k", 'a"b'], ["k"]) == (
        'INSERT INTO s.t ("k", "a""b") VALUES (?, ?) ON CONFLICT ("k") DO UPDATE SET "a""b" = EXCLUDED."a""b"'
    )
    assert postgres.upsert("t", ["k"], ["k"]).endswith('ON CONFLICT ("k") DO NOTHING')
    assert postgres.delete("t", ["k", "l"]) == 'DELETE FROM t WHERE "k" = ? AND "l" = ?'
    assert mysql.upsert("my t", ["k", "v"], ["k"]) == "INSERT INTO `my t` (`k`, `v`) VALUES (?, ?) ON DUPLICATE KEY UPDATE `v` = VALUES(`v`)"


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (OptionKind.INT, "x", "'x' is not a whole number"),
        (OptionKind.LONG, "1_000", "'1_000' is not a whole number"),
        (OptionKind.LONG, "٣", "'٣' is not a whole number"),
        (OptionKind.INT, "2147483648", "'2147483648' is not a whole number of 32 bits"),
        (OptionKind.LONG, "-9223372036854775809", "is not a whole number of 64 bits"),
        (OptionKind.LONG, "9" * 5000, "is not a whole number"),
        (OptionKind.INT, "1e3", "'1e3' is not a whole number"),
        (OptionKind.DURATION, f"{'9' * 5000} d", "does not fit into 64 bits"),
        (OptionKind.DURATION, f"{2**63} ms", "does not fit into 64 bits"),
        (OptionKind.MEMORY, f"{'9' * 5000} mb", "does not fit into 64 bits"),
        (OptionKind.DOUBLE, "nan", "'nan' is not a number"),
        (OptionKind.DOUBLE, "", "'' is not a number"),
    ],
)
def test_what_is_no_number_is_told_in_words(kind, text, message):
    with pytest.raises(ValueError, match=message):
        parse_option(Option("n", kind), text)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (OptionKind.INT, " -2147483648", -(2**31)),
        (OptionKind.LONG, "+5", 5),
        (OptionKind.DURATION, f"{'0' * 5000}1 s", 1000),
        (OptionKind.DOUBLE, "1.5e-3", 0.0015),
    ],
)
def test_numbers(kind, text, value):
    assert parse_option(Option("n", kind), text) == value


def test_of_both_formats_of_a_value_the_one_without_prefix_counts(check):
    assert check(KAFKA, {"value.format": "csv", "json.ignore-parse-errors": "true"}) == []
    with pytest.raises(ValidationError, match="Unsupported options"):
        check(KAFKA, {"value.format": "csv", "value.csv.field-delimiter": ";"})


def test_what_is_promised_less_is_in_one_place():
    text = (Path(__file__).parents[2] / "docs" / "differences.md").read_text()
    listed = text.partition("## What is promised less")[2].partition("\n## ")[0]
    rows = [*(o for c in CONNECTORS.builtin for o in c.options), *(o for f in formats.FORMATS.builtin for o in f.options)]
    missing = {o.key for o in rows if o.unmet and o.key not in listed}
    assert not missing and sum(bool(o.unmet) for o in rows) > 4


@pytest.mark.parametrize(
    "declared",
    [
        ({"connector": "kafak"}, "There is no connector 'kafak'. Did you mean 'kafka'?"),
        ({"conector": "kafka"}, "'conector' is no option. Did you mean 'connector'?"),
        ({"connector": "kafka", "properties.bootstrap.servers": "b:1", "topic": "t", "format": "json"},),
        (
            {"connector": "kafka", "topik": "t"},
            "'topik' is no option of connector 'kafka'. Did you mean 'topic'?",
            "The option 'properties.bootstrap.servers' of connector 'kafka' is missing.",
        ),
        ({"connector": "datagen", "rows-per-second": "many"}, "Invalid value for option 'rows-per-second': 'many' is not a whole number."),
        ({"connector": "kafka", "format": "jsn"}, "There is no format 'jsn' for 'format'. Did you mean 'json'?"),
        ({"connector": "kafka", "format": "avro-glue"}, "Format 'avro-glue' for 'format' is not supported: a query of the table will be refused."),
        ({"connector": "paimon"}, "Connector 'paimon' is not supported: a query of the table will be refused. Use 'delta'."),
        ({"connector": "faker"},),
        ({"connector": "of-our-own"},),
        ({"path": "p"},),
        ({},),
    ],
)
def test_what_is_misspelt_in_a_declaration_is_told_at_once(declared):
    options, *said = declared
    assert list(doubts(options)) == said
