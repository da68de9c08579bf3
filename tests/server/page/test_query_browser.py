"""Queries in a real browser: what is typed is completed and checked, what is run is shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.server.page.test_browser import CANARY, WIDTHS, browsing, findings
from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from tests.server.client import Client

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("interpreted")]
TABLES = """\
CREATE TABLE f (id INT, kind STRING, amount DOUBLE, text STRING)
WITH ('connector' = 'filesystem', 'path' = '{files}', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE p (kind STRING, n BIGINT) WITH ('connector' = 'print');
"""


@pytest.fixture
def tables(on_spark: Client, files: Path) -> Client:
    """A server with a stream ``f`` and a sink ``p`` in its catalog."""
    catalog = on_spark.server.project / "catalog"
    catalog.mkdir(exist_ok=True)
    (catalog / "tables.sql").write_text(TABLES.format(files=files))
    return on_spark


def write(page: Page, text: str) -> None:
    """Put a text into the editor, as by typing."""
    editor = page.get_by_role("textbox", name="Statements")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)
    page.keyboard.press("Escape")


def run(page: Page, text: str) -> None:
    write(page, text)
    page.keyboard.press("F5")


def cells(page: Page) -> list[list[str]]:
    return [[cell.inner_text() for cell in row.locator("td").all()] for row in page.locator('[data-part="rows"] tbody tr').all()]


def shown(page: Page, expected: list[list[str]]) -> None:
    until(lambda: cells(page) == expected, said=lambda: cells(page))


def done(page: Page) -> None:
    status = page.get_by_role("status")
    until(lambda: "Done in" in status.inner_text(), 60, said=lambda: (status.inner_text(), page.locator("#said").inner_text()))


def test_what_is_typed_is_completed_and_checked(tables: Client) -> None:
    with browsing() as page:
        page.goto(f"{tables.address}/query")
        write(page, "")
        page.keyboard.type("SELECT am FROM f")
        for _ in range(len(" FROM f")):
            page.keyboard.press("ArrowLeft")
        page.keyboard.press("Control+Space")
        page.locator(".cm-tooltip-autocomplete li", has_text="amount").first.wait_for()
        # What has just appeared is not taken by a key that was meant for something else.
        page.wait_for_timeout(200)
        assert findings(page) == []
        page.keyboard.press("Tab")
        assert page.locator(".cm-content").inner_text() == "SELECT amount FROM f"
        # What is typed whole stays what it is.
        write(page, "")
        page.keyboard.type("SELE")
        page.locator(".cm-tooltip-autocomplete li", has_text="SELECT").first.wait_for()
        page.wait_for_timeout(200)
        page.keyboard.press("Enter")
        page.keyboard.type("x")
        assert page.locator(".cm-content").inner_text() == "SELE\nx"
        # Of a character that a browser counts twice, too.
        write(page, "SELECT '😀{}' AS a, nothing\nFROM f WHERE 'x' = nowhere;".format(CANARY.replace("'", "''")))
        page.locator("#findings li").nth(1).wait_for()
        assert [button.inner_text() for button in page.locator("#findings button").all()][1] == "2:20"
        assert page.locator(".cm-lintRange-error").count() == 2 and page.title() != "owned"
        page.locator("#findings button").nth(1).click()
        page.keyboard.press("F1")
        page.keyboard.press("F8")
        # What is selected would be all that runs.
        assert page.evaluate("getSelection().isCollapsed")
        page.locator("#help-text").get_by_text("There is no help for 'nowhere'").wait_for()
        page.get_by_label("About").fill("TUMBLE")
        page.get_by_role("button", name="Show").click()
        page.locator("#help-text pre", has_text="TUMBLE").wait_for()


def test_results_as_they_are_and_as_they_change(tables: Client, files: Path) -> None:
    with browsing(accept_downloads=True) as page:
        page.goto(f"{tables.address}/query")
        run(page, "SELECT * FROM (VALUES (1, 'a'), (2, CAST(NULL AS STRING))) AS v (n, s);")
        done(page)
        shown(page, [["1", "a"], ["2", "NULL"]])
        feed(files, {"id": 1, "kind": CANARY, "amount": 1.5}, {"id": 2, "kind": "b", "amount": 2})
        run(page, "SELECT 7 AS m;\nSELECT kind, COUNT(*) AS n, SUM(amount) AS total FROM f GROUP BY kind")
        until(lambda: sorted(cells(page)) == sorted([[CANARY, "1", "1.5"], ["b", "1", "2.0"]]), said=lambda: cells(page))
        assert page.title() != "owned" and page.locator("img").count() == 0
        order = [row[0] for row in cells(page)]
        page.get_by_role("button", name="Pause").click()
        feed(files, {"id": 3, "kind": "b", "amount": 1})
        page.wait_for_timeout(3_000)
        page.get_by_role("button", name="Go on").click()
        # A row that changes stays in its place.
        until(lambda: ["b", "2", "3.0"] in cells(page), said=lambda: cells(page))
        assert [row[0] for row in cells(page)] == order
        page.get_by_role("button", name="Changelog").click()
        until(lambda: [row[0] for row in cells(page)] == ["+I", "+I", "-U", "+U"], said=lambda: cells(page))
        with page.expect_download() as download:
            page.get_by_role("button", name="CSV").click()
        assert download.value.path().read_text().splitlines()[-1] == "+U,b,2,3.0"
        page.get_by_role("button", name="Chart").click()
        page.locator('[data-part="chart"] canvas').wait_for()
        page.get_by_label("Value").select_option("total")
        page.locator('[data-part="bars"]').select_option("bars")
        page.locator('[data-part="chart"]').focus()
        page.keyboard.press("ArrowLeft")
        until(lambda: re.search(r"\d", page.locator('[data-part="chart"] .u-legend .u-value').last.inner_text()))
        # Its ink is that of the system's scheme, also when that changes behind the last row.
        ink = "getComputedStyle([...document.querySelectorAll('.u-legend .u-marker')].at(-1)).borderTopColor"
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("status").filter(has_text=re.compile("Done|Failed")).wait_for()
        light = page.evaluate(ink)
        page.emulate_media(color_scheme="dark")
        until(lambda: page.evaluate(ink) != light)
        page.emulate_media(color_scheme="light")
        with page.expect_download() as download:
            run(page, "SELECT 1 AS n;\nEXPORT LAST TO 'one.csv';")
        assert download.value.path().read_text().split() == ["n", "1"] and download.value.suggested_filename == "one.csv"
        # Where several rows have one time, a whole number tells the lines apart; without a time names have bars.
        at = "TIMESTAMP '2026-01-01 00:00:00'"
        suggested = 'names => names.map(name => document.querySelector(`[data-part="${name}"]`).selectedOptions[0].text)'
        for sql, drawn in (
            (f"SELECT * FROM (VALUES ({at}, 1, 5), ({at}, 2, 6)) AS v (window_end, customer, n)", ["n", "customer", "lines"]),
            (f"SELECT * FROM (VALUES ({at}, 5, 1)) AS v (window_end, n, total)", ["n", "-", "lines"]),
            ("SELECT * FROM (VALUES ('a', 5), ('b', 6)) AS v (shop, n)", ["n", "shop", "bars"]),
        ):
            run(page, sql)
            page.get_by_role("button", name="Chart").click()
            until(lambda drawn=drawn: page.evaluate(suggested, ["y", "by", "bars"]) == drawn, 20)


def test_why_there_are_no_rows(tables: Client, files: Path) -> None:
    with browsing() as page:
        page.goto(f"{tables.address}/query")
        feed(files, {"id": 1, "kind": "a", "amount": 1.5})
        run(page, "SELECT kind FROM f WHERE id > 1")
        page.get_by_text("All rows are filtered out: none of 1 row passes WHERE").wait_for(timeout=60_000)
        assert page.get_by_role("status").inner_text() == "Running ..."
        feed(files, {"id": 2, "kind": "b", "amount": 2})
        shown(page, [["b"]])
        assert page.get_by_text("All rows are filtered out").count() == 0
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("status").filter(has_text="Paused").wait_for()
        feed(files, {"id": 3, "kind": "c", "amount": 2})
        page.wait_for_timeout(3_000)
        assert page.get_by_role("status").inner_text() == "Paused"
        page.get_by_role("button", name="Go on").click()
        page.get_by_role("status").filter(has_text="Rows come").wait_for()
        page.get_by_role("button", name="Stop").click()


def test_a_job_is_submitted_saved_and_upgraded(tables: Client, files: Path) -> None:
    with browsing() as page:
        page.goto(f"{tables.address}/query")
        run(page, "SET 'pipeline.name' = 'it''s';\nINSERT INTO p SELECT kind, COUNT(*) FROM f GROUP BY kind;")
        page.locator("#verdict", has_text="is new").wait_for()
        page.keyboard.press("Escape")
        page.get_by_text("Nothing was done.").wait_for()
        page.keyboard.press("F5")
        page.locator("#verdict", has_text="is new").wait_for()
        page.get_by_role("button", name="Stop", exact=True).click()
        page.get_by_text("Nothing was done.").wait_for()
        assert not list(tables.server.jobs)
        page.keyboard.press("F5")
        page.get_by_role("button", name="Start the job").click()
        page.get_by_role("link", name="look at it").click()
        page.locator("h1 + .state", has_text="running").wait_for(timeout=60_000)
        (job,) = tables.server.jobs
        feed(files, {"id": 1, "kind": "a", "amount": 1})
        until(lambda: (job.metrics.rows_out or 0) > 0)
        page.get_by_role("link", name="Upgrade").click()
        text = page.locator(".cm-content").inner_text()
        assert "SET 'pipeline.name' = 'it''s'" in text and "COUNT(*)" in text
        run(page, re.sub(r"\n+", "\n", text).replace("FROM f", "FROM f WHERE amount > 0"))
        page.locator("#verdict", has_text="has changed, and would be version 2").wait_for()
        assert job.lives
        # What would be refused stops nothing.
        text = page.locator(".cm-content").inner_text()
        page.keyboard.press("Escape")
        page.get_by_text("Nothing was done.").wait_for()
        run(page, "SET 'execution.upgrade-mode' = 'last-state';\n" + re.sub(r"\n+", "\n", text).replace("GROUP BY kind", "GROUP BY kind, id"))
        page.get_by_text("'execution.upgrade-mode' forbids that").wait_for()
        page.get_by_text("Nothing was done.").wait_for()
        assert job.lives
        run(page, "RESET 'execution.upgrade-mode';\n" + re.sub(r"\n+", "\n", text))
        page.locator("#verdict button").first.wait_for()
        page.get_by_role("button", name="Stop it, and resume with this").click()
        page.get_by_role("link", name="look at it").wait_for(timeout=60_000)
        until(lambda: [each.lives for each in tables.server.jobs if each.name == "it's"][-1])


def test_saved_queries(tables: Client) -> None:
    with browsing() as page:
        page.goto(f"{tables.address}/query")
        write(page, "-- :least INT = 2 -- the least\nSELECT n FROM (VALUES (1), (2), (3)) AS v (n) WHERE n >= :least")
        page.locator("summary", has_text="Save").click()
        page.get_by_label("Name", exact=True).fill("least")
        page.get_by_label("The question").fill("Which are large?")
        page.locator("#save button").click()
        page.get_by_role("heading", name="least").wait_for()
        page.get_by_label("least INT").fill("3")
        page.get_by_role("button", name="Run with these values").click()
        done(page)
        shown(page, [["3"]])
        page.get_by_label("least INT").fill("it's")
        page.get_by_role("button", name="Run with these values").click()
        page.get_by_text("'it's' is not a value of type INT").wait_for()
        # Its parameters are no mistakes, and F5 takes the form's values.
        page.wait_for_timeout(1_000)
        assert page.locator("#findings li").count() == 0
        page.get_by_label("least INT").fill("2")
        page.locator(".cm-content").click()
        page.keyboard.press("F5")
        done(page)
        shown(page, [["2"], ["3"]])


def test_errors_and_a_connection_that_is_gone(tables: Client) -> None:
    with browsing() as page:
        page.goto(f"{tables.address}/query")
        run(page, "SELECT 1;\nSELEC 2;")
        page.locator(".notice.failing", has_text="2:1 S1").wait_for()
        run(page, "CREATE TEMPORARY VIEW v AS SELECT 1 AS n; SELECT n FROM v;")
        done(page)
        tables.server.shells.most = 0
        page.reload()
        run(page, "SELECT 1")
        page.get_by_text("which is all that it takes").first.wait_for()
        tables.server.shells.most = 10
        run(page, "SELECT 5 AS n")
        done(page)
        shown(page, [["5"]])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it_at_any_width(tables: Client, scheme: str) -> None:
    with browsing(color_scheme=scheme) as page:
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(f"{tables.address}/query")
            write(page, "SELECT nothing FROM f")
            page.locator("#findings li").first.wait_for()
            assert findings(page) == [], width
            run(page, "SELECT n, 'a' AS s FROM (VALUES (1), (2)) AS v (n)")
            done(page)
            shown(page, [["1", "a"], ["2", "a"]])
            for shape in ("Changelog", "Chart", "Table"):
                page.get_by_role("button", name=shape).click()
                assert findings(page) == [], (shape, width)
                assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), (shape, width)
            run(page, "INSERT INTO p SELECT kind, COUNT(*) FROM f GROUP BY kind")
            page.locator("#verdict button").first.wait_for()
            assert findings(page) == [], width
            page.keyboard.press("Escape")
