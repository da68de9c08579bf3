"""PEEK and INFER: records read without a JVM, and tables told from them."""

import json
import struct

import pytest

from sqlstream.connectors.kafka.client import KafkaClient
from sqlstream.core.depth import deeply
from sqlstream.core.errors import SetupError, ValidationError
from sqlstream.session import raw_topics, results
from sqlstream.session.inference import create_table
from tests.support.kafka_mock import MockKafka
from tests.support.registry import registry
from tests.support.sessions import open_session

DAY = 1_767_225_600_000
BROKERS = {"properties.bootstrap.servers": "b:1"}


@pytest.fixture
def kafka():
    return MockKafka()


def record(i):
    return DAY + i, f"k{i}".encode(), b'{"n": %d}' % i


def test_peek(kafka, tmp_path, monkeypatch):
    kafka.produce("t", (DAY, None, b"\xff\x00"), (DAY + 1500, b"k", "é\n".encode()), record(2000))
    monkeypatch.setenv("KAFKA_BOOTSTRAP", kafka.bootstrap)
    (found,) = open_session(tmp_path).run("PEEK 't'")
    assert [c.name for c in found.columns] == ["partition", "offset", "timestamp", "key", "value"]
    assert found.rows == (
        ("0", "0", "2026-01-01 00:00:00.000Z", None, "x'ff00'"),
        ("0", "1", "2026-01-01 00:00:01.500Z", "k", "é\\n"),
        ("0", "2", "2026-01-01 00:00:02.000Z", "k2000", '{"n": 2000}'),
    )
    (found,) = open_session(tmp_path).run("PEEK 't' LIMIT 1")
    assert len(found.rows) == 1


def test_which_brokers(tmp_path, monkeypatch):
    monkeypatch.delenv("KAFKA_BOOTSTRAP", raising=False)
    one = open_session(tmp_path)

    def brokers(topic="t"):
        found = raw_topics.brokers(one.context.catalog, one.options, tmp_path, topic)
        return found.properties["bootstrap.servers"], found.options["properties.bootstrap.servers"]

    with pytest.raises(SetupError, match="No Kafka broker is known"):
        brokers()
    (tmp_path / ".sqlstream" / "kafka").mkdir(parents=True)
    (tmp_path / ".sqlstream" / "kafka" / "settings.json").write_text('{"port": 1234}')
    assert brokers() == ("127.0.0.1:1234", "127.0.0.1:1234")
    monkeypatch.setenv("KAFKA_BOOTSTRAP", "env:1")
    assert brokers() == ("env:1", "${env:KAFKA_BOOTSTRAP}")
    list(one.run("SET 'kafka.bootstrap.servers' = 'set:1'"))
    assert brokers() == ("set:1", "set:1")
    table = "CREATE TABLE {} (a INT) WITH ('connector' = 'kafka', 'topic' = '{}', 'properties.bootstrap.servers' = '{}', 'format' = 'json'{})"
    list(one.run(table.format("a", "t", "${env:KAFKA_BOOTSTRAP}", "")))
    assert brokers() == ("env:1", "${env:KAFKA_BOOTSTRAP}")


SECURED = """CREATE TABLE a (a INT) WITH ('connector' = 'kafka', 'topic' = 'one;two', 'properties.bootstrap.servers' = '${env:KAFKA_BOOTSTRAP}',
  'properties.security.protocol' = 'SASL_SSL', 'properties.sasl.mechanism' = 'PLAIN', 'properties.group.id' = 'g', 'format' = 'json',
  'properties.sasl.jaas.config' = 'o.PlainLoginModule required username="u" password="${env:KAFKA_PASSWORD}";')"""


