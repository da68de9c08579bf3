"""A job on the page: what is shown of it, and what its buttons do."""

from __future__ import annotations

import json
import re
import time
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from sqlstream.core import private
from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.server.page.doings import Doings
from tests.server.page.browser import Browser
from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.client import Client
    from tests.server.page.browser import Page

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]
NAME = "per <id> & 'all'"
PATH = f"/job/{quote(NAME)}"


@pytest.fixture
def browser(on_spark: Client) -> Browser:
    return Browser(on_spark.address)


@pytest.fixture
def counting(on_spark: Client, files: Path, tmp_path: Path):
    """A job that counts, and its session."""
    session = on_spark.open()
    options = f"'connector' = 'filesystem', 'path' = '{files}', 'format' = 'json', 'source.monitor-interval' = '1 s'"
    session.run(f"CREATE TABLE f (id INT) WITH ({options})")
    session.run(f"CREATE TABLE t (id INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = '{tmp_path / 't'}')")
    session.run(f"SET 'pipeline.name' = '{NAME.replace(chr(39), chr(39) * 2)}'")
    session.run("INSERT INTO t SELECT id, COUNT(*) FROM f WHERE id < 9 GROUP BY id")
    return session


def shown(browser: Browser, path: str, text: str) -> Page:
    """The page when it has this text."""
    pages: list[Page] = []

    def there() -> bool:
        pages.append(browser.get(path))
        return text in pages[-1].text

    until(there, 60, said=lambda: pages[-1].text)
    return pages[-1]


@pytest.mark.usefixtures("counting")
def test_a_job_is_shown(on_spark: Client, browser: Browser, files: Path, tmp_path: Path) -> None:
    feed(files, {"id": 1}, {"id": 2}, {"id": 1}, {"id": 10})
    page = shown(browser, "/", "1 job running")
    assert PATH in page.links and f"{NAME} running" in page.text and NAME not in page.html
    page = shown(browser, PATH, "It emits rows")
    assert f"{NAME} running" in page.text
    assert page.buttons == ["stop with savepoint", "savepoint", "drain", "restart", "stop"]
    boxes = re.findall(r'class="box".*?</ul>', page.html, re.S)
    assert len(boxes) == 3 and "filesystem" in boxes[0] and "4</data> rows" in boxes[0] and "id &lt; 9" in boxes[0]
    shown(browser, PATH, "state ")
    assert "INSERT INTO t SELECT id, COUNT(*) FROM f WHERE id < 9 GROUP BY id" in page.text
    assert "GroupAggregate(groupBy=[id]" in browser.get(f"{PATH}?show=plan").text
    assert "checkpoint" in browser.get(f"{PATH}?show=checkpoints").text
    assert "It has not failed." in browser.get(f"{PATH}?show=exceptions").text
    assert "Version 1" in browser.get(f"{PATH}?show=versions").text
    # A count by key waits for no time.
    assert "No row was left out." in (left := browser.get(f"{PATH}?show=rows").text) and "came late" not in left
    # Points of charts come with the events.
    on_spark.server.history.look(1.0)
    on_spark.server.history.look(2.0)
    for path in (PATH, f"/job/{quote(NAME[:-1])}"):  # a part of a name is one, too
        points = next(json.loads(data) for name, data in browser.events(f"/live{path}") if name == "points")
        assert points["at"] == [1.0, 2.0] and len(points["process"]) == 2 and points["heap"][0] > 1_000_000


