"""The page in a real browser, where it needs a server alone."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import pytest

from sqlstream.server.page import routes
from tests.server.page.test_browser import browsing, findings

if TYPE_CHECKING:
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
