"""The page in a real browser, where it needs a server alone."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import pytest

from sqlstream.server.page import routes
from tests.server.page.test_browser import browsing

if TYPE_CHECKING:
    from tests.server.client import Client

pytestmark = pytest.mark.slow


def test_a_server_that_stands_still(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connections are open, and nothing comes."""
    moves = threading.Event()
    moves.set()
    made = routes._event

    def event(name: str, text: str) -> str:
        moves.wait(60)
        return made(name, text)

    monkeypatch.setattr(routes, "_event", event)
    monkeypatch.setattr(routes, "_ALIVE_SECONDS", 1.0)
    with browsing() as page:
        page.goto(client.address)
        page.wait_for_timeout(4_000)
        lost = page.get_by_text(re.compile("The server has not answered since"))
        assert lost.count() == 0
        moves.clear()
        try:
            lost.wait_for(timeout=10_000)
            assert page.get_by_text("This project has no jobs yet").is_visible()
        finally:
            moves.set()
        lost.wait_for(state="detached", timeout=10_000)
