"""Kafka: formats, keys, metadata, startup and bounded modes, against a real broker."""

from __future__ import annotations

import time
import uuid

import pytest

from sqlstream.connectors import find_connector
from sqlstream.core.errors import NotSupported, SetupError, ValidationError
from sqlstream.sql import types as T

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


@pytest.fixture
def topic() -> str:
    return f"topic-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def kafka(broker, make_table, topic):
    def make(columns=(("i", T.INT),), *, metadata=(), **options):
        given = {k.replace("__", ".").replace("_", "-"): v for k, v in options.items()}
        base = {"connector": "kafka", "topic": topic, "properties.bootstrap.servers": broker.bootstrap, "format": "json",
                "scan.startup.mode": "earliest-offset"}  # fmt: skip
        merged = {k: v for k, v in {**base, **given}.items() if v is not None}
        return make_table(columns, merged, metadata=metadata)

    return make


def send(run, table, values: str) -> None:
    names = ", ".join(c.name for c in table.persisted)
    cells = ", ".join(f"CAST({c.name} AS {c.type.spark}) AS {c.name}" for c in table.persisted)
    run.insert(table, run.spark.sql(f"SELECT {cells} FROM VALUES {values} AS t({names})"))


@pytest.mark.parametrize("format_", ["json", "csv", "raw"])
def test_round_trip(run, kafka, format_):
    columns = [("s", T.STRING)] if format_ == "raw" else [("i", T.INT), ("s", T.STRING), ("ts", T.timestamp(3)), ("d", T.decimal(5, 2))]
    table = kafka(columns, format=format_)
    values = "('a'), (NULL), ('é')" if format_ == "raw" else "(1, 'a', TIMESTAMP'2020-01-02 03:04:05.5', 1.50), (NULL, 'é', NULL, NULL)"
    if format_ == "csv":
        table = kafka(columns, format=format_, csv__null_literal="NULL")
    send(run, table, values)
    expected = run.spark.sql(f"SELECT * FROM VALUES {values}").collect()
    assert sorted(map(str, run.frame(table).collect())) == sorted(
        str(r) for r in run.spark.createDataFrame([tuple(r) for r in expected], run.frame(table).schema).collect()
    )
    for splits in (False, True):
        assert len(run.streamed(table, splits=splits)) == len(expected)


def test_tombstones(run, kafka, broker, topic):
    broker.topic(topic, 1)
    broker.send(topic, (0, None, None), (0, None, '{"i":1}'))
    assert run.rows(kafka()) == [(1,)]
    assert sorted(run.rows(kafka([("s", T.STRING)], format="raw")), key=str) == [('{"i":1}',), (None,)]


def test_bad_record_is_named(run, kafka, broker, topic):
    broker.produce(topic, ['{"i":1}', '{"i":"x"}'])
    with pytest.raises(Exception, match=rf"Failed to deserialize JSON <<record \{{\"i\":\"x\"\}} record>> \(topic {topic}, partition 0, offset 1\)"):
        run.rows(kafka())
    assert sorted(run.rows(kafka(json__ignore_parse_errors="true")), key=str) == [(1,), (None,)]


def test_keys(run, kafka):
    columns = [("k_id", T.INT), ("k_n", T.STRING), ("v", T.STRING)]
    table = kafka(columns, key__format="json", key__fields="k_id;k_n", key__fields_prefix="k_", value__fields_include="EXCEPT_KEY")
    send(run, table, "(1, 'n', 'x')")
    assert run.rows(table) == [(1, "n", "x")]
    raw = kafka([("s", T.STRING), ("k", T.STRING)], format="raw", key__format="raw", key__fields="k", value__fields_include="EXCEPT_KEY")
    assert run.rows(raw) == [('{"v":"x"}', '{"id":1,"n":"n"}')]
    every = kafka([("k", T.INT), ("v", T.STRING)], format=None, value__format="json", key__format="csv", key__fields="k")
    send(run, every, "(7, 'y')")
    assert [r for r in run.rows(kafka([("s", T.STRING)], format="raw")) if "y" in r[0]] == [('{"k":7,"v":"y"}',)]


def test_metadata(run, kafka, topic):
    metadata = [("t", T.STRING, "topic", True), ("p", T.BIGINT, "partition", True), ("o", T.BIGINT, "offset", True),
                ("at", T.timestamp_ltz(3), "timestamp", True), ("kind", T.STRING, "timestamp-type", True),
                ("h", T.map_of(T.STRING, T.BYTES), "headers")]  # fmt: skip
    table = kafka(metadata=metadata)
    assert find_connector("kafka").check(table) == []
    before = time.time()
    run.insert(table, run.spark.sql("SELECT 1 AS i, map('a', CAST('x' AS BINARY)) AS h"))
    ((i, t, p, o, at, kind, h),) = run.rows(table, "i", "t", "p", "o", "unix_millis(at)", "kind", "h")
    assert (i, t, p, o, kind, {k: bytes(v) for k, v in h.items()}) == (1, topic, 0, 0, "CreateTime", {"a": b"x"})
    assert abs(at / 1000 - before) < 60
    writable = kafka(metadata=[("at", T.timestamp_ltz(3), "timestamp")])
    with pytest.raises(NotSupported, match="can't be written"):
        run.insert(writable, run.spark.sql("SELECT 1 AS i, current_timestamp() AS at"))


@pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])
@pytest.mark.parametrize("keyed", [False, True])
def test_each_task_writes_into_one_partition(run, kafka, broker, topic, guarantee, keyed):
    broker.topic(topic, 3)
    key = {"key__format": "json", "key__fields": "i"} if keyed else {}
    options = {"sink__delivery_guarantee": guarantee, "sink__transactional_id_prefix": topic, **key}
    table = kafka(sink__partitioner="fixed", **options)
    metadata = [("p", T.INT, "partition", True)]
    events = kafka([("s", T.STRING)], topic=f"{topic}-in", format="raw")
    broker.topic(f"{topic}-in", 4)
    broker.send(f"{topic}-in", *((n % 4, None, str(n)) for n in range(40)))
    run.stream(table, run.source(events, streaming=True).frame.selectExpr("CAST(s AS INT) AS i"))
    into: dict[int, set[int]] = {}
    for i, p in run.rows(kafka(metadata=metadata)):
        into.setdefault(i % 4, set()).add(p)
    # Four tasks, one for each partition that is read.
    assert sorted(map(sorted, into.values())) == [[0], [0], [1], [2]]


def test_partitioners_of_kafkas_own(run, kafka, broker, topic):
    broker.topic(topic, 3)
    table = kafka(properties__partitioner__class="org.apache.kafka.clients.producer.RoundRobinPartitioner")
    send(run, table, ", ".join(f"({n})" for n in range(30)))
    # By default records without a key go to one of them as long as a batch is filled.
    assert {p for (p,) in run.rows(kafka(metadata=[("p", T.INT, "partition", True)]), "p")} == {0, 1, 2}


def test_fixed_partitions_need_a_topic(run, kafka):
    with pytest.raises(ValidationError, match="does not exist"):
        send(run, kafka(topic="nowhere", sink__partitioner="fixed"), "(1)")


def test_a_micro_batch_has_so_many_records_at_most(run, kafka, broker, topic):
    """A backlog comes in several, and each of them takes some of each partition that has records: none of them is idle."""
    broker.topic(topic, 3)
    broker.send(topic, *((max(0, n % 10 - 7), None, f'{{"i":{n}}}') for n in range(100)))
    table = kafka(scan__micro_batch__max_records="30", metadata=[("p", T.INT, "partition", True)])
    taken: list[list[tuple]] = []
    writer = run.source(table, streaming=True).frame.writeStream.foreachBatch(lambda rows, _: taken.append([tuple(r) for r in rows.collect()]))
    query = writer.option("checkpointLocation", str(run.project / "limited")).start()
    query.processAllAvailable()
    query.stop()
    assert [len(rows) for rows in taken] == [30, 30, 30, 10]
    assert all({p for _, p in rows} == {0, 1, 2} for rows in taken)
    assert sorted(i for rows in taken for i, _ in rows) == list(range(100))
    # What runs once is one micro-batch, and so is a table that ends: the input may end with it.
    for more in ({}, {"scan__bounded__mode": "latest-offset"}):
        taken.clear()
        again = kafka(scan__micro_batch__max_records="30", **more)
        writer = run.source(again, streaming=True).frame.writeStream.foreachBatch(lambda rows, _: taken.append([tuple(r) for r in rows.collect()]))
        writer = writer.option("checkpointLocation", str(run.project / f"once-{len(more)}"))
        query = (writer if more else writer.trigger(availableNow=True)).start()
        if more:
            query.processAllAvailable()
            query.stop()
        query.awaitTermination()
        assert [len(rows) for rows in taken] == [100]
    with pytest.raises(ValidationError, match="scan.micro-batch.max-records"):
        find_connector("kafka").check(kafka(scan__micro_batch__max_records="0"))


def test_no_headers_is_an_empty_map(run, kafka, broker, topic):
    broker.produce(topic, ['{"i":1}'])
    table = kafka(metadata=[("h", T.map_of(T.STRING, T.BYTES), "headers", True)])
    assert run.rows(table) == [(1, {})]


