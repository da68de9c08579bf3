"""The page without jobs: what it answers, to whom, and how little it trusts."""

from __future__ import annotations

import http.client
import re
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.core.tokens import Tokens
from sqlstream.server.page import html, routes
from tests.server.conftest import serving
from tests.server.page.browser import Browser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlstream.core.errors import SqlStreamError
    from tests.server.client import Client
    from tests.server.page.browser import Page

TOKENS = Tokens((b"full-0123456789abcdef",), (b"look-0123456789abcdef",))
FULL, LOOK = TOKENS.all[0].decode(), TOKENS.read_only[0].decode()


@pytest.fixture
def browser(client: Client) -> Browser:
    return Browser(client.address)


@pytest.fixture
def guarded(tmp_path: Path, no_engine: object) -> Iterator[Browser]:
    """A browser of a server that has tokens."""
    with serving(tmp_path, {}, no_engine, TOKENS) as client:
        yield Browser(client.address)


def test_an_empty_project_shows_the_next_steps(browser: Browser, tmp_path: Path) -> None:
    page = browser.get("/")
    assert page.status == 200
    assert "This project has no jobs yet. Two steps make one:" in page.text
    assert f"sqlstream --project {tmp_path}" in page.text and "INSERT INTO" in page.text


def test_a_project_with_tables_alone_shows_the_next_step(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "t.sql").write_text("CREATE TABLE t (a INT) WITH ('connector' = 'print');")
    text = browser.get("/").text
    assert "This project has no jobs yet, and 1 table in its catalog" in text and "Two steps" not in text


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (None, "The server has been started, and starts its jobs again, one after the other."),
        (
            ValidationError("No <broker> answers.", hint="Start it."),
            "It could not be started yet, and is tried again: No <broker> answers. Start it.",
        ),
    ],
)
def test_a_job_that_waits_for_its_start(
    client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch, problem: SqlStreamError | None, said: str
) -> None:
    folder = client.server.jobs.folders.jobs / "x"
    folder.mkdir(parents=True)
    (folder / "job.json").write_text('{"layout": 2, "name": "a", "sinks": []}')
    monkeypatch.setattr(type(client.server), "starting", {"a": problem})
    for page in (browser.get("/"), browser.get("/job/a")):
        assert "a starting" in page.text and said in page.text and "<broker>" not in page.html


@pytest.mark.parametrize("path", ["/", "/login", "/nothing", "/job/none", "/query", "/help"])
def test_a_page_loads_nothing_but_what_the_server_has(browser: Browser, path: str) -> None:
    page = browser.get(path)
    assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff" and page.headers["cache-control"] == "no-store"
    # A form says where it comes from only if a page may say so.
    assert page.headers["referrer-policy"] == "same-origin"
    loaded = re.findall(r'(?:src|href)="([^"]*)"', page.html)
    assert loaded and not [address for address in loaded if not address.startswith(("/", "#", "?"))]
    assert not re.search(r"\sstyle=|\son\w+=|<script(?![^>]*src=)|<style", page.html)


def test_what_the_page_looks_like(browser: Browser) -> None:
    addresses = re.findall(r'(?:src|href)="(/static/[^"]*)"', browser.get("/").html)
    assert len(addresses) == 3
    for address in addresses:
        assert browser.get(address).status == 200
    # As they are sent.
    sent = [browser.get(f"/static/{file.name}", **{"Accept-Encoding": "gzip"}).size for file in html.STATIC.iterdir()]
    assert sum(sent) < 300_000 and max(sent) < 200_000
    assert browser.get("/static/../page.html").status == 404
    assert browser.get("/static/%2e%2e/html.py").status == 404


@pytest.mark.parametrize("path", ["/", "/query", "/catalog", "/help"])
def test_how_much_a_browser_loads_at_first(browser: Browser, path: str) -> None:
    def sent(address: str) -> Page:
        return browser.get(address, **{"Accept-Encoding": "gzip"})

    page = sent(path)
    assert page.headers["content-encoding"] == "gzip" and page.size < len(page.html)
    files = set(re.findall(r'(?:src|href)="(/static/[^"]*)"', page.html))
    loaded: dict[str, Page] = {}
    while files:
        loaded |= {address: sent(address) for address in files}
        imported = {name for file in loaded.values() for name in re.findall(r'(?:from|import)"\./([^"]+)"', file.html)}
        files = {f"/static/{name}" for name in imported} - loaded.keys()
    assert page.size + sum(file.size for file in loaded.values()) < 150_000, {address: file.size for address, file in loaded.items()}


