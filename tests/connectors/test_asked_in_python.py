"""Tables that a class of the project's own, in Python, is asked for by key: the rows of lookup joins."""

from __future__ import annotations

import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlparse

import pytest

from sqlstream.cli import check as checking
from sqlstream.core.errors import SqlStreamError
from tests.support.pages import ROOT
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.runtime.engine.session import Engine

# Each request is a line of a file.
MODULE = '''
import json
from pathlib import Path
from pyspark.sql.datasource import DataSource
from sqlstream.core.options import Option

class People(DataSource):
    """Who has a number."""
    OPTIONS = (Option("folder", required=True),)
    @classmethod
    def name(cls): return "people"
    def lookup(self, schema, keys): return Lookup(Path(self.options["folder"]), schema.names, keys)

class Lookup:
    def __init__(self, folder, names, keys): self.folder, self.names, self.keys = folder, names, keys
    def read(self, keys):
        with (self.folder / "asked").open("a") as asked:
            asked.write(json.dumps([self.keys, keys], default=str) + "\\n")
        times = len((self.folder / "asked").read_text().splitlines())
        for row in json.loads((self.folder / "rows.json").read_text()):
            if [row[key] for key in self.keys] in [list(key) for key in keys] and row.pop("after", 0) < times:
                yield tuple(row[name] for name in self.names)
'''
ROWS = [
    {"id": 1, "na me": "Ann", "age": 30, "tags": ["x", None]},
    {"id": 1, "na me": "Änne", "age": None, "tags": []},
    {"id": 2, "na me": None, "age": 50, "tags": None},
]
INPUT = [(1, 40), (2, 40), (3, 40), (None, 40), (1, 20)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "connectors").mkdir()
    (tmp_path / "connectors" / "people.py").write_text(MODULE)
    (tmp_path / "rows.json").write_text(json.dumps(ROWS))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text("".join(json.dumps({"id": i, "most": m, "o": n}) + "\n" for n, (i, m) in enumerate(INPUT)))
    return tmp_path


STREAM = """
    CREATE TABLE f (id INT, most INT, o INT, pt AS PROCTIME()) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json')
"""


def declared(project: Path) -> str:
    return f"""
        {STREAM.format(folder=project / "in")};
        CREATE TABLE p (id INT, `na me` STRING, age BIGINT, tags ARRAY<STRING>) WITH ('connector' = 'people', 'folder' = '{project}');
        CREATE VIEW grown AS SELECT id AS nr, UPPER(`na me`) AS `na me`, 1 AS fixed, id AS same FROM p WHERE age > 18 OR age IS NULL;
    """


def found(project: Path, engine: Engine, query: str, tables: str | None = None) -> list[tuple[str | None, ...]]:
    session = open_session(project, tables or declared(project), engine=engine, options={"sql-client.execution.result-mode": "tableau"})
    (stream,) = session.run(query)
    rows = [change.row for change in stream.changes]  # type: ignore[attr-defined]
    session.close()
    return sorted(rows, key=str)


def asked(project: Path) -> list[list]:
    return [json.loads(line) for line in (project / "asked").read_text().splitlines()]


AS_OF = "FOR SYSTEM_TIME AS OF f.pt"
QUERIES = {
    f"SELECT o, `na me`, age, tags FROM f JOIN p {AS_OF} ON f.id = p.id": [
        ("0", "Ann", "30", "[x, NULL]"), ("0", "Änne", None, "[]"), ("1", None, "50", None), ("4", "Ann", "30", "[x, NULL]"), ("4", "Änne", None, "[]"),
    ],
    f"SELECT o, `na me` FROM f LEFT JOIN p {AS_OF} ON f.id = p.id AND p.age < f.most": [
        ("0", "Ann"), ("1", None), ("2", None), ("3", None), ("4", None),
    ],
    # Nothing is made of a row that is not there.
    f"SELECT o, `na me`, fixed FROM f LEFT JOIN grown {AS_OF} ON f.id = nr": [
        ("0", "ANN", "1"), ("0", "ÄNNE", "1"), ("1", None, "1"), ("2", None, None), ("3", None, None), ("4", "ANN", "1"), ("4", "ÄNNE", "1"),
    ],
    f"SELECT o, nr FROM f JOIN grown {AS_OF} ON nr = f.id AND same = f.o + 0": [],
    f"SELECT o, nr FROM f JOIN grown {AS_OF} ON nr = f.id AND same = f.o + 1": [("0", "1"), ("0", "1"), ("1", "2")],
    f"SELECT o, age FROM f JOIN p {AS_OF} ON p.age = f.most + 10 AND f.id = p.id": [("1", "50"), ("4", "30")],
    f"SELECT o, p.id FROM f JOIN p {AS_OF} ON p.id = f.id AND p.id = f.id + 0 AND p.`na me` = 'Ann'": [("0", "1"), ("4", "1")],
    f"SELECT id, COUNT(*) FROM (SELECT p.id FROM f JOIN p {AS_OF} ON f.id = p.id) GROUP BY id HAVING COUNT(*) > 3": [("1", "4")],
}  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize("query", QUERIES)
def test_rows_by_key(project: Path, engine: Engine, query: str) -> None:
    assert found(project, engine, query) == QUERIES[query]


