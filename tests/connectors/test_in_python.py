"""Connectors of a project's own, in Python: what is declared of them without a JVM, and rows that they read and write."""

from __future__ import annotations

import json
import shutil
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlparse

import pytest

from sqlstream.cli import check as checking
from sqlstream.core.errors import SqlStreamError
from tests.support.pages import ROOT
from tests.support.sessions import feed, open_session
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlstream.runtime.engine.session import Engine

TABLE = "CREATE TABLE h (id INT, text STRING) WITH ('connector' = 'http', 'url' = '{}')"
MODULE = """
from pyspark.sql.datasource import DataSource
from sqlstream.core.options import Option
class One(DataSource):
    {more}
    @classmethod
    def name(cls): return {name!r}
    def reader(self, schema): return None
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "connectors").mkdir()
    shutil.copy(ROOT / "examples" / "connectors" / "http_rows.py", tmp_path / "connectors")
    return tmp_path


class Rows:
    """A server of rows: those that it has, and those that it was sent."""

    def __init__(self) -> None:
        self.has: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        rows = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                after = int(parse_qs(urlparse(self.path).query)["after"][0])
                self._answer(json.dumps(rows.has[after:]).encode())

            def do_POST(self) -> None:
                rows.sent += json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self._answer(b"")

            def _answer(self, body: bytes) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def rows() -> Iterator[Rows]:
    made = Rows()
    yield made
    made.close()


@pytest.mark.parametrize("python", [[], ["--no-python"]])
def test_it_is_checked_without_a_jvm(project: Path, python: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    (project / "a.sql").write_text(f"{TABLE.format('http://x')};\nSELECT id FROM h;\nINSERT INTO h SELECT 1, 'a';\n")
    assert checking.main([*python, "a.sql"], project, {}) == checking.CLEAN
    (project / "b.sql").write_text(TABLE.format("x").replace("'url'", "'ulr'") + ";\nSELECT id FROM h;\n")
    found = checking.main([*python, "b.sql"], project, {})
    # Which options a module declares is only known when it runs.
    assert (found == checking.FAILED and "Did you mean 'url'?" in capsys.readouterr().out) if not python else found == checking.CLEAN


def test_help_and_completion(project: Path) -> None:
    session = open_session(project)
    (shown,) = session.run("HELP CONNECTOR http")
    assert "Asks a server for further rows" in shown.lines and "url: string (required)" in shown.lines  # type: ignore[attr-defined]
    text = "CREATE TABLE t (a INT) WITH ('connector' = 'ht"
    assert "http" in {one.text.strip("'") for one in session.suggester()(text, len(text))}


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("kafka", "", "sqlstream has a connector 'kafka' itself."),
        ("http", "", "Two connectors are called 'http'."),
        ("No Name", "", "The connector of One is called 'No Name'."),
        ("one", "OPTIONS = ('url',)", "One.OPTIONS has something that is no Option."),
        ("one", "reader = DataSource.reader\n    def reader2(self): pass", None),
    ],
)
def test_what_can_not_be_one(project: Path, name: str, more: str, message: str | None) -> None:
    text = MODULE.format(name=name, more=more)
    if message is None:
        text, message = text.replace("def reader(", "def other("), "One reads nothing and writes nothing."
    (project / "connectors" / "one.py").write_text(text)
    errors = [error for error in open_session(project).planner.errors if error.location and error.location.file == "connectors/one.py"]
    assert [error.message for error in errors] == [message] and all(error.location and error.location.line == 4 for error in errors)


def test_a_module_that_changes_is_loaded_again(project: Path) -> None:
    # sqlstream's own connectors are in a folder of the same name.
    before = {name: module for name, module in sys.modules.items() if name.startswith("sqlstream.")}
    session = open_session(project)
    assert {name for name, module in before.items() if sys.modules.get(name) is not module} == set()
    list(session.run(TABLE.format("http://x")))
    file = project / "connectors" / "http_rows.py"
    file.write_text(file.read_text().replace('"interval-seconds"', '"pause"'))
    with pytest.raises(SqlStreamError, match="Unsupported options found"):
        list(session.run("EXPLAIN SELECT id FROM h /*+ OPTIONS('interval-seconds' = '2') */"))
    list(session.run("EXPLAIN SELECT id FROM h /*+ OPTIONS('pause' = '2') */"))
    file.unlink()
    with pytest.raises(SqlStreamError, match="There is no connector 'http'"):
        list(session.run("EXPLAIN SELECT id FROM h"))


BATCH = """
import json
from urllib.request import urlopen
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter, WriterCommitMessage
from sqlstream.core.options import Option
class Names(DataSource):
    OPTIONS = (Option("url", required=True), Option("password"))
    @classmethod
    def name(cls): return "names"
    def reader(self, schema): return Reader(self.options["url"], schema.names)
    def writer(self, schema, overwrite): return Writer(self.options["url"])
