"""upsert-kafka: what is refused, records both ways against a real broker, and jobs over it."""

from __future__ import annotations

import re
import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sqlstream.connectors import find_connector
from sqlstream.core.changelog import KIND, ChangelogMode
from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.sql import types as T
from sqlstream.sql.tables import PrimaryKey
from tests.support.sessions import catch_up, open_session, optimized_plan, submit

if TYPE_CHECKING:
    from sqlstream.runtime.jobs.job import Job

BASE = {"connector": "upsert-kafka", "topic": "t", "properties.bootstrap.servers": "b:9092", "key.format": "json", "value.format": "json"}
COLUMNS = (("id", T.INT), ("name", T.STRING), ("n", T.INT))


@pytest.fixture
def upsert(make_table):
    def make(columns=COLUMNS, key=("id",), *, metadata=(), **options):
        given = {k.replace("__", ".").replace("_", "-"): v for k, v in options.items()}
        merged = {k: v for k, v in {**BASE, **given}.items() if v is not None}
        return replace(make_table(columns, merged, metadata=metadata), primary_key=PrimaryKey(key) if key else None)

    return make


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"key": ()}, "'upsert-kafka' tables require to define a PRIMARY KEY constraint."),
        ({"key__format": None}, "Could not find required scan format 'key.format'."),
        ({"value__format": None}, "Could not find required scan format 'value.format'."),
        ({"value__format": "debezium-json"}, "'upsert-kafka' connector doesn't support 'debezium-json' as value format, because"),
        ({"key__format": "debezium-json"}, "'upsert-kafka' connector doesn't support 'debezium-json' as key format, because"),
        ({"scan__startup__mode": "earliest-offset"}, "Unsupported options found for 'upsert-kafka'"),
        ({"key__fields_prefix": "k_"}, "All fields in 'key.fields' must be prefixed with 'k_' when option 'key.fields-prefix' is set but field 'id'"),
        ({"topic": None}, "Either 'topic' or 'topic-pattern' must be set."),
        ({"scan__bounded__mode": "timestamp"}, "'scan.bounded.timestamp-millis' is required in 'timestamp' bounded mode but missing."),
        ({"metadata": [("m", T.STRING, "nope")]}, "Invalid metadata key 'nope' in column 'm'"),
    ],
)
def test_refused(upsert, changed, message):
    with pytest.raises(ValidationError, match=re.escape(message)):
        find_connector("upsert-kafka").check(upsert(**changed))


def test_key_of_a_kafka_table(make_table):
    options = {"connector": "kafka", "topic": "t", "properties.bootstrap.servers": "b:9092", "format": "json"}
    table = replace(make_table(COLUMNS, options), primary_key=PrimaryKey(("id",)))
    with pytest.raises(ValidationError, match="with 'json' format doesn't support defining PRIMARY KEY constraint on the table"):
        find_connector("kafka").check(table)
    changes = replace(table, options={**options, "format": "debezium-json"})
    assert find_connector("kafka").check(changes) == []
    assert find_connector("kafka").source_mode(changes) is ChangelogMode.RETRACT_DELETE
    assert "value.source.timestamp" in [m.key for m in find_connector("kafka").metadata_keys(changes)]


@pytest.fixture
def topic(broker) -> str:
    name = f"upserts-{uuid.uuid4().hex[:8]}"
    broker.topic(name, 3)
    return name


@pytest.fixture
def on_broker(upsert, broker, topic):
    return lambda **options: upsert(**{"topic": topic, "properties__bootstrap__servers": broker.bootstrap, **options})


def records(spark, broker, topic) -> list[tuple]:
    """The records of a topic: key, value, partition; in the order of each partition."""
    frame = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap).option("subscribe", topic).load()
    ordered = frame.orderBy("partition", "offset").selectExpr("CAST(key AS STRING)", "CAST(value AS STRING)", "partition")
    return [tuple(r) for r in ordered.collect()]


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.parametrize("format_", ["json", "csv"])
def test_round_trip(run, on_broker, broker, topic, format_):
    table = on_broker(key__format=format_, value__format=format_)
    values = f"(1, 'é,\"x', 1, 0Y), (2, '', 2, 0Y), (3, 'c', 3, 3Y), (1, 'é,\"x', 1, 1Y), (1, 'b', 9, 2Y) AS t(id, name, n, {KIND})"
    run.insert(table, run.spark.sql(f"SELECT * FROM VALUES {values}"), mode=ChangelogMode.RETRACT_DELETE, keys=("id",))
    written = {key: value for key, value, _ in records(run.spark, broker, topic)}
    if format_ == "json":
        assert written == {'{"id":1}': '{"id":1,"name":"b","n":9}', '{"id":2}': '{"id":2,"name":"","n":2}', '{"id":3}': None}
    else:
        assert written == {"1": "1,b,9", "2": "2,,2", "3": None}
    assert sorted(run.rows(table)) == [(1, "b", 9, 2), (2, "", 2, 2), (3, None, None, 3)]