def test_events_are_not_held_back_by_a_compressor(client: Client) -> None:
    connection = http.client.HTTPConnection(Browser(client.address).host, timeout=60)
    connection.request("GET", "/live/", headers={"Accept": "text/event-stream", "Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    assert answer.headers["content-encoding"] is None and answer.readline() == b"event: view\n"
    connection.close()


def test_what_is_not_there(browser: Browser) -> None:
    page = browser.get("/<script>alert(1)</script>")
    assert page.status == 404 and "S2: Not found: /<script>alert(1)</script>" in page.text and "<script>alert" not in page.html
    assert 'href="/catalog"' in page.html
    page = browser.get("/job/%3Cb%3Enone")
    assert page.status == 404 and "S2: Job <b>none does not exist." in page.text and "<b>none" not in page.html
    assert "SHOW JOBS, or sqlstream jobs list, lists the jobs of this project." in page.text
    assert len(browser.get(f"/{'x' * 5_000}").html) < 2_000
    # A client of an interface has its answers as before.
    assert browser.get("/nothing", Accept="*/*").headers["content-type"] == "application/json"


def test_help(browser: Browser) -> None:
    page = browser.get("/help")
    assert page.status == 200 and "Topics Docs" in page.text and "Forms of queries" in page.text and "/help?about=CONNECTOR%20kafka" in page.links
    # Each of its links leads to what HELP says.
    for link in (link for link in page.links if link.startswith("/help?")):
        assert "HELP lists the topics" not in browser.get(link).text and "There is no help" not in browser.get(link).text, link
    assert "TUMBLE(TABLE" in browser.get("/help?about=tumble").text
    page = browser.get("/help?about=%3Cb%3Enone")
    assert page.status == 200 and "There is no help for '<b>none'" in page.text and "<b>none" not in page.html


def test_nothing_is_asked_of_a_job_that_is_not_there(browser: Browser) -> None:
    assert browser.post("/job/none", {"action": "stop"}).status == 404
    for fields in ({"action": "explode"}, {}, b"\xff"):
        assert browser.post("/job/none", fields).status == 400
    assert browser.post("/job/none", {"action": "stop"}, Origin="https://evil.example").status == 403


def test_a_view_follows_what_changes(client: Client, browser: Browser) -> None:
    events = browser.events("/live/")
    name, text = next(events)
    assert name == "view" and "This project has no jobs yet" in text and "<html" not in text
    folder = client.server.jobs.folders.jobs / "x"
    folder.mkdir(parents=True)
    (folder / "job.json").write_text('{"layout": 2, "name": "a <i> job", "sinks": []}')
    text = next(text for name, text in events if name == "view")
    assert "a &lt;i&gt; job" in text and "suspended" in text
    events.close()
    page = browser.get("/job/a%20%3Ci%3E%20job")
    assert page.status == 200 and "a <i> job suspended" in page.text
    assert [browser.get(f"/job/a%20%3Ci%3E%20job?show={part}").status for part in ("plan", "versions", "log", "rows", "nothing")] == [200] * 5
    assert browser.get("/?show=failing").text.count("suspended") == 1
    assert "No job is running." in browser.get("/?show=running").text


def test_a_view_that_stays_as_it_is_has_a_heartbeat(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "_ALIVE_SECONDS", 1.0)
    assert 'data-alive="1.0"' in browser.get("/").html
    events = browser.events("/live/")
    assert [next(events)[0] for _ in range(3)] == ["view", "alive", "alive"]
    events.close()


def test_a_browser_without_a_token_logs_in(guarded: Browser) -> None:
    page = guarded.get("/job/x?show=log")
    assert (page.status, page.headers["location"]) == (303, "/login?to=%2Fjob%2Fx%3Fshow%3Dlog")
    assert guarded.get("/live/").status == 303
    # What asks for no page is refused as before.
    assert guarded.get("/", Accept="*/*").status == 401
    form = guarded.get(page.headers["location"])
    assert form.status == 200 and 'name="to" value="/job/x?show=log"' in form.html
    wrong = guarded.post("/login", {"to": "/", "token": "wrong"})
    assert wrong.status == 401 and "This is none of the tokens of this server." in wrong.text and not guarded.cookies
    right = guarded.post("/login", {"to": "/job/x?show=log", "token": FULL})
    assert (right.status, right.headers["location"]) == (303, "/job/x?show=log")
    assert re.fullmatch(r"sqlstream_token_\d+=[^;]*; HttpOnly; Path=/; SameSite=strict", right.headers["set-cookie"], re.I)
    page = guarded.get("/")
    assert page.status == 200 and "Log out" in page.text and FULL not in page.html
    assert guarded.post("/logout", {}).headers["location"] == "/login?left"
    assert "You have logged out, in all tabs of this browser." in guarded.get("/login?left").text
    assert guarded.get("/").status == 303


@pytest.mark.parametrize("to", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "", "/\r\nX: y"])
def test_a_login_leads_to_no_other_site(guarded: Browser, to: str) -> None:
    assert guarded.post("/login", {"to": to, "token": FULL}).headers["location"] == "/"


def test_who_may_only_look_changes_nothing(guarded: Browser) -> None:
    guarded.post("/login", {"token": LOOK})
    assert guarded.get("/").status == 200
    assert guarded.post("/job/x", {"action": "stop"}).status == 403
    assert guarded.post("/logout", {}).status == 303 and guarded.get("/").status == 303
    # A page of another site sends no cookie that is strict; one that did would be refused by where it comes from.
    guarded.post("/login", {"token": FULL})
    assert guarded.post("/job/x", {"action": "stop"}, Origin="https://evil.example").status == 403
    assert guarded.post("/job/x", {"action": "stop"}).status == 404


def test_a_cookie_is_that_of_one_server(guarded: Browser) -> None:
    guarded.cookies["sqlstream_token_1"] = FULL
    assert guarded.get("/").status == 303
    guarded.cookies = {f"sqlstream_token_{guarded.host.rpartition(':')[2]}": FULL}
    assert guarded.get("/").status == 200


@pytest.mark.parametrize("host", ["localhost:abc", "localhost:", "[::x", "x:99999999", ""])
def test_hosts_that_are_none(guarded: Browser, host: str) -> None:
    guarded.cookies = {"sqlstream_token_0": FULL}
    assert guarded.get("/", Host=host).status == 200
    assert guarded.get("/login", Host=host).status == 200


def test_a_defect_is_a_page_too(client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("secret details")

    monkeypatch.setattr(type(client.server), "starting", property(lambda self: broken()))
    folder = client.server.jobs.folders.jobs / "x"
    folder.mkdir(parents=True)
    (folder / "job.json").write_text('{"layout": 2, "name": "a", "sinks": []}')
    page = browser.get("/")
    assert page.status == 500 and "This is a defect in sqlstream" in page.text and "secret details" not in page.html
