"""A page that is open for hours, on many jobs."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import pytest

from sqlstream.runtime.monitor.metrics import JobMetrics
from sqlstream.server.page import routes
from sqlstream.server.page.lately import Lately
from tests.server.page.test_browser import browsing
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import CDPSession, Page

    from tests.server.client import Client

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("interpreted")]
JOBS = 20
# Points of an hour, and changes of a view, of which one comes a second at most.
POINTS, CHANGES = 720, 3_600


def kept(page: Page, session: CDPSession) -> tuple[int, int, int]:
    """What the page keeps: bytes of its script, nodes, listeners."""
    # Documents that views were read from are let go in several steps, later on a machine that is busy.
    steps = [10**9] * 3
    while min(steps[-3:-1]) > steps[-1] or len(steps) < 7:
        page.wait_for_timeout(500)
        session.send("HeapProfiler.collectGarbage")
        steps.append(session.send("Memory.getDOMCounters")["nodes"])
    counted = session.send("Memory.getDOMCounters")
    return session.send("Runtime.getHeapUsage")["usedSize"], counted["nodes"], counted["jsEventListeners"]


@pytest.mark.parametrize("view", ["/", "/job/job%207"])
def test_its_memory_stays_flat(on_spark: Client, files: Path, monkeypatch: pytest.MonkeyPatch, view: str) -> None:
    session = on_spark.open()
    session.run(
        f"CREATE TABLE f (id INT) WITH ('connector' = 'filesystem', 'path' = '{files}', 'format' = 'json', 'source.monitor-interval' = '1 h')"
    )
    session.run("CREATE TABLE p (id INT) WITH ('connector' = 'print')")
    for number in range(JOBS):
        session.run(f"SET 'pipeline.name' = 'job {number}'")
        session.run("INSERT INTO p SELECT id FROM f")
    # An hour passes in a minute: what is shown is always another, and looked for without a pause.
    figures, sent = itertools.count(), itertools.count()
    views = 0

    def event(name: str, data: str) -> str:
        nonlocal views
        views = next(sent) if name == "view" else views
        return made(name, data)

    made = routes._event
    monkeypatch.setattr(JobMetrics, "rows_per_second", property(lambda _: float(next(figures))))
    monkeypatch.setattr(Lately, "get", lambda self, key, make: make())
    monkeypatch.setattr(routes, "_event", event)
    with browsing() as page:
        page.goto(f"{on_spark.address}{view}")
        page.get_by_text(f"{JOBS} jobs running").wait_for(timeout=60_000)
        browser = page.context.new_cdp_session(page)
        now = time.time()
        # Of the first hour, in which charts fill and code is compiled, a part is enough.
        for hour, changes in enumerate((CHANGES // 6, CHANGES)):
            begun = views
            for point in range(POINTS):
                on_spark.server.history.look(now + (hour * POINTS + point) * 5)
            monkeypatch.setattr(routes, "_EVERY_SECONDS", 0.0)
            until(lambda: views - begun >= changes, 400, said=lambda: views - begun)  # noqa: B023
            monkeypatch.setattr(routes, "_EVERY_SECONDS", 10.0)
            if hour == 0:
                before = kept(page, browser)
        after = kept(page, browser)
        assert after[0] < before[0] * 1.1 + 200_000, (before, after)
        assert after[1] < before[1] * 1.1 + 200, (before, after)
        assert after[2] < before[2] * 1.1 + 20, (before, after)
