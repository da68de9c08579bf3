"""PEEK and INFER: records read by the protocol, and tables told from them."""

import json
import struct

import pytest

from sqlstream.connectors.kafka import compression, fetch
from sqlstream.connectors.kafka.wire import topics as topics_of
from sqlstream.core.depth import deeply
from sqlstream.core.errors import SetupError, ValidationError
from sqlstream.session import topics
from sqlstream.session.inference import create_table
from sqlstream.session.session import Session
from tests.session.fake_kafka import FakeKafka, batch

DAY = 1_767_225_600_000


@pytest.fixture
def kafka():
    opened = []

    def start(**given):
        opened.append(FakeKafka(given))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def record(i):
    return DAY + i, f"k{i}".encode(), b'{"n": %d}' % i


def offsets(found):
    return [(r.partition, r.offset) for r in found]


def test_the_last_records_of_all_partitions_by_time(kafka):
    one = [batch(0, [record(0), record(2)]), batch(2, [record(4), record(6)], codec=1)]
    other = [batch(10, [record(1), (DAY + 3, None, None)])]
    broker = kafka(t=[(0, 4, one), (10, 12, other)], empty=[(5, 5, [])])
    assert topics_of(broker.bootstrap) == {"empty": 1, "t": 2}
    found = fetch.latest(broker.bootstrap, "t", 4)
    assert offsets(found) == [(0, 1), (1, 11), (0, 2), (0, 3)]
    assert [(r.key, r.value) for r in found] == [(b"k2", b'{"n": 2}'), (None, None), (b"k4", b'{"n": 4}'), (b"k6", b'{"n": 6}')]
    assert [r.timestamp - DAY for r in found] == [2, 3, 4, 6]
    assert len(fetch.latest(broker.bootstrap, "t", 100)) == 6
    assert fetch.latest(broker.bootstrap, "empty", 3) == fetch.latest(broker.bootstrap, "t", 0) == []


def test_offsets_with_gaps_are_no_records(kafka):
    batches = [batch(0, [record(0)]), batch(5, [record(1)]), batch(90, [record(2)], control=True)]
    assert offsets(fetch.latest(kafka(t=[(0, 91, batches)]).bootstrap, "t", 2)) == [(0, 0), (0, 5)]


def test_an_unknown_topic_and_no_broker(kafka):
    broker = kafka(clicks=[(0, 0, [])])
    with pytest.raises(SetupError, match="There is no topic 'click'") as caught:
        fetch.latest(broker.bootstrap, "click", 1)
    assert caught.value.hint == "Did you mean 'clicks'?"
    broker.close()
    with pytest.raises(SetupError, match="No Kafka broker answers"):
        fetch.latest(broker.bootstrap, "clicks", 1)


def test_lz4_and_snappy():
    # Literals, then 'abc' again and again, which reaches into itself.
    block = bytes([0x3F]) + b"abc" + struct.pack("<H", 3) + bytes([2]) + bytes([0x10]) + b"!"
    frame = b"\x04\x22\x4d\x18\x60\x40\x82" + struct.pack("<I", len(block)) + block + struct.pack("<I", 3 | 0x80000000) + b"raw" + bytes(4)
    assert compression.lz4(frame) == b"abc" * 8 + b"!raw"
    snappy = bytes([25, 2 << 2]) + b"abc" + bytes([(20 << 2) | 2, 3, 0]) + bytes([0]) + b"!"
    assert compression.snappy(snappy) == b"abc" * 8 + b"!"
    framed = b"\x82SNAPPY\x00" + bytes(8) + struct.pack(">I", len(snappy)) + snappy
    assert compression.snappy(framed * 1 + struct.pack(">I", len(snappy)) + snappy) == (b"abc" * 8 + b"!") * 2
    for broken in (b"", b"nonsense"):
        with pytest.raises((ValueError, IndexError)):
            compression.lz4(broken)


def test_records_that_cannot_be_read_say_so(kafka):
    for codec, said in ((4, "compressed by zstd"), (3, "compressed batch of records cannot be read")):
        broken = batch(0, [record(0)], codec=codec, pack=lambda body: b"nonsense")
        with pytest.raises(SetupError, match=said):
            fetch.latest(kafka(t=[(0, 1, [broken])]).bootstrap, "t", 1)


def session(tmp_path, **more):
    return Session(tmp_path, notify=lambda line: None, **more)


def test_peek(kafka, tmp_path, monkeypatch):
    broker = kafka(t=[(0, 3, [batch(0, [(DAY, None, b"\xff\x00"), (DAY + 1500, b"k", "é\n".encode()), record(2000)])])])
    monkeypatch.setenv("KAFKA_BOOTSTRAP", broker.bootstrap)
    (found,) = session(tmp_path).run("PEEK 't'")
    assert [c.name for c in found.columns] == ["partition", "offset", "timestamp", "key", "value"]
    assert found.rows == (
        ("0", "0", "2026-01-01 00:00:00.000Z", None, "x'ff00'"),
        ("0", "1", "2026-01-01 00:00:01.500Z", "k", "é\\n"),
        ("0", "2", "2026-01-01 00:00:02.000Z", "k2000", '{"n": 2000}'),
    )
    (found,) = session(tmp_path).run("PEEK 't' LIMIT 1")
    assert len(found.rows) == 1


