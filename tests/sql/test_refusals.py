"""What other dialects write, and what parses but has no meaning here, comes to an error: none is read as something else."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import NotSupported, SqlStreamError, SyntaxProblem, ValidationError
from sqlstream.sql.sqlglot.dialect import Flink
from sqlstream.sql.statements.parsing import parse
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from sqlstream.session.session import Session

ROOT = Path(__file__).parents[2]
DECLARED = """
CREATE TABLE t (a INT, b STRING, c ARRAY<INT>, r ROW<x INT, y ROW<z INT>>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'json',
      'scan.startup.mode' = 'earliest-offset');
CREATE TABLE u (a INT, d STRING) WITH ('connector' = 'delta', 'table-path' = 'u');
CREATE VIEW v AS SELECT a, ts, MAP[b, a] AS m, ROW(a, ARRAY[MAP[b, a]]) AS r FROM t;
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return open_session(tmp_path_factory.mktemp("project"), DECLARED)


# Read by the parser, as Flink's does; refused when bound or planned.
MEANINGLESS = (
    "SELECT b ILIKE 'x' FROM t", "SELECT b RLIKE 'x' FROM t", "SELECT b NOT ILIKE 'x' FROM t",
    "SELECT * FROM t TABLESAMPLE BERNOULLI(10)", "SELECT * FROM t PIVOT (SUM(a) FOR b IN ('x'))", "SELECT STRUCT(a) FROM t",
    "SELECT EXPLODE(c) FROM t", "SELECT NVL(a, 1) FROM t", "SELECT TO_JSON(r) FROM t", "SELECT FILTER_(c) FROM t",
    "SELECT REGEXP_LIKE(b, 'x') FROM t", "SELECT FROM_JSON(b, 'x') FROM t", "SELECT LEN(b) FROM t", "SELECT DATE_ADD(ts, 1) FROM t",
    "SELECT a FROM t WHERE b", "SELECT a FROM t WHERE 'a'", "SELECT a FROM t HAVING SUM(a)", "SELECT nothing FROM t",
    "SELECT A FROM t", "SELECT a FROM T", "SELECT t.b.x FROM t", "SELECT r.x.z FROM t", "SELECT a.b FROM t", "SELECT u.a FROM t",
    "SELECT a FROM t, u", "SELECT a FROM t AS x (p, q)", "SELECT a FROM t AS x WHERE t.a = 1",
    "SELECT a FROM t UNION ALL SELECT a, d FROM u", "SELECT a + b FROM t WHERE a", "SELECT a || 1 || c FROM t",
    "SELECT a FROM t GROUP BY b", "SELECT SUM(SUM(a)) FROM t", "SELECT a, COUNT(*) FROM t", "SELECT CAST(a AS ROW<x INT>) FROM t",
    "SELECT SUM(*) FROM t", "SELECT UPPER(*) FROM t", "SELECT UPPER(DISTINCT b) FROM t", "SELECT b[1] FROM t", "SELECT c['x'] FROM t",
    "SELECT COUNT() FROM t", "SELECT r.* FROM u", "SELECT TOP(5) FROM t", "SELECT (SELECT a, d FROM u) FROM t",
    "SELECT * FROM f(1)", "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(nothing), INTERVAL '1' HOUR))",
    "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MONTH))", "SELECT JSON_VALUE(a, '$') FROM t",
    "SELECT EXTRACT(DAY FROM b) FROM t", "SELECT FLOOR(a TO DAY) FROM t", "SELECT INTERVAL '100' DAY", "SELECT X'1'",
    "SELECT a FROM t LIMIT ALL LIMIT 1", "SELECT a AS x FROM t WHERE x = 1", "SELECT a AS x FROM t GROUP BY x HAVING y > 1",
)  # fmt: skip


@pytest.mark.parametrize("text", MEANINGLESS)
def test_refused_before_anything_runs(session: Session, text: str) -> None:
    with pytest.raises((NotSupported, ValidationError, SyntaxProblem)) as caught:
        list(session.run(f"EXPLAIN {text}"))
    assert caught.value.message


