"""What other dialects write is refused with how Flink writes it."""

from __future__ import annotations

import re

import pytest

from sqlstream.core.errors import NotSupported, SyntaxProblem
from sqlstream.sql.bind import CALLABLE
from sqlstream.sql.functions import elsewhere as functions
from sqlstream.sql.statements.elsewhere import FORMS
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import is_complete, split

EXAMPLES = {
    ": :": "SELECT a::INT FROM t",
    "= =": "SELECT a FROM t WHERE a == 1",
    "& &": "SELECT a FROM t WHERE a = 1 && b = 2",
    ", FROM": "SELECT a, FROM t",
    "SELECT TOP *": "SELECT TOP 5 a FROM t",
    "FETCH FIRST * PERCENT": "SELECT * FROM t FETCH FIRST 5 PERCENT ROWS ONLY",
    "AUTO_INCREMENT": "CREATE TABLE t (a INT AUTO_INCREMENT) WITH ('x' = '1')",
    "CHECK (": "CREATE TABLE t (a INT CHECK (a > 1)) WITH ('x' = '1')",
    "COLLATE *": "CREATE TABLE t (a STRING COLLATE utf8) WITH ('x' = '1')",
    ") USING *": "CREATE TABLE t (a INT) USING kafka",
    ") STORED AS": "CREATE TABLE t (a INT) STORED AS PARQUET",
    ") LOCATION $": "CREATE TABLE t (a INT) LOCATION 'x'",
    "RENAME COLUMN": "ALTER TABLE t RENAME COLUMN a TO b",
    "MODIFY COLUMN": "ALTER TABLE t MODIFY COLUMN a BIGINT",
    "ALTER TABLE * ALTER": "ALTER TABLE t ALTER COLUMN a TYPE BIGINT",
    "ALTER TABLE * CHANGE": "ALTER TABLE t CHANGE a b BIGINT",
    "SHOW RUNNING *": "SHOW RUNNING JOBS",
    "SHOW PROCESSLIST": "SHOW PROCESSLIST",
    "LIST JOBS": "LIST JOBS",
    "SHOW TABLE": "SHOW TABLE",
    "SHOW QUERY": "SHOW QUERY",
    "^ \\ *": "\\d orders",
    "NOT NULL": "SELECT a FROM t WHERE a NOT NULL",
    "OUTER JOIN": "SELECT a FROM t OUTER JOIN u ON t.a = u.a",
    "FROM $": "SELECT a FROM 't'",
    "≠": "SELECT a FROM t WHERE a ≠ 1",
    "≤": "SELECT a FROM t WHERE a ≤ 1",
    "≥": "SELECT a FROM t WHERE a ≥ 1",
    "LATERAL FLATTEN": "SELECT * FROM t, LATERAL FLATTEN(input => a)",
    "LATERAL VIEW": "SELECT * FROM t LATERAL VIEW explode(x) v AS y",
    "WINDOW TUMBLING": "SELECT a, COUNT(*) FROM t WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY a",
    "WINDOW HOPPING": "SELECT a, COUNT(*) FROM t WINDOW HOPPING (SIZE 1 MINUTE, ADVANCE BY 1 SECOND) GROUP BY a",
    "WINDOW SESSION": "SELECT a, COUNT(*) FROM t WINDOW SESSION (1 MINUTE) GROUP BY a",
    "EMIT CHANGES": "SELECT a FROM t EMIT CHANGES",
    "EMIT FINAL": "SELECT a, COUNT(*) FROM t GROUP BY a EMIT FINAL",
    "CREATE STREAM": "CREATE STREAM s (a INT) WITH (x = '1')",
    "OR REPLACE STREAM": "CREATE OR REPLACE STREAM s AS SELECT 1",
    "CREATE STREAMING": "CREATE STREAMING TABLE x AS SELECT 1",
    "CREATE TYPE": "CREATE TYPE address AS (street STRING)",
    "^ DECLARE *": "DECLARE @n INT = 5",
    "CREATE SINK": "CREATE SINK s FROM t",
    "CREATE SOURCE": "CREATE SOURCE s (a INT)",
    "ADD COLUMN": "ALTER TABLE t ADD COLUMN x INT",
    "DROP COLUMN": "ALTER TABLE t DROP COLUMN x",
    "DISTINCT ON": "SELECT DISTINCT ON (a) * FROM t",
    "UNNEST (": "SELECT UNNEST(ARRAY[1, 2])",
    "STRING_AGG (": "SELECT STRING_AGG(a, ',') FROM t",
    "GROUP_CONCAT (": "SELECT GROUP_CONCAT(a) FROM t",
    "WINDOW (": "SELECT window(ts, '10 minutes'), COUNT(*) FROM t GROUP BY 1",
    "EXPLAIN ANALYZE": "EXPLAIN ANALYZE SELECT 1",
    "WITHIN *": "SELECT * FROM a JOIN b WITHIN 1 HOUR ON a.x = b.x",
    "WATERMARK * AS": "CREATE TABLE t (ts TIMESTAMP(3), WATERMARK ts AS ts) WITH (x = '1')",
    ") , SELECT": "WITH a AS (SELECT 1), SELECT * FROM a",
    "DROP STREAM": "DROP STREAM s",
    "DESCRIBE STREAM": "DESCRIBE STREAM s",
    "SHOW STREAMS": "SHOW STREAMS",
    "LIST TABLES": "LIST TABLES",
    "LIST STREAMS": "LIST STREAMS",
    "SHOW TOPICS": "SHOW TOPICS",
    "LIST TOPICS": "LIST TOPICS",
    "^ PRINT *": "PRINT 'orders'",
    "^ TERMINATE *": "TERMINATE QUERY x",
    "CREATE MATERIALIZED VIEW": "CREATE MATERIALIZED VIEW v AS SELECT 1",
    ") PARTITION BY": "CREATE TABLE t (a INT) PARTITION BY (a) WITH ('x' = '1')",
    ", )": "CREATE TABLE t (a INT,) WITH ('x' = '1')",
    "GROUP BY ALL": "SELECT a, COUNT(*) FROM t GROUP BY ALL",
    "* EXCEPT (": "SELECT * EXCEPT (a) FROM t",
    "* EXCLUDE (": "SELECT * EXCLUDE (a) FROM t",
    "* REPLACE (": "SELECT * REPLACE (1 AS a) FROM t",
    "DEFAULT *": "CREATE TABLE t (a INT DEFAULT 5) WITH ('x' = '1')",
    "SAMPLE *": "SELECT * FROM t SAMPLE 10",
    "- > $": "SELECT a->'x' FROM t",
    "- > > $": "SELECT a->>'x' FROM t",
    "- > *": "SELECT TRANSFORM(a, x -> UPPER(x)) FROM t",
    "^ START JOB": "START JOB 'a'",
    "^ RESUME JOB": "RESUME JOB 'a'",
    "^ RESTART JOB": "RESTART JOB 'a'",
    "^ CANCEL JOB": "CANCEL JOB 'a'",
    "^ PAUSE JOB": "PAUSE JOB 'a'",
    "^ SUSPEND JOB": "SUSPEND JOB a",
    "^ KILL *": "KILL 'a'",
    "DROP QUERY": "DROP QUERY a",
    "OR REPLACE VIEW": "CREATE OR REPLACE VIEW v AS SELECT 1",
    "OR REPLACE FUNCTION": "CREATE OR REPLACE FUNCTION f(x INT) RETURNS INT AS $$ SELECT 1 $$",
    "FOREIGN KEY": "CREATE TABLE t (a INT, FOREIGN KEY (a) REFERENCES u (a)) WITH ('x' = '1')",
    "SAFE_CAST (": "SELECT SAFE_CAST(a AS INT) FROM t",
    "CREATE TABLE * ( LIKE": "CREATE TABLE t (LIKE u)",
    "CREATE TABLE LIKE": "CREATE TABLE LIKE u",
    "ADD COLUMNS": "ALTER TABLE t ADD COLUMNS (x INT)",
    "ON CONFLICT (": "INSERT INTO t VALUES (1) ON CONFLICT (a) DO NOTHING",
    "^ BEGIN $": "BEGIN",
    "^ BEGIN TRANSACTION": "BEGIN TRANSACTION",
    "^ COMMIT": "COMMIT",
    "^ ROLLBACK": "ROLLBACK",
    "^ OPTIMIZE *": "OPTIMIZE t",
    "^ VACUUM *": "VACUUM t",
    "^ CACHE *": "CACHE TABLE t",
    "^ REFRESH *": "REFRESH TABLE t",
    "^ MSCK *": "MSCK REPAIR TABLE t",
    "DESCRIBE HISTORY": "DESCRIBE HISTORY t",
    "DESCRIBE FORMATTED": "DESCRIBE FORMATTED t",
    "EXPLAIN EXTENDED": "EXPLAIN EXTENDED SELECT 1",
    "SET TBLPROPERTIES": "ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')",
    "^ COPY *": "COPY t FROM 'x.csv'",
    "CREATE INDEX": "CREATE INDEX i ON t (a)",
    "CREATE TEMP *": "CREATE TEMP TABLE t (a INT) WITH ('x' = '1')",
    "CREATE EXTERNAL TABLE": "CREATE EXTERNAL TABLE t (a INT) STORED AS PARQUET",
    "CREATE SCHEMA": "CREATE SCHEMA s",
    "DROP SCHEMA": "DROP SCHEMA s",
    "USE SCHEMA": "USE SCHEMA s",
    "SHOW SCHEMAS": "SHOW SCHEMAS",
    "^ GRANT *": "GRANT SELECT ON t TO bob",
    "^ REVOKE *": "REVOKE SELECT ON t FROM bob",
    "AT TIME ZONE": "SELECT ts AT TIME ZONE 'UTC' FROM t",
    "~": "SELECT a FROM t WHERE a ~ 'x'",
    "REGEXP $": "SELECT a REGEXP 'x' FROM t",
    "* DIV *": "SELECT 5 DIV 2",
    "/ /": "SELECT 5 / / 2",
    "IN [": "SELECT a FROM t WHERE a IN [1, 2]",
    "SELECT [": "SELECT [a] FROM t",
    ", [": "SELECT a, [b] FROM t",
    "ASOF JOIN": "SELECT * FROM t AS a ASOF JOIN u AS b ON a.x = b.x",
    "DROP TABLE * CASCADE": "DROP TABLE t CASCADE",
    "DROP VIEW * CASCADE": "DROP VIEW v CASCADE",
    "{ {": "SELECT * FROM {{ ref('t') }}",
    ") USING DELTA": "CREATE TABLE t (a INT) USING DELTA",
}


