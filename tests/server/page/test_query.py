"""The view of queries, and what its editor asks. Without Spark."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from websockets.sync.client import connect

from sqlstream.core.errors import ValidationError
from sqlstream.core.tokens import Tokens
from sqlstream.server.joined.editor import findings, help_about, statement_at
from sqlstream.server.page.query import LONGEST_TEXT, address_of
from sqlstream.session.export import LastResult
from sqlstream.session.joined import PATH, PROTOCOL
from sqlstream.session.queries import save, saved_queries
from tests.server.conftest import serving
from tests.server.page.browser import Browser
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.server.client import Client

    Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(client: Client) -> Iterator[Ask]:
    """Asks a session of the server, as the editor does."""
    with connect(client.address.replace("http", "ws") + PATH) as socket:
        number = 0

        def asked(do: str, **more: Any) -> dict[str, Any]:
            nonlocal number
            number += 1
            socket.send(json.dumps({"do": do, "id": number, **more}))
            while (said := json.loads(socket.recv(timeout=60)))["id"] != number:
                pass
            return said

        asked("open", protocol=PROTOCOL, options={}, variables={}, interactive=True, save=True, asks=True)
        yield asked


# --- the view ---------------------------------------------------------------------------------------------------------


def test_an_editor_makes_styles_that_the_page_lets_in(client: Client) -> None:
    browser = Browser(client.address)
    pages = [browser.get("/query") for _ in range(2)]
    nonces = [re.search(r"style-src 'self' 'nonce-([\w-]{20,})'", page.headers["content-security-policy"]) for page in pages]
    assert all(nonce and f'data-nonce="{nonce[1]}"' in page.html for nonce, page in zip(nonces, pages, strict=True))
    assert nonces[0][1] != nonces[1][1]  # type: ignore[index]
    assert "data-live" not in pages[0].html and browser.get("/live/query").status == 404
    assert "None yet." in pages[0].text


def test_saved_queries_have_a_form(client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "queries"
    folder.mkdir()
    (folder / "large.sql").write_text(
        "-- Which are <large>?\n-- :least DECIMAL(10, 2) = 500 -- the least amount\n-- :password STRING = 'hunter2'\nSELECT :least, :password, :who;\n"
    )
    page = Browser(client.address).get("/query?saved=large")
    assert page.status == 200 and page.text.count("Which are <large>?") == 3 and "<large>" not in page.html.replace("&lt;large&gt;", "")
    inputs = dict(re.findall(r'<input name="(\w+)" placeholder="([^"]*)"', page.html))
    assert inputs == {"least": "500", "password": "******", "who": ""}
    assert re.findall(r'name="(\w+)" placeholder="[^"]*" required', page.html) == ["who"]
    assert "DECIMAL(10, 2)" in page.text and "the least amount" in page.text and "SELECT :least" in page.html
    # The file itself is what is edited.
    assert page.html.count("hunter2") == 1 and "Secrets are left out" not in page.text
    assert Browser(client.address).get("/query?saved=none").status == 404
    assert Browser(client.address).get("/query?job=none").status == 404


def test_the_address_may_hold_the_text(client: Client) -> None:
    browser = Browser(client.address)
    text = "</textarea><script>alert(1)</script> 'ä & ******'"
    address = address_of(text)
    assert address is not None and "<" not in address
    page = browser.get(address)
    assert page.status == 200 and text in page.text and "<script>alert" not in page.html and "Secrets are left out" in page.text
    assert browser.get(f"/query?sql={'x' * LONGEST_TEXT}").status == 200
    page = browser.get(f"/query?sql={'x' * (LONGEST_TEXT + 1)}")
    assert page.status == 400 and "an address may hold 10,000" in page.text and "paste the text there" in page.text
    assert address_of("x" * (LONGEST_TEXT + 1)) is None and address_of("€" * LONGEST_TEXT) is None


def test_who_may_only_look_has_no_editor(tmp_path: Path, no_engine: object) -> None:
    tokens = Tokens((b"full-0123456789abcdef",), (b"look-0123456789abcdef",))
    with serving(tmp_path, {}, no_engine, tokens) as client:
        browser = Browser(client.address)
        browser.post("/login", {"token": tokens.read_only[0].decode(), "to": "/query"})
        page = browser.get("/query")
        assert page.status == 200 and "looking alone" in page.text and 'id="editor"' not in page.html


# --- what the editor asks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "cursor", "statement"),
    [
        ("SELECT 1; SELECT 2", 0, "SELECT 1"),
        ("SELECT 1; SELECT 2", 8, "SELECT 1"),
        ("SELECT 1; SELECT 2", 10, "SELECT 2"),
        ("  -- a;b\nSELECT ';'; SELECT 2;\n\n", 0, "SELECT ';'"),
        ("SELECT 1; SELECT 2;\n\n", 21, "SELECT 2"),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END; SELECT 3", 60, None),
        ("-- nothing", 3, ""),
        ("", 0, ""),
    ],
)
def test_the_statement_at_the_cursor(text: str, cursor: int, statement: str | None) -> None:
    place = statement_at(text, cursor)
    found = "" if place is None else text[slice(*place)]
    assert found == (text.partition("; SELECT 3")[0] if statement is None else statement)


ONE_JOB = (
    "CREATE TABLE s (id INT) WITH ('connector' = 'datagen'); CREATE TABLE t (id INT) WITH ('connector' = 'print'); INSERT INTO t SELECT id FROM s;"
)


def test_findings(ask: Ask) -> None:
    said = ask("findings", text="SELECT 'ü😀', nothing FROM nowhere;\nSELEC 1")
    found = [(f["line"], f["column"], f["error"]) for f in said["findings"]]
    assert found == [(1, 27, True), (2, 1, True)]
    # Flink's place is that in the statement.
    assert [f["message"] for f in ask("findings", text="SELECT 1;\nSELECT any FROM t")["findings"]] == ['Encountered "any".']
    assert ask("verdicts", text=f"{ONE_JOB}\nSELECT any FROM t")["mistake"] == '2:8 Encountered "any".'
    assert ask("findings", text="SELECT 1")["findings"] == [] and ask("findings", text="")["findings"] == []


@pytest.mark.parametrize("kind", ["TABLE", "TEMPORARY TABLE"])
def test_a_statement_that_has_run_is_no_mistake(tmp_path: Path, kind: str) -> None:
    declared = f"CREATE {kind} there (a INT) WITH ('connector' = 'datagen'); CREATE VIEW v AS SELECT a FROM there; CREATE DATABASE d"
    session = open_session(tmp_path, declared)
    assert findings(session, f"{declared}; SELECT a FROM v") == []
    assert [f.message for f in findings(session, f"{declared}; SELECT b FROM v")] == ["Column 'b' not found in any table"]
    session.close()


def test_asterisks_are_no_secret(ask: Ask) -> None:
    table = "CREATE TABLE kept (a INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d?{}', 'table-name' = 't', 'password' = '{}')"
    problem = "The asterisks in the value of 'password' stand for a secret that was not shown."
    for do in ("findings", "verdicts"):
        said = json.dumps(ask(do, text=f"{table.format('', '*******')}; CREATE TABLE p (a INT) WITH ('connector' = 'print'); INSERT INTO p SELECT 1"))
        assert problem in said and "plain text" not in said, said
    assert "value of 'url'" in json.dumps(ask("findings", text=table.format("password=***", "x")))
    assert "asterisks" not in json.dumps(ask("findings", text=f"{table.format('', 'a*b')}; SELECT COUNT(*) FROM kept"))


def test_a_check_carries_nothing_out(tmp_path: Path) -> None:
    """Also where there is a result that EXPORT could write."""
    session = open_session(tmp_path)
    export = "EXPORT LAST TO 'there.csv'"
    assert len(findings(session, export)) == 1
    session.context.last_result = LastResult((), 0)
    assert findings(session, f"{export}; PLOT LAST") == [] and not (tmp_path / "there.csv").exists()
    session.close()


def test_help(ask: Ask) -> None:
    assert "TUMBLE" in ask("help", about="tumble")["text"]
    assert "There is no help for 'nothingness'" in ask("help", about="nothingness")["error"]["message"]


def test_help_about_a_table_is_its_columns(tmp_path: Path) -> None:
    options = "'connector' = 'datagen'"
    view = "CREATE VIEW `my view` AS SELECT id AS `a b` FROM s"
    session = open_session(tmp_path, f"CREATE TABLE s (id INT, `at` AS PROCTIME()) WITH ({options}); {view}; CREATE VIEW `tumble` AS SELECT 1")
    assert help_about(session, "s") == help_about(session, " `s` ") == "s\n    id  INT\n    at  TIMESTAMP_LTZ(3) *PROCTIME*"
    assert help_about(session, "default_database.`my view`") == "default_database.my view\n    a b  INT"
    assert "window_start" in help_about(session, "tumble")
    list(session.run("DROP TABLE s"))
    for unknown in ("s", "my view", "a.b.c.d", ".", "'"):
        with pytest.raises(ValidationError, match="There is no help for"):
            help_about(session, unknown)
    session.close()


def test_verdicts(ask: Ask) -> None:
    declare = "CREATE TABLE s (id INT) WITH ('connector' = 'datagen'); CREATE TABLE t (id INT) WITH ('connector' = 'print');"
    (one,) = ask("verdicts", text=f"{declare} SET 'pipeline.name' = 'a ''b'; INSERT INTO t SELECT id FROM s")["verdicts"]
    assert one["lines"] == one["said"] and (one["parts"], one["outcome"], one["then"]) == ([], None, [])
    assert one["lines"][0].startswith("Job 'a 'b' is new") and (one["running"], one["loses"], one["refused"]) == (None, False, False)
    told = ask("verdicts", text=f"{declare}\nINSERT INTO t SELECT id FROM s;\nINSERT INTO t SELECT nope FROM s")
    assert len(told["verdicts"]) == 1 and told["mistake"].startswith("3:22 Column 'nope' not found")
    # The session has learned nothing of it.
    assert ask("verdicts", text="INSERT INTO t SELECT id FROM s")["verdicts"] == []
    assert ask("verdicts", text="SELECT 1; SELEC")["verdicts"] == [] and ask("verdicts", text="")["verdicts"] == []


def test_what_is_typed_changes_no_file_and_asks_nothing(ask: Ask, client: Client, tmp_path: Path) -> None:
    (tmp_path / "catalog").mkdir()
    kept = tmp_path / "catalog" / "kept.sql"
    kept.write_text("CREATE TABLE kept (a INT) WITH ('connector' = 'datagen');\n")
    with connect(client.address.replace("http", "ws") + PATH) as socket:
        socket.send(
            json.dumps({"do": "open", "id": 0, "protocol": PROTOCOL, "options": {}, "variables": {}, "interactive": True, "save": True, "asks": True})
        )
        texts = (
            "CREATE TABLE typed (a INT) WITH ('connector' = 'datagen'); CREATE VIEW seen AS SELECT a FROM typed",
            "DROP TABLE kept", "ALTER TABLE kept ADD b INT", "CREATE DATABASE d; CREATE FUNCTION f AS 'm.f' LANGUAGE PYTHON",
        )  # fmt: skip
        for number, (do, text) in enumerate((do, text) for do in ("findings", "verdicts") for text in texts):
            socket.send(json.dumps({"do": do, "id": number + 1, "text": text}))
            # What is asked of the user would come before.
            while (said := json.loads(socket.recv(timeout=60))).get("id") != number + 1:
                assert said.get("id") == 0 or "ask" not in json.dumps(said), said
    assert [file.name for file in (tmp_path / "catalog").rglob("*") if file.is_file()] == ["kept.sql"]
    assert "datagen" in kept.read_text() and "b INT" not in kept.read_text()


def test_a_query_is_saved(ask: Ask, client: Client, tmp_path: Path) -> None:
    saved = {"name": "größte", "question": "Which\nare they?", "text": "SELECT 1;\n\n"}
    assert ask("save", **saved)["file"] == "queries/größte.sql"
    file = tmp_path / "queries" / "größte.sql"
    assert file.read_text("utf-8") == "-- Which are they?\nSELECT 1;\n"
    assert "There is a query 'größte' already" in ask("save", **saved)["error"]["message"]
    ask("save", **{**saved, "question": "", "text": "SELECT 2"}, overwrite=True)
    assert file.read_text("utf-8") == "SELECT 2\n" and [q.name for q in saved_queries(tmp_path)] == ["größte"]
    assert Browser(client.address).get("/query?saved=gr%C3%B6%C3%9Fte").status == 200


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a b", "1a", ".x", "x" * 101, "a\n"])
def test_names_that_are_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValidationError, match="is no name for a query"):
        save(tmp_path, name, "", "SELECT 1", overwrite=True)
    assert not (tmp_path / "queries").exists()
