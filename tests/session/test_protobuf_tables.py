"""Tables whose records are messages of Protobuf: a real topic, the files of the project, and what is said where they do not fit."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from google.protobuf import message_factory

from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.formats import protobuf_files
from sqlstream.formats.base import ProjectFiles
from tests.support.sessions import catch_up, explained, open_session, rows, run, submit

if TYPE_CHECKING:
    from pathlib import Path

SHOP = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Order { int64 id = 1; string customer = 2; google.protobuf.Timestamp placed = 3; repeated Line lines = 4; message Line { double price = 1; } }
message Key { string customer = 1; }
message Total { string customer = 1; double spent = 2; int64 orders = 3; }
"""
ORDERS = """CREATE TABLE orders (id BIGINT, customer STRING, placed ROW<seconds BIGINT, nanos INT>, `lines` ARRAY<ROW<price DOUBLE>>,
  ordered AS TO_TIMESTAMP_LTZ(placed.seconds * 1000 + placed.nanos / 1000000, 3), WATERMARK FOR ordered AS ordered)
  WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{bootstrap}', 'scan.startup.mode' = 'earliest-offset',
  'format' = 'protobuf', 'protobuf.message-class-name' = 'shop.Shop$Order')"""


def project(folder: Path, text: str = SHOP) -> ProjectFiles:
    (folder / "protos").mkdir(exist_ok=True)
    (folder / "protos" / "shop.proto").write_text(text)
    return ProjectFiles(folder)


def message(files: ProjectFiles, name: str) -> Any:
    """The class of a message, by Protobuf for Python."""
    return message_factory.GetMessageClass(protobuf_files.find(name, files).descriptor)


def send(bootstrap: str, topic: str, *records: bytes | None) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for record in records:
        producer.produce(topic, record)
    assert producer.flush(30) == 0


