"""ON CONFLICT, and what is said where Flink 2.3 asks for it: its messages, and which plans it refuses, are those of its SQL client."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import sqlglot

from sqlstream.core.errors import NotSupported, SyntaxProblem, ValidationError
from tests.support.sessions import explained, optimized_plan

if TYPE_CHECKING:
    from sqlstream.session.session import Session

DECLARATIONS = """
CREATE TABLE timed (a INT, b BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE untimed (a INT, b BIGINT)
WITH ('connector' = 'kafka', 'topic' = 'y', 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE rates (a INT, rate BIGINT, PRIMARY KEY (a) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'z', 'properties.bootstrap.servers' = 'localhost:1', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE keyed (id INT, b BIGINT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'k', 'properties.bootstrap.servers' = 'localhost:1', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE appended (id INT, b BIGINT)
WITH ('connector' = 'kafka', 'topic' = 'l', 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'json');
CREATE TABLE seen (id INT, b BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'print');
CREATE TABLE unkeyed (id INT, b BIGINT) WITH ('connector' = 'print');
"""
APPENDS, TIMED = "SELECT a, b FROM untimed", "SELECT a, b FROM timed"
# By b, which is no key of the sink's.
OTHER_KEY = "SELECT CAST(COUNT(*) AS INT), b FROM timed GROUP BY b"
LOST_KEY = "SELECT MAX(a), COUNT(*) FROM timed GROUP BY b"
OWN_KEY = "SELECT a, COUNT(*) FROM timed GROUP BY a"
RANK = "Rank(rankRange=[rankStart=1, rankEnd=1], partitionBy=[id]"


@pytest.mark.parametrize(
    ("statement", "ranked"),
    [
        (f"keyed {APPENDS} ON CONFLICT DO DEDUPLICATE", False),
        (f"keyed {TIMED} ON CONFLICT DO NOTHING", True),
        (f"keyed {TIMED} ON CONFLICT DO ERROR", True),
        (f"keyed {OWN_KEY} ON CONFLICT DO ERROR", False),
        (f"keyed {OWN_KEY} ON CONFLICT DO NOTHING", False),
        (f"keyed {OTHER_KEY} ON CONFLICT DO DEDUPLICATE", True),
        (f"keyed {LOST_KEY} ON CONFLICT DO DEDUPLICATE", True),
        (f"seen {LOST_KEY} ON CONFLICT DO DEDUPLICATE", True),
        (f"unkeyed {LOST_KEY} ON CONFLICT DO DEDUPLICATE", False),
        ("keyed SELECT a, rate FROM rates ON CONFLICT DO DEDUPLICATE", False),
        ("keyed SELECT CAST(rate AS INT), a FROM rates ON CONFLICT DO DEDUPLICATE", True),
        (f"keyed {OTHER_KEY}", True),
        (f"keyed {APPENDS}", False),
    ],
)
def test_plans(session: Session, statement: str, ranked: bool) -> None:
    plan = optimized_plan(session, f"INSERT INTO {statement}")
    assert (RANK in plan) == ranked, plan
    *_, strategy = statement.split()
    assert ("ON CONFLICT" in statement) == (f"conflictStrategy=[{strategy}]" in plan)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (f"keyed {APPENDS}", "has no key of its own"),
        (f"keyed {OTHER_KEY}", "is by [b]"),
        (f"keyed {LOST_KEY}", "has no key of its own"),
        (f"seen {LOST_KEY}", "has no key of its own"),
        ("keyed SELECT CAST(rate AS INT), a FROM rates", "is by [b]"),
        ("keyed SELECT a, rate FROM rates", None),
        (f"keyed {OWN_KEY}", None),
        (f"keyed {APPENDS} ON CONFLICT DO DEDUPLICATE", None),
        (f"seen {APPENDS}", None),
        (f"appended {APPENDS}", None),
        (f"unkeyed {LOST_KEY}", None),
    ],
)
def test_what_needs_the_clause_is_told_or_refused(session: Session, statement: str, told: str | None) -> None:
    sentence = "ON CONFLICT DO DEDUPLICATE says that this is meant"
    said = explained(session, f"INSERT INTO {statement}")
    assert (sentence in said) == (told is not None)
    assert told is None or f"the query {told}. " in said
    list(session.run("SET 'table.exec.sink.require-on-conflict' = 'false'"))
    assert sentence not in explained(session, f"INSERT INTO {statement}")
    list(session.run("SET 'table.exec.sink.require-on-conflict' = 'true'"))
    if told is None:
        explained(session, f"INSERT INTO {statement}")
        return
    with pytest.raises(
        ValidationError, match=r"upsert key that differs from the primary key of the sink table .* Primary key: \[id\], upsert key: "
    ) as no:
        explained(session, f"INSERT INTO {statement}")
    assert no.value.message.endswith("or ON CONFLICT DO ERROR (fail on conflict), or ON CONFLICT DO NOTHING (keep first record).")
    list(session.run("SET 'execution.runtime-mode' = 'batch'"))
    if "timed" not in statement and "rates" not in statement:
        explained(session, f"INSERT INTO {statement}")


def test_rows_that_are_listed_need_no_clause(session: Session) -> None:
    assert "ON CONFLICT" not in explained(session, "INSERT INTO keyed VALUES (1, 2), (1, 3)")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("appended SELECT a, b FROM timed", "is not an upsert sink because it only accepts INSERT"),
        ("seen SELECT a, b FROM timed", "The sink 'default_catalog.default_database.seen' is not an upsert sink"),
        (f"keyed {APPENDS}", "ON CONFLICT DO NOTHING requires all source tables to define watermarks, but the following source(s) do not: "
         "default_catalog.default_database.untimed. Please"),
        ("keyed SELECT t.a, u.b FROM timed AS t JOIN untimed AS u ON t.a = u.a JOIN rates AS r ON r.a = t.a",
         "do not: default_catalog.default_database.untimed, default_catalog.default_database.rates. Please"),
        (f"keyed SELECT a, COUNT(*) FROM ({APPENDS}) GROUP BY a", "requires all source tables to define watermarks"),
    ],
)  # fmt: skip
def test_refused_as_flink_does(session: Session, statement: str, message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        explained(session, f"INSERT INTO {statement} ON CONFLICT DO NOTHING")
    assert message in refused.value.message
    assert refused.value.at is not None


@pytest.mark.parametrize("statement", [f"{OTHER_KEY} ON CONFLICT DO ERROR", f"{LOST_KEY} ON CONFLICT DO NOTHING"])
def test_not_here(session: Session, statement: str) -> None:
    with pytest.raises(NotSupported) as refused:
        explained(session, f"INSERT INTO keyed {statement}")
    assert refused.value.hint == "ON CONFLICT DO DEDUPLICATE keeps the latest row of each key."


@pytest.mark.parametrize("clause", ["ON CONFLICT", "ON CONFLICT DO UPDATE", "ON CONFLICT (id) DO NOTHING", "ON CONFLICT DO NOTHING ERROR"])
def test_other_clauses_are_no_flink(session: Session, clause: str) -> None:
    with pytest.raises(SyntaxProblem):
        explained(session, f"INSERT INTO keyed {TIMED} {clause}")


@pytest.mark.parametrize("action", ["DEDUPLICATE", "NOTHING", "ERROR"])
@pytest.mark.parametrize(
    "query", ["SELECT a FROM s JOIN u ON s.x = u.x", "SELECT a FROM s UNION ALL SELECT 1", "VALUES (1)", "SELECT a FROM s AS conflict"]
)
def test_the_dialect_reads_and_writes_it(query: str, action: str) -> None:
    text = f"INSERT INTO t (a) {query} ON CONFLICT DO {action}"
    assert sqlglot.parse_one(text.lower(), read="flink").sql("flink").upper() == text.upper()
