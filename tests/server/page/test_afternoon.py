"""An afternoon of a user in a real browser, with real Kafka and Delta: from a topic to a job that is mended and upgraded."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from tests.server.page.test_browser import browsing
from tests.server.page.test_query_browser import cells, done, run, write
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.runtime.engine.session import Engine
    from tests.conftest import TestBroker
    from tests.server.client import Client

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.usefixtures("interpreted")]
TOPIC = "afternoon"
# As long as that of one without a name of its own.
JOB = "insert-into_default_catalog.default_database.totals_of_shops"


def records(*ids: int) -> list[tuple[int, str, str]]:
    return [
        (0, str(each), json.dumps({"id": each, "shop": "Zürich" if each % 2 else "Genf", "amount": each * 10}, ensure_ascii=False)) for each in ids
    ]


def test_from_a_topic_to_a_job_that_is_upgraded(
    on_spark: Client, engine: Engine, broker: TestBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP", broker.bootstrap)
    broker.topic(TOPIC)
    broker.send(TOPIC, *records(1, 2, 3))
    with browsing(viewport={"width": 1280, "height": 900}) as page:
        # A topic becomes a table.
        page.goto(f"{on_spark.address}/topics/{TOPIC}?servers={quote(broker.bootstrap, safe='')}")
        page.get_by_role("cell", name=re.compile("Zürich")).first.wait_for()
        page.get_by_role("link", name="Open it in the editor").click()
        page.locator(".cm-content", has_text="CREATE TABLE").wait_for()
        page.keyboard.press("F5")
        done(page)
        assert "CREATE TABLE" in (on_spark.server.project / "catalog" / f"{TOPIC}.sql").read_text()
        # It is queried, with completion, and drawn.
        page.goto(f"{on_spark.address}/query")
        write(page, "")
        page.keyboard.type("SELECT shop, SUM(am")
        page.keyboard.press("Control+Space")
        page.keyboard.press("Escape")
        page.keyboard.insert_text(f"ount) AS total FROM {TOPIC} GROUP BY shop")
        page.keyboard.press("F5")
        until(lambda: sorted(cells(page)) == [["Genf", "20"], ["Zürich", "40"]], 60, said=lambda: (cells(page), page.locator("main").inner_text()))
        page.get_by_role("button", name="Chart").click()
        page.locator('[data-part="chart"] canvas').wait_for()
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("status").filter(has_text=re.compile("Done|Failed")).wait_for()
        # It is saved, and found again.
        page.locator("summary", has_text="Save").click()
        page.get_by_label("Name", exact=True).fill("per_shop")
        page.locator("#save button").click()
        page.get_by_role("heading", name="per_shop").wait_for()
        # It becomes a job.
        run(
            page,
            f"CREATE TABLE totals (shop STRING, total BIGINT, PRIMARY KEY (shop) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = '{tmp_path / 'd'}');\n"
            f"SET 'pipeline.name' = '{JOB}';\nINSERT INTO totals SELECT shop, SUM(amount) FROM {TOPIC} GROUP BY shop;",
        )
        page.locator("#verdict", has_text="is new").wait_for()
        page.get_by_role("button", name="Start the job").click()
        page.get_by_role("link", name="look at it").click()
        page.locator("h1 + .state", has_text="running").wait_for(timeout=60_000)
        # A record that is none breaks it, and the page says why.
        broker.send(TOPIC, (0, "4", "{nothing"))
        page.locator("h1 + .state", has_text="failed").wait_for(timeout=60_000)
        page.get_by_text(f"Failed to deserialize JSON '{{nothing' (topic {TOPIC}, partition 0, offset 3).").first.wait_for()
        page.get_by_text("'json.ignore-parse-errors' = 'true'").first.wait_for()
        # What the hint says is done, and it goes on where it was.
        page.get_by_role("link", name="Query", exact=True).click()
        run(page, f"ALTER TABLE {TOPIC} SET ('json.ignore-parse-errors' = 'true');")
        done(page)
        page.goto(f"{on_spark.address}/job/{quote(JOB)}")
        page.get_by_role("link", name="Upgrade").click()
        page.locator(".cm-content", has_text="SUM(amount)").wait_for()
        page.keyboard.press("F5")
        page.locator("#verdict", has_text="reading resumes at its offsets").wait_for(timeout=60_000)
        page.get_by_role("button", name="Start the job").click()
        page.get_by_role("link", name="look at it").click()
        page.locator("h1 + .state", has_text="running").wait_for(timeout=60_000)
        broker.send(TOPIC, *records(4, 5))
        until(lambda: _table(engine, tmp_path) == {"Genf": 60, "Zürich": 90}, said=lambda: _table(engine, tmp_path))
        # Another statement of it: what would become of its state is said first.
        page.get_by_role("link", name="Upgrade").click()
        page.locator(".cm-content", has_text="SUM(amount)").wait_for()
        run(page, page.locator(".cm-content").inner_text().replace("SUM(amount)", "SUM(amount) + 1"))
        page.locator("#verdict", has_text="has changed, and would be version 3").wait_for()
        page.get_by_role("button", name="Stop it, and resume with this").click()
        page.get_by_role("link", name="look at it").click(timeout=60_000)
        page.locator("h1 + .state", has_text="running").wait_for(timeout=60_000)
        broker.send(TOPIC, *records(6))
        until(lambda: _table(engine, tmp_path)["Genf"] == 121, said=lambda: _table(engine, tmp_path))
        page.get_by_role("link", name="Versions").click()
        page.get_by_text("+INSERT INTO totals SELECT shop, SUM(amount) + 1").wait_for()
        # Version 2 has the statement of version 1: it is its table that has changed.
        assert page.get_by_text("The statement is that of the version before.").count() == 1
        page.get_by_text("Stop with savepoint", exact=True).first.click()
        page.get_by_role("button", name="Stop with savepoint").click()
        page.get_by_text("Stopped with a savepoint").wait_for(timeout=60_000)
        page.locator("h1 + .state", has_text="stopped").wait_for(timeout=60_000)
        page.get_by_role("link", name="Savepoints").click()
        page.get_by_role("cell", name=".sqlstream/savepoints/").wait_for()
        # Nothing of it is wider than a telephone.
        page.set_viewport_size({"width": 360, "height": 740})
        for view in (f"/job/{quote(JOB)}", "/catalog/default_catalog/default_database/totals", "/catalog", "/topics", "/", "/query"):
            page.goto(on_spark.address + view)
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), view
        # A job that is dropped takes its charts along.
        page.goto(f"{on_spark.address}/job/{quote(JOB)}")
        page.locator("#charts").wait_for()
        on_spark.open().run(f"DROP JOB '{JOB}'")
        page.get_by_text("does not exist").first.wait_for()
        assert page.locator("#charts").count() == 0


def _table(engine: Engine, folder: Path) -> dict[str, int]:
    """What is in the Delta table."""
    rows = engine.spark.read.format("delta").load(str(folder / "d")).collect()
    return {row["shop"]: row["total"] for row in rows}