@pytest.mark.parametrize(("form", "hint"), FORMS)
def test_a_form_of_another_dialect(form: str, hint: str) -> None:
    with pytest.raises(SyntaxProblem) as refused:
        parse(EXAMPLES[form])
    assert refused.value.hint == hint


@pytest.mark.parametrize("sql", [
    "SELECT begin_ FROM t AS optimize", "SELECT copy, vacuum, div FROM t AS cache", "SELECT a AS `div` FROM t", "CREATE FUNCTION f AS 'a.b' LANGUAGE PYTHON",
    "SELECT a FROM t EXCEPT (SELECT b FROM u)", "SELECT * FROM t EXCEPT (SELECT b FROM u)", "SELECT print FROM t AS sample", "SELECT a - b > 1 FROM t",
    "SELECT * FROM t CROSS JOIN UNNEST(a) AS u (x)", "SELECT emit FROM t AS top", "SELECT TOP FROM t", "CREATE TABLE source (a INT)", "SELECT a FROM t WINDOW w AS (PARTITION BY b)",
])  # fmt: skip
def test_what_flink_takes_is_none(sql: str) -> None:
    parse(sql)


@pytest.mark.parametrize(("sql", "hint"), [
    ("CREATE TABLE t (a INT) WITH ('connector' = print)", "Was expecting: a string in single quotes"),
    ("CREATE TABLE t (a TIMESTAMPTZ) WITH ('x' = '1')", "Was expecting: a data type. Here TIMESTAMPTZ is TIMESTAMP_LTZ(3)."),
    ("SELECT a AS 'id' FROM t", "A name is a word, or stands in backticks: AS `name`."),
    ("SELECT doc:a.b FROM t", "Write JSON_VALUE(text, '$.path'), or JSON_QUERY for a part."),
    ("SELECT a FROM t WHERE a = :b", "A parameter has a value where its saved query is run: EXECUTE QUERY name (parameter => ..)."),
    ("SELECT \u2018a\u2019", "Strings are written in straight single quotes: 'text'."),
    ("BEGIN STATEMENT SETT", "Did you mean 'SET'?"),
])  # fmt: skip
def test_what_is_near_a_form_and_none(sql: str, hint: str) -> None:
    with pytest.raises(SyntaxProblem) as refused:
        parse(sql)
    assert refused.value.hint == hint