@pytest.mark.spark
@pytest.mark.kafka
def test_layout_of_records(run, on_broker, broker, topic):
    columns = (("k_id", T.INT), ("k_day", T.DATE), ("v", T.STRING))
    table = on_broker(columns=columns, key=("k_day", "k_id"), key__fields_prefix="k_", value__fields_include="EXCEPT_KEY",
                      metadata=[("o", T.BIGINT, "offset", True)])  # fmt: skip
    run.insert(table, run.spark.sql(f"SELECT 1 AS k_id, DATE'2020-01-02' AS k_day, CAST(NULL AS STRING) AS v, 0Y AS {KIND}"),
               mode=ChangelogMode.UPSERT_DELETE, keys=("k_id", "k_day"))  # fmt: skip
    ((key, value, _),) = records(run.spark, broker, topic)
    assert (key, value) == ('{"day":"2020-01-02","id":1}', '{"v":null}')
    assert run.rows(table, "k_id", "CAST(k_day AS STRING)", "v", "o", KIND) == [(1, "2020-01-02", None, 0, 2)]
    with pytest.raises(ValidationError, match="must be set to be greater than zero together"):
        run.insert(on_broker(sink__buffer_flush__max_rows="3"), run.spark.sql("SELECT 1 AS id, 'a' AS name, 1 AS n"))


DECLARED = """
CREATE TABLE people (id INT, name STRING, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = '${TOPIC}',
  'properties.bootstrap.servers' = '${BOOTSTRAP}', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE changes (id INT, name STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/in', 'format' = 'debezium-json',
  'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, name STRING, n INT) WITH ('connector' = 'print');
"""


class Jobs:
    """A session's jobs over ``people`` and ``changes``; ``lines`` is what was printed."""

    def __init__(self, project, broker, topic, engine) -> None:
        (project / "in").mkdir()
        self.project = project
        self.lines: list[str] = []
        self.client = open_session(
            project, DECLARED, options={"spark.master": "local[2]"}, variables={"DIR": str(project), "TOPIC": topic, "BOOTSTRAP": broker.bootstrap},
            emit=self.lines.append, engine=engine,
        )  # fmt: skip

    def start(self, insert: str) -> Job:
        return submit(self.client, insert)

    def stop(self, job) -> None:
        self.client.jobs.stop(job.id)

    def tell(self, *lines: str) -> None:
        number = len(list((self.project / "in").iterdir()))
        (self.project / "in" / f".{number}").write_text("".join(f"{line}\n" for line in lines))
        (self.project / "in" / f".{number}").rename(self.project / "in" / f"{number}.json")

    def settle(self, *jobs) -> None:
        for job in jobs:
            catch_up(job)

    def printed(self) -> list[str]:
        found = sorted(self.lines)
        self.lines.clear()
        return found


@pytest.fixture
def jobs(tmp_path, broker, topic, engine):
    made = Jobs(tmp_path, broker, topic, engine)
    yield made
    made.client.close()


def change(before, after) -> str:
    op = "c" if before is None else "d" if after is None else "u"
    return f'{{"before":{before or "null"},"after":{after or "null"},"op":"{op}"}}'


ANN, ANNA, BOB = '{"id":1,"name":"ann","n":1}', '{"id":1,"name":"anna","n":1}', '{"id":2,"name":"bob","n":2}'


@pytest.mark.spark
@pytest.mark.kafka
def test_changes_through_a_topic(jobs, broker, topic, spark):
    """A changelog into a topic of upserts, and its changes out again; both go on after a restart."""
    written, shown = "INSERT INTO people SELECT * FROM changes", "INSERT INTO answers SELECT * FROM people"
    sink, source = jobs.start(written), jobs.start(shown)
    jobs.tell(change(None, ANN), change(None, BOB))
    jobs.settle(sink, source)
    assert jobs.printed() == ["+I[1, ann, 1]", "+I[2, bob, 2]"]
    jobs.stop(source)
    jobs.stop(sink)
    sink, source = jobs.start(written), jobs.start(shown)
    jobs.tell(change(ANN, ANNA), change(BOB, None), change(None, BOB), change(BOB, None))
    jobs.settle(sink, source)
    assert jobs.printed() == ["+U[1, anna, 1]", "-D[2, bob, 2]", "-U[1, ann, 1]"]
    # Records that come twice change nothing.
    twice = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap).option("subscribe", topic).load()
    again = twice.where("CAST(value AS STRING) LIKE '%anna%' OR value IS NULL").select("key", "value").coalesce(1)
    again.write.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap).option("topic", topic).save()
    jobs.settle(source)
    assert jobs.printed() == []


