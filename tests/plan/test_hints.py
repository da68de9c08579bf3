"""What is written instead of a clause that is refused in Flink's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import NotSupported, SyntaxProblem, ValidationError

if TYPE_CHECKING:
    from sqlstream.session.session import Session

DECLARATIONS = """
CREATE TABLE orders (id INT, item STRING, ts TIMESTAMP(3), seen AS PROCTIME(), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE pays (id INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE people (id INT) WITH ('connector' = 'postgres');
CREATE TABLE totals (item STRING, n BIGINT) WITH ('connector' = 'print');
"""
MATCHED = "SELECT * FROM {} MATCH_RECOGNIZE ({} MEASURES A.id AS i PATTERN (A B) DEFINE A AS A.id > 1)"
CHANGED = "(SELECT item, ts, id FROM (SELECT item, ts, id, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts DESC) AS n FROM orders) WHERE n = 1)"
HINTS = {
    "an aggregate in WHERE": ("SELECT item FROM orders WHERE COUNT(*) > 1 GROUP BY item", "HAVING, behind GROUP BY"),
    "an aggregate in GROUP BY": ("SELECT item FROM orders GROUP BY item, COUNT(*)", "in a sub-query"),
    "OVER in WHERE": ("SELECT item FROM orders WHERE ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts) = 1", "QUALIFY"),
    "nested aggregates": ("SELECT MAX(COUNT(*)) FROM orders", "in a sub-query"),
    "an aggregate in FILTER": ("SELECT SUM(id) FILTER (WHERE MAX(id) > 1) FROM orders", "in a sub-query"),
    "a number of a time": ("SELECT ts - 5 FROM orders", "INTERVAL '5' SECOND"),
    "types of COALESCE": ("SELECT COALESCE(item, id, ts) FROM orders", "CAST(x AS type)"),
    "types of IF": ("SELECT IF(id > 1, item, ts) FROM orders", "CAST(x AS type)"),
    "types of IN": ("SELECT id FROM orders WHERE id IN (1, 'a', ts)", "CAST(x AS type)"),
    "a time of a number": ("SELECT TO_TIMESTAMP(id) FROM orders", "TO_TIMESTAMP_LTZ(x, 3)"),
    "two columns of COUNT": ("SELECT COUNT(DISTINCT id, item) FROM orders", "in a sub-query"),
    "a column of the other table": ("SELECT o.price FROM orders AS o JOIN (SELECT id, id AS price FROM pays) AS p ON o.id = p.id", "It is a column of p."),
    "a column of another system": ("SELECT windowstart FROM orders", "window_start, window_end"),
    "a table function of another system": ("SELECT * FROM READ_FILES('/x')", "'connector' = 'filesystem'"),
    "NULLs of FIRST_VALUE": ("SELECT FIRST_VALUE(item IGNORE NULLS) FROM orders", "NULLs are no values to it"),
    "SHOW CREATE TABLE of none": ("SHOW CREATE TABLE ordres", "Did you mean 'orders'?"),
    "LIKE of none": ("CREATE TABLE t LIKE ordres", "Did you mean 'orders'?"),
    "the connector of a database": ("SELECT * FROM people", "'postgres-cdc' reads its changes"),
    "no such table": ("SELECT zz.id FROM orders AS o", "FROM has o."),
    "a name of the select list": ("SELECT SUM(id) AS s FROM orders WHERE s > 1", "SELECT gives 's' its name later: write its expression here"),
    "a function without parentheses": ("SELECT now FROM orders", "As a function: NOW()."),
    "a function of another dialect": ("SELECT SYSDATE FROM orders", "Write CURRENT_TIMESTAMP."),
    "a slide behind the size": (
        "SELECT window_start FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '1' MINUTE))", "the slide stands first"),
    "no end of a statement": ("SELECT 1 SELECT 2", "End the statement before it with ;."),
    "no comma": ("SELECT id item ts FROM orders", "Write a comma between columns"),
    "DROP of what depends on it": ("DROP TABLE orders CASCADE", "DROP DATABASE has CASCADE"),
    "no condition": ("SELECT id FROM orders WHERE id", "It is INT: compare it"),
    "RLIKE": ("SELECT id FROM orders WHERE item RLIKE 'x'", "REGEXP"),
    "a type of another dialect": ("CREATE TABLE t (a TEXT) WITH ('connector' = 'datagen')", "Here TEXT is STRING."),
    "types of CASE": ("SELECT CASE WHEN id > 1 THEN item ELSE ts END FROM orders", "CAST(x AS type)"),
    "types of UNION": ("SELECT id FROM orders UNION ALL SELECT ts FROM orders", "CAST(x AS type)"),
    "columns of UNION": ("SELECT id FROM orders UNION ALL SELECT id, item FROM orders", "The first query has 1 column, the second 2 columns"),
    "columns of IN": ("SELECT id FROM orders WHERE id IN (SELECT id, item FROM orders)", "as many columns"),
    "types of a sink": ("INSERT INTO totals SELECT item, ts FROM orders", "CAST(x AS type)"),
    "a sink's columns": ("INSERT INTO totals SELECT item, id, id FROM orders", "INSERT INTO t (columns)"),
    "RIGHT lookup join": ("SELECT o.id FROM orders AS o RIGHT JOIN pays FOR SYSTEM_TIME AS OF o.seen AS p ON o.id = p.id", "Write JOIN or LEFT JOIN"),
    "no order of a pattern": (MATCHED.format("orders", ""), "WATERMARK FOR"),
    "DESC of a pattern": (MATCHED.format("orders", "ORDER BY ts DESC"), "Leave out DESC"),
    "DESC of a window": ("SELECT COUNT(*) OVER (ORDER BY ts DESC) FROM orders", "limit a ROW_NUMBER"),
    "OVER of rows that change": (f"SELECT SUM(id) OVER (ORDER BY ts) FROM {CHANGED}", "by windows"),
    "a pattern of rows that change": (MATCHED.format(CHANGED, "ORDER BY ts"), "by windows"),
    "rowtimes of two types": (
        "SELECT o.id FROM orders AS o JOIN pays AS p ON o.id = p.id AND p.ts BETWEEN o.ts AND o.ts + INTERVAL '1' HOUR",
        "both as TIMESTAMP_LTZ(3)",
    ),
    "a watermark of a text": (
        "CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS 'x') WITH ('connector' = 'datagen')", "WATERMARK FOR ts AS ts - INTERVAL",
    ),
    "a watermark of PROCTIME()": ("CREATE TABLE t (p AS PROCTIME(), WATERMARK FOR p AS p) WITH ('connector' = 'datagen')", "PROCTIME() needs none"),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "hint"), HINTS.values(), ids=HINTS)
def test_hint(session: Session, statement: str, hint: str) -> None:
    with pytest.raises((ValidationError, NotSupported, SyntaxProblem)) as refused:
        list(session.run(f"EXPLAIN {statement}" if statement.startswith(("SELECT", "INSERT")) else statement))
    assert hint in str(refused.value.hint), refused.value
