"""Scripts are split where statements end, and nowhere else; the shell knows when a statement is whole; variables get values."""

from __future__ import annotations

import pytest

from sqlstream.errors import SyntaxProblem
from sqlstream.sql.dialect import parse
from sqlstream.sql.statements import Statement, is_complete, split, substitute

SPLITS = {
    "": [],
    " \n\t": [],
    ";": [],
    ";;\n; ": [],
    "-- nothing\n/* here; */ -- ;": [],
    "SELECT 1": ["SELECT 1"],
    "SELECT 1;": ["SELECT 1"],
    "SELECT 1; SELECT 2": ["SELECT 1", "SELECT 2"],
    "SELECT 1;;SELECT 2;": ["SELECT 1", "SELECT 2"],
    "  SELECT 1  ;  ": ["SELECT 1"],
    "SELECT ';' ; SELECT 2;": ["SELECT ';'", "SELECT 2"],
    "SELECT 'it''s; so';SELECT 2": ["SELECT 'it''s; so'", "SELECT 2"],
    "SELECT '\\'; SELECT 2;": ["SELECT '\\'", "SELECT 2"],
    "SELECT E'it\\'s; so'; SELECT 2;": ["SELECT E'it\\'s; so'", "SELECT 2"],
    "SELECT `a;b` FROM `c``;d`; SELECT 2;": ["SELECT `a;b` FROM `c``;d`", "SELECT 2"],
    "SELECT 1 -- one; 'two\n; SELECT 2;": ["SELECT 1", "SELECT 2"],
    "SELECT 1 -- it's\n + 2; SELECT 2;": ["SELECT 1 -- it's\n + 2", "SELECT 2"],
    "SELECT 1 // it's; so\n; SELECT 2;": ["SELECT 1", "SELECT 2"],
    "SELECT /* a; 'b */ 1; SELECT 2;": ["SELECT /* a; 'b */ 1", "SELECT 2"],
    "SELECT '--'; SELECT 2;": ["SELECT '--'", "SELECT 2"],
    "SELECT '/*'; SELECT '*/';": ["SELECT '/*'", "SELECT '*/'"],
    "SELECT 'http://a'; SELECT 2;": ["SELECT 'http://a'", "SELECT 2"],
    "-- before\nSELECT 1;\n/* between; */\nSELECT 2;\n-- after": ["SELECT 1", "SELECT 2"],
    "CREATE TABLE t (a INT) WITH (\n 'k' = 'v', --//'kafka:29092' <-- x\n 'l' = 'w');\nSELECT 1;": [
        "CREATE TABLE t (a INT) WITH (\n 'k' = 'v', --//'kafka:29092' <-- x\n 'l' = 'w')",
        "SELECT 1",
    ],
    "SELECT * FROM t /*+ OPTIONS('a'=';') */; SELECT 2;": ["SELECT * FROM t /*+ OPTIONS('a'=';') */", "SELECT 2"],
    "/*+ h */ SELECT 1; SELECT 2": ["/*+ h */ SELECT 1", "SELECT 2"],
    "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; INSERT INTO u SELECT 2; END; SELECT 3;": [
        "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; INSERT INTO u SELECT 2; END",
        "SELECT 3",
    ],
    "execute statement set\nbegin\n-- first;\ninsert into t select 1;\n/* ; */ end;select 3": [
        "execute statement set\nbegin\n-- first;\ninsert into t select 1;\n/* ; */ end",
        "select 3",
    ],
    "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT CASE WHEN a THEN 1 END FROM u; INSERT INTO t SELECT 1 AS `END`; END; SHOW JOBS": [
        "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT CASE WHEN a THEN 1 END FROM u; INSERT INTO t SELECT 1 AS `END`; END",
        "SHOW JOBS",
    ],
    "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT CASE a WHEN 1 THEN\n2\nEND; END;": [
        "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT CASE a WHEN 1 THEN\n2\nEND; END",
    ],
    "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END": ["EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END"],
    "EXPLAIN STATEMENT SET BEGIN INSERT INTO t SELECT 1; END; SELECT 1": [
        "EXPLAIN STATEMENT SET BEGIN INSERT INTO t SELECT 1; END",
        "SELECT 1",
    ],
    "EXPLAIN CHANGELOG_MODE, ESTIMATED_COST EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END; SELECT 1": [
        "EXPLAIN CHANGELOG_MODE, ESTIMATED_COST EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END",
        "SELECT 1",
    ],
    "COMPILE PLAN '/p.json' FOR STATEMENT SET BEGIN INSERT INTO t SELECT 1; END; SELECT 1": [
        "COMPILE PLAN '/p.json' FOR STATEMENT SET BEGIN INSERT INTO t SELECT 1; END",
        "SELECT 1",
    ],
    "BEGIN STATEMENT SET; INSERT INTO t SELECT 1; INSERT INTO u SELECT 2; END;": [
        "BEGIN STATEMENT SET", "INSERT INTO t SELECT 1", "INSERT INTO u SELECT 2", "END",
    ],
    "EXPLAIN SELECT a AS begin_ FROM t; SELECT 2;": ["EXPLAIN SELECT a AS begin_ FROM t", "SELECT 2"],
    "SELECT 'STATEMENT SET BEGIN'; SELECT 2;": ["SELECT 'STATEMENT SET BEGIN'", "SELECT 2"],
    "SET 'a' = 'x;y'; SET b = c;": ["SET 'a' = 'x;y'", "SET b = c"],
    "SELECT `číslo` FROM 名前; SELECT 2;": ["SELECT `číslo` FROM 名前", "SELECT 2"],
    "SELECT 1;\r\nSELECT 2;\r\n": ["SELECT 1", "SELECT 2"],
    "SELECT 'open; SELECT 2;": ["SELECT 'open; SELECT 2;"],
    "SELECT 1; /* open; SELECT 2;": ["SELECT 1"],
    "SELECT 1; SELECT `open; SELECT 2": ["SELECT 1", "SELECT `open; SELECT 2"],
}  # fmt: skip