@pytest.mark.parametrize("script", ["SELECT 1 /* x;", "SELECT /* x;\nFROM t;", "SELECT 1; /* SELECT 2;"])
def test_a_comment_that_is_not_closed(script: str) -> None:
    with pytest.raises(SyntaxProblem) as refused:
        for statement in split(script):
            parse(statement)
    assert refused.value.hint == "This comment is not closed."
    assert not is_complete(script)


@pytest.mark.parametrize("sql", [
    "SELECT * FROM t PIVOT (SUM(a) FOR b IN (1))", "SELECT * FROM t UNPIVOT (x FOR y IN (a, b))", "SELECT * FROM t TABLESAMPLE (10 PERCENT)",
])  # fmt: skip
def test_behind_a_table(sql: str) -> None:
    with pytest.raises(NotSupported) as refused:
        parse(sql)
    assert str(refused.value.hint).startswith("Write ")


def test_functions_of_other_dialects_are_none_of_flinks() -> None:
    known = {name.upper() for name in CALLABLE}
    assert not known & set(functions.FUNCTIONS)
    forms = {"UNNEST", "CAST", "TRY_CAST", "TABLE", "TUMBLE", "SESSION", "DESCRIPTOR", "DECIMAL", "TIMESTAMP_LTZ"}
    for hint in [*functions.FUNCTIONS.values(), *functions.COLUMNS.values(), *functions.TABLE_FUNCTIONS.values()]:
        assert {*re.findall(r"([A-Z_]+)\(", hint)} <= known | forms, hint