@pytest.mark.spark
@pytest.mark.kafka
def test_order_within_a_micro_batch(jobs, broker, topic):
    """The last record of a key is its row, whatever the shuffle does; a tombstone takes away what was there."""
    lines = [f'{{"id":{key}}}\t{{"id":{key},"name":"x","n":{n}}}' for n in range(200) for key in range(20)]
    broker.broker.produce(topic, lines, "\t")
    job = jobs.start("INSERT INTO answers SELECT id, name, n FROM people")
    jobs.settle(job)
    assert jobs.printed() == sorted(f"+I[{key}, x, 199]" for key in range(20))
    broker.broker.produce(topic, ['{"id":3}\t{"id":3,"name":null,"n":5}'], "\t")
    jobs.settle(job)
    assert jobs.printed() == ["+U[3, null, 5]", "-U[3, x, 199]"]


@pytest.mark.spark
@pytest.mark.kafka
def test_bounded(jobs, broker, topic):
    broker.broker.produce(topic, ['{"id":1}\t{"id":1,"name":"a","n":1}', '{"id":1}\t{"id":1,"name":"b","n":1}'], "\t")
    hint = "/*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */"
    job = jobs.start(f"INSERT INTO answers SELECT id, UPPER(name), n FROM people {hint} WHERE n = 1")
    assert job.done.wait(120)
    assert jobs.printed() == ["+I[1, B, 1]"]


@pytest.mark.spark
@pytest.mark.kafka
def test_debezium_in_a_topic(jobs, topic):
    """A retracting query into debezium-json on Kafka, read again with its metadata."""
    options = """WITH ('connector' = 'kafka', 'topic' = '${TOPIC}', 'properties.bootstrap.servers' = '${BOOTSTRAP}',
                       'scan.startup.mode' = 'earliest-offset', 'value.format' = 'debezium-json')"""
    metadata = "told TIMESTAMP_LTZ(3) METADATA FROM 'value.ingestion-timestamp', place BIGINT METADATA FROM 'offset'"
    list(jobs.client.run(f"CREATE TABLE log (id INT, name STRING, n INT) {options};"
                         f"CREATE TABLE seen (id INT, name STRING, n INT, {metadata}) {options}"))  # fmt: skip
    job = jobs.start("INSERT INTO log SELECT id, MAX(name), CAST(COUNT(*) AS INT) FROM changes GROUP BY id")
    shown = jobs.start("INSERT INTO answers SELECT id, name, n FROM seen WHERE told IS NULL AND place >= 0")
    jobs.tell(change(None, ANN))
    jobs.settle(job, shown)
    jobs.tell(change(None, ANNA))
    jobs.settle(job, shown)
    assert jobs.printed() == ["+I[1, ann, 1]", "+I[1, anna, 2]", "-D[1, ann, 1]"]


def test_plans(tmp_path):
    (tmp_path / "in").mkdir()
    client = open_session(tmp_path, DECLARED, variables={"DIR": str(tmp_path), "TOPIC": "t", "BOOTSTRAP": "b:1"})
    scan = "TableSourceScan(table=[[default_catalog, default_database, people]], fields=[id, name, n], changelogMode=[I,UA,D])"
    normalized = optimized_plan(client, "INSERT INTO answers SELECT * FROM people WHERE n > 1")
    assert "ChangelogNormalize(key=[id], changelogMode=[I,UB,UA,D])" in normalized and scan in normalized
    # A sink of upserts by the same key takes them as they are; columns that nothing reads are not kept.
    straight = optimized_plan(client, "INSERT INTO people SELECT id, UPPER(name), n FROM people")
    assert "ChangelogNormalize" not in straight and scan in straight
    counted = optimized_plan(client, "INSERT INTO answers SELECT 1, name, CAST(COUNT(*) AS INT) FROM people GROUP BY name")
    assert re.search(r"ChangelogNormalize\(key=\[id\].*\n.*Calc\(select=\[id, name\]", counted)
    assert "Rank(rankRange=[rankStart=1, rankEnd=1], partitionBy=[id]" in optimized_plan(
        client, "INSERT INTO people SELECT CAST(COUNT(*) AS INT), name, 1 FROM changes GROUP BY name"
    )
    with pytest.raises(SqlStreamError, match="INSERT-only table sources"):
        list(client.run("SET 'execution.runtime-mode' = 'batch'; SELECT * FROM people"))
    list(client.run("SET 'execution.runtime-mode' = 'streaming'; SET 'table.exec.source.cdc-events-duplicate' = 'true'"))
    with pytest.raises(SqlStreamError, match="requires the changelog sources to define a PRIMARY KEY"):
        optimized_plan(client, "INSERT INTO answers SELECT * FROM changes")
    list(client.run("ALTER TABLE changes ADD PRIMARY KEY (id) NOT ENFORCED"))
    assert "ChangelogNormalize(key=[id]" in optimized_plan(client, "INSERT INTO answers SELECT * FROM changes")
    client.close()


