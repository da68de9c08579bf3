"""Topics of a real broker on the page, and a job that reads one into a Delta table."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from tests.server.page.browser import Browser
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import TestBroker
    from tests.server.client import Client

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.usefixtures("interpreted")]


def test_a_topic_that_a_job_reads(on_spark: Client, broker: TestBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_BOOTSTRAP", raising=False)
    broker.topic("page-read", 2)
    broker.topic("page-empty", 1)
    broker.send("page-read", (0, "k", '{"id": 1}'), (1, None, '{"id": 2}'))
    (tmp_path / "catalog").mkdir(exist_ok=True)
    (tmp_path / "catalog" / "tables.sql").write_text(
        f"CREATE TABLE r (id INT) WITH ('connector' = 'kafka', 'topic-pattern' = 'page-r.*', 'properties.bootstrap.servers' = '{broker.bootstrap}',"
        " 'scan.startup.mode' = 'earliest-offset', 'format' = 'json');\n"
        f"CREATE TABLE e (id INT) WITH ('connector' = 'kafka', 'topic' = 'page-empty', 'properties.bootstrap.servers' = '{broker.bootstrap}',"
        " 'scan.startup.mode' = 'earliest-offset', 'format' = 'json');\n"
        f"CREATE TABLE d (id INT) WITH ('connector' = 'delta', 'table-path' = '{tmp_path / 'd'}');\n"
    )
    session = on_spark.open()
    session.run("SET 'pipeline.name' = 'reader'")
    session.run("INSERT INTO d SELECT id FROM r")
    browser = Browser(on_spark.address)
    address = f"/topics/page-read?servers={quote(broker.bootstrap, safe='')}"
    until(lambda: "Job Lag, records reader 0 " in browser.get(address).text, said=lambda: browser.get(address).text)
    page = browser.get(address)
    assert "2 records, tables: r" in page.text and "0 0 1 1 " in page.text and "1 0 1 1 " in page.text
    assert "CREATE TABLE" in page.text and "__consumer_offsets" not in browser.get("/topics").text
    broker.send("page-read", *((0, None, f'{{"id": {number}}}') for number in range(100)))
    # Two looks, and there is a rate.
    until(lambda: "0 0 101 101 " in browser.get(address).text)
    assert "0 0 101 101 -" not in browser.get(address).text
    page = browser.get(f"/topics/page-empty?servers={quote(broker.bootstrap, safe='')}")
    assert "The topic is empty." in page.text and "0 records, tables: e" in page.text and "A table for it" not in page.text
    # What the log of a real Delta table says.
    table = "/catalog/default_catalog/default_database/d"
    until(lambda: "STREAMING UPDATE" in browser.get(table).text, said=lambda: browser.get(table).text)
    page = browser.get(table)
    assert "CREATE TABLE" in page.text and "Size: -" not in page.text and "2 written" in page.text
