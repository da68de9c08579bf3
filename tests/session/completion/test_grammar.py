"""The patterns of completion and the list of HELP tell of the same statements."""

import re

import pytest

from sqlstream.session.completion import grammar
from sqlstream.session.completion.tree import tree
from sqlstream.session.help.statements import COMMANDS
from sqlstream.sql.syntax.fragments import fragments


def expected(text):
    cursor = tree(fragments(text), [])
    return grammar.expected(cursor.root, cursor.place)


def beginnings():
    """The words that each statement of HELP begins with, up to its first name or choice."""
    for group in COMMANDS:
        for command in group.commands:
            for syntax in re.split(r" \| (?=DESCRIBE|DROP|EXIT|USE)", command.syntax):
                words = re.match(r"(?:[A-Z]+ ?)*", re.sub(r"\[[^]]*\] ?", "", syntax))[0].split()
                if words:
                    yield " ".join(words)


@pytest.mark.parametrize("words", sorted(set(beginnings())))
def test_every_statement_of_help_is_completed(words):
    before, _, last = words.rpartition(" ")
    found = expected(before)
    assert last in found.words or ("query" in found.slots and last in ("SELECT", "WITH", "VALUES"))


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