# Flink compares the bytes of a map, which depend on the order of its entries, and sorts by none.
WITHOUT_ORDER = {
    "GROUP BY {}": "SELECT {0}, COUNT(*) FROM v GROUP BY {0}",
    "DISTINCT": "SELECT DISTINCT {} FROM v",
    "UNION": "SELECT {0} FROM v UNION SELECT {0} FROM v",
    "EXCEPT ALL": "SELECT {0} FROM v EXCEPT ALL SELECT {0} FROM v",
    "PARTITION BY {}": "SELECT COUNT(*) OVER (PARTITION BY {} ORDER BY ts) FROM v",
    "PARTITION BY  {}": "SELECT * FROM v MATCH_RECOGNIZE (PARTITION BY {} ORDER BY ts MEASURES A.a AS x PATTERN (A B) DEFINE B AS B.a > 1)",
    "ORDER BY {}": "SELECT a FROM v ORDER BY ts, {}",
    "ORDER BY  {}": "SELECT a FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY {}) AS n FROM v) WHERE n = 1",
    "=": "SELECT x.a FROM v AS x JOIN v AS y ON x.{0} = y.{0}",
    "COUNT": "SELECT COUNT(DISTINCT {}) FROM v",
}


@pytest.mark.parametrize("column", ["m", "r"])
@pytest.mark.parametrize("clause", WITHOUT_ORDER)
def test_maps_are_no_keys(session: Session, clause: str, column: str) -> None:
    text = f"EXPLAIN {WITHOUT_ORDER[clause].format(column)}"
    with pytest.raises((NotSupported, ValidationError)) as caught:
        list(session.run(text))
    error, words = caught.value, clause.removesuffix("{}").strip()
    assert " MAP" in error.message or "MAP<" in error.message
    assert error.message.startswith({"ORDER BY": "Type(", "=": "Cannot apply '='"}.get(words, f"{words} is not supported"))
    assert error.offset is not None
    assert not clause.endswith("{}") or text[error.offset :].startswith(column)


PLANNED = (
    "SELECT a b, b AS name FROM t AS x", "SELECT r.x, t.r.y.z, c[1] FROM t", "SELECT a FROM t WHERE a > 1 IS TRUE",
    "SELECT a FROM t WHERE b IS NOT NULL AND a NOT IN (1, 2)", "VALUES (1, 'a'), (2, 'b')", "SELECT 1, .5, 1e3, X'1F', DATE '2026-01-31'",
)  # fmt: skip


@pytest.mark.parametrize("text", PLANNED)
def test_planned(session: Session, text: str) -> None:
    assert list(session.run(f"EXPLAIN {text}"))


# Places of the errors, over several lines and behind comments.
PLACES = {
    "SELECT a,\n  b c d\nFROM t": 'Encountered "d" at line 2, column 7.',
    "SELECT a -- FROM\nFORM t x": 'Encountered "FORM" at line 2, column 1.',
    "SELECT a -- FROM\nF t x": 'Encountered "t" at line 2, column 3.',
    "SELECT /* a\n b */ FROM t": 'Encountered "FROM" at line 2, column 7.',
    "CREATE TABLE t (\n  a INT,\n  b INTT\n)": 'Encountered "INTT" at line 3, column 5.',
    "SELECT `a`.FROM t": 'Encountered "FROM" at line 1, column 12.',
    "SELECT 'a;b' 5": 'Encountered "5" at line 1, column 14.',
    "SELECT": 'Encountered "<EOF>" at line 1, column 6.',
}


@pytest.mark.parametrize("text", PLACES)
def test_places_and_words(text: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse(text)
    assert caught.value.message == PLACES[text]
    offset = caught.value.offset
    assert offset is not None
    line, column = text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
    assert f"line {line}, column {column}." in caught.value.message


def test_every_error_is_ours() -> None:
    """Text cut off or doubled anywhere parses or fails with an error of ours."""
    whole = "SELECT a, CAST(b AS ROW<x INT>) FROM t /*+ OPTIONS('a'='b') */ JOIN u ON t.a = u.a WHERE c IN (1, 2) LIMIT 3"
    texts = [whole[:i] for i in range(len(whole))] + [whole[:i] + whole[i + 1 :] for i in range(len(whole))]
    for text in texts:
        try:
            parse(text)
        except SqlStreamError as error:
            assert 0 <= (error.offset or 0) <= len(text)


def test_the_package_names_its_dialect() -> None:
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["sqlglot.dialects"]["flink"]
    module, _, name = entry.partition(":")
    assert getattr(import_module(module), name) is Flink