def test_startup_and_bounded(run, kafka, broker, topic):
    broker.produce(topic, [f'{{"i":{i}}}' for i in range(4)])
    time.sleep(0.05)
    middle = int(time.time() * 1000)
    time.sleep(0.05)
    broker.produce(topic, [f'{{"i":{i}}}' for i in range(4, 6)])

    def read(**options):
        table = kafka(**options)
        batch = sorted(r[0] for r in run.rows(table))
        if "scan__bounded__mode" in options:
            assert find_connector("kafka").bounded(table)
            for end in (run.project / "state").glob("*.json"):
                end.unlink()
            assert sorted(r[0] for r in run.streamed(table)) == batch
        return batch

    bounded = {"scan__bounded__mode": "specific-offsets"}
    assert read() == [0, 1, 2, 3, 4, 5]
    assert read(scan__startup__mode="latest-offset") == []
    assert read(scan__startup__mode="timestamp", scan__startup__timestamp_millis=str(middle)) == [4, 5]
    assert read(scan__startup__mode="timestamp", scan__startup__timestamp_millis="9999999999999") == []
    assert read(scan__startup__mode="specific-offsets", scan__startup__specific_offsets="partition:0,offset:2") == [2, 3, 4, 5]
    assert read(scan__bounded__mode="latest-offset") == [0, 1, 2, 3, 4, 5]
    assert read(scan__bounded__mode="timestamp", scan__bounded__timestamp_millis=str(middle)) == [0, 1, 2, 3]
    assert read(**bounded, scan__bounded__specific_offsets="partition:0,offset:3") == [0, 1, 2]
    assert read(**bounded, scan__bounded__specific_offsets="partition:7,offset:3") == []
    with pytest.raises(NotSupported, match="ends partition 0 .* at offset 7, but it has no more than 6"):
        read(**bounded, scan__bounded__specific_offsets="partition:0,offset:7")


def test_an_end_stays_where_it_was(run, kafka, broker, topic):
    broker.produce(topic, ['{"i":1}'])
    table = kafka(scan__bounded__mode="latest-offset")
    assert run.streamed(table, checkpoint="c") == [(1,)]
    broker.produce(topic, ['{"i":2}'])
    assert run.streamed(table, checkpoint="c") == []


def test_group_offsets(run, kafka, broker, topic):
    broker.produce(topic, [f'{{"i":{i}}}' for i in range(4)])
    table = kafka(scan__startup__mode="group-offsets", properties__group__id=f"g-{topic}")
    with pytest.raises(ValidationError, match="no reset policy") as e:
        run.rows(table)
    assert "earliest-offset" in e.value.hint
    early = kafka(scan__startup__mode="group-offsets", properties__group__id=f"g-{topic}", properties__auto__offset__reset="earliest")
    assert len(run.rows(early)) == 4
    jvm = run.spark._jvm
    config = jvm.java.util.HashMap()
    config.put("bootstrap.servers", broker.bootstrap)
    admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(config)
    offsets = jvm.java.util.HashMap()
    offsets.put(jvm.org.apache.kafka.common.TopicPartition(topic, 0), jvm.org.apache.kafka.clients.consumer.OffsetAndMetadata(3))
    admin.alterConsumerGroupOffsets(f"g-{topic}", offsets).all().get()
    admin.close()
    assert run.rows(table) == [(3,)]


def test_partitions_and_topics(run, kafka, broker, topic):
    broker.topic(topic, 3)
    broker.topic(f"{topic}x", 1)
    send(run, kafka(key__format="json", key__fields="i"), ", ".join(f"({i})" for i in range(30)))
    send(run, kafka(topic=f"{topic}x"), "(100)")
    table = kafka(metadata=[("p", T.INT, "partition", True)])
    assert run.source(table, streaming=True, splits=True).splits == (f"{topic}-0", f"{topic}-1", f"{topic}-2")
    rows = run.streamed(table, splits=True)
    assert len({split for _, _, split in rows}) > 1
    assert all(split == partition for _, partition, split in rows)
    both = kafka(topic=f"{topic};{topic}x")
    assert run.source(both, streaming=True, splits=True).splits[3] == f"{topic}x-0"
    rows = run.streamed(both, splits=True)
    assert len(rows) == 31
    assert {split for i, split in rows if i == 100} == {3}
    pattern = kafka(topic=None, topic_pattern=f"{topic}x?")
    assert len(run.rows(pattern)) == 31
    with pytest.raises(ValidationError, match="single 'topic'"):
        send(run, pattern, "(1)")


def test_restart_goes_on(run, kafka, broker, topic):
    broker.produce(topic, ['{"i":1}'])
    assert run.streamed(kafka(), checkpoint="c") == [(1,)]
    broker.produce(topic, ['{"i":2}'])
    assert run.streamed(kafka(), checkpoint="c") == [(2,)]


def test_missing_topic_and_broker(run, kafka, broker):
    with pytest.raises(ValidationError, match="Kafka topic 'nosuch' does not exist"):
        run.rows(kafka(topic="nosuch"))
    with pytest.raises(ValidationError, match="No Kafka topic matches"):
        run.rows(kafka(topic=None, topic_pattern="nosuch.*"))
    far = {"properties__bootstrap__servers": "127.0.0.1:1", "properties__default__api__timeout__ms": "1500",
           "properties__request__timeout__ms": "1000"}  # fmt: skip
    with pytest.raises(SetupError, match="Kafka at 127.0.0.1:1 does not answer"):
        run.rows(kafka(**far))