def sent(bootstrap: str, topic: str) -> list[tuple[bytes, bytes | None]]:
    """Key and value of each record of a topic with one partition."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "x"})
    try:
        count = consumer.get_watermark_offsets(TopicPartition(topic, 0))[1]
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        found = []
        while len(found) < count:
            found += [(m.key(), m.value()) for m in consumer.consume(count, timeout=10)]
    finally:
        consumer.close()
    return found


@pytest.mark.spark
@pytest.mark.kafka
def test_messages_in_and_out_of_topics(tmp_path: Path, engine: Any, broker: Any) -> None:
    files, topic, totals = project(tmp_path), f"o{uuid.uuid4().hex}", f"t{uuid.uuid4().hex}"
    broker.topic(topic)
    broker.topic(totals)
    order, key, total = (message(files, f"shop.{name}") for name in ("Order", "Key", "Total"))

    def at(second: int, id_: int, customer: str, *prices: float) -> bytes:
        made: bytes = order(
            id=id_, customer=customer, placed={"seconds": second, "nanos": 5000000}, lines=[{"price": p} for p in prices]
        ).SerializeToString()
        return made

    send(broker.bootstrap, topic, at(100, 1, "Zoë", 1.5, 2.0), at(160, 2, "Bo"), None, at(230, 3, "Zoë", 4.0))
    session = open_session(tmp_path, ORDERS.format(topic=topic, bootstrap=broker.bootstrap), engine=engine)
    run(
        session,
        f"""CREATE TABLE totals (customer STRING, spent DOUBLE, orders BIGINT, PRIMARY KEY (customer) NOT ENFORCED)
      WITH ('connector' = 'upsert-kafka', 'topic' = '{totals}', 'properties.bootstrap.servers' = '{broker.bootstrap}',
      'key.format' = 'protobuf', 'key.protobuf.message-class-name' = 'shop.Shop$Key',
      'value.format' = 'protobuf', 'value.protobuf.message-class-name' = 'shop.Shop$Total');
      CREATE TABLE past WITH ('scan.bounded.mode' = 'latest-offset') LIKE orders;
      CREATE TABLE past_totals WITH ('scan.bounded.mode' = 'latest-offset') LIKE totals""",
    )
    # The rows as they are, and windows by the time in the message.
    batch = "SET 'execution.runtime-mode' = 'batch'"
    assert rows(session, f"{batch}; SELECT id, customer, ordered, CARDINALITY(`lines`) FROM past ORDER BY id") == [
        ("1", "Zoë", "1970-01-01 00:01:40.005", "2"), ("2", "Bo", "1970-01-01 00:02:40.005", None), ("3", "Zoë", "1970-01-01 00:03:50.005", "1"),
    ]  # fmt: skip
    windows = (
        "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE past, DESCRIPTOR(ordered), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"
    )
    assert [n for _, n in rows(session, windows)] == ["1", "1", "1"]
    run(session, "SET 'execution.runtime-mode' = 'streaming'")
    job = submit(
        session,
        "INSERT INTO totals SELECT customer, SUM(price), COUNT(DISTINCT id) FROM orders CROSS JOIN UNNEST(`lines`) AS l (price) GROUP BY customer",
    )
    catch_up(job)
    last = {key.FromString(k).customer: total.FromString(v) for k, v in sent(broker.bootstrap, totals) if v is not None}
    assert {name: (t.customer, t.spent, t.orders) for name, t in last.items()} == {"Zoë": ("Zoë", 7.5, 2)}
    session.jobs.stop(job.id, drain=False)
    assert rows(session, "SELECT * FROM past_totals") == [("Zoë", "7.5", "2")]
    # One that can't be read, with its place and the reason.
    send(broker.bootstrap, topic, b"\xff")
    with pytest.raises(SqlStreamError) as error:
        rows(session, "SELECT id FROM past")
    shown = str(error.value)
    assert "Failed to deserialize PB object 'FF'" in shown
    assert f"topic {topic}, partition 0, offset 4" in shown and "input ended unexpectedly" in shown
    assert len(rows(session, "SELECT id FROM past /*+ OPTIONS('protobuf.ignore-parse-errors' = 'true') */")) == 3


def declared(folder: Path, text: str = SHOP) -> Any:
    project(folder, text)
    return open_session(folder, ORDERS.format(topic="o", bootstrap="b:1"))


def test_a_column_that_the_message_has_not(tmp_path: Path) -> None:
    session = declared(tmp_path, SHOP.replace("customer = 2", "buyer = 2"))
    with pytest.raises(ValidationError) as error:
        run(session, "EXPLAIN SELECT id FROM orders")
    assert error.value.message == "Column customer does not exists in definition of proto class."
    assert error.value.hint == "'shop.Order': It has: id, buyer, placed, lines."
    # The file is mended, and the session reads it.
    project(tmp_path)
    assert "orders" in explained(session, "SELECT id FROM orders")


def test_what_is_shown_of_a_table(tmp_path: Path) -> None:
    """The definition of the message is the project's: it stands in no plan and no catalog file."""
    session = declared(tmp_path)
    shown = explained(session, "SELECT id FROM orders") + str(rows(session, "SHOW CREATE TABLE orders"))
    assert "base64" not in shown and "shop.Shop$Order" in shown


def test_no_message_of_the_name(tmp_path: Path) -> None:
    session = declared(tmp_path, SHOP.replace("message Order", "message Orders"))
    with pytest.raises(ValidationError) as error:
        run(session, "EXPLAIN SELECT id FROM orders")
    assert error.value.message == "There is no message 'shop.Shop$Order', which 'message-class-name' names."
    assert error.value.hint == "Did you mean 'shop.Shop$Orders'?"


def test_files_take_no_messages(tmp_path: Path) -> None:
    project(tmp_path)
    session = open_session(tmp_path, "CREATE TABLE f (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'protobuf', "
                           "'protobuf.message-class-name' = 'shop.Order')")  # fmt: skip
    with pytest.raises(SqlStreamError, match="Format 'protobuf' is for records of Kafka"):
        run(session, "EXPLAIN SELECT id FROM f")
