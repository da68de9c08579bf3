"""The verdict of real Flink's parser on each statement of ``recorded/verdicts.sql``, and ours: the same, at the same place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sqlstream.core.errors import NotSupported, SyntaxProblem
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax import ast

RECORDED = (Path(__file__).parent / "recorded" / "verdicts.sql").read_text().strip().split("\n\n")[1:]
CASES = [(head.removeprefix("--= "), text) for head, _, text in (block.partition("\n") for block in RECORDED)]
ACCEPTED = [text for verdict, text in CASES if verdict == "ok"]
REFUSED = [(verdict, text) for verdict, text in CASES if verdict != "ok"]

# Refused here as syntax, where Flink's parser lets it pass and a later stage fails, or the form is too rare to read.
STRICTER = {
    "an unknown type, which Flink's validator refuses": (
        "SELECT CAST(a AS UNSIGNED) FROM t", "SELECT CAST(a AS TEXT) FROM t", "SELECT CAST(a AS INT64) FROM t",
        "SELECT CAST(a AS my.type_) FROM t", "CREATE TABLE t (a TEXT)", "CREATE TABLE t (a REAL)", "CREATE TABLE t (a NUMBER)",
        "CREATE TABLE t (a INT64)", "CREATE TABLE t (a SERIAL)", "CREATE TABLE t (a JSON)", "CREATE TABLE t (a METADATA)",
        "CREATE TABLE t (a ROW<>)",
    ),
    "a length or precision that no type has": (
        "CREATE TABLE t (a VARCHAR(0))", "CREATE TABLE t (a DECIMAL(39, 2))", "CREATE TABLE t (a TIMESTAMP(10))",
    ),
    "a unit that is none": ("SELECT EXTRACT(FOO FROM a)", "SELECT TIMESTAMPADD(FOO, 1, a)"),
    "a join without condition, or CROSS JOIN with one": ("SELECT * FROM t JOIN u", "SELECT * FROM t CROSS JOIN u ON TRUE"),
    "a name of four parts": (
        "SELECT * FROM a.b.c.d", "ALTER TABLE a.b.c.d RENAME TO e", "CREATE TEMPORARY FUNCTION a.b.c.d AS 'x'",
    ),
    "OR REPLACE and TEMPORARY before what has neither": (
        "CREATE OR REPLACE VIEW v AS SELECT 1", "CREATE OR REPLACE CATALOG c WITH ('a'='b')", "CREATE OR REPLACE FUNCTION f AS 'x'",
        "DROP TEMPORARY DATABASE d",
    ),
    "functions and literals of Calcite that Flink has no meaning for": (
        "SELECT CONVERT(INT, a) FROM t", "SELECT SAFE_CAST(a AS INT) FROM t", "SELECT DATETIME '2020-01-01 00:00:00'", "SELECT N'x'",
        "SELECT STREAM a FROM t", "SELECT NEXT VALUE FOR s", "SELECT TRANSLATE(a, b, c), TRANSLATE(a USING b)",
        "SELECT CONVERT(a USING utf8)", "SELECT PERIOD (a, b) OVERLAPS (c, d)", "SELECT TRUE, FALSE, NULL, UNKNOWN",
        "SELECT * FROM ML_PREDICT(TABLE t, MODEL m, DESCRIPTOR(a))", "DESCRIBE SELECT 1", "SELECT * FROM t, LATERAL UNNEST(a)",
    ),
    "what the parser of Flink joins and its validator refuses": (
        "SELECT E'a\\nb', U&'\\263A', U&'#263A' UESCAPE '#', X'1F', 'it''s', 'a' 'b'",
    ),
    "a chain of LIKE or BETWEEN": ("SELECT a LIKE b LIKE c", "SELECT a BETWEEN 1 AND 2 BETWEEN 3 AND 4"),
}  # fmt: skip
# Read here, where Flink's parser fails; none has another meaning in Flink.
LAXER = {
    "documented for Flink all the same": (
        "SELECT a.b.c, t.a.b[1].c, (r).a, (r).*, f(x).y, f(x)[1], a[1][2] FROM t", "SELECT (r).* FROM t", "SELECT f(x).* FROM t",
    ),
    "an interval in a type is no type of a column": ("SELECT CAST(a AS ARRAY<INTERVAL DAY>)",),
    "ILIKE for every SHOW": (
        "SHOW TABLES IN b NOT ILIKE 'x'", "SHOW TABLES ILIKE 'x'", "SHOW VIEWS ILIKE 'x'", "SHOW COLUMNS FROM t ILIKE 'x'",
    ),
}  # fmt: skip
# The place of the error is not the one in Flink's message: theirs is that of a whole clause, or of the end of the text.
ELSEWHERE = (
    "SELECT !a FROM t", "SELECT `a FROM t", "SELECT a /* b FROM t", "SELECT * FROM (t)", "SELECT * EXCLUDE (a) FROM t",
    "SELECT * REPLACE (a AS b) FROM t", "SELECT * FROM t OUTER JOIN u ON TRUE", "SELECT * FROM t CROSS APPLY f(a)",
    "SELECT EXTRACT(a, DAY)", "CREATE TABLE t (a ENUM('x'))", "CREATE TABLE t (a TIMESTAMP WITH TIME ZONE)",
    "CREATE MATERIALIZED VIEW v AS SELECT 1", "CREATE TABLE t (a NVARCHAR(5))", "CREATE TABLE t (a STRUCT<b INT>)",
    "SELECT t..a FROM t", "SELECT 'a\\'b'", "SELECT 'a FROM t",
    "DESCRIBE function", "SHOW CURRENT SCHEMA", "SHOW CREATE DATABASE d", "SHOW CREATE FUNCTION f",
)  # fmt: skip


def flat(reasons: dict[str, tuple[str, ...]]) -> set[str]:
    return {text for texts in reasons.values() for text in texts}


def outcome(text: str) -> Exception | None:
    try:
        parse(text)
    except (SyntaxProblem, NotSupported) as error:
        return error
    return None


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_flink_reads_is_no_syntax_problem(text: str) -> None:
    assert isinstance(outcome(text), SyntaxProblem) == (text in flat(STRICTER))


@pytest.mark.parametrize(("verdict", "text"), REFUSED, ids=[text for _, text in REFUSED])
def test_what_flink_refuses_is_refused(verdict: str, text: str) -> None:
    if text in flat(LAXER):
        assert outcome(text) is None
        return
    if isinstance(error := outcome(text), NotSupported) or (error is None and isinstance(parse(text), ast.Unsupported)):
        return
    assert isinstance(error, SyntaxProblem)
    place, _, message = verdict.partition(" ")
    ours = position(text, error.offset)
    if text in ELSEWHERE:
        return
    # Where its parser looks ahead, Flink shows several tokens, or the word before the wrong one: ours is in them or behind.
    assert ours >= tuple(map(int, place.split(":")))
    if re.match(r'Encountered "[^" ]+" at', message):
        assert error.message == message


def position(text: str, offset: int | None) -> tuple[int, int]:
    assert offset is not None
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def test_every_exception_is_a_case() -> None:
    assert flat(STRICTER) <= set(ACCEPTED)
    assert flat(LAXER) | set(ELSEWHERE) <= {text for _, text in REFUSED}
