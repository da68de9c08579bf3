"""Whatever parses is written so that it parses to the same tree."""

from __future__ import annotations

import re

import pytest
import sqlglot
from sqlglot.errors import ParseError

from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from sqlstream.sql.syntax.lexer import Kind, lexemes
from tests.support import pace

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


CALLS = 150_000


def test_a_long_script_parses_at_once() -> None:
    text = (SCRIPTS / "auctions.sql").read_text()
    assert len(split(text)) > 20

    def parsed() -> None:
        for piece in split(text):
            parse(piece.text)

    parsed()
    assert CALLS / 2 < pace.calls(parsed) < CALLS


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


COMMENTED = {
    "-- lead\nSELECT a, -- first\n b /* second */ FROM t // from\nWHERE a = 1 /* one */ AND b = 2 -- two\n;\n-- last": (
        "/* lead */ SELECT a /* first */, b /* second */ FROM t /* from */ WHERE a = 1 /* one */ AND b = 2 /* two */ /* last */"
    ),
    "SELECT\n  -- of the next line\n  a FROM t": "SELECT a /* of the next line */ FROM t",
    "CREATE TABLE t (a INT -- its id\n, b STRING) WITH ('connector' = 'x' /* why */)": (
        "CREATE TABLE t (a INT /* its id */, b STRING) WITH ('connector' = 'x' /* why */)"
    ),
    "SELECT '-- no comment', `/* nor */` FROM t /*+ OPTIONS('a'='b') */ /* this is */": (
        "SELECT '-- no comment', `/* nor */` FROM t /*+ OPTIONS('a' = 'b') */ /* this is */"
    ),
    "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k -- each\n, `a b` /* and */ ORDER BY ts -- so\n PATTERN (B) -- one\n DEFINE B AS x > 1)": (
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k /* each */, `a b` /* and */ ORDER BY ts /* so */ PATTERN (B /* one */) DEFINE B AS x > 1)"
    ),
    "SELECT 1 -- it ends: */ here\nFROM t": "SELECT 1 /* it ends: * / here */ FROM t",
}


@pytest.mark.parametrize(("sql", "written"), COMMENTED.items())
def test_comments_stay_where_they_are(sql: str, written: str) -> None:
    tree = sqlglot.parse_one(sql, read="flink")
    assert tree.sql("flink") == written
    assert tree.sql("flink", comments=False) == parse(sql.partition(";")[0]).sql("flink")


def said_in(text: str) -> list[str]:
    return [re.sub(r"^(--|//|/[*])|[*]/$", "", c.text).strip() for c in lexemes(text) if c.kind is Kind.COMMENT]


@pytest.mark.parametrize("sql", STATEMENTS)
def test_comments_of_every_statement_stay(sql: str) -> None:
    tree = sqlglot.parse_one(f"-- before\n{sql} /* behind */", read="flink")
    wanted = sorted([*said_in(sql), "before", "behind"])
    for pretty in (False, True):
        written = tree.sql("flink", pretty=pretty)
        assert sorted(said_in(written)) == wanted
        assert sqlglot.parse_one(written, read="flink") == tree


def test_a_pretty_string_is_the_same_string() -> None:
    tree = sqlglot.parse_one("SELECT a, 'x\n  y' AS b FROM t", read="flink")
    assert tree.sql("flink", pretty=True) == "SELECT\n  a,\n  'x\n  y' AS b\nFROM t"


def test_two_words_are_no_statement() -> None:
    for text in ("print Orders", "a + 1 b", "f(x) y; SELECT 1"):
        with pytest.raises(ParseError, match="Was expecting: a statement"):
            sqlglot.parse_one(text, read="flink")
    for text in ("a AS b", "CAST(a AS INT) AS b", "a + 1", "`as`"):
        assert sqlglot.parse_one(text, read="flink").sql("flink") == text


def test_names_are_quoted_on_request() -> None:
    assert parse("SELECT a.b AS c FROM t AS a").sql("flink", identify=True) == "SELECT `a`.`b` AS `c` FROM `t` AS `a`"


def test_statements_are_flink_sql_without_asking() -> None:
    assert str(parse("INSERT INTO `a b` SELECT 'x' FROM t")) == "INSERT INTO `a b` SELECT 'x' FROM t"
