"""What completion reads off the patterns of statements."""

import pytest

from sqlstream.session.completion import grammar
from sqlstream.session.completion.tree import tree
from sqlstream.sql.statements.table import LISTED
from sqlstream.sql.syntax.lexer import lexemes


def expected(text):
    cursor = tree(list(lexemes(text, open_ends=True)), [])
    return grammar.expected(cursor.root, cursor.place)


@pytest.mark.parametrize("words", sorted({" ".join(lead) for form in LISTED for lead in form.leads if lead}))
def test_every_statement_is_completed(words):
    before, _, last = words.rpartition(" ")
    assert last in expected(before).words


@pytest.mark.parametrize(
    ("text", "words", "slots"),
    [
        ("DROP TABLE", ["IF"], ["table"]),
        ("DROP TABLE IF EXISTS", [], ["table"]),
        ("SHOW TABLES", ["FROM", "IN", "NOT", "LIKE", "ILIKE"], []),
        ("SHOW TABLES FROM a.b NOT", ["LIKE", "ILIKE"], []),
        ("CREATE TABLE t (a INT) WITH ('a' = 'b') LIKE", [], ["relation"]),
        ("NOTHING OF THE KIND", [], []),
    ],
)
def test_what_follows(text, words, slots):
    found = expected(text)
    assert (found.words, found.slots) == (words, slots)


def test_a_query_begins_where_it_does():
    assert expected("INSERT INTO a.b SELECT 1").query == 5
    assert expected("EXPLAIN INSERT INTO t (a, b) WITH x AS (SELECT 1)").query == 5
    assert expected("SHOW TABLES").query is None