def test_a_table_tells_how_to_log_in(tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKA_BOOTSTRAP", "env:1")
    monkeypatch.delenv("KAFKA_PASSWORD", raising=False)
    one = open_session(tmp_path)
    list(one.run(SECURED))
    assert raw_topics.known_properties({"properties.bootstrap.servers": "other:1"}, one.context.catalog, {}, tmp_path) == {
        "bootstrap.servers": "other:1"
    }
    with pytest.raises(ValidationError, match="KAFKA_PASSWORD, which is not set"):
        raw_topics.brokers(one.context.catalog, one.options, tmp_path, "two")
    monkeypatch.setenv("KAFKA_PASSWORD", "p")
    properties = {
        "bootstrap.servers": "env:1", "security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": 'o.PlainLoginModule required username="u" password="p";',
    }  # fmt: skip
    found = raw_topics.brokers(one.context.catalog, one.options, tmp_path, "two")
    assert found.properties == properties
    assert found.options["properties.sasl.jaas.config"].endswith('password="${env:KAFKA_PASSWORD}";')
    # A topic without a table, at the same brokers.
    assert raw_topics.brokers(one.context.catalog, one.options, tmp_path, "three").properties == properties
    for given in ({}, {"properties.bootstrap.servers": "env:1"}):
        assert raw_topics.known_properties(given, one.context.catalog, {}, tmp_path) == properties
    assert raw_topics.client_of_table("a", one.context.catalog).properties == properties
    list(one.run("SET 'kafka.bootstrap.servers' = 'set:1'"))
    assert raw_topics.brokers(one.context.catalog, one.options, tmp_path, "three").properties == {"bootstrap.servers": "set:1"}


def test_infer_shows_no_secret(kafka, tmp_path, monkeypatch):
    kafka.produce("t", record(1))
    monkeypatch.setenv("KAFKA_BOOTSTRAP", kafka.bootstrap)
    one = open_session(tmp_path)
    list(one.run(SECURED.replace("SASL_SSL", "PLAINTEXT").replace("${env:KAFKA_PASSWORD}", "hunter2").replace("one;two", "t")))
    (shown,) = one.run("INFER TABLE FROM 't'")
    assert "'properties.security.protocol' = 'PLAINTEXT'" in shown.lines and "sasl.jaas.config" in shown.lines and "hunter2" not in shown.lines


def inferred(*values):
    return create_table("t", "t", BROKERS, [v if isinstance(v, bytes | None) else json.dumps(v).encode() for v in values])


def columns(*values):
    body = inferred(*values).split("\n) WITH")[0]
    return [line.strip().rstrip(",") for line in body.splitlines()[1:]]


def test_types_of_json():
    assert columns(
        {"a": 1, "b": 3_000_000_000, "c": 1.5, "d": True, "e": "x", "f": None, "order": "2026-01-01", "it's": 1},
        {"a": 2, "b": 1, "c": 2, "d": False, "e": "2026-01-01", "g": [1, 2.5], "h": {"x": 1, "y": {"z": []}}},
        None,
    ) == [
        "a INT", "b BIGINT", "c DOUBLE", "d BOOLEAN", "e STRING", "f STRING", "`order` DATE", "`it's` INT", "g ARRAY<DOUBLE>",
        "h ROW<x INT, y ROW<z ARRAY<STRING>>>",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "column", "option"),
    [
        ("2026-01-01 10:00:00", "2026-01-01 10:00:00.123", "TIMESTAMP(3)", None),
        ("2026-01-01 10:00:00Z", "2026-01-01 10:00:00.123Z", "TIMESTAMP_LTZ(3)", None),
        ("2026-01-01T10:00:00", "2026-01-01T10:00:00.1", "TIMESTAMP(3)", "ISO-8601"),
        ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00.1Z", "TIMESTAMP_LTZ(3)", "ISO-8601"),
        ("2026-01-01T10:00:00Z", "2026-01-01 10:00:00Z", None, "ISO-8601"),
        ("2026-01-01 10:00:00", "soon", None, None),
    ],
)
def test_times_of_json(first, second, column, option):
    text = inferred({"n": {"at": first}, "at": first}, {"at": second})
    assert ("WATERMARK FOR `at` AS `at` - INTERVAL '5' SECOND" in text) is (column is not None), text
    assert f"`at` {column or 'STRING'}" in text
    assert ("'json.timestamp-format.standard' = 'ISO-8601'" in text) is (option is not None)


def test_milliseconds_are_a_time_by_their_name():
    assert columns({"n": DAY, "eventTime": DAY}) == [
        "n BIGINT", "eventTime BIGINT", "eventTime_ltz AS TO_TIMESTAMP_LTZ(eventTime, 3)",
        "WATERMARK FOR eventTime_ltz AS eventTime_ltz - INTERVAL '5' SECOND",
    ]  # fmt: skip
    assert columns({"time": 5}) == ["`time` INT"]


def test_lines_that_are_no_json():
    assert columns(b'a,1,1.5,"x, y",2026-01-01 10:00:00', b"b,2,2.5,z,") == ["f0 STRING", "f1 BIGINT", "f2 DOUBLE", "f3 STRING", "f4 TIMESTAMP(3)"]
    assert columns(b"a,b", b"c") == columns(b"hello") == columns(b"\xff\x00,1") == columns([1, 2]) == ["line STRING"]


def test_infer_shows_and_saves(kafka, tmp_path, monkeypatch):
    kafka.produce("seen", record(0), record(1))
    kafka.produce("empty")
    monkeypatch.setenv("KAFKA_BOOTSTRAP", kafka.bootstrap)
    one = open_session(tmp_path)
    (shown,) = one.run("INFER TABLE FROM 'seen'")
    assert shown.lines.startswith("CREATE TABLE `seen` (\n  n INT\n) WITH (")
    assert not (tmp_path / "catalog").exists()
    shown, done = one.run("INFER TABLE s FROM 'seen' SAVE")
    assert done.notices == ("Saved catalog/s.sql",)
    assert "${env:KAFKA_BOOTSTRAP}" in (tmp_path / "catalog" / "s.sql").read_text()
    again = open_session(tmp_path)
    assert next(iter(again.run("DESCRIBE s"))).rows[0][:2] == ("n", "INT")
    with pytest.raises(ValidationError, match="no records to infer a table from"):
        list(one.run("INFER TABLE FROM 'empty'"))


