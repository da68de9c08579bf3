"""The page in a real browser, where it needs a server alone."""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING

import pytest

from sqlstream.server.page import routes
from sqlstream.server.page.job import PARTS
from tests.server.page.test_browser import browsing, findings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.client import Client

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_server_that_stands_still(client: Client, monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    """Its connections are open, and nothing comes."""
    moves = threading.Event()
    moves.set()
    made = routes._event

    def event(name: str, text: str) -> str:
        moves.wait(60)
        return made(name, text)

    monkeypatch.setattr(routes, "_event", event)
    monkeypatch.setattr(routes, "_ALIVE_SECONDS", 1.0)
    with browsing(color_scheme=scheme) as page:
        page.goto(client.address)
        page.wait_for_timeout(4_000)
        lost = page.get_by_text(re.compile("The server has not answered since"))
        assert lost.count() == 0
        moves.clear()
        try:
            lost.wait_for(timeout=10_000)
            assert page.get_by_text("This project has no jobs yet").is_visible()
            assert findings(page) == []
            # What is greyed by a filter is as readable.
            assert page.evaluate("getComputedStyle(document.getElementById('view')).opacity") == "1"
        finally:
            moves.set()
        lost.wait_for(state="detached", timeout=10_000)


def test_a_long_text_can_be_moved_with_the_keyboard(client: Client) -> None:
    with browsing(viewport={"width": 1280, "height": 900}) as page:
        page.goto(f"{client.address}/query?sql={'SELECT 1;%0A' * 200}")
        page.locator(".cm-scroller").wait_for()
        assert page.evaluate("(s => s.scrollHeight > s.clientHeight)(document.querySelector('.cm-scroller'))")
        assert findings(page) == []
        # The editor itself shows that it has the focus, and not a line of it.
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "none"


def test_a_long_word_makes_no_page_wider(client: Client, tmp_path: Path) -> None:
    long = "m" * 200
    folder = client.server.jobs.folders.jobs / "x"
    folder.mkdir(parents=True)
    (folder / "job.json").write_text(json.dumps({"layout": 2, "name": long, "sinks": []}))
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / f"{long[:100]}.sql").write_text(f"-- {long}\n-- :{long} INT -- {long}\nSELECT :{long};\n")
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "t.sql").write_text(
        f"CREATE TABLE {long} ({long} INT COMMENT '{long}') COMMENT '{long}' WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '/{long}');"
    )
    paths = [
        "/", "/catalog", f"/catalog/default_catalog/default_database/{long}", f"/catalog/default_catalog/default_database/{long}1",
        *(f"/job/{long}?show={part.name}" for part in PARTS), f"/job/{long}1", "/query", f"/query?saved={long[:100]}", f"/query?saved={long}",
        f"/query?job={long}", f"/query?job={long}1", f"/query?sql={long}", f"/help?about={long}", f"/{long}", f"/function/{long}", f"/topics/{long}",
    ]  # fmt: skip
    with browsing(viewport={"width": 360, "height": 740}) as page:
        wide = []
        for path in paths:
            page.goto(f"{client.address}{path}")
            page.wait_for_load_state()
            width = page.evaluate("document.documentElement.scrollWidth")
            wide += [(path[:30], width)] if width > 360 else []
        assert wide == []