def test_which_brokers(tmp_path, monkeypatch):
    monkeypatch.delenv("KAFKA_BOOTSTRAP", raising=False)
    one = session(tmp_path)

    def brokers(topic="t"):
        return topics.bootstrap(topic, one._catalog, one.options, tmp_path)

    with pytest.raises(SetupError, match="No Kafka broker is known"):
        brokers()
    (tmp_path / ".sqlstream" / "kafka").mkdir(parents=True)
    (tmp_path / ".sqlstream" / "kafka" / "settings.json").write_text('{"port": 1234}')
    assert brokers() == ("localhost:1234", "localhost:1234")
    monkeypatch.setenv("KAFKA_BOOTSTRAP", "env:1")
    assert brokers() == ("env:1", "${env:KAFKA_BOOTSTRAP}")
    list(one.run("SET 'kafka.bootstrap.servers' = 'set:1'"))
    assert brokers() == ("set:1", "set:1")
    table = "CREATE TABLE {} (a INT) WITH ('connector' = 'kafka', 'topic' = '{}', 'properties.bootstrap.servers' = '${{env:KAFKA_BOOTSTRAP}}', 'format' = 'json'{})"
    list(one.run(table.format("a", "t", "")))
    assert brokers() == ("env:1", "${env:KAFKA_BOOTSTRAP}")
    list(one.run(table.format("b", "secret", ", 'properties.security.protocol' = 'SASL_SSL'")))
    with pytest.raises(SetupError, match="ask for SASL_SSL"):
        brokers("secret")


def inferred(*values):
    return create_table("t", "t", "b:1", [v if isinstance(v, bytes | None) else json.dumps(v).encode() for v in values])


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
    broker = kafka(seen=[(0, 2, [batch(0, [record(0), record(1)])])], empty=[(0, 0, [])])
    monkeypatch.setenv("KAFKA_BOOTSTRAP", broker.bootstrap)
    one = session(tmp_path)
    (shown,) = one.run("INFER TABLE FROM 'seen'")
    assert shown.lines.startswith("CREATE TABLE `seen` (\n  n INT\n) WITH (")
    assert not (tmp_path / "catalog").exists()
    shown, done = one.run("INFER TABLE s FROM 'seen' SAVE")
    assert done.notices == ("Saved catalog/s.sql",)
    assert "${env:KAFKA_BOOTSTRAP}" in (tmp_path / "catalog" / "s.sql").read_text()
    again = session(tmp_path)
    assert next(iter(again.run("DESCRIBE s"))).rows[0][:2] == ("n", "INT")
    with pytest.raises(ValidationError, match="no record to tell a table from"):
        list(one.run("INFER TABLE FROM 'empty'"))


def test_infer_asks_in_a_terminal(kafka, tmp_path, monkeypatch):
    broker = kafka(seen=[(0, 1, [batch(0, [record(0)])])])
    monkeypatch.setenv("KAFKA_BOOTSTRAP", broker.bootstrap)
    for answer in (False, True):
        asked = []
        one = session(tmp_path, interactive=True, ask=lambda question, _: asked.append(question) or answer)  # noqa: B023
        assert len(list(one.run("INFER TABLE FROM 'seen'"))) == 1 + answer
        assert asked == ["Save it to the project's catalog?"]
        assert (tmp_path / "catalog" / "seen.sql").exists() is answer


@pytest.mark.kafka
def test_a_real_broker(broker, tmp_path, monkeypatch):
    topic = f"peeked-{tmp_path.name.replace('_', '-')}"
    broker.broker.create_topic(topic, 2)
    lines = [f'k{i % 7}\t{{"n": {i}, "at": "2026-01-01 10:00:{i % 60:02d}", "text": "{"abc" * (i % 50)}"}}' for i in range(1000)]
    assert broker.broker.produce(topic, lines, "\t") == 1000
    monkeypatch.setenv("KAFKA_BOOTSTRAP", broker.bootstrap)
    found = fetch.latest(broker.bootstrap, topic, 5000)
    assert sorted(json.loads(r.value)["n"] for r in found) == list(range(1000))
    assert {r.key for r in found} == {f"k{i}".encode() for i in range(7)}
    one = session(tmp_path)
    (peeked,) = one.run(f"PEEK '{topic}' LIMIT 3")
    assert len(peeked.rows) == 3
    (shown,) = one.run(f"INFER TABLE x FROM '{topic}'")
    assert "n INT,\n  `at` TIMESTAMP(3),\n  text STRING,\n  WATERMARK FOR `at`" in shown.lines


@pytest.mark.parametrize("nested", ['{"a":' * 50_000 + "1" + "}" * 50_000, '{"a":' + "[" * 50_000 + "]" * 50_000 + "}"])
def test_what_a_record_has_in_its_depths_is_text(nested):
    proposed = deeply(lambda: create_table("t", "topic", "b:1", [nested.encode()]))
    assert proposed.count("ROW<") + proposed.count("ARRAY<") == 99 and "STRING>>" in proposed
