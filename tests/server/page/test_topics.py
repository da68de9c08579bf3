"""Topics on the page: what brokers answer, without Spark; the brokers of most tests have no JVM."""

from __future__ import annotations

import json
import time
from itertools import islice
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import pytest
from confluent_kafka import KafkaError, TopicPartition

from sqlstream.connectors.kafka.client import KafkaClient, Record, Span, Spans
from sqlstream.core.errors import SetupError
from sqlstream.server.page import looks, topics
from sqlstream.server.page.topics import Offsets, rates
from sqlstream.session.seen_records import LONGEST_BYTES, seen
from sqlstream.sql.tables import ObjectPath
from tests.server.page.browser import Browser
from tests.support.kafka_mock import MockKafka
from tests.support.sessions import open_session
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.raw_topics import Cluster
    from sqlstream.session.session import Session
    from sqlstream.sql.tables import Table
    from tests.server.client import Client

SECRET = "s3cr3t-canary"
CANARY = "<img src=x onerror=alert(1)>"
DAY = 1_767_225_600_000


@pytest.fixture
def kafka() -> MockKafka:
    return MockKafka()


def declare(project: Path, name: str, servers: str, topic: str, more: str = "") -> None:
    (project / "catalog").mkdir(exist_ok=True)
    text = f"CREATE TABLE `{name}` (id INT, `the text` STRING) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset', 'properties.bootstrap.servers' = '{servers}'{more});\n"
    with (project / "catalog" / "kafka.sql").open("a") as file:
        file.write(text)


