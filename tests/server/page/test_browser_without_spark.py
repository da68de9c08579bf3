"""The page in a real browser, where it needs a server alone."""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from sqlstream.core.tokens import Tokens
from sqlstream.server.joined.shell import Shell
from sqlstream.server.page import routes
from sqlstream.server.page.job import PARTS
from tests.server.conftest import serving
from tests.server.page.test_browser import browsing, findings, stalled
from tests.server.page.test_query_browser import write
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from tests.server.client import Client

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_server_that_stands_still(client: Client, monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    """Its connections are open, and nothing comes."""
    moves = stalled(monkeypatch)
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


def test_a_server_that_asks_for_a_token_now(client: Client) -> None:
    """It was begun again so while the page was open."""
    with browsing(refused=True) as page:
        page.route("**/live/**", lambda route: route.fulfill(status=401))
        page.goto(f"{client.address}/catalog?x=1")
        assert page.get_by_role("link", name="Log in").get_attribute("href") == "/login?to=%2Fcatalog%3Fx%3D1"
        assert page.get_by_role("alert").inner_text().startswith("The server does not know you any more.")


def test_who_logs_out_has_left_in_all_tabs(tmp_path: Path, no_engine: object) -> None:
    token = b"full-0123456789abcdef"
    with serving(tmp_path, {}, no_engine, Tokens((token,), ())) as client, browsing() as page:

        def log_in(of: Page) -> None:
            of.get_by_label("Token").fill(token.decode())
            of.get_by_role("button", name="Log in").click()

        page.goto(client.address)
        log_in(page)
        query = page.context.new_page()
        query.goto(f"{client.address}/query")
        query.locator(".cm-content").fill("SELECT 12345;")
        page.get_by_role("button", name="Log out").click()
        page.get_by_text("You have logged out, in all tabs of this browser.").wait_for()
        query.get_by_label("Token").wait_for()
        # It comes back with what had been written.
        log_in(query)
        query.locator(".cm-content").get_by_text("SELECT 12345;").wait_for()
        assert query.url == f"{client.address}/query"


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


TABLES = "CREATE TABLE s (id INT) WITH ('connector' = 'datagen');\nCREATE TABLE p (id INT) WITH ('connector' = 'print');\n"


def begin(page: Page, client: Client, text: str) -> None:
    """Run a text in the editor."""
    page.goto(f"{client.address}/query?sql={quote(text)}")
    page.locator(".cm-content").click()
    page.keyboard.press("F5")


def test_what_has_failed_is_said_once(client: Client) -> None:
    with browsing() as page:
        begin(page, client, "SET 'pipline.name' = 'x'")
        page.locator("#said .notice.failing", has_text="There is no option 'pipline.name'.").wait_for()
        page.locator(".cm-lintRange").first.wait_for()
        page.wait_for_timeout(1_000)
        assert page.get_by_text("There is no option 'pipline.name'.").count() == 1


def test_what_has_failed_has_one_place(client: Client) -> None:
    with browsing() as page:
        begin(page, client, "SHOW CATALOGS;\nSELECT any FROM t")
        failed = page.locator("#said .notice.failing")
        failed.wait_for()
        assert "2:8" in failed.inner_text() and 'Encountered "any".' in failed.inner_text()
        page.wait_for_timeout(1_000)
        assert page.get_by_text('Encountered "any"').count() == 1


def test_a_question_waits_for_its_answer(client: Client) -> None:
    with browsing() as page:
        begin(page, client, f"{TABLES}INSERT INTO p SELECT id FROM s")
        page.locator("#verdict", has_text="is new").wait_for()
        status = page.get_by_role("status")
        assert status.inner_text() == "Waiting for your answer"
        page.keyboard.press("Escape")
        until(lambda: "Done in" in status.inner_text(), said=status.inner_text)


def test_a_question_makes_room_for_what_is_run_next(client: Client) -> None:
    with browsing() as page:
        begin(page, client, f"{TABLES}INSERT INTO p SELECT id FROM s")
        page.locator("#verdict", has_text="is new").wait_for()
        write(page, "SHOW CATALOGS")
        page.keyboard.press("F5")
        page.get_by_role("cell", name="default_catalog").wait_for()
        assert page.locator("#verdict").inner_text() == "" and "Done in" in page.get_by_role("status").inner_text()


def test_a_connection_that_is_back_is_said_to_be(client: Client) -> None:
    with browsing() as page:
        page.add_init_script("window.WebSocket = class extends WebSocket { constructor(to) { super(to); window.socket = this; } }")
        begin(page, client, TABLES)
        until(lambda: "Done in" in page.get_by_role("status").inner_text())
        # What the editor asks by itself has been answered.
        page.wait_for_timeout(1_500)
        page.route("**/icon.svg", lambda route: route.abort())
        page.evaluate("socket.close()")
        lost = page.get_by_text(re.compile("The server has not answered since"))
        lost.wait_for()
        page.wait_for_timeout(3_000)
        assert lost.is_visible()
        page.unroute("**/icon.svg")
        lost.wait_for(state="detached")
        page.get_by_text("What you run next begins a new session").wait_for()


def test_a_session_whose_server_stands_still(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    moves = threading.Event()
    moves.set()
    hear = Shell.hear

    def late(shell: Shell, said: dict[str, Any]) -> None:
        moves.wait(60)
        hear(shell, said)

    monkeypatch.setattr(Shell, "hear", late)
    with browsing() as page:
        begin(page, client, TABLES)
        until(lambda: "Done in" in page.get_by_role("status").inner_text())
        moves.clear()
        lost = page.get_by_text(re.compile("The server has not answered since"))
        try:
            lost.wait_for(timeout=40_000)
        finally:
            moves.set()
        lost.wait_for(state="detached")
        # The session is the same.
        assert page.get_by_text("What you run next begins a new session").count() == 0


# Instead of the server: a stream without an end, whose rows are there as fast as they are asked for. Its i-th change is `changeOf(i)`.
# What a server is like to a page, for one that answers by itself.
SERVER = """\
class Server extends EventTarget {
  static OPEN = 1;
  readyState = 1;
  constructor() {
    super();
    setTimeout(() => this.dispatchEvent(new Event("open")));
  }
  answer(said) {
    setTimeout(() => this.dispatchEvent(new MessageEvent("message", {data: JSON.stringify(said)})));
  }
}
"""
STREAM = (
    SERVER
    + """\
const COLUMNS = [["n", ["BIGINT"]], ["text", ["STRING"]], ["at", ["TIMESTAMP"]]];
window.sent = 0;
window.longest = 0;
new PerformanceObserver((list) => list.getEntries().forEach(({duration}) => (window.longest = Math.max(window.longest, duration))))
  .observe({type: "longtask"});
const cells = (n) => [String(n), `text of ${n}`, new Date(1e12 + n * 1000).toISOString().slice(0, 19).replace("T", " ")];
window.WebSocket = class extends Server {
  piece(of) {
    const changes = Array.from({length: PIECE}, (_, i) => changeOf(window.sent + i));
    window.sent += PIECE;
    this.answer({id: of, kinds: changes.map(([kind]) => kind), rows: changes.map(([, n]) => cells(n))});
  }
  send(text) {
    const {do: what, id, of} = JSON.parse(text);
    if (what === "run") this.begun = false;
    else if (what === "next" && this.begun && window.sent < MOST) this.piece(of);
    else if (what === "next" && !this.begun) {
      this.begun = true;
      this.answer({id: of, outcome: {kind: "Stream", columns: COLUMNS}});
    } else if (what !== "next") this.answer({id, verdicts: [], findings: [], suggestions: [], reasons: ["Kafka is away."]});
  }
};
"""
)
CHANGES = {
    "appended": "(i) => ['+I', i]",
    "updated": "(i) => i < 150_000 ? ['+I', i] : [i % 2 ? '+U' : '-U', i % 2 ? i : 149_999 - (i - 150_000) / 2]",
    "alike": "(i) => i < 150_000 || i % 2 ? ['+I', 7] : ['-D', 7]",
}


@pytest.mark.parametrize("shape", ["Table", "Changelog", "Chart"])
@pytest.mark.parametrize("changes", CHANGES)
def test_a_long_stream_does_not_block_the_page(client: Client, changes: str, shape: str) -> None:
    with browsing(viewport={"width": 1280, "height": 900}) as page:
        page.add_init_script(f"const PIECE = 5_000, MOST = 300_000, changeOf = {CHANGES[changes]};\n{STREAM}")
        page.goto(f"{client.address}/query?sql=SELECT 1")
        page.get_by_role("button", name=re.compile("^Run F5")).click()
        page.get_by_role("button", name=shape).click()
        until(lambda: page.evaluate("sent") >= 300_000, 120)
        page.wait_for_timeout(1_000)
        assert page.locator("tbody.rows tr").count() <= 200
        assert ("300,000 changes" if shape == "Changelog" else "100,000 rows") in page.locator('[data-part="count"]').inner_text()
        # Where all that is kept is looked through for each change, it is several seconds.
        assert page.evaluate("longest") < 800


def test_it_is_said_why_no_further_row_comes(client: Client) -> None:
    with browsing() as page:
        page.add_init_script(f"const PIECE = 1, MOST = 1, changeOf = {CHANGES['appended']};\n{STREAM}")
        page.goto(f"{client.address}/query?sql=SELECT 1")
        page.get_by_role("button", name=re.compile("^Run F5")).click()
        page.get_by_role("cell", name="text of 0").wait_for()
        assert page.get_by_text("Kafka is away.").count() == 0
        page.get_by_text("Kafka is away.").wait_for(timeout=15_000)


def test_a_view_of_the_users_own_says_what_the_jobs_do(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is exchanged but that."""
    jobs = [(1, 12_345.0)]
    monkeypatch.setattr(routes.Pages, "_totals", lambda _: jobs[-1])
    with browsing(locale="en-US") as page:
        for view in ("/query", "/help"):
            page.goto(client.address + view)
            totals = page.locator("header .totals")
            assert totals.inner_text() == f"{'1 job' if jobs[-1][0] == 1 else '2 jobs'} running, 12,345 rows/s"
            if view == "/query":
                write(page, "SELECT 1")
            jobs.append((2, 12_345.0))
            page.locator("header .totals", has_text="2 jobs running, 12,345 rows/s").wait_for(timeout=10_000)
            assert findings(page) == []
            if view == "/query":
                assert "SELECT 1" in page.locator(".cm-content").inner_text()
        page.goto(f"{client.address}/topics/none")
        page.locator("header .totals", has_text="2 jobs running, 12,345 rows/s").wait_for(timeout=4_000)
        page.get_by_role("link", name="All topics").wait_for()


# Instead of the server: a stream of so many lines (SERIES) at so many moments (WINDOWS), which are EVERY seconds apart; what a chart writes is kept.
CHARTED = """\
const PIECE = SERIES * WINDOWS, MOST = PIECE;
const changeOf = (i) => ["+I", i];
window.written = [];
const fill = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  const half = this.textAlign === "center" ? this.measureText(text).width / 2 : 0;
  window.written.push([text, this.getTransform().transformPoint({x: x + half, y}).x <= this.canvas.width]);
  return fill.apply(this, arguments);
};
"""


def charted(page: Page, client: Client, series: int, windows: int, every: float) -> None:
    """A chart of a stream."""
    at = f"new Date(1e12 + 1000 * Math.floor(Math.floor(n / {series}) * {every})).toISOString().slice(0, 19).replace('T', ' ')"
    stream = re.sub(r"const cells = .*", lambda _: f"const cells = (n) => [String(n % 7 + 3), `s${{n % {series}}}`, {at}];", STREAM)
    page.add_init_script(CHARTED.replace("SERIES", str(series)).replace("WINDOWS", str(windows)) + stream)
    page.goto(f"{client.address}/query?sql=SELECT 1")
    page.get_by_role("button", name=re.compile("^Run F5")).click()
    page.get_by_role("button", name="Chart").click()
    page.locator('[data-part="chart"] canvas').wait_for()
    page.locator('[data-part="by"]').select_option("text")
    page.wait_for_timeout(500)


@pytest.mark.parametrize("width", [360, 420])
@pytest.mark.parametrize("seconds", [14, 47, 100, 190, 240, 300, 600, 4000, 90_000, 40 * 86_400, 800 * 86_400])
def test_an_axis_of_times_has_two_labels(client: Client, seconds: int, width: int) -> None:
    with browsing(viewport={"width": width, "height": 900}) as page:
        charted(page, client, 1, 8, seconds / 7)
        page.evaluate("written.length = 0; dispatchEvent(new Event('resize'))")
        page.set_viewport_size({"width": width - 2, "height": 900})
        until(lambda: page.evaluate("written.length") > 0)
        page.wait_for_timeout(300)
        times = [(text, whole) for text, whole in page.evaluate("written") if re.search(r"\d:\d\d|/|\d{4}$", text)]
        assert len({text for text, _ in times}) >= 2, times
        assert all(whole for _, whole in times), times


@pytest.mark.parametrize("scale", [1, 3])
def test_lines_and_their_marks_differ(client: Client, scale: int) -> None:
    with browsing(viewport={"width": 360, "height": 900}, device_scale_factor=scale) as page:
        charted(page, client, 6, 3, 2)
        page.locator('[data-part="bars"]').select_option("lines")
        page.wait_for_timeout(300)
        marks = [mark.screenshot() for mark in page.locator(".u-legend .u-series:not(:first-child) .u-marker").all()]
        assert len(marks) == 6 and len(set(marks)) == 6


def test_narrow_bars_differ(client: Client) -> None:
    with browsing(viewport={"width": 360, "height": 900}) as page:
        charted(page, client, 5, 9, 2)
        page.locator('[data-part="bars"]').select_option("bars")
        page.wait_for_timeout(300)
        # What the line of y = 1 goes through: the shades of the bars, each several pixels wide.
        shades = page.evaluate(
            """() => {
              const canvas = document.querySelector('[data-part="chart"] canvas');
              const {data} = canvas.getContext("2d").getImageData(0, Math.floor(canvas.height * 0.7), canvas.width, 1);
              const counts = {};
              for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 40) counts[data[i + 3]] = (counts[data[i + 3]] ?? 0) + 1;
              return counts;
            }"""
        )
        assert sum(count >= 9 for count in shades.values()) >= 5, shades


VERDICT = (
    SERVER
    + """\
window.WebSocket = class extends Server {
  send(text) {
    const verdicts = [{
      lines: [], said: ["Job 'j' has changed, and would be version 2."], then: [], outcome: "'execution.upgrade-mode' = 'stateless' would do.",
      parts: [["source", "default_catalog.default_database.orders", "kept", "reading resumes at its offsets"], ["state", NAME, "lost", WHY]],
      running: null, loses: true, refused: false,
    }];
    const {id} = JSON.parse(text);
    this.answer({id, verdicts, findings: [], suggestions: []});
  }
};
"""
)


@pytest.mark.parametrize("width", [360, 1280, 3840])
def test_a_verdict_is_a_table_in_which_nothing_is_cut(client: Client, width: int) -> None:
    name = f"GroupAggregate(groupBy=[account], select=[account, {', '.join(f'SUM(amount{i}) AS total{i}' for i in range(20))}])"
    why = "no operator of the new statement keeps the same in the same way, " * 3
    with browsing(viewport={"width": width, "height": 900}) as page:
        page.add_init_script(f"const NAME = {json.dumps(name)}, WHY = {json.dumps(why)};\n{VERDICT}")
        begin(page, client, "INSERT INTO p SELECT id FROM s")
        table = page.locator("#verdict table")
        table.wait_for()
        assert [cell.inner_text().strip() for cell in table.locator("tbody tr").nth(1).locator("td").all()] == ["state", name, "lost", why.strip()]
        assert "upgrade-mode" not in page.locator("#verdict").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert table.evaluate("t => [...t.querySelectorAll('td')].every(c => c.scrollWidth <= c.clientWidth + 1)")
        # Words stay whole.
        assert table.locator("td", has_text="lost").first.evaluate("c => c.getClientRects().length") == 1
        assert findings(page) == []
