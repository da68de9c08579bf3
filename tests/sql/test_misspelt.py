"""A misspelt keyword is told where it stands, with the one that was meant; a name that is like a keyword is none."""

from __future__ import annotations

import pytest

from sqlstream.core.errors import SyntaxProblem
from sqlstream.sql.statements.parsing import parse

MISSPELT = (
    ("SELCT i FROM t", "SELCT", "SELECT"),
    ("SELECT i FORM t", "FORM", "FROM"),
    ("SELECT i FROM t WHER i = 1", "WHER", "WHERE"),
    ("SELECT i, COUNT(*) FROM t GRUOP BY i", "GRUOP", "GROUP"),
    ("SELECT i, COUNT(*) FROM t GROUP YB i", "YB", "BY"),
    ("SELECT i FROM t ODER BY i", "ODER", "ORDER"),
    ("SELECT i FROM t ORDER YB i", "YB", "BY"),
    ("INSERT ITNO t SELECT i FROM t", "ITNO", "INTO"),
    ("INSRT INTO t SELECT 1", "INSRT", "INSERT"),
    ("CREAT TABLE x (i INT)", "CREAT", "CREATE"),
    ("CREATE TABEL x (i INT)", "TABEL", "TABLE"),
    ("CREATE TABLE x (i INT) WTIH ('connector'='datagen')", "WTIH", "WITH"),
    ("CREATE TABLE x (i INT, PRIMRY KEY (i) NOT ENFORCED) WITH ('connector'='datagen')", "PRIMRY", "PRIMARY"),
    ("CREATE TABLE x (i INT, PRIMARY KEY (i) NOT ENFORCD) WITH ('connector'='datagen')", "ENFORCD", "ENFORCED"),
    ("CREATE TABLE x (i INT, ts TIMESTAMP(3), WATERMRK FOR ts AS ts) WITH ('connector'='datagen')", "WATERMRK", "WATERMARK"),
    ("CREATE TABLE x (i INTT) WITH ('connector'='datagen')", "INTT", "INT"),
    ("CREATE TABLE x (i INT NOT NUL) WITH ('connector'='datagen')", "NUL", "NULL"),
    ("CREATE TEMPORAY VIEW v AS SELECT 1", "TEMPORAY", "TEMPORARY"),
    ("CREATE VEIW v AS SELECT 1", "VEIW", "VIEW"),
    ("WITH c AS (SELCT 1) SELECT * FROM c", "SELCT", "SELECT"),
    ("WIHT c AS (SELECT 1) SELECT * FROM c", "WIHT", "WITH"),
    ("SELECT i FROM t LEFT JION w ON t.i = w.c0", "JION", "JOIN"),
    ("SELECT i FROM t LEFT JOIN w NO t.i = w.c0", "NO", "ON"),
    ("SELECT i FROM t INNER JOINN w ON t.i = w.c0", "JOINN", "JOIN"),
    ("SELECT CASE WHEN i = 1 THN 2 END FROM t", "THN", "THEN"),
    ("SELECT CASE WEHN i = 1 THEN 2 END FROM t", "WEHN", "WHEN"),
    ("SELECT CASE WHEN i = 1 THEN 2 ELS 3 END FROM t", "ELS", "ELSE"),
    ("SELECT CASE WHEN i = 1 THEN 2 ELSE 3 EDN FROM t", "EDN", "END"),
    ("SELECT i FROM t WHERE i BETWEN 1 AND 2", "BETWEN", "BETWEEN"),
    ("SELECT i FROM t WHERE i IS NUL", "NUL", "NULL"),
    ("SELECT i FROM t WHERE i IS NTO NULL", "NTO", "NOT"),
    ("SELECT i FROM t WHERE s LKIE 'a'", "LKIE", "LIKE"),
    ("SELECT i FROM t WHERE i = 1 ADN b", "ADN", "AND"),
    ("SELECT i FROM t LIMT 3", "LIMT", "LIMIT"),
    ("SELECT i FROM t UNOIN ALL SELECT i FROM t", "UNOIN", "UNION"),
    ("SELECT i FROM t UNION AL SELECT i FROM t", "AL", "ALL"),
    ("SELECT CAST(i SA INT) FROM t", "SA", "AS"),
    ("SELECT i FROM t HAVNG i > 1", "HAVNG", "HAVING"),
    ("SELECT SUM(i) OVR (PARTITION BY s) FROM t", "OVR", "OVER"),
    ("SELECT SUM(i) OVER (PARTITON BY s ORDER BY i) FROM t", "PARTITON", "PARTITION"),
    ("DESCIBE t", "DESCIBE", "DESCRIBE"),
    ("SHWO TABLES", "SHWO", "SHOW"),
    ("SHOW TABELS", "TABELS", "TABLES"),
    ("EXPLAN SELECT 1", "EXPLAN", "EXPLAIN"),
    ("DORP TABLE t", "DORP", "DROP"),
    ("DROP TABEL t", "TABEL", "TABLE"),
    ("DROP TABLE IF EXIST t", "EXIST", "EXISTS"),
    ("ALTER TABLE t RENAM TO x", "RENAM", "RENAME"),
    ("ALTR TABLE t RENAME TO x", "ALTR", "ALTER"),
    ("ALTER TABLE t ADDD c INT", "ADDD", "ADD"),
    ("EXECUTE STATMENT SET BEGIN INSERT INTO t SELECT 1; END", "STATMENT", "STATEMENT"),
    ("SELECT INTERVAL '1' MINTE", "MINTE", "MINUTE"),
    ("SELECT i FROM t CROS JOIN w", "CROS", "CROSS"),
    ("UES CATALOG x", "UES", "USE"),
    ("SELECT i FROM t WHERE EXSTS (SELECT 1)", "EXSTS", "EXISTS"),
    ("SELECT i FROM t WHERE i NOT INN (1)", "INN", "IN"),
    ("SELECT TRY_CSAT(i AS INT) FROM t", "TRY_CSAT", "TRY_CAST"),
    ("BEGIN STATEMENT STE", "STE", "SET"),
    ("SELECT i FROM t FETHC FIRST 3 ROWS ONLY", "FETHC", "FETCH"),
    ("SELECT i FROM t ORDER BY i DECS", "DECS", "DESC"),
    ("SELECT i AS a FROM t a JOIN t b USNG (i)", "USNG", "USING"),
)
# Nothing is misspelt here: the place is Flink's.
OTHERS = (
    ("SELECT a,\n  b c d\nFROM t", "d"),
    ("SELECT a FROM t ab c", "c"),
    ("SELECT a FROM t FORM", None),
    ("SELECT a FROM t WHERE a = 1 +", "+"),
    ("SELECT a FROM t LEFT JOIN u", "LEFT JOIN u"),
    ("INSERT INTO t SET a = 1", "SET"),
    ("SELECT a XOR b FROM t", "b"),
    ("SELECT a `FORM` t", "t"),
)


@pytest.mark.parametrize(("text", "word", "keyword"), MISSPELT)
@pytest.mark.parametrize("written", [str, str.lower])
def test_the_word_is_told(text: str, word: str, keyword: str, written) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse(written(text))
    offset = caught.value.offset
    assert offset is not None
    assert text[offset : offset + len(word) + 1].rstrip(" (,);") == word
    assert caught.value.hint == f"Did you mean '{keyword}'?"
    assert caught.value.message.startswith(f'Encountered "{written(word)}" at line 1, column {offset + 1}.')


@pytest.mark.parametrize(("text", "place"), OTHERS)
def test_names_are_names(text: str, place: str | None) -> None:
    if place is None:
        parse(text)
        return
    with pytest.raises(SyntaxProblem) as caught:
        parse(text)
    assert caught.value.offset is not None
    assert text[caught.value.offset :].startswith(place)
    assert "Did you mean" not in (caught.value.hint or "")
