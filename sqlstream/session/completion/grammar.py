"""The statements' forms as patterns, and what a pattern expects behind the words that are there.

A pattern is made of words, ``<slots>`` for what is named, ``()`` for anything in brackets, ``[..]`` for what may be left out and ``(a | b)``
for a choice; ``*`` behind a part: it may come again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from sqlstream.sql.syntax.fragments import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.session.completion.tree import Group

_LIKE = "[[NOT] (LIKE | ILIKE) <text>]"
_NEW = "[IF NOT EXISTS] <new>"
_OLD = "[IF EXISTS]"
STATEMENTS = (
    "<query>",
    "(INSERT (INTO | OVERWRITE)) <table> [PARTITION ()] [()] <query>",
    "EXPLAIN [CHANGELOG_MODE | ESTIMATED_COST | PLAN FOR] (<query> | INSERT INTO <table> [()] <query>)",
    "EXPLAIN JOB [<job>]",
    "EXECUTE STATEMENT SET BEGIN",
    "EXECUTE QUERY <new> [()]",
    "BEGIN STATEMENT SET",
    "END",
    "CREATE [TEMPORARY] TABLE " + _NEW + " [()] [COMMENT <text>] [DISTRIBUTED BY [HASH | RANGE] () [INTO <number> BUCKETS]]"
    " [PARTITIONED BY ()] [WITH ()] [LIKE <relation> [()] | AS <query>]",
    "CREATE [OR REPLACE] [TEMPORARY] VIEW " + _NEW + " [()] [COMMENT <text>] AS <query>",
    "CREATE [TEMPORARY [SYSTEM]] FUNCTION " + _NEW + " AS <text> [LANGUAGE PYTHON]",
    "CREATE DATABASE " + _NEW + " [COMMENT <text>] [WITH ()]",
    "CREATE CATALOG " + _NEW + " [COMMENT <text>] [WITH ()]",
    "ALTER TABLE " + _OLD + " <table> (ADD [()|WATERMARK FOR <column>] | MODIFY [()|WATERMARK FOR <column>]"
    " | DROP [()|<column>|WATERMARK|PRIMARY KEY] | RENAME [<column>] TO <new> | SET () | RESET ())",
    "ALTER VIEW <view> (RENAME TO <new> | AS <query>)",
    "ALTER DATABASE <database> SET ()",
    "ALTER CATALOG <catalog> (SET () | RESET () | COMMENT <text>)",
    "DROP [TEMPORARY] TABLE " + _OLD + " <table>",
    "DROP [TEMPORARY] VIEW " + _OLD + " <view>",
    "DROP [TEMPORARY [SYSTEM]] FUNCTION " + _OLD + " <function>",
    "DROP DATABASE " + _OLD + " <database> [RESTRICT | CASCADE]",
    "DROP CATALOG " + _OLD + " <catalog>",
    "SHOW (CATALOGS | DATABASES [(FROM | IN) <catalog>]) " + _LIKE,
    "SHOW (TABLES | VIEWS) [(FROM | IN) <database>] " + _LIKE,
    "SHOW COLUMNS (FROM | IN) <relation> " + _LIKE,
    "SHOW [USER] FUNCTIONS " + _LIKE,
    "SHOW QUERIES " + _LIKE,
    "PEEK <stream> [LIMIT <number>]",
    "INFER TABLE [<new>] FROM <stream> [SAVE]",
    "EXPORT LAST TO <file> [FORMAT (CSV | JSON | PARQUET)] [OVERWRITE]",
    "PLOT [<new> [BY <new>]]",
    "SHOW CURRENT (CATALOG | DATABASE)",
    "SHOW CREATE (TABLE <table> | VIEW <view> | CATALOG <catalog>)",
    "SHOW (JOBS | JOB METRICS | JARS | PROCEDURES | [FULL] MODULES | PARTITIONS <table>)",
    "(DESCRIBE | DESC) (<relation> | CATALOG [EXTENDED] <catalog> | DATABASE [EXTENDED] <database> | FUNCTION [EXTENDED] <function>"
    " | JOB [EXTENDED] <job>)",
    "USE (CATALOG <catalog> | <database>)",
    "STOP JOB <job> [WITH SAVEPOINT] [WITH DRAIN]",
    "SET [<setting>]",
    "RESET [<setting>]",
    "SOURCE <file>",
    "HELP [<topic> | CONNECTOR <connector> | FORMAT <format> | FUNCTION <function> | SET <setting>]",
    "(QUIT | EXIT | CLEAR)",
)  # fmt: skip
_NAMES = ("table", "view", "relation", "database", "catalog", "function", "new", "column", "topic", "connector", "format")
_TEXTS = ("text", "job", "setting", "file", "stream")
_PART = re.compile(r"<\w+>|\(\)|[\w]+|[\[\](|)]")


@dataclass(frozen=True)
class Word:
    """A word, a slot ``<..>`` or ``()``."""

    text: str


@dataclass(frozen=True)
class Row:
    """Parts that follow one another."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Choice:
    """One of several rows."""

    rows: tuple[Row, ...]
    optional: bool = False