def test_infer_asks_in_a_terminal(kafka, tmp_path, monkeypatch):
    kafka.produce("seen", record(0))
    monkeypatch.setenv("KAFKA_BOOTSTRAP", kafka.bootstrap)
    for answer in (False, True):
        asked = []
        one = open_session(tmp_path, interactive=True, ask=lambda question, _: asked.append(question) or answer)  # noqa: B023
        _, then = one.run("INFER TABLE FROM 'seen'")
        assert isinstance(then, results.Done if answer else results.Declined)
        assert asked == ["Save it to the project's catalog?"]
        assert (tmp_path / "catalog" / "seen.sql").exists() is answer


@pytest.mark.kafka
def test_a_real_broker(broker, tmp_path, monkeypatch):
    topic = f"peeked-{tmp_path.name.replace('_', '-')}"
    broker.broker.create_topic(topic, 2)
    lines = [f'k{i % 7}\t{{"n": {i}, "at": "2026-01-01 10:00:{i % 60:02d}", "text": "{"abc" * (i % 50)}"}}' for i in range(1000)]
    assert broker.broker.produce(topic, lines, "\t") == 1000
    monkeypatch.setenv("KAFKA_BOOTSTRAP", broker.bootstrap)
    found = KafkaClient({"bootstrap.servers": broker.bootstrap}).latest(topic, 5000)
    assert sorted(json.loads(r.value)["n"] for r in found) == list(range(1000))
    assert {r.key for r in found} == {f"k{i}".encode() for i in range(7)}
    one = open_session(tmp_path)
    (peeked,) = one.run(f"PEEK '{topic}' LIMIT 3")
    assert len(peeked.rows) == 3
    (shown,) = one.run(f"INFER TABLE x FROM '{topic}'")
    assert "n INT,\n  `at` TIMESTAMP(3),\n  text STRING,\n  WATERMARK FOR `at`" in shown.lines


@pytest.mark.parametrize("nested", ['{"a":' * 50_000 + "1" + "}" * 50_000, '{"a":' + "[" * 50_000 + "]" * 50_000 + "}"])
def test_what_a_record_has_in_its_depths_is_text(nested):
    proposed = deeply(lambda: create_table("t", "topic", BROKERS, [nested.encode()]))
    assert proposed.count("ROW<") + proposed.count("ARRAY<") == 99 and "STRING>>" in proposed


def test_some_records_that_are_no_json_are_told_of():
    assert inferred({"a": 1}, {"a": 2}, b"\xff\x00 broken") == (
        "-- 1 of 3 records are no JSON objects.\n-- 'json.ignore-parse-errors' = 'true' leaves such records out.\n" + inferred({"a": 1}, {"a": 2})
    )
    # As many are no reason to believe that the others are what is meant.
    assert "line STRING" in inferred({"a": 1}, b"[1]")


