"""Scripts are split where Flink's client splits them; the prompt knows when a statement is complete."""

from __future__ import annotations

from typing import Any

import pytest

from sqlstream.core.errors import SyntaxProblem
from sqlstream.sql.statements.split import is_complete, split, substitute
from sqlstream.sql.syntax.tokens import tokenize

PIECES = {
    "one without its end": ("SELECT 1", ["SELECT 1"]),
    "two on a line": ("a; b;", ["a", "b"]),
    "empty pieces": (" ; ;; a ;\n;", ["a"]),
    "comments only": ("-- a;\n/* b; */ // c;\n", []),
    "comments before and behind": ("-- a;\n  a /* ; */ b -- ;\n ; // c", ["a /* ; */ b"]),
    "strings": ("SELECT 'a;''b;' ; c", ["SELECT 'a;''b;'", "c"]),
    "a backslash is no escape": ("SELECT 'a\\'; b", ["SELECT 'a\\'", "b"]),
    "a backslash in E'..' is": ("SELECT E'a\\';b'; c", ["SELECT E'a\\';b'", "c"]),
    "an identifier that ends in e": ("SELECT name'; b", ["SELECT name'; b"]),
    "quoted names": ("SELECT `a;``b;`; c", ["SELECT `a;``b;`", "c"]),
    "quotes in comments": ("a, -- it's\n b; c // don't\n ; d", ["a, -- it's\n b", "c", "d"]),
    "a comment behind an option": ("WITH ('a' = 'b', --//'c;\n 'd' = 'e'); f", ["WITH ('a' = 'b', --//'c;\n 'd' = 'e')", "f"]),
    "comments do not nest": ("a /* /* */; b */", ["a", "b */"]),
    "an address is no comment": ("ADD JAR http://a/b.jar; c", ["ADD JAR http://a/b.jar", "c"]),
    "nor is a path": ("SET a = file:///b; c", ["SET a = file:///b", "c"]),
    "hints": ("SELECT /*+ A('x;') */ 1; b", ["SELECT /*+ A('x;') */ 1", "b"]),
    "open string": ("a; SELECT 'b; c", ["a", "SELECT 'b; c"]),
    "open comment": ("a; b /* c; d", ["a", "b /* c; d"]),
    "statement set": (
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT CASE WHEN x THEN 1 END; INSERT INTO b SELECT 2; END; c;",
        ["EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT CASE WHEN x THEN 1 END; INSERT INTO b SELECT 2; END", "c"],
    ),
    "statement set over lines": (
        "execute -- x;\n statement\n set begin\n insert into a select 1;\n end -- y\n; b",
        ["execute -- x;\n statement\n set begin\n insert into a select 1;\n end", "b"],
    ),
    "explained statement set": (
        "EXPLAIN ESTIMATED_COST, CHANGELOG_MODE STATEMENT SET BEGIN a; b; END; c",
        ["EXPLAIN ESTIMATED_COST, CHANGELOG_MODE STATEMENT SET BEGIN a; b; END", "c"],
    ),
    "compiled statement set": (
        "COMPILE PLAN 'x' IF NOT EXISTS FOR STATEMENT SET BEGIN a; END; c",
        ["COMPILE PLAN 'x' IF NOT EXISTS FOR STATEMENT SET BEGIN a; END", "c"],
    ),
    "no statement set": ("EXPLAIN SELECT 'STATEMENT SET BEGIN'; b; END;", ["EXPLAIN SELECT 'STATEMENT SET BEGIN'", "b", "END"]),
    "the older statement set": ("BEGIN STATEMENT SET; a; END;", ["BEGIN STATEMENT SET", "a", "END"]),
    "END as a name in a set": (
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 AS `END`; END; b",
        ["EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 AS `END`; END", "b"],
    ),
    "lines of another system": ("SELECT 1;\r\nSELECT 2;\r\n", ["SELECT 1", "SELECT 2"]),
    "settings": ("SET 'a' = 'x;y'; SET b = c; SET;", ["SET 'a' = 'x;y'", "SET b = c", "SET"]),
    "a statement set without its end": ("EXECUTE STATEMENT SET BEGIN a; b;", ["EXECUTE STATEMENT SET BEGIN a; b"]),
}