@pytest.mark.usefixtures("counting")
def test_a_job_is_stopped_with_a_savepoint_and_started(browser: Browser, files: Path) -> None:
    feed(files, {"id": 1})
    shown(browser, PATH, "It emits rows")
    assert browser.post(PATH, {"action": "savepoint"}).headers["location"] == f"{PATH}#name"
    page = shown(browser, PATH, "The savepoint was made")
    assert "file:///" in page.text
    # How long it took stays as it is.
    notice = re.search(r'role="status">.*?</div>', page.html, re.S)
    time.sleep(1.1)
    assert notice is not None and notice[0] in browser.get(PATH).html
    assert browser.post(PATH, {"action": "stop with savepoint"}).status == 303
    page = shown(browser, PATH, "Stopped with a savepoint")
    assert page.buttons == ["start"] and f"{NAME} stopped" in page.text
    saved = browser.get(f"{PATH}?show=savepoints").html
    link = re.search(r'href="(/query[^"]*savepoint=[^"]*)"', saved)
    assert link is not None and "SET 'execution.state-recovery.path' = '/" in unescape(browser.get(unescape(link[1])).html)
    assert saved.count("<code>/") == 2 and "checkpoint" in browser.get(f"{PATH}?show=checkpoints").text
    assert shown(browser, "/", "0 jobs running") and f"{NAME} stopped" in browser.get("/?show=still").text
    browser.post(PATH, {"action": "start"})
    page = shown(browser, PATH, "Started")
    assert f"{NAME} running" in page.text
    assert "continues where it stopped" in browser.get(f"{PATH}?show=log").text
    browser.post(PATH, {"action": "restart"})
    shown(browser, PATH, "Restarted")
    # What can't be done is said where it was asked for.
    browser.post(PATH, {"action": "start"})
    page = shown(browser, PATH, "Start failed")
    assert "can't be started again: it is running." in page.text
    browser.post(PATH, {"action": "stop"})
    shown(browser, PATH, f"{NAME} stopped")


def test_a_job_that_fails_says_why(on_spark: Client, browser: Browser, files: Path, tmp_path: Path) -> None:
    session = on_spark.open()
    session.run(
        f"CREATE TABLE f (id INT, text STRING) WITH ('connector' = 'filesystem', 'path' = '{files}', 'format' = 'json', 'source.monitor-interval' = '1 s',"
        " 'json.ignore-parse-errors' = 'true')"
    )
    session.run("CREATE TABLE p (id INT) WITH ('connector' = 'print')")
    session.run("SET 'pipeline.name' = 'failing'")
    session.run("SET 'restart-strategy.type' = 'none'")
    session.run("INSERT INTO p SELECT CAST(text AS INT) FROM f")
    feed(files, {"id": 1, "text": "<img src=x onerror=alert(1)>"})
    page = shown(browser, "/", "1 failing")
    assert "<img" not in page.html
    page = browser.get("/job/failing")
    assert "The job has failed:" in page.text and page.buttons == ["start"]
    # What was asked is not said any more when the job has failed since.
    browser.post("/job/failing", {"action": "start"})
    until(lambda: "has failed" in (text := browser.get("/job/failing").text) and "Start" in text and "Started" not in text and "Starting" not in text)
    # What SKIP RECORDS leaves out is said where one looks for it, and that nobody counts what the table passes over.
    text = browser.get("/job/failing?show=rows").text
    assert "No other row was left out." in text and "Records of f that can't be read are passed over, and neither counted nor kept" in text
    *_, generation = sorted((tmp_path / ".sqlstream" / "jobs" / "failing").glob("[0-9]*"))
    shared = private.folder(generation / "inputs" / "shared")
    (shared / "skipped.json").write_text('{"paid": [[1, 42]]}')
    assert "No other row was left out." not in shown(browser, "/job/failing?show=rows", "paid 1 42").text
    page = browser.get("/job/failing?show=exceptions")
    assert "<img src=x onerror=alert(1)>" in page.text and "<img" not in page.html


def test_what_was_done_is_told_until_the_job_has_begun_again(tmp_path: Path) -> None:
    doings = Doings(tmp_path)
    doings.begin("j", Action.START, lambda: "")
    until(lambda: (done := doings.of("j", None, None)) is not None and done.work.done)
    done = doings.of("j", None, None)
    assert done is not None and doings.of("j", done.since - 1, done.since - 1) is done
    # Somebody else has upgraded it.
    assert doings.of("j", done.since + 1, None) is None and doings.of("j", None, None) is None
