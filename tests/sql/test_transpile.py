"""The dialect as a library: statements written back as they were, other dialects' texts, their rows on Spark, refusals.

In the files of pairs a line is followed by what it is in the other dialect; in values.sql by the rows that Flink gives.
"""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, UnsupportedError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

FILES = Path(__file__).parent / "dialect"


def lines(name: str) -> list[str]:
    return [line for line in (FILES / name).read_text().splitlines() if line and not line.startswith("-- ")]


def pairs(name: str) -> list[tuple[str, list[str]]]:
    """Each statement with the lines behind it, which begin with ``-->``."""
    found: list[tuple[str, list[str]]] = []
    for line in lines(name):
        if line.startswith("-->"):
            found[-1][1].append(line[4:])
        else:
            found.append((line.removesuffix(";"), []))
    return found


@pytest.mark.parametrize("sql", lines("identity.sql"))
def test_written_back_as_it_was(sql: str) -> None:
    assert sqlglot.transpile(sql, read="flink", write="flink") == [sql]


TARGETS = ("spark", "postgres", "duckdb")


@pytest.mark.parametrize(("dialect", "sql", "wanted"), [(d, sql, w) for d in TARGETS for sql, w in pairs(f"{d}.sql")])
def test_pairs(dialect: str, sql: str, wanted: list[str]) -> None:
    assert sqlglot.transpile(sql, read="flink", write=dialect) == wanted


REFUSED = {
    "SELECT a / b FROM t": "division",
    "SELECT COUNT(*) / 2 FROM t": "division",
    "SELECT 7 / 2.0": "division",
    "SELECT AVG(a) FROM t": "AVG",
    "SELECT CAST(a AS INT) FROM t": "CAST",
    "SELECT CAST(TRUE AS STRING)": "CAST",
    "SELECT CAST(1.5 AS INT)": "CAST",
    "SELECT CAST(a AS TIMESTAMP(3)) FROM t": "CAST",
    "SELECT CAST(TIMESTAMP '2021-01-01 00:00:00' AS STRING)": "CAST",
    "SELECT TRY_CAST('a' AS INT)": "TRY_CAST",
    r"SELECT a LIKE 'a\_b' FROM t": "backslash",
    "SELECT a LIKE b FROM t": "backslash",
    "SELECT SUBSTRING(a, 0) FROM t": "SUBSTRING",
    "SELECT SUBSTRING(a, -2) FROM t": "SUBSTRING",
    "SELECT DAYOFWEEK(a) FROM t": "DAYOFWEEK",
    "SELECT EXTRACT(DOW FROM a) FROM t": "EXTRACT",
    "SELECT a[1] FROM t": "Elements",
    "SELECT a + INTERVAL '1' DAY FROM t": "INTERVAL",
    "SELECT DATE '2021-01-01' + INTERVAL '1' DAY": "INTERVAL",
    "SELECT TIMESTAMP '2021-01-01 00:00:00' + INTERVAL '1:2' HOUR TO MINUTE": "INTERVAL",
    "SELECT LISTAGG(a) FROM t": "LISTAGG",
    "SELECT FIRST_VALUE(a) FROM t": "FIRST_VALUE",
    "SELECT Foo, foo FROM t": "only in case",
    "SELECT x.a FROM (SELECT a, b AS A FROM t) AS x": "only in case",
    "SELECT a SIMILAR TO 'b' FROM t": "SIMILAR",
    "SELECT * FROM t CROSS JOIN UNNEST(a) WITH ORDINALITY AS u(x, n)": "ORDINALITY",
    "SELECT * FROM t LEFT JOIN UNNEST(a) AS u(x) ON TRUE": "UNNEST",
    "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY))": "TUMBLE",
    "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.x AS x PATTERN (A) DEFINE A AS A.x > 1)": "MATCH_RECOGNIZE",
    "SELECT * FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts ON o.k = r.k": "SYSTEM_TIME",
    "SELECT * FROM t, LATERAL TABLE(split(a)) AS s(w)": "table function split",
    "SELECT * FROM t /*+ OPTIONS('a' = 'b') */": "OptionsHint",
    "SELECT CAST(NULL AS MULTISET<INT>)": "CAST",
    "CREATE TABLE t (a INT) WITH ('connector' = 'print')": "CreateTable",
}


@pytest.mark.parametrize("dialect", TARGETS)
@pytest.mark.parametrize("sql", REFUSED)
def test_refused(sql: str, dialect: str) -> None:
    with pytest.raises((UnsupportedError, ValueError), match=REFUSED[sql]):
        sqlglot.transpile(sql, read="flink", write=dialect)