def test_no_brokers(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_BOOTSTRAP", raising=False)
    browser = Browser(client.address)
    assert "No Kafka broker is known." in browser.get("/topics").text and "/topics" in browser.get("/").links
    assert browser.get("/topics/t").status == 404


def test_topics_and_their_records(client: Client, tmp_path: Path, kafka: MockKafka, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_BOOTSTRAP", raising=False)
    broken = b"\xff\xfe" + b"x" * 10
    kafka.produce("texts", (DAY, b"k", json.dumps({"id": 1, "the text": CANARY}).encode()), (DAY + 1, None, broken), (DAY + 2, b"\xff", None))
    kafka.produce("texts", (DAY + 3, None, b'{"id": 2, "the text": "' + b"y" * 100_000 + b'"}'), partition=1)
    kafka.produce("plain", (DAY, None, b'{"a": 1, "b": "x"}'))
    kafka.produce("gone", (DAY, b"k", None))
    declare(tmp_path, CANARY, kafka.bootstrap, "texts", f", 'properties.ssl.key.password' = '{SECRET}'")
    browser = Browser(client.address)
    page = browser.get("/topics")
    assert page.status == 200 and "plain 4 1 - " in page.text and f"texts 4 4 - {CANARY}" in page.text and "<img" not in page.html
    address = f"/topics/texts?servers={quote(kafka.bootstrap, safe='')}"
    assert address in page.links
    page = browser.get(address)
    assert page.status == 200 and "<img" not in page.html and SECRET not in page.html
    assert "1 0 1 1 -" in page.text and "As of when the page was opened, by the columns of" in page.text
    # The newest first; what the table can't read, or is too long, is shown as it is.
    rows = page.text.partition("the text")[2]
    places = [rows.index(each) for each in ("1 0 2026-01-01 00:00:00 NULL", "0 2 2026-01-01 00:00:00 x'ff' NULL", "x'fffe7878", f"k 1 {CANARY}")]
    assert places == sorted(places) and "y" * 301 not in page.text and "yyy ..." in page.text
    (link,) = (link for link in page.links if link.startswith("/query?sql=CREATE"))
    assert "CREATE TABLE texts" in unquote(link).replace("`", "") and SECRET not in unquote(link) and "******" in link.replace("%2A", "*")
    assert "Secrets are left out" in browser.get(link).text
    assert f"/catalog/default_catalog/default_database/{quote(CANARY)}" in page.links
    assert "Another table for it" in page.text
    # A topic without a table.
    page = browser.get("/topics/plain")
    assert "A table for it" in page.text
    assert '{"a": 1, "b": "x"}' in page.text and "`a` INT" in page.text.replace("a INT", "`a` INT")
    assert "No table can be told from its last records" in browser.get("/topics/gone").text
    page = browser.get(f"/topics/{quote('<b>none/ü')}")
    assert page.status == 404 and "There is no topic '<b>none/ü'" in page.text and "All topics" in page.text and "<b>" not in page.html
    # Only brokers that the project names are asked.
    assert browser.get("/topics/plain?servers=elsewhere%3A9092").status == 404


def test_a_topic_that_is_new(client: Client, tmp_path: Path, kafka: MockKafka, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP", kafka.bootstrap)
    monkeypatch.setattr(topics, "_NEW_SECONDS", 0.0)
    browser = Browser(client.address)
    kafka.produce("first", (DAY, None, b"1"))
    assert browser.get("/topics/first").status == 200
    kafka.produce("second", (DAY, None, b"2"))
    assert browser.get("/topics/second").status == 200
    assert browser.get("/topics/third").status == 404


def test_records_are_not_read_again_as_a_page_follows(client: Client, tmp_path: Path, kafka: MockKafka, monkeypatch: pytest.MonkeyPatch) -> None:
    kafka.produce("t", (DAY, None, b"before"))
    monkeypatch.setenv("KAFKA_BOOTSTRAP", kafka.bootstrap)
    browser = Browser(client.address)
    assert "before" in browser.get("/topics/t").text
    events = browser.events("/live/topics/t")
    assert "before" in next(events)[1]
    kafka.produce("t", (DAY + 1, None, b"behind"))
    # The offsets follow, the records stay; a heartbeat may come before.
    text = next(text for name, text in events if name == "view")
    assert "behind" not in text and "before" in text
    events.close()
    until(lambda: "behind" in browser.get("/topics/t").text)


def test_records_come_to_a_page_that_follows_another_server(
    client: Client, tmp_path: Path, kafka: MockKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that has begun since the page was opened has read none of them."""
    kafka.produce("t", (DAY, None, b"before"))
    monkeypatch.setenv("KAFKA_BOOTSTRAP", kafka.bootstrap)
    events = Browser(client.address).events("/live/topics/t")
    assert any("before" in text for _, text in islice(events, 5))
    events.close()


def test_records_that_could_not_be_read_come_later(client: Client, tmp_path: Path, kafka: MockKafka, monkeypatch: pytest.MonkeyPatch) -> None:
    kafka.produce("t", (DAY, None, b"before"))
    monkeypatch.setenv("KAFKA_BOOTSTRAP", kafka.bootstrap)
    monkeypatch.setattr(looks, "_AGAIN_SECONDS", 0.5)
    read, failing = topics._content, [True]

    def content(cluster: Cluster, topic: str) -> topics.Content:
        if failing:
            raise SetupError("Nobody has read them.")
        return read(cluster, topic)

    monkeypatch.setattr(topics, "_content", content)
    browser = Browser(client.address)
    assert "Nobody has read them." in browser.get("/topics/t").text
    failing.clear()
    events = browser.events("/live/topics/t")
    assert any("before" in text for _, text in islice(events, 5))
    events.close()


def test_what_was_known_stays_when_the_brokers_are_gone(client: Client, tmp_path: Path, kafka: MockKafka, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_BOOTSTRAP", raising=False)
    monkeypatch.setattr(topics, "_EVERY_SECONDS", 0.0)
    kafka.produce("t", (DAY, None, b"x"))
    declare(tmp_path, "silent", "localhost:9", "t")
    declare(tmp_path, "there", kafka.bootstrap, "t")
    look, gone = topics._offsets, []

    def offsets(cluster: Cluster, before: Offsets | None) -> Offsets:
        if gone and cluster.servers == kafka.bootstrap:
            raise SetupError(f"No Kafka broker answers at {cluster.servers}.")
        return look(cluster, before)

    monkeypatch.setattr(topics, "_offsets", offsets)
    browser = Browser(client.address)
    assert browser.get("/topics/t").status == 200
    until(lambda: "No Kafka broker answers at localhost:9." in browser.get("/topics").text)
    gone.append(True)
    until(lambda: f"No Kafka broker answers at {kafka.bootstrap}." in browser.get("/topics/t").text)
    page = browser.get("/topics/t").text
    assert "What follows is what was known before." in page and "1 record" in page and "not by columns: x" in page and "localhost:9." not in page
    assert f"No Kafka broker answers at {kafka.bootstrap}." in browser.get("/topics").text
    gone.clear()
    until(lambda: "No Kafka broker" not in browser.get("/topics/t").text)


def test_brokers_that_do_not_answer(client: Client, tmp_path: Path, kafka: MockKafka, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_BOOTSTRAP", raising=False)
    kafka.produce("t", (DAY, None, b"x"))
    more = f", 'properties.security.protocol' = 'SASL_PLAINTEXT', 'properties.sasl.mechanism' = 'PLAIN', 'properties.sasl.jaas.config' = 'o.PlainLoginModule required username=\"u\" password=\"{SECRET}\";'"
    declare(tmp_path, "silent", "localhost:9", "t", more)
    declare(tmp_path, "unset", "${env:SQLSTREAM_NO_SUCH_VARIABLE}", "t")
    declare(tmp_path, "there", kafka.bootstrap, "t")
    browser = Browser(client.address)
    begun = time.monotonic()
    page = browser.get("/topics")
    assert page.status == 200 and time.monotonic() - begun < 20 and "t 4 1 - there" in page.text
    assert "S2: Option 'properties.bootstrap.servers' needs the environment variable SQLSTREAM_NO_SUCH_VARIABLE" in page.text
    until(lambda: "S4: No Kafka broker answers at localhost:9. Check that it runs" in browser.get("/topics").text)
    assert SECRET not in browser.get("/topics").html
    page = browser.get("/topics/t?servers=localhost%3A9")
    assert page.status == 400 and "No Kafka broker answers at localhost:9." in page.text and "Check that it runs" in page.text
    # Others go on.
    assert browser.get("/topics/t").status == 200


def test_rates() -> None:
    def at(moment: float, **ends: int | None) -> Offsets:
        return Offsets(moment, {topic: Spans({0: Span(0, end)}) for topic, end in ends.items()}, {})

    now = at(14.0, grows=30, anew=5, new=1, lost=None, still=7).topics
    assert rates(None, 14.0, now) == {}
    assert rates(at(10.0, grows=10, anew=9, lost=3, still=7), 14.0, now) == {("grows", 0): 5.0, ("still", 0): 0.0}
    assert rates(at(10.0, grows=10), 99.0, now) == {}


def table(tmp_path: Path, columns: str, options: str) -> Table:
    session: Session = open_session(tmp_path)
    list(session.run(f"CREATE TABLE t ({columns}) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:1', {options})"))
    found: Any = session.context.catalog.get(ObjectPath("default_catalog", "default_database", "t"))
    return found


@pytest.mark.parametrize(
    ("options", "value", "cells"),
    [
        ("'format' = 'json'", b'{"b": {"x": [1]}, "a": null}', (None, '{"x": [1]}')),
        ("'format' = 'json'", b"[1]", None),
        ("'format' = 'json'", b"[" * 20_000, None),
        ("'format' = 'json'", b"\xff", None),
        ("'format' = 'json'", b'{"a": "\\u0000\\ud800"}', ("\\x00\\ud800", None)),
        ("'format' = 'csv', 'csv.field-delimiter' = ';'", b'1;"x;y"\n', ("1", "x;y")),
        ("'format' = 'csv'", b"1", None),
        ("'format' = 'csv'", b"", None),
    ],
)
def test_decoded(tmp_path: Path, options: str, value: bytes, cells: tuple[str | None, ...] | None) -> None:
    columns, (record,) = seen([Record(0, 7, -1, None, value)], table(tmp_path, "a STRING, b STRING", options))
    assert [name for name, _ in columns] == ["a", "b"] and record.cells == cells and (record.time, record.key) == (None, None)


def test_long_values_are_cut(tmp_path: Path) -> None:
    columns, (one, other) = seen([Record(0, 0, DAY, b"\xff" * LONGEST_BYTES, ("ü" * LONGEST_BYTES).encode()[1:][:LONGEST_BYTES]), Record(0, 1, DAY, None, ("a" + "ü" * LONGEST_BYTES).encode()[:LONGEST_BYTES])], None)  # fmt: skip
    assert columns == () and one.key is not None and one.key.startswith("x'ffff") and len(one.key) < 310
    assert other.value is not None and other.value.startswith("aüüü") and other.value.endswith("ü ...")


def test_topics_that_may_not_be_read_or_have_no_leader() -> None:
    client = KafkaClient({"bootstrap.servers": "b:1"})

    class Consumer:
        def offsets_for_times(self, asked: list[TopicPartition], timeout: float) -> list[TopicPartition]:
            return [TopicPartition(one.topic, one.partition, 3 if one.offset == -2 else 8) for one in asked]

    def known(error: int | None, *leaders: int) -> SimpleNamespace:
        partitions = {number: SimpleNamespace(leader=leader) for number, leader in enumerate(leaders)}
        return SimpleNamespace(partitions=partitions, error=None if error is None else KafkaError(error))

    refused = client._spans(Consumer(), "t", known(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    assert refused == Spans({}, "The user is not authorized.")
    half = client._spans(Consumer(), "t", known(None, 1, -1))
    assert half == Spans({0: Span(3, 8), 1: Span(None, None)}, "Without a leader now: partition 1.")
    assert [span.records for span in half.partitions.values()] == [5, None]
