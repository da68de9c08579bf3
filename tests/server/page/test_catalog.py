"""The catalog on the page: what is declared, where, and who uses it."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import pytest

from tests.server.page.browser import Browser
from tests.support import needs
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.server.client import Client

SECRET = "s3cr3t-canary"
KAFKA = f"""-- Orders
CREATE TABLE orders (id INT NOT NULL, price DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED)
COMMENT 'what <b>was</b> ordered'
WITH ('connector' = 'upsert-kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9', 'key.format' = 'json', 'value.format' = 'json',
  'properties.ssl.key.password' = '{SECRET}');
CREATE VIEW dear AS SELECT id FROM orders WHERE price > 100;
"""
ODD = "CREATE TABLE `<i>odd/ näme` (`a b` INT) WITH ('connector' = 'print');"


@pytest.fixture
def declared(tmp_path: Path) -> Path:
    """A catalog with a file that can't be read, and a saved query."""
    (tmp_path / "catalog" / "shop").mkdir(parents=True)
    (tmp_path / "catalog" / "orders.sql").write_text(KAFKA)
    (tmp_path / "catalog" / "shop" / "odd.sql").write_text(ODD)
    (tmp_path / "catalog" / "broken.sql").write_text("CREATE TABLE broken (a NOTHING) WITH ('connector' = 'print');")
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "count_dear.sql").write_text("SELECT COUNT(*) FROM dear")
    return tmp_path


@pytest.fixture
def browser(declared: Path, client: Client) -> Browser:
    return Browser(client.address)


def test_an_empty_catalog(client: Client) -> None:
    assert "Nothing is declared yet." in Browser(client.address).get("/catalog").text


def test_all_that_is_declared(browser: Browser) -> None:
    page = browser.get("/catalog")
    assert page.status == 200
    assert "default_catalog.default_database" in page.text and "default_catalog.shop" in page.text
    assert "orders table upsert-kafka catalog/orders.sql what <b>was</b> ordered" in page.text and "<b>" not in page.html
    assert "dear view catalog/orders.sql" in page.text
    # What could not be read is said where one looks for it.
    assert "catalog/broken.sql" in page.text and "NOTHING" in page.text
    assert "/catalog/default_catalog/default_database/orders" in page.links
    for link in page.links:
        assert browser.get(link).status == 200 or link.startswith("#"), link


def test_a_table(browser: Browser) -> None:
    page = browser.get("/catalog/default_catalog/default_database/orders")
    assert "id INT FALSE PRI(id)" in page.text and "ts TIMESTAMP(3) *ROWTIME* TRUE" in page.text
    assert "`ts` - INTERVAL '5' SECOND" in page.text and "In catalog/orders.sql of the project" in page.text
    assert "view dear" in page.text and "query count_dear" in page.text
    assert "properties.ssl.key.password ******" in page.text and SECRET not in page.html
    assert "CREATE TABLE `default_catalog`.`default_database`.`orders`" in page.text


def test_the_place_of_a_table_in_git(declared: Path, serve: Callable[..., AbstractContextManager[Client]]) -> None:
    folder, file = declared / "catalog", "catalog/orders.sql"

    def git(*words: str) -> None:
        author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
        subprocess.run([needs.program("git"), "-C", str(declared), *author, *words], check=True, capture_output=True)

    def told() -> str:
        # Another server each time: what is shown may be some seconds old.
        with serve() as client:
            page = Browser(client.address).get("/catalog/default_catalog/default_database/orders")
            assert "<b>" not in page.html
            return page.text.partition(f"In {file} of the project")[2].partition("CREATE TABLE")[0]

    assert not told().startswith(",")
    git("init")
    assert told().startswith(", not in git yet.")
    git("add", file)
    git("commit", "-m", "Declare <b>orders")
    assert re.match(r", as of commit [0-9a-f]+ by Ada, .*: Declare <b>orders\.", told()) and "changed since" not in told()
    (folder / "orders.sql").write_text(KAFKA.replace("price > 100", "price > 200"))
    assert "It was changed since." in told()


def test_a_view(browser: Browser) -> None:
    page = browser.get("/catalog/default_catalog/default_database/dear")
    assert "CREATE VIEW" in page.text and "query count_dear" in page.text and "Options" not in page.text


def test_odd_names(browser: Browser) -> None:
    page = browser.get(f"/catalog/default_catalog/shop/{quote('<i>odd/ näme')}")
    assert page.status == 200 and "a b INT TRUE" in page.text and "<i>" not in page.html
    assert "No view, no saved query and no job of this server that runs." in page.text


def test_a_sample_is_a_query_that_nobody_has_run(browser: Browser) -> None:
    for path, text in (
        ("default_database/orders", "SELECT * FROM `default_catalog`.`default_database`.`orders` LIMIT 20;"),
        (f"shop/{quote('<i>odd/ näme')}", "SELECT * FROM `default_catalog`.`shop`.`<i>odd/ näme` LIMIT 20;"),
    ):
        (link,) = (link for link in browser.get(f"/catalog/default_catalog/{path}").links if link.startswith("/query?sql="))
        assert unquote(link) == f"/query?sql={text}"
        page = browser.get(link)
        assert page.status == 200 and text in page.text and "<i>" not in page.html


