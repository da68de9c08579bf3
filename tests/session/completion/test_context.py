"""The snapshot that a session takes, and topics that are asked for in the background. No Spark, no broker."""

import socket
import time

import pytest

from sqlstream.connectors.kafka.client import KafkaClient
from sqlstream.plan.planner import Planner
from sqlstream.session.completion import suggest, topic_names
from sqlstream.session.completion.topic_names import TopicNames
from tests.support.sessions import open_session


@pytest.fixture
def session(tmp_path):
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "daily.sql").write_text("SELECT 1;")
    script = """
    CREATE TABLE orders (item STRING, price INT, who ROW<name STRING>, twice AS price * 2, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
    CREATE TEMPORARY VIEW totals AS SELECT item, SUM(price) AS total FROM orders GROUP BY item;
    CREATE TABLE events (a INT) WITH ('connector' = 'kafka', 'topic' = 'e', 'properties.bootstrap.servers' = 'broker:1', 'properties.group.id' = 'g', 'format' = 'json');
    CREATE DATABASE archive;
    """
    return open_session(tmp_path, script)


def first(text, context):
    at = text.index("‸")
    return [s.text for s in suggest(text.replace("‸", ""), at, context)]


def test_tables_views_and_their_columns(session):
    context = session.completion()
    assert [(r.name, r.is_view, r.connector) for r in context.relations] == [
        ("events", False, "kafka"), ("orders", False, "datagen"), ("totals", True, ""),
    ]  # fmt: skip
    assert first("SELECT ‸ FROM orders", context)[:5] == ["item", "price", "who", "twice", "ts"]
    assert first("SELECT who.‸ FROM orders", context) == ["name"]
    assert first("SELECT ‸ FROM totals", context)[:2] == ["item", "total"]
    assert [(c.name, c.type) for c in context.columns_of(("totals",))] == [("item", "STRING"), ("total", "INT")]
    assert first("USE ar‸", context) == ["archive"]
    assert first("\\n ‸", context) == ["daily"]


def test_columns_are_planned_when_they_are_asked_for_and_once(session, monkeypatch):
    planned = []
    plan = Planner.schema
    monkeypatch.setattr(Planner, "schema", lambda self, item: planned.append(item.path.name) or plan(self, item))
    context = session.completion()
    first("SELECT * FROM t‸", context)
    assert planned == []
    for _ in range(3):
        first("SELECT ‸ FROM totals", context)
    assert planned == ["totals"]


def test_a_view_on_nothing_has_no_columns(session):
    list(session.run("CREATE VIEW broken AS SELECT * FROM events; DROP TABLE events"))
    assert "a" not in first("SELECT ‸ FROM broken", session.completion())


def test_topics_come_from_the_brokers_of_the_tables_and_are_kept(session, monkeypatch):
    asked = []
    monkeypatch.setattr(KafkaClient, "topics", lambda client: asked.append(client.servers) or {"clicks": 1, "orders": 2})
    context = session.completion()
    text = "CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'c‸"
    assert first(text, context) == ["'clicks'"]
    assert first(text, session.completion()) == ["'clicks'"]
    assert asked == ["broker:1"]


def test_a_broker_that_does_not_answer_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(topic_names, "ANSWER_S", 60)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        topics = TopicNames()
        for _ in range(3):
            began = time.monotonic()
            assert topics({"bootstrap.servers": f"127.0.0.1:{silent.getsockname()[1]}"}) == ()
            assert time.monotonic() - began < 20
