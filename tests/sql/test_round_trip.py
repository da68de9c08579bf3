"""Whatever parses is written so that it parses to the same tree."""

from __future__ import annotations

import time

import pytest
import sqlglot

from sqlstream.sql.syntax.dialect import parse
from sqlstream.sql.syntax.statements import split

from .conftest import SCRIPTS

STATEMENTS = [
    pytest.param(s.text, id=f"{path.stem}:{i + 1}") for path in sorted(SCRIPTS.glob("*.sql")) for i, s in enumerate(split(path.read_text()))
]


@pytest.mark.parametrize("sql", STATEMENTS)
def test_same_tree(sql: str) -> None:
    tree = parse(sql)
    assert parse(tree.sql("flink")) == tree


@pytest.mark.parametrize("sql", STATEMENTS)
def test_with_all_names_quoted(sql: str) -> None:
    quoted = parse(sql).sql("flink", identify=True)
    assert parse(quoted).sql("flink", identify=True) == quoted


@pytest.mark.parametrize("sql", STATEMENTS)
def test_copies_are_equal(sql: str) -> None:
    tree = parse(sql)
    assert tree.copy() == tree
    assert hash(tree.copy()) == hash(tree)


def test_sqlglot_knows_the_dialect() -> None:
    tree = sqlglot.parse_one("SELECT a FROM t FOR SYSTEM_TIME AS OF x;", read="flink")
    assert tree.sql("flink") == "SELECT a FROM t FOR SYSTEM_TIME AS OF x"
    assert [type(t).__name__ for t in sqlglot.parse("SET; TABLE t;", read="flink")] == ["Set", "Select"]


def test_a_long_script_parses_at_once() -> None:
    text = (SCRIPTS / "auctions.sql").read_text()
    pieces = split(text)
    best = 1.0
    for _ in range(3):
        start = time.perf_counter()
        for piece in split(text):
            parse(piece.text)
        best = min(best, time.perf_counter() - start)
    assert len(pieces) > 20
    assert best < 0.15


WRITTEN = {
    "select a,b x from t where not a=1 and b is not null": "SELECT a, b AS x FROM t WHERE NOT a = 1 AND b IS NOT NULL",
    "SELECT `a`, `select`, `a``b` FROM `t`": "SELECT `a`, `select`, `a``b` FROM `t`",
    "SELECT 'it''s \\n'": "SELECT 'it''s \\n'",
    "SELECT SUBSTRING(a FROM 1), CEILING(a), current_date": "SELECT SUBSTRING(a, 1), CEIL(a), CURRENT_DATE",
    "SELECT a NOT IN (1), NOT a LIKE 'x', a NOT LIKE 'x' ESCAPE '!'": "SELECT a NOT IN (1), a NOT LIKE 'x', a NOT LIKE 'x' ESCAPE '!'",
    "SELECT JSON_OBJECT('a': 1)": "SELECT JSON_OBJECT(KEY 'a' VALUE 1)",
    "SELECT * FROM tumble(table t, descriptor(a), interval '1' days)": ("SELECT * FROM TABLE(tumble(TABLE t, DESCRIPTOR(a), INTERVAL '1' DAY))"),
    "SELECT 1 / 2 * 3 % 4 || 'x'": "SELECT 1 / 2 * 3 % 4 || 'x'",
    "SET a.b=c d": "SET 'a.b' = 'c d'",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END": "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END",
    "CREATE VIEW v AS SELECT 1 -- one\n, 2": "CREATE VIEW v AS SELECT 1 -- one\n, 2",
}


@pytest.mark.parametrize(("sql", "written"), WRITTEN.items())
def test_text(sql: str, written: str) -> None:
    assert parse(sql).sql("flink") == written


def test_names_are_quoted_on_request() -> None:
    assert parse("SELECT a.b AS c FROM t AS a").sql("flink", identify=True) == "SELECT `a`.`b` AS `c` FROM `t` AS `a`"


def test_statements_are_flink_sql_without_asking() -> None:
    assert str(parse("INSERT INTO `a b` SELECT 'x' FROM t")) == "INSERT INTO `a b` SELECT 'x' FROM t"