def test_the_history_of_a_delta_table(browser: Browser, declared: Path) -> None:
    declare = "CREATE TABLE {} (a INT) WITH ('connector' = 'delta', 'table-path' = '{}');\n"
    paths = {"totals": "totals", "remote": "s3://bucket/t", "lacking": "${env:SQLSTREAM_NO_SUCH_VARIABLE}", "odd": "totals\0"}
    (declared / "catalog" / "delta.sql").write_text("".join(declare.format(*one) for one in paths.items()))
    at = "/catalog/default_catalog/default_database/"
    assert "The table does not exist yet." in browser.get(f"{at}totals").text
    assert "It is on s3a. The page shows the history of tables on this machine." in browser.get(f"{at}remote").text
    assert "S2: Option 'table-path' needs the environment variable SQLSTREAM_NO_SUCH_VARIABLE" in browser.get(f"{at}lacking").text
    assert "Its log can't be read: embedded null byte." in browser.get(f"{at}odd").text
    log = declared / "totals" / "_delta_log"
    log.mkdir(parents=True)
    metrics = {"numOutputRows": "1500", "numFiles": "3"}
    info = {"timestamp": 1_767_225_600_000, "operation": "<img src=x onerror=alert(1)>", "operationMetrics": metrics}
    (log / f"{0:020}.json").write_text(json.dumps({"commitInfo": info}))
    (log / f"{0:020}.crc").write_text('{"tableSizeBytes": 2048, "numFiles": 3}')
    until(lambda: "Size: 3 files, 2.0 kB" in browser.get(f"{at}totals").text, said=lambda: browser.get(f"{at}totals").text)
    # The checksum of a version is written behind its commit.
    (log / f"{1:020}.json").write_text(json.dumps({"commitInfo": {**info, "operation": "WRITE"}}))
    until(lambda: "WRITE" in browser.get(f"{at}totals").text)
    assert "Size: 3 files, 2.0 kB" in browser.get(f"{at}totals").text
    page = browser.get(f"{at}totals")
    assert "0 2026-01-01 00:00:00 <img src=x onerror=alert(1)> 1,500 written 3 -" in page.text and "<img" not in page.html
    assert "History" not in browser.get(f"{at}orders").text


def test_what_is_not_there(browser: Browser) -> None:
    for path in ("default_catalog/default_database/none", "none/none/none", f"a/b/{quote('`;DROP TABLE orders;--')}"):
        page = browser.get(f"/catalog/{path}")
        assert page.status == 404 and "There is no table or view" in page.text
    assert browser.get("/catalog/a").status == 404


def test_files_that_are_edited(browser: Browser, declared: Path) -> None:
    assert "later" not in browser.get("/catalog").text
    (declared / "catalog" / "later.sql").write_text("CREATE TABLE later (a INT) WITH ('connector' = 'print');")
    until(lambda: "later table print" in browser.get("/catalog").text)
    (declared / "catalog" / "later.sql").unlink()
    until(lambda: "later" not in browser.get("/catalog").text)


def test_functions_are_not_run_for_it(browser: Browser, declared: Path) -> None:
    (declared / "udfs").mkdir()
    (declared / "udfs" / "prices.py").write_text("from sqlstream.udf import udf\nraise SystemExit('run')\n")
    (declared / "catalog" / "rounded.sql").write_text("CREATE VIEW cheap AS SELECT id FROM orders WHERE price < 1")
    until(lambda: "cheap view" in browser.get("/catalog").text)
    assert browser.get("/catalog/default_catalog/default_database/cheap").status == 200


def test_functions_in_python(browser: Browser, declared: Path) -> None:
    module = declared / "udfs" / "words.py"
    module.parent.mkdir()
    text = 'from sqlstream.udf import udf\n\n@udf\ndef louder(text: str) -> str:\n    """Says it <b>louder</b>."""\n    password = "{}"\n    return text.upper()\n'
    module.write_text(text.format(SECRET) + "\nraise SystemExit('it was run')\n")
    page = browser.get("/catalog")
    assert "louder scalar udfs/words.py:3 Says it <b>louder</b>." in page.text and "/function/louder" in page.links
    shown = browser.get("/function/louder")
    assert shown.status == 200 and "return text.upper()" in shown.text and "<b>" not in shown.html and SECRET not in shown.html
    assert browser.get("/function/<i>none").status == 404
    # What is edited is shown as it is by then.
    module.write_text(text.format(SECRET).replace("louder", "softer"))
    until(lambda: browser.get("/function/softer").status == 200)
    module.write_text("from sqlstream.udf import udf\n\n@udf\ndef upper(text: str) -> str:\n    return text\n")
    until(lambda: "is the name of a built-in function" in browser.get("/catalog").text)
    assert browser.get("/function/upper").status == 404