@pytest.mark.parametrize("script", SPLITS)
def test_pieces(script: str) -> None:
    found = split(script)
    assert [piece.text for piece in found] == SPLITS[script]
    for piece in found:
        assert script.startswith(piece.text, piece.start)


def test_the_last_piece_knows_that_it_has_no_end() -> None:
    assert split("SELECT 1; SELECT 2") == [Statement("SELECT 1", 0, True), Statement("SELECT 2", 10, False)]
    assert [p.terminated for p in split("SELECT 1; EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1;")] == [True, False]


@pytest.mark.parametrize("script", [s for s in SPLITS if "open" not in s and "/*+ h" not in s])
def test_every_piece_parses(script: str) -> None:
    for piece in split(script):
        assert parse(piece.text) is not None


WHOLE = (
    "", "  \n", "-- c", "SELECT 1;", "SELECT 1 ; -- done", "SELECT 1; /* done */", "SELECT 1; SELECT 2;", ";", "QUIT", "exit", "HELP",
    "help select", "CLEAR", "QUIT;", "SELECT 'a;\n b';", "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END;",
    "BEGIN STATEMENT SET;", "/* c */ ;",
)  # fmt: skip
PARTS = (
    "SELECT 1", "SELECT 1 -- ;", "SELECT ';", "SELECT ';'", "SELECT `a;", "SELECT 1 /* ;", "/* open", "SELECT 1; SELECT 2",
    "EXECUTE STATEMENT SET BEGIN", "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1;", "SET", "SHOW TABLES",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT CASE WHEN a THEN 1 END;", "SELECT E'\\';", "SELECT 'a''; ",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END", "QUITE", "helper",
)  # fmt: skip


@pytest.mark.parametrize("text", WHOLE)
def test_the_shell_runs(text: str) -> None:
    assert is_complete(text)


@pytest.mark.parametrize("text", PARTS)
def test_the_shell_waits_for_more(text: str) -> None:
    assert not is_complete(text)


SUBSTITUTIONS = {
    "SELECT ${A}": "SELECT 1",
    "SELECT '${A}', `${B}`": "SELECT '1', `x y`",
    "SELECT ${A}${A} -- ${A}": "SELECT 11 -- ${A}",
    "/* ${A} */ ${A} // ${A}\n${A}": "/* ${A} */ 1 // ${A}\n1",
    "FROM t /*+ OPTIONS('a'='${A}') */": "FROM t /*+ OPTIONS('a'='1') */",
    "'-- ${A}'": "'-- 1'",
    "${env:A} ${C} $A {A} ${}": "${env:A} ${C} $A {A} ${}",
    "http://${A}/b": "http://1/b",
    "": "",
}


@pytest.mark.parametrize("text", SUBSTITUTIONS)
def test_variables(text: str) -> None:
    assert substitute(text, {"A": "1", "B": "x y"}) == SUBSTITUTIONS[text]


def test_a_value_is_not_looked_into() -> None:
    assert substitute("${A}", {"A": "${B}", "B": "no"}) == "${B}"


def test_an_unknown_variable_is_told_at_its_place() -> None:
    with pytest.raises(SyntaxProblem) as caught:
        substitute("SELECT 1; -- ${X}\nSELECT ${BOOTSTRAPS}", {"BOOTSTRAP": "a"}, strict=True)
    assert caught.value.offset == 25
    assert "${BOOTSTRAPS}" in caught.value.message
    assert "BOOTSTRAP" in str(caught.value.hint)