SCHEMA = {"t": {"a": "INT", "b": "INT", "d": "DOUBLE", "ts": "TIMESTAMP(3)", "today": "DATE", "n": "BIGINT"}}
TYPED = {
    "SELECT a / b AS x FROM t": "SELECT CAST(`t`.`a` / `t`.`b` AS BIGINT) AS `x` FROM `t` AS `t`",
    "SELECT d / b AS x FROM t": "SELECT `t`.`d` / `t`.`b` AS `x` FROM `t` AS `t`",
    "SELECT AVG(d) AS x FROM t": "SELECT AVG(`t`.`d`) AS `x` FROM `t` AS `t`",
    "SELECT ts + INTERVAL '1' DAY AS x FROM t": "SELECT `t`.`ts` + INTERVAL '1' DAY AS `x` FROM `t` AS `t`",
    "SELECT CAST(a AS STRING) AS x FROM t": "SELECT CAST(`t`.`a` AS STRING) AS `x` FROM `t` AS `t`",
    "SELECT s / 2 AS x FROM (SELECT a + b AS s FROM t) AS u": (
        "SELECT CAST(`u`.`s` / 2 AS BIGINT) AS `x` FROM (SELECT `t`.`a` + `t`.`b` AS `s` FROM `t` AS `t`) AS `u`"
    ),
}


@pytest.mark.parametrize("sql", TYPED)
def test_types_of_columns(sql: str) -> None:
    tree = annotate_types(qualify(sqlglot.parse_one(sql, read="flink"), schema=SCHEMA, dialect="flink"), schema=SCHEMA, dialect="flink")
    assert tree.sql("spark") == TYPED[sql]


@pytest.mark.parametrize(
    "sql",
    ["SELECT n / 2 AS x FROM t", "SELECT AVG(a) AS x FROM t", "SELECT today + INTERVAL '1' DAY AS x FROM t", "SELECT CAST(d AS INT) AS x FROM t"],
)
def test_refused_for_the_types_of_columns(sql: str) -> None:
    tree = annotate_types(qualify(sqlglot.parse_one(sql, read="flink"), schema=SCHEMA, dialect="flink"), schema=SCHEMA, dialect="flink")
    with pytest.raises(UnsupportedError):
        tree.sql("spark")


def test_errors_are_sqlglots() -> None:
    with pytest.raises(ParseError, match="Encountered") as caught:
        sqlglot.parse_one("SELECT a\nFROM t WHERE", read="flink")
    assert (caught.value.errors[0]["line"], caught.value.errors[0]["col"]) == (2, 12)
    with pytest.raises(ParseError):
        sqlglot.parse_one("SELECT 'a", read="flink")


def test_no_spark_is_needed() -> None:
    program = (
        "import sys, sqlglot; print(sqlglot.transpile('SELECT SUM(x) FROM t', read='flink', write='postgres'));"
        "assert not {'pyspark', 'delta', 'py4j', 'pandas'} & set(sys.modules), 'Spark'"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout.strip()) == (0, "['SELECT SUM(x) FROM t']"), found.stderr


def test_builders() -> None:
    query = (
        exp.select("a", "SUM(b) AS s", dialect="flink")
        .from_("t AS x", dialect="flink")
        .where("a > 1", dialect="flink")
        .group_by("a", dialect="flink")
    )
    assert query.sql("flink") == "SELECT a, SUM(b) AS s FROM t AS x WHERE a > 1 GROUP BY a"


# --- the same rows on Spark --------------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """A value as Flink's client prints it."""
    match value:
        case None:
            return "<NULL>"
        case bool():
            return str(value).upper()
        case datetime.datetime():
            return value.strftime("%Y-%m-%d %H:%M:%S") + (f".{value.microsecond // 1000:03}" if value.microsecond else "")
        case bytearray() | bytes():
            return "x'" + bytes(value).hex() + "'"
        case Decimal():
            return f"{value:f}"
    return str(value)


@pytest.fixture(scope="module")
def ansi(spark):
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "true")
    return session


@pytest.mark.spark
@pytest.mark.parametrize(("sql", "rows"), pairs("values.sql"), ids=[sql for sql, _ in pairs("values.sql")])
def test_rows_on_spark(ansi, sql: str, rows: list[str]) -> None:
    (text,) = sqlglot.transpile(sql, read="flink", write="spark")
    assert [" | ".join(map(shown, row)).rstrip() for row in ansi.sql(text).collect()] == [row.rstrip() for row in rows]


@pytest.mark.spark
@pytest.mark.parametrize("sql", ["SELECT CAST('abc' AS INT)", "SELECT CAST('x' AS DATE)", "SELECT 1 / 0", "SELECT CAST('' AS DECIMAL(5, 2))"])
def test_failures_on_spark(ansi, sql: str) -> None:
    (text,) = sqlglot.transpile(sql, read="flink", write="spark")
    with pytest.raises(Exception, match="CAST_INVALID_INPUT|DIVIDE_BY_ZERO"):
        ansi.sql(text).collect()
