"""What other dialects write is refused with how Flink writes it."""

from __future__ import annotations

import re

import pytest

from sqlstream.core.errors import NotSupported, SyntaxProblem
from sqlstream.sql.bind import CALLABLE
from sqlstream.sql.functions import elsewhere as functions
from sqlstream.sql.statements.elsewhere import FORMS
from sqlstream.sql.statements.parsing import parse

EXAMPLES = {
    ": :": "SELECT a::INT FROM t",
    "= =": "SELECT a FROM t WHERE a == 1",
    "& &": "SELECT a FROM t WHERE a = 1 && b = 2",
    ", FROM": "SELECT a, FROM t",
    "SELECT TOP *": "SELECT TOP 5 a FROM t",
    "FETCH FIRST * PERCENT": "SELECT * FROM t FETCH FIRST 5 PERCENT ROWS ONLY",
    "LATERAL VIEW": "SELECT * FROM t LATERAL VIEW explode(x) v AS y",
    "WINDOW TUMBLING": "SELECT a, COUNT(*) FROM t WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY a",
    "WINDOW HOPPING": "SELECT a, COUNT(*) FROM t WINDOW HOPPING (SIZE 1 MINUTE, ADVANCE BY 1 SECOND) GROUP BY a",
    "WINDOW SESSION": "SELECT a, COUNT(*) FROM t WINDOW SESSION (1 MINUTE) GROUP BY a",
    "EMIT CHANGES": "SELECT a FROM t EMIT CHANGES",
    "EMIT FINAL": "SELECT a, COUNT(*) FROM t GROUP BY a EMIT FINAL",
    "CREATE STREAM": "CREATE STREAM s (a INT) WITH (x = '1')",
    "OR REPLACE STREAM": "CREATE OR REPLACE STREAM s AS SELECT 1",
    "CREATE STREAMING": "CREATE STREAMING TABLE x AS SELECT 1",
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
    "PRINT *": "PRINT 'orders'",
    "TERMINATE *": "TERMINATE QUERY x",
    "CREATE MATERIALIZED VIEW": "CREATE MATERIALIZED VIEW v AS SELECT 1",
    ") PARTITION BY": "CREATE TABLE t (a INT) PARTITION BY (a) WITH ('x' = '1')",
    ", )": "CREATE TABLE t (a INT,) WITH ('x' = '1')",
    "GROUP BY ALL": "SELECT a, COUNT(*) FROM t GROUP BY ALL",
    "* EXCEPT (": "SELECT * EXCEPT (a) FROM t",
    "* EXCLUDE (": "SELECT * EXCLUDE (a) FROM t",
    "* REPLACE (": "SELECT * REPLACE (1 AS a) FROM t",
    "DEFAULT *": "CREATE TABLE t (a INT DEFAULT 5) WITH ('x' = '1')",
    "SAMPLE *": "SELECT * FROM t SAMPLE 10",
    "- >": "SELECT a->>'x' FROM t",
    "DROP TABLE * CASCADE": "DROP TABLE t CASCADE",
    "DROP VIEW * CASCADE": "DROP VIEW v CASCADE",
    "{ {": "SELECT * FROM {{ ref('t') }}",
    "USING DELTA": "CREATE TABLE t (a INT) USING DELTA",
}


@pytest.mark.parametrize(("form", "hint"), FORMS)
def test_a_form_of_another_dialect(form: str, hint: str) -> None:
    with pytest.raises(SyntaxProblem) as refused:
        parse(EXAMPLES[form])
    assert refused.value.hint == hint


@pytest.mark.parametrize("sql", [
    "SELECT a FROM t EXCEPT (SELECT b FROM u)", "SELECT * FROM t EXCEPT (SELECT b FROM u)", "SELECT print FROM t AS sample", "SELECT a - b > 1 FROM t",
    "SELECT * FROM t CROSS JOIN UNNEST(a) AS u (x)", "SELECT emit FROM t AS top", "SELECT TOP FROM t", "CREATE TABLE source (a INT)", "SELECT a FROM t WINDOW w AS (PARTITION BY b)",
])  # fmt: skip
def test_what_flink_takes_is_none(sql: str) -> None:
    parse(sql)


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
    forms = {"UNNEST", "CAST", "TRY_CAST", "TABLE", "TUMBLE", "SESSION", "DESCRIPTOR", "DECIMAL"}
    for hint in functions.FUNCTIONS.values():
        assert {*re.findall(r"([A-Z_]+)\(", hint)} <= known | forms, hint