ORDER = {"type": "record", "name": "Order", "fields": [
    {"name": "id", "type": "int"}, {"name": "from", "type": ["null", "string"], "default": None},
    {"name": "made", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
    {"name": "place", "type": "Place"},
]}  # fmt: skip
PLACE = {"type": "record", "name": "Place", "fields": [{"name": "city", "type": "string"}]}


@pytest.fixture
def schemas():
    with registry(user="me:secret") as running:
        yield running


def told_by_infer(session, statement="INFER TABLE FROM 't'") -> str:
    return "\n".join(outcome.lines for outcome in session.run(statement) if isinstance(outcome, results.Text))


def test_infer_asks_the_registry(kafka, tmp_path, monkeypatch, schemas):
    monkeypatch.setenv("KAFKA_BOOTSTRAP", kafka.bootstrap)
    schemas.add("place", PLACE)
    number = schemas.add("t-value", ORDER, references=(("Place", "place", 1),))
    kafka.produce("t", (DAY, None, struct.pack(">bi", 0, number) + b"\x02"))
    session = open_session(tmp_path)
    assert told_by_infer(session).startswith(
        "-- The records begin with the number of a schema. To get its columns, name the schema registry, and write this again:\n"
        "-- SET 'schema-registry.url' = 'http://host:8081';\nCREATE TABLE `t` (\n  record BYTES\n)"
    )
    list(session.run(f"SET 'schema-registry.url' = '{schemas.url}'"))
    with pytest.raises(SetupError, match="does not answer: HTTP Error 401"):
        told_by_infer(session)
    list(session.run(f"SET 'schema-registry.url' = '{schemas.url.replace('//', '//me:secret@')}'"))
    columns = (
        "  id INT NOT NULL,\n  `from` STRING,\n  made BIGINT NOT NULL,\n  `at` TIMESTAMP(3),\n  place ROW<`city` STRING NOT NULL> NOT NULL,\n"
        "  WATERMARK FOR `at` AS `at` - INTERVAL '5' SECOND\n"
    )
    told = told_by_infer(session)
    assert f"CREATE TABLE `t` (\n{columns}) WITH (" in told
    assert "'format' = 'avro-confluent',\n  'avro-confluent.url' = 'http://*" in told
    assert "secret" not in told
    list(session.run("INFER TABLE FROM 't' SAVE"))
    # What it says is a table, and its registry is that of other topics.
    list(session.run("RESET 'schema-registry.url'"))
    # The last record says what the schema is now.
    old = struct.pack(">bi", 0, schemas.add("old", PLACE)) + b"\x02"
    kafka.produce("changes", (DAY, None, old), (DAY + 1, None, struct.pack(">bi", 0, schemas.add("changes-value", ENVELOPE)) + b"\x02"))
    told = told_by_infer(session, "INFER TABLE FROM 'changes'")
    assert "CREATE TABLE `changes` (\n  id INT NOT NULL,\n  name STRING\n)" in told
    assert "'format' = 'debezium-avro-confluent',\n  'debezium-avro-confluent.url' = " in told


ENVELOPE = {"type": "record", "name": "Envelope", "fields": [
    {"name": "before", "type": ["null", {"type": "record", "name": "Value", "fields": [
        {"name": "id", "type": "int"}, {"name": "name", "type": ["null", "string"], "default": None}]}], "default": None},
    {"name": "after", "type": ["null", "Value"], "default": None},
    {"name": "op", "type": "string"},
]}  # fmt: skip


def test_infer_of_json_and_of_other_schemas(kafka, tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKA_BOOTSTRAP", kafka.bootstrap)
    with registry() as schemas:
        session = open_session(tmp_path)
        list(session.run(f"SET 'schema-registry.url' = '{schemas.url}'"))
        prefix = struct.pack(">bi", 0, schemas.add("t-value", "{}", kind="JSON"))
        kafka.produce("t", (DAY, None, prefix + b'{"n": 1, "at": "2024-05-01T10:00:00Z"}'))
        told = told_by_infer(session)
        assert "  n INT,\n  `at` TIMESTAMP_LTZ(3),\n" in told
        assert "'format' = 'json-registry',\n" in told
        assert "'json-registry.timestamp-format.standard' = 'ISO-8601',\n" in told
        text = """syntax = "proto3"; import "google/protobuf/timestamp.proto"; message Other { int32 n = 1; }
          message Order { int64 id = 1; message In { repeated string `tags = 1; } In part = 2; google.protobuf.Timestamp at = 3; map<string, uint32> m = 4; }"""
        order = struct.pack(">bi", 0, schemas.add("o-value", text.replace("`", ""), kind="PROTOBUF"))
        # The second message of the schema, then the one within it.
        kafka.produce("o", (DAY, None, order + b"\x02\x02"))
        kafka.produce("i", (DAY, None, order + b"\x04\x02\x00"))
        told = told_by_infer(session, "INFER TABLE FROM 'o'")
        assert (
            "CREATE TABLE `o` (\n  id BIGINT,\n  part ROW<`tags` ARRAY<STRING>>,\n  `at` ROW<`seconds` BIGINT, `nanos` INT>,\n"
            "  m MAP<STRING NOT NULL, BIGINT>,\n  at_time AS TO_TIMESTAMP_LTZ(`at`.`seconds` * 1000 + `at`.`nanos` / 1000000, 3),\n"
            "  WATERMARK FOR at_time AS at_time - INTERVAL '5' SECOND\n)"
        ) in told  # fmt: skip
        assert f"'format' = 'proto-registry',\n  'proto-registry.url' = '{schemas.url}'" in told
        assert "CREATE TABLE `i` (\n  tags ARRAY<STRING>\n)" in told_by_infer(session, "INFER TABLE FROM 'i'")
        kafka.produce("p", (DAY, None, struct.pack(">bi", 0, schemas.add("p-value", "message P {}", kind="PROTOBUF")) + b"\x00\x02"))
        assert (
            "-- Schema 3, of the kind PROTOBUF, has no columns that a format here can read.\nCREATE TABLE `p` (\n  record BYTES\n)"
            in told_by_infer(session, "INFER TABLE FROM 'p'")
        )