class Reader(DataSourceReader):
    def __init__(self, url, names): self.url, self.names = url, names
    def read(self, partition):
        with urlopen(self.url + "?after=0") as answer:
            for row in json.load(answer):
                yield tuple(row[name] for name in self.names)
class Writer(DataSourceWriter):
    def __init__(self, url): self.url = url
    def write(self, rows):
        urlopen(self.url, json.dumps([row.asDict() for row in rows]).encode()).close()
        return WriterCommitMessage()
"""


@pytest.mark.spark
@pytest.mark.slow
def test_rows_that_end(project: Path, rows: Rows, engine: Engine) -> None:
    (project / "connectors" / "names.py").write_text(BATCH)
    rows.has = [{"id": 1, "na me": "a"}, {"id": 2, "na me": None}]
    table = f"CREATE TABLE n (id INT, `na me` STRING) WITH ('connector' = 'names', 'url' = '{rows.url}')"
    session = open_session(project, table, engine=engine, options={"execution.runtime-mode": "batch", "table.dml-sync": "true"})
    (found,) = session.run("SELECT * FROM n ORDER BY id")
    assert found.rows == (("1", "a"), ("2", None))  # type: ignore[attr-defined]
    list(session.run("INSERT INTO n VALUES (3, 'x')"))
    assert rows.sent == [{"id": 3, "na me": "x"}]


@pytest.mark.spark
@pytest.mark.slow
def test_what_fails_in_it_is_told_with_its_place(project: Path, rows: Rows, engine: Engine) -> None:
    (project / "connectors" / "names.py").write_text(BATCH)
    rows.has = [{"other": 1}]
    table = f"CREATE TABLE n (id INT) WITH ('connector' = 'names', 'url' = '{rows.url}')"
    session = open_session(project, table, engine=engine, options={"execution.runtime-mode": "batch"})
    with pytest.raises(SqlStreamError) as failed:
        list(session.run("SELECT * FROM n"))
    assert failed.value.message == "The connector in connectors/names.py has failed: KeyError: 'id', at line 17."
    (project / "connectors" / "names.py").write_text(BATCH.replace("return Reader(", "raise OSError('not there'); return Reader("))
    with pytest.raises(SqlStreamError) as failed:
        list(session.run("SELECT * FROM n"))
    assert failed.value.message == "The connector in connectors/names.py has failed: OSError: not there, at line 10."


@pytest.mark.spark
@pytest.mark.slow
def test_it_is_looked_up(project: Path, rows: Rows, engine: Engine, tmp_path: Path) -> None:
    (project / "connectors" / "names.py").write_text(BATCH)
    rows.has = [{"id": 1, "na me": "a"}]
    (tmp_path / "in").mkdir()
    declared = f"""
        CREATE TABLE n (id INT, `na me` STRING) WITH ('connector' = 'names', 'url' = '{rows.url}');
        CREATE TABLE f (id INT, p AS PROCTIME()) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / "in"}', 'format' = 'json',
          'source.monitor-interval' = '1 s');
    """
    session = open_session(project, declared, engine=engine)
    (stream,) = [next(session.run("SELECT f.id, `na me` FROM f LEFT JOIN n FOR SYSTEM_TIME AS OF f.p ON f.id = n.id"))]
    feed(tmp_path / "in", {"id": 1}, {"id": 2})
    assert sorted(next(stream.changes).row for _ in range(2)) == [("1", "a"), ("2", None)]  # type: ignore[attr-defined]
    # What is there by now is found.
    rows.has.append({"id": 2, "na me": "b"})
    feed(tmp_path / "in", {"id": 2})
    assert next(stream.changes).row == ("2", "b")  # type: ignore[attr-defined]
    stream.stop()  # type: ignore[attr-defined]


@pytest.mark.spark
@pytest.mark.slow
def test_a_stream_goes_on_where_it_was(project: Path, rows: Rows, engine: Engine) -> None:
    rows.has = [{"id": n, "text": f"row {n}"} for n in range(3)]
    statements = (
        f"{TABLE.format(rows.url)}; CREATE TABLE sent (id INT, text STRING) WITH ('connector' = 'http', 'url' = '{rows.url}out');"
        "SET 'pipeline.name' = 'own'; INSERT INTO sent SELECT id, UPPER(text) FROM h"
    )
    for expected in (3, 5):
        session = open_session(project, engine=engine)
        list(session.run(statements))
        until(lambda expected=expected: len(rows.sent) == expected, 60, said=lambda: rows.sent)
        # A micro-batch that has not ended comes again.
        time.sleep(3)
        list(session.run("STOP JOB 'own'"))
        session.close()
        rows.has += [{"id": n, "text": f"row {n}"} for n in (3, 4)]
    assert sorted(row["id"] for row in rows.sent) == [0, 1, 2, 3, 4] and {row["text"] for row in rows.sent} == {f"ROW {n}" for n in range(5)}