@pytest.mark.parametrize(("script", "texts"), PIECES.values(), ids=PIECES)
def test_split(script: str, texts: list[str]) -> None:
    found = split(script)
    assert [s.text for s in found] == texts
    assert all(script[s.start : s.start + len(s.text)] == s.text for s in found)


def test_ends_are_told() -> None:
    assert [s.terminated for s in split("a; b")] == [True, False]


COMPLETE = (
    "SELECT 1;", "SELECT 1; -- done", "a; b;", "QUIT", "exit", " Help ", "clear", "HELP SELECT", "", "  \n", "-- a comment",
    "/* a comment */", "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END;",
)  # fmt: skip
INCOMPLETE = (
    "SELECT 1", "SELECT 1; SELECT", "SELECT ';", "SELECT `;", "SELECT 1 -- ;", "SELECT /* ;", "/* a", "quitting", "SHOW JOBS",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;", "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END",
)  # fmt: skip


@pytest.mark.parametrize(("text", "complete"), [*((t, True) for t in COMPLETE), *((t, False) for t in INCOMPLETE)])
def test_is_complete(text: str, complete: bool) -> None:
    assert is_complete(text) is complete


VALUES = {"TOPIC": "bids", "N": "5"}
SUBSTITUTED = {
    "SELECT ${N}": "SELECT 5",
    "'${TOPIC}-${N}'": "'bids-5'",
    "`${TOPIC}`": "`bids`",
    "/*+ OPTIONS('n'='${N}') */": "/*+ OPTIONS('n'='5') */",
    "-- ${N}\n${N} /* ${N} */ // ${N}": "-- ${N}\n5 /* ${N} */ // ${N}",
    "'${env:N}' '${OTHER}' `${OTHER}` $N {N}": "'${env:N}' '${OTHER}' `${OTHER}` $N {N}",
}


@pytest.mark.parametrize(("text", "answer"), SUBSTITUTED.items())
def test_variables(text: str, answer: str) -> None:
    assert substitute(text, VALUES) == answer


def test_a_variable_without_a_value() -> None:
    with pytest.raises(SyntaxProblem, match=r"The variable \$\{TOPIK\} has no value") as e:
        substitute("SELECT 'x', ${TOPIK}", VALUES)
    assert (e.value.offset, e.value.hint) == (12, "Did you mean 'TOPIC'?")


def test_a_value_is_not_looked_into() -> None:
    assert substitute("${A}", {"A": "${B}", "B": "no"}) == "${B}"


def test_an_unknown_variable_is_an_error_where_asked() -> None:
    with pytest.raises(SyntaxProblem) as caught:
        substitute("-- ${X}\nSELECT '${TOPICS}'", VALUES, strict=True)
    assert caught.value.offset == 16
    assert caught.value.hint == "Did you mean 'TOPIC'?"
    assert substitute("-- ${X}\n/* ${Y} */ ${env:Z} ${N}", VALUES, strict=True) == "-- ${X}\n/* ${Y} */ ${env:Z} 5"


@pytest.mark.parametrize("script", [script for script, _ in PIECES.values()], ids=PIECES)
def test_what_is_lexed_once_is_lexed_alike(script: str) -> None:
    def tokens(text: str, *lexed: Any) -> list[tuple[Any, ...]] | str:
        try:
            return [(t.token_type, t.text, t.line, t.col, t.start, t.end) for t in tokenize(text, *lexed)]
        except SyntaxProblem as error:
            return f"{error.message} {error.at}"

    for statement in split(script):
        assert statement.lexemes
        assert tokens(statement.text, statement.lexemes, statement.start) == tokens(statement.text)
