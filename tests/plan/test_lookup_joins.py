"""Lookup joins in the plan: what is a key, where conditions go, what is refused. Messages are Flink's where it refuses the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.plan.builder.queries import query
from sqlstream.sql.statements.parsing import parse
from tests.support.sessions import optimized_plan, run

if TYPE_CHECKING:
    from sqlstream.session.session import Session

KAFKA = "('connector' = 'kafka', 'topic' = 'o', 'properties.bootstrap.servers' = 'h:1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')"
DECLARATIONS = f"""
CREATE TABLE o (id INT, k INT, s STRING, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts) WITH {KAFKA};
CREATE TABLE other (k INT, name STRING) WITH {KAFKA};
CREATE TABLE d (k INT, b BIGINT, name STRING, price INT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/x', 'table-name' = 'd');
CREATE TABLE files (k INT, name STRING) WITH ('connector' = 'filesystem', 'path' = 'f', 'format' = 'csv');
CREATE VIEW v AS SELECT k, UPPER(name) AS name FROM d WHERE price > 1;
CREATE VIEW grouped AS SELECT k, COUNT(*) AS c FROM d GROUP BY k;
CREATE TABLE sink (id INT, name STRING) WITH ('connector' = 'blackhole');
"""


AS_OF = "FOR SYSTEM_TIME AS OF o.p"
RETRY = "'retry-predicate'='lookup_miss', 'retry-strategy'='fixed_delay', 'fixed-delay'='1s', 'max-attempts'='3'"
PLANS = {
    "a key, and the columns that are read": (
        f"SELECT o.id, d.name FROM o JOIN d {AS_OF} ON o.k = d.k",
        "LookupJoin(table=[default_catalog.default_database.d], joinType=[InnerJoin], lookup=[k=k], select=[id, k, k0, name], changelogMode=[I])",
    ),
    "an alias; the condition may stand in WHERE": (f"SELECT o.id FROM o, d {AS_OF} AS r WHERE r.k = o.k", "lookup=[k=k], select=[id, k, k0]"),
    "a key is an expression of the stream": (f"SELECT o.id FROM o JOIN d {AS_OF} ON d.k = o.k + 1", "lookup=[k=(k + 1)]"),
    "a cast to the column's type": (f"SELECT o.id FROM o JOIN d {AS_OF} ON o.k = d.b", "lookup=[b=CAST(k AS BIGINT)]"),
    "two keys": (f"SELECT o.id FROM o JOIN d {AS_OF} ON o.k = d.k AND o.s = d.name", "lookup=[k=k, name=s]"),
    "a condition of the table alone": (f"SELECT o.id FROM o JOIN d {AS_OF} ON o.k = d.k WHERE d.price > 5", "lookup=[k=k], where=[(price > 5)], select"),
    "a condition of the stream alone": (
        f"SELECT o.id FROM o JOIN d {AS_OF} ON o.k = d.k AND o.id > 3",
        "select=[id, k, k0], changelogMode=[I])\n   +- Calc(",
    ),
    "conditions of a left join stay": (
        f"SELECT o.id FROM o LEFT JOIN d {AS_OF} ON o.k = d.k AND o.id > 3 AND d.price > 5 AND d.price < o.id",
        "joinType=[LeftOuterJoin], lookup=[k=k], where=[(price > 5)], joinCondition=[((id > 3) AND (price < id))]",
    ),
    "above a left join": (f"SELECT o.id FROM o LEFT JOIN d {AS_OF} ON o.k = d.k WHERE d.k IS NULL", "Calc(where=[k0 IS NULL], changelogMode=[I])\n   +- LookupJoin("),
    "columns of one name": (f"SELECT k, name FROM o JOIN files {AS_OF} USING (k)", "lookup=[k=k], select=[k, k0, name]"),
    "files": (f"SELECT o.id FROM o JOIN files {AS_OF} ON o.k = files.k", "LookupJoin(table=[default_catalog.default_database.files]"),
    "a view of columns and rows": (f"SELECT o.id, v.name FROM o JOIN v {AS_OF} ON o.k = v.k", "where=[(price > 1)], select=[id, k, k0, name]"),
    "a retry": (
        f"SELECT /*+ LOOKUP('table'='r', {RETRY}) */ o.id FROM o JOIN d {AS_OF} AS r ON o.k = r.k",
        "retry=[lookup_miss, FIXED_DELAY, 1000ms, 3]",
    ),
    "the rowtime attribute stays one": (
        f"SELECT COUNT(*) FROM TABLE(TUMBLE((SELECT o.ts, d.name FROM o JOIN d {AS_OF} ON o.k = d.k), DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
        "GROUP BY window_start, window_end",
        "LookupJoin(",
    ),
    "one after the other": (f"SELECT o.id FROM o JOIN d {AS_OF} ON o.k = d.k JOIN files {AS_OF} ON d.b = CAST(files.k AS BIGINT) AND files.name = d.name", "lookup=[name=name]"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANS)
def test_plans(session: Session, name: str) -> None:
    sql, part = PLANS[name]
    assert part in optimized_plan(session, sql)


NO_KEY = "Temporal table join requires an equality condition on fields of table [default_catalog.default_database.d]."
REFUSED = {
    "no equality": (f"SELECT 1 FROM o JOIN d {AS_OF} ON o.k > d.k", NO_KEY),
    "no condition": (f"SELECT 1 FROM o JOIN d {AS_OF} ON TRUE", NO_KEY),
    "a constant": (f"SELECT 1 FROM o JOIN d {AS_OF} ON d.k = 1", NO_KEY),
    "a function of the table's column": (f"SELECT 1 FROM o JOIN d {AS_OF} ON UPPER(d.name) = o.s", NO_KEY),
    "a right join": (f"SELECT 1 FROM o RIGHT JOIN d {AS_OF} ON o.k = d.k", "Temporal table join currently only support INNER JOIN and LEFT JOIN, but was RIGHT JOIN."),
    "no time": ("SELECT 1 FROM o JOIN d FOR SYSTEM_TIME AS OF o.k ON o.k = d.k", "The system time period specification expects Timestamp type but is 'INT'"),
    "a stream": (f"SELECT 1 FROM o JOIN other {AS_OF} ON o.k = other.k", "A table that can't be looked up has no rows AS OF a processing time."),
    "an aggregate": (f"SELECT 1 FROM o JOIN grouped {AS_OF} ON o.k = grouped.k", "Only a table, or a view that selects columns and rows of one, can be looked up."),
    "a hint of another table": (
        f"SELECT /*+ LOOKUP('table'='x', {RETRY}) */ 1 FROM o JOIN d {AS_OF} ON o.k = d.k",
        "The options of following hints cannot match the name of input tables or views: \n`x` in `LOOKUP`",
    ),
    "half a retry": (
        f"SELECT /*+ LOOKUP('table'='d', 'retry-predicate'='lookup_miss') */ 1 FROM o JOIN d {AS_OF} ON o.k = d.k",
        "Invalid LOOKUP hint: retry options can be both null or all not null",
    ),
    "another predicate": (
        f"SELECT /*+ LOOKUP('table'='d', {RETRY.replace('lookup_miss', 'x')}) */ 1 FROM o JOIN d {AS_OF} ON o.k = d.k",
        "Invalid LOOKUP hint: unsupported retry-predicate 'x', only 'lookup_miss' is supported",
    ),
    "no number of attempts": (
        f"SELECT /*+ LOOKUP('table'='d', {RETRY.replace('3', 'many')}) */ 1 FROM o JOIN d {AS_OF} ON o.k = d.k",
        "Invalid LOOKUP hint: 'many' is not a whole number",
    ),
    "a column that is no time attribute": (
        "SELECT 1 FROM (SELECT k, CAST(ts AS TIMESTAMP(2)) AS ts FROM o) AS o JOIN d FOR SYSTEM_TIME AS OF o.ts ON o.k = d.k",
        "Temporal table join currently only supports 'FOR SYSTEM_TIME AS OF' left table's time attribute field",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(session: Session, name: str) -> None:
    sql, message = REFUSED[name]
    with pytest.raises(SqlStreamError) as error:
        optimized_plan(session, sql)
    assert error.value.message == message


def test_options_of_a_hint_without_effect_are_told(session: Session) -> None:
    env = session.planner.environment()
    query(parse(f"SELECT /*+ LOOKUP('table'='d', 'async'='true', 'foo'='x') */ 1 FROM o JOIN d {AS_OF} ON o.k = d.k"), env)
    assert env.notices == [
        "The option 'async' of the hint LOOKUP has no effect: the keys of many rows are looked up together",
        "The option 'foo' of the hint LOOKUP has no effect: it is not known.",
    ]


def test_a_key_that_is_computed_is_none(session: Session) -> None:
    with pytest.raises(SqlStreamError, match="requires an equality condition"):
        optimized_plan(session, f"SELECT 1 FROM o JOIN v {AS_OF} ON o.s = v.name")


def test_a_time_of_the_right_is_none_of_the_left(session: Session) -> None:
    run(session, "CREATE TABLE timed (k INT, seen AS PROCTIME()) WITH ('connector' = 'datagen')")
    with pytest.raises(ValidationError, match="Column 'seen' not found") as error:
        optimized_plan(session, "SELECT 1 FROM o JOIN timed FOR SYSTEM_TIME AS OF seen AS t ON o.k = t.k")
    assert error.value.hint is not None and "left of JOIN" in error.value.hint