Part = Word | Row | Choice


@dataclass
class Expected:
    """What may stand at the cursor: words in upper case, slots without ``<>``. ``query``: where the query begins that the cursor is in."""

    words: list[str]
    slots: list[str]
    query: int | None = None


def expected(statement: Group, cursor: int) -> Expected:
    """What the patterns expect at place ``cursor`` of a statement, whose words before it are whole."""
    found = Expected([], [])
    for pattern in _patterns():
        for _ in _match(pattern, statement, 0, cursor, found):
            pass
    found.words = list(dict.fromkeys(found.words))
    return found


@cache
def words() -> frozenset[str]:
    """All words of the patterns."""
    return frozenset(w for s in STATEMENTS for w in re.findall(r"\b[A-Z_]+\b", s))


@cache
def _patterns() -> tuple[Row, ...]:
    return tuple(_read(_PART.findall(s)) for s in STATEMENTS)


def _read(parts: list[str]) -> Row:
    rows: list[list[Part]] = [[]]
    while parts and parts[0] not in ("]", ")"):
        part = parts.pop(0)
        if part == "|":
            rows.append([])
        elif part in ("[", "("):
            inner = _read(parts).parts[0]
            parts.pop(0)
            assert isinstance(inner, Choice)
            rows[-1].append(Choice(inner.rows, part == "["))
        else:
            rows[-1].append(Word(part))
    return Row((Choice(tuple(Row(tuple(r)) for r in rows)),))


def _match(part: Part, statement: Group, at: int, cursor: int, found: Expected) -> Iterator[int]:
    """The places behind ``part``, which begins at ``at``; what is missing at the cursor goes into ``found``."""
    match part:
        case Row(parts):
            if not parts:
                yield at
                return
            for end in _match(parts[0], statement, at, cursor, found):
                yield from _match(Row(parts[1:]), statement, end, cursor, found)
        case Choice(rows, optional):
            for row in rows:
                yield from _match(row, statement, at, cursor, found)
            if optional:
                yield at
        case Word(text) if at >= cursor:
            if text.startswith("<"):
                found.slots.append(text[1:-1])
            elif text != "()":
                found.words.append(text)
        case Word(text):
            yield from _consume(text, statement, at, cursor, found)


def _consume(text: str, statement: Group, at: int, cursor: int, found: Expected) -> Iterator[int]:
    word = statement.word(at)
    if text == word:
        yield at + 1
    elif text == "<query>":
        if word in ("SELECT", "WITH", "VALUES") or (word == "()" and statement.items[at].is_query):  # type: ignore[union-attr]
            found.query = at
    elif text.startswith("<") and word != "()":
        kind = statement.items[at].kind  # type: ignore[union-attr]
        if text[1:-1] in _NAMES and kind in (Kind.WORD, Kind.QUOTED):
            at += 1
            while at + 1 < cursor and statement.word(at) == ".":
                at += 2
            yield at
        elif (text[1:-1] in _TEXTS and kind in (Kind.STRING, Kind.WORD)) or (text == "<number>" and kind is Kind.NUMBER):
            yield at + 1