def by(query: str, batch: int) -> tuple[str, bytes]:
    """The header of a record that a query in real time has written."""
    return "sqlstream.batch", f"{query} {batch}".encode()


def produce(broker, topic: str, *records: tuple[str, str | None, list[tuple[str, bytes]]]) -> None:
    """Records into the first partition: key, value, headers."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for key, value, headers in records:
        producer.produce(topic, value, key, 0, headers=headers)
    assert producer.flush(30) == 0


def with_headers(spark, broker, topic: str) -> list[tuple]:
    """The records of a topic by offset: key, value, headers."""
    source = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap).option("includeHeaders", True)
    columns = ("CAST(key AS STRING)", "CAST(value AS STRING)", "transform(headers, h -> struct(h.key, h.value)) AS headers")
    rows = source.option("subscribe", topic).load().orderBy("partition", "offset").selectExpr(*columns).collect()
    return [(key, value, [(h.key, bytes(h.value)) for h in headers or ()]) for key, value, headers in rows]


@pytest.mark.spark
@pytest.mark.kafka
def test_what_is_in_no_checkpoint_is_taken_back(run, on_broker, broker, topic):
    before = [
        ("kept", "1", [by("q", 3)]), ("back", "1", [("trace", b"7"), by("q", 3)]), ("back", "2", [by("q", 4)]), ("removed", "1", [by("p", 1)]),
        ("gone", "1", []), ("gone", None, [by("q", 2)]), ("others", "1", []), ("overtaken", "1", [by("q", 5)]),
    ]  # fmt: skip
    after = [
        ("back", "8", [by("q", 5)]), ("back", None, [by("q", 5)]), ("removed", None, [by("q", 5)]), ("gone", "9", [by("q", 6)]),
        ("new", "1", [by("p", 2)]), ("new", "2", [by("q", 5)]), ("others", "2", [by("r", 7)]), ("overtaken", "2", [by("r", 1)]),
        ("odd", "1", [("sqlstream.batch", b"q")]),
    ]  # fmt: skip
    produce(broker, topic, *before, *after)
    table = on_broker(properties__group__id="some")
    request = run.write(table, run.spark.range(0))
    connector = find_connector(table.connector)
    assert connector.take_back(request, {"q": 4, "p": 1}, 0) == 4
    found = with_headers(run.spark, broker, topic)
    assert found[: len(before + after)] == [*before, *after]
    added = {key: (value, headers) for key, value, headers in found[len(before + after) :]}
    # Each as it was, with the headers that it had.
    assert added == {"back": ("2", [by("q", 4)]), "removed": ("1", [by("p", 1)]), "gone": (None, [by("q", 2)]), "new": (None, [])}
    # Done again, or with nothing since then, it changes nothing.
    assert connector.take_back(request, {"q": 4, "p": 1}, 0) == 0
    assert len(with_headers(run.spark, broker, topic)) == len(found)
    assert connector.take_back(run.write(on_broker(topic="no-such-topic"), run.spark.range(0)), {"q": 0}, 0) == 0
    assert connector.take_back(request, {"q": 4}, time.time() + 3600) == 0


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.parametrize("own", [False, True])
def test_rows_in_real_time_say_who_wrote_them(run, on_broker, broker, topic, own):
    """Beside the headers of the row, but for such of another query."""
    source = f"{topic}-in"
    broker.topic(source)
    produce(broker, source, ('{"id":1}', '{"id":1,"name":"a","n":2}', [by("another", 7), ("trace", b"7")]))
    headers = (("h", T.map_of(T.STRING, T.BYTES), "headers"),) if own else ()
    frame = run.frame(on_broker(topic=source, metadata=headers), streaming=True)
    table = on_broker(metadata=headers)
    request = replace(run.write(table, frame, mode=ChangelogMode.UPSERT_DELETE, keys=("id",)), pause=run.project / "pause", marked=True)
    writer = find_connector(table.connector).write_stream(request).option("checkpointLocation", str(run.project / "marked"))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    ((key, value, found),) = with_headers(run.spark, broker, topic)
    assert (key, value) == ('{"id":1}', '{"id":1,"name":"a","n":2}')
    assert found == [*([("trace", b"7")] if own else []), by(query.id, 0)]