@pytest.mark.spark
def test_keys_of_a_batch_are_asked_for_together(project: Path, engine: Engine) -> None:
    found(project, engine, f"SELECT o, age FROM f JOIN p {AS_OF} ON f.id = p.id")
    assert asked(project) == [[["id"], [[1], [2], [3]]]]


@pytest.mark.spark
def test_what_is_missing_is_asked_for_again(project: Path, engine: Engine) -> None:
    """As the hint says."""
    (project / "rows.json").write_text(json.dumps([{**ROWS[0], "id": 3, "after": 2}, ROWS[0]]))
    hint = "/*+ LOOKUP('table'='p', 'retry-predicate'='lookup_miss', 'retry-strategy'='fixed_delay', 'fixed-delay'='10 ms', 'max-attempts'='5') */"
    query = f"SELECT {hint} o, age FROM f JOIN p {AS_OF} ON f.id = p.id"
    assert found(project, engine, query) == [("0", "30"), ("2", "30"), ("4", "30")]
    assert [keys for _, keys in asked(project)] == [[[1], [2], [3]], *([[[2], [3]]] * 2), *([[[2]]] * 3)]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("instead", "message"),
    [
        ("yield tuple(row[name] for name in self.names)", None),
        ("yield 1", "ValueError: read() of a lookup gives tuples of id, na me, age, tags, and has given a int: 1"),
        ("yield (7, None, None, None)", "ValueError: read() of a lookup gives rows of the keys that it gets, and has given one of (7,)"),
        ("raise OSError('away')", "OSError: away"),
    ],
)
def test_what_fails_in_it(project: Path, engine: Engine, instead: str, message: str | None) -> None:
    (project / "connectors" / "people.py").write_text(MODULE.replace("yield tuple(row[name] for name in self.names)", instead))
    query = f"SELECT o FROM f JOIN p {AS_OF} ON f.id = p.id"
    if message is None:
        assert found(project, engine, query) == [("0",), ("0",), ("1",), ("4",), ("4",)]
        return
    with pytest.raises(SqlStreamError) as failed:
        found(project, engine, query)
    assert message in failed.value.message


class Service(BaseHTTPRequestHandler):
    """People with odd numbers."""

    def do_GET(self) -> None:
        numbers = map(int, parse_qs(urlparse(self.path).query)["id"][0].split(","))
        body = json.dumps([{"id": n, "name": f"n{n}"} for n in numbers if n % 2]).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.mark.spark
def test_the_example(project: Path, engine: Engine) -> None:
    shutil.copy(ROOT / "examples" / "connectors" / "people.py", project / "connectors" / "people.py")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    people = f"CREATE TABLE people (id INT, name STRING) WITH ('connector' = 'people', 'url' = 'http://127.0.0.1:{server.server_port}/')"
    query = f"SELECT o, name FROM f LEFT JOIN people {AS_OF} ON f.id = people.id"
    try:
        rows = found(project, engine, query, f"{STREAM.format(folder=project / 'in')}; {people}")
    finally:
        server.shutdown()
        server.server_close()
    assert rows == [("0", "n1"), ("1", None), ("2", "n3"), ("3", None), ("4", "n1")]


@pytest.mark.parametrize("python", [[], ["--no-python"]])
def test_it_is_checked_without_a_jvm(project: Path, python: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    (project / "a.sql").write_text(f"{declared(project)};\nSELECT o, age FROM f JOIN p {AS_OF} ON f.id = p.id;\n")
    assert checking.main([*python, "a.sql"], project, {}) != checking.FAILED, capsys.readouterr().out
    (project / "b.sql").write_text(f"{declared(project)};\nSELECT * FROM p;\n")
    assert checking.main([*python, "b.sql"], project, {}) == checking.FAILED
    assert "The rows of table 'default_catalog.default_database.p' can only be looked up." in capsys.readouterr().out
