"""Where sqlstream differs from real Flink on purpose, or as far as it is known. Everything else must be the same."""

from __future__ import annotations

import re

# Right in Flink, refused here.
REFUSED = {
    "ROUND(n, i)": "the type depends on the number of digits",
    "ROUND(n, z)": "as ROUND(n, i)",
    "ROUND(n, -i)": "as ROUND(n, i)",
    "TRUNCATE(n, i)": "as ROUND(n, i)",
    "TRUNCATE(n, z)": "as ROUND(n, i)",
    "RAND(i) >= 0": "a seed from a column",
    "RAND_INTEGER(i, 100) < 100": "a seed from a column",
    "COALESCE(dd, ts)": "DATE and TIMESTAMP: Flink cuts the time off",
    "IFNULL(dd, ts)": "as COALESCE(dd, ts)",
    "CASE WHEN b THEN ts ELSE lz END": "which of the types wins depends on the order",
    "COLLECT(TRY_PARSE_JSON(j)['a'])": "Spark compares no VARIANTs",
    "COLLECT(m)": "Spark compares no MAPs",
    "ARRAY_AGG(DISTINCT i IGNORE NULLS)": "Flink keeps the NULL",
    "ARRAY_AGG(i ORDER BY i)": "Flink does not order",
    "APPROX_COUNT_DISTINCT(i)": "in batch mode only: COUNT(DISTINCT i) is exact",
    "b = 'true'": "always FALSE in Flink, whatever the text",
    "b = 'TRUE'": "as b = 'true'",
    "b = s": "as b = 'true'",
    "b <> s": "as b = 'true'",
    "ELT(1, bin, bin)": "of texts only",
    "PRINTF('%h', s)": "a hash code of Flink's",
    "ARRAY_APPEND(ARRAY['a'], 'bcd')": "Flink cuts it to 'b'",
    "ARRAY[TRY_PARSE_JSON(j)[CAST(NULL AS STRING)]]": "a name that is no constant",
    "ARRAY[TRY_PARSE_JSON(j) IS DISTINCT FROM TRY_PARSE_JSON(j)]": "Spark compares no VARIANTs",
    "ARRAY[NULLIF(PARSE_JSON('1'), PARSE_JSON('1'))]": "Spark compares no VARIANTs",
    "EXTRACT(MILLISECOND FROM tt)": "0 in Flink",
    "EXTRACT(QUARTER FROM INTERVAL '2-10' YEAR TO MONTH)": "EXTRACT(MONTH ..)",
    "EXTRACT(MILLISECOND FROM INTERVAL '1 02:03:04.005' DAY TO SECOND)": "EXTRACT(SECOND ..)",
    "(ts - tu) WEEK": "units up to DAY, MONTH and YEAR",
    "(ts - tu) QUARTER": "as (ts - tu) WEEK",
    "TIMESTAMPDIFF(MICROSECOND, ts, tu)": "an INT in Flink, which overflows",
    "TIMESTAMPADD(MILLISECOND, 1, ts)": "units from SECOND on: ts + INTERVAL '0.001' SECOND",
    "CAST(p AS VARCHAR(3)) IN (12)": "number and text of a length",
    "m = m": "Spark compares no MAPs",
    "m = MAP['k1', 1]": "Spark compares no MAPs",
    "CASE WHEN b THEN lz ELSE ts END": "which of the types wins depends on the order",
    "COALESCE(ts, lz)": "which of the types wins depends on the order",
    "r['a']": "r.a",
    "U&'\\263A\\+01F600'": "six digits, which Flink does not read",
    "UNKNOWN": "CAST(NULL AS BOOLEAN)",
    "CAST('a' AS VARCHAR(0))": "a length of 0",
    "CAST('a' AS CHAR(0))": "a length of 0",
    "CAST(1 AS DECIMAL(39, 0))": "Flink makes it DECIMAL(38, 0)",
    "CAST(5 AS INTERVAL DAY)": "5 * INTERVAL '1' DAY",
    "CAST(5 AS INTERVAL MONTH)": "5 * INTERVAL '1' MONTH",
}

# Fails here while running, where Flink gives NULL or FALSE.
FAILS = {
    "TO_TIMESTAMP_LTZ('2024-02-29', 'yyyy-MM-dd', v)": "a zone that is none",
    "MAP_FROM_ARRAYS(ARRAY[CAST(NULL AS STRING), 'b'], ARRAY[1, 2])": "Spark's maps have no NULL keys",
    "MAP_FROM_ARRAYS(ai, ai)": "Spark's maps have no NULL keys",
    "MAP[CAST(NULL AS STRING), 1]": "Spark's maps have no NULL keys",
    "MAP[i, s]": "Spark's maps have no NULL keys",
}

# Refused or failing in Flink, accepted here.
ACCEPTED = {
    "s != 'x'", "i > 1 OR NULL", "b AND NULL", "IF(b, s, NULL)", "GREATEST(1, NULL)", "'a' || NULL", "CONCAT(s, NULL)",
    "CONCAT_WS('-', s, NULL, 'x')", "ARRAY_CONCAT(ai, NULL)", "i + NULL", "SUBSTRING(s, 2, NULL)", "JSON_ARRAYAGG(NULL)",
    "PERCENTILE(i, 0.5)", "SUM(SUM(i))", "IF(i > 0, 1, NULL)", "LEAST(i, NULL)", "SUBSTRING(s, 1, NULL)", "OVERLAY(s PLACING NULL FROM 2)",
    "INSTR(s, 'l', NULL)", "REPLACE(s, 'o', NULL)", "TRIM(BOTH NULL FROM s)", "ARRAY[NULL]", "m[NULL]", "'ab' LIKE 'a!b' ESCAPE '!'",
    # Flink's code generator fails, or its code on NULL.
    "GREATEST(n, d)", "GREATEST(bin, X'00')", "SIGN(h)", "SIGN(y)", "TRUNCATE(h, -1)", "TRUNCATE(1e20 + z, 2)",
    # Outside of a query with groups, which the plan refuses.
    "GROUPING(i)", "GROUP_ID()", "GROUPING_ID(i)",
    # NULL has a type here.
    "JSON_VALUE(NULL, '$.a')", "JSON_OBJECT('a' VALUE NULL)", "JSON_OBJECT('a' VALUE NULL ABSENT ON NULL)", "JSON_ARRAY(NULL ON NULL)", "JSON_ARRAY(NULL)",
    "JSON_ARRAY(NULL NULL ON NULL)", "JSON_ARRAY(i, NULL, s ABSENT ON NULL)", "s SIMILAR TO NULL", "s LIKE NULL", "s || NULL", "CASE WHEN b THEN NULL END", "TRUE AND NULL",
    # Flink's code generator fails.
    "JSON_VALUE(j, 'lax $.zz' DEFAULT s ON EMPTY)", "JSON_VALUE(j, 'strict $.zz' RETURNING INTEGER DEFAULT i ON ERROR)", "JSON_EXISTS(j, s)",
    "INTERVAL '1' DAY * 1.5", "INTERVAL '1' DAY * n", "(i, l) < (7, 4)", "ARRAY[IF(b, PARSE_JSON('1'), PARSE_JSON('\"x\"'))]",
    "LOCATE('o', s, l)", "INSTR(s, 'l', l)", "ARRAY_CONCAT(ai, ARRAY[2.5])", "ARRAY_CONCAT(ai, ARRAY[l])", "ARRAY_UNION(ai, ARRAY[l])",
    "ARRAY_EXCEPT(ai, ARRAY[l])", "ARRAY_INTERSECT(ai, ARRAY[l])", "JSON_VALUE(j, 'lax $.zz' RETURNING DOUBLE DEFAULT 5 ON EMPTY DEFAULT 6 ON ERROR)",
    "JSON_VALUE(j, 'lax $.zz' RETURNING DOUBLE DEFAULT 5.5e0 ON EMPTY)", "ARRAY[TRY_PARSE_JSON(j, b)]", "TYPEOF(PARSE_JSON(j))",
    "JSON_QUERY('[{\"k\": 1, \"t\": \"a\"}, {\"k\": 2, \"t\": \"b\"}, {\"k\": 3}]', '$[?(@.k in [1, 3])]')",
    # The record's cast to STRING.
    "PARSE_JSON(NULL)", "PARSE_JSON('1')", "ARRAY[CAST(TRY_PARSE_JSON(j) AS VARIANT)]", "_UTF8'abc'",
    # Refused when it is planned; here the job fails.
    "TO_TIMESTAMP_LTZ('2024-02-29 10:11:12', 'yyyy-MM-dd HH:mm:ss', 'Nowhere/City')", "'a%b' LIKE 'a!%b' ESCAPE '!!'", "'a!b' LIKE 'a!b' ESCAPE '!'",
    "+s",
}  # fmt: skip

# Another value.
DIFFERENT = {
    "RAND(1)": "other numbers of a seed than java.util.Random's",
    "RAND_INTEGER(1, 100)": "as RAND(1)",
    "GREATEST('a', s, '😀', U&'\\FFFD')": "Flink compares constants by UTF-16 units, here by characters",
    "JSON_QUOTE('é😀')": "a defect of Flink's: what is no 16-bit character becomes no JSON",
    "ARRAY[PARSE_JSON('1E400')]": "Infinity is in quotes",
    "MIN(CASE WHEN i > 0 THEN CAST('NaN' AS DOUBLE) ELSE 1e0 END)": "where NaN stands among the rows decides in Flink; here it is the greatest value",
    "MAX(CASE WHEN i < 0 THEN CAST('NaN' AS DOUBLE) ELSE 1e0 END)": "where NaN stands among the rows decides in Flink; here it is the greatest value",
    "SUM(CASE WHEN i > 0 THEN CAST(16777216 AS FLOAT) ELSE CAST(1 AS FLOAT) END)": "added as DOUBLE; the order of rows decides in Flink",
    "SUM(CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0)))": "NULL; Flink begins anew with the row behind an overflow",
    "TIMESTAMP '2024-02-29 10:00:00.1234567891'": "Spark's timestamps end with microseconds",
    "TO_TIMESTAMP_LTZ(l, 9)": "Spark's timestamps end with microseconds",
    "CAST(CAST(1.1 AS FLOAT) AS DOUBLE)": "Flink computes it as a constant, by the digits: another value than of a column",
    "SPLIT('a😀b', '')": "Flink cuts a character in two",
    "ARRAY_SORT(ARRAY[d, f, 0e0, CAST('NaN' AS DOUBLE)])": "NaN is the greatest value",
    "ARRAY_MAX(ARRAY[d, CAST('NaN' AS DOUBLE)])": "NaN is the greatest value",
    "MAP_FROM_ARRAYS(ARRAY['a', 'a'], ARRAY[1, 2])": "Flink keeps both keys; a look-up finds one",
    "CAST(CAST('2024-01-01 00:00:00.123456789' AS TIMESTAMP(9)) AS STRING)": "Spark's timestamps end with microseconds",
}

# Another type.
TYPED = {
    ".5": "the parser writes 0.5",
    "(i, s) <> (7, 'Hello World')": "never NULL",
    "CAST(ts AS TIME(9))": "TIME(3) in Flink",
}

# The same for many expressions of the grid: what it is (refused, fails, accepted, different, typed), a pattern of the expressions, why.
OF_THE_GRID: tuple[tuple[str, str, str], ...] = (
    ("typed", r"^((b|CAST\(NULL AS BOOLEAN\)) AND FALSE|TRUE OR (b|CAST\(NULL AS BOOLEAN\)))$", "Flink computes with constants: NOT NULL"),
    ("typed", r"^CASE WHEN 1 > 0 THEN 'a' ELSE", "as above"),
    ("typed", r"^NULLIF\(-?[\d.]+(e0)?, (-?[\d.]+(e0)?|CAST\(NULL AS INT\))\)$", "as above"),
    ("refused", r"^'x' IN \(1, 2\)$", "number and text: Flink refuses = of them, but not IN"),
    ("refused", r"^(ROUND\(1.555|TRUNCATE\(42.345), (i|CAST\(NULL AS INT\))\)$", "as ROUND(n, i)"),
    ("refused", r"^CEIL\(tt TO (HOUR|MINUTE)\)$", "Flink's TIME overflows: 24:00:00"),
    ("refused", r"^TO_TIMESTAMP_LTZ\(1767225600000, CAST\(NULL AS INT\)\)$", "a precision that is no constant"),
    ("refused", r"^JSON_(VALUE|QUERY)\(ai, |^JSON_QUERY\(.*, ai\)$", "an array is neither JSON nor a path"),
    ("accepted", r"^[A-Z_]+\(DISTINCT (bin|r)", "Flink's batch mode takes it, streaming not"),
    ("accepted", r"^ATAN2\((n|2.5|1), (n|2.5|2)\)$", "Flink's code generator knows no DECIMAL here"),
    ("accepted", r"^TIMESTAMPADD\(DAY, 1, DATE '2024-12-30'\)$", "a defect of Flink's planner"),
    ("accepted", r"^JSON_EXISTS\('.*', (s|u|CAST\(NULL AS VARCHAR\(\d+\)\))\)$", "Flink's code generator knows constant paths only"),
    ("fails", r"^MAP\[(s|u|c|i|ai|CAST\(NULL AS VARCHAR\(\d+\)\)), 1\]$", "Spark's maps have no NULL keys"),
    ("refused", r"^PRINTF\(('%s-%d', ai, 1|'%s', (ai|m|r|bin|PARSE_JSON\('1'\)))\)$", "Flink prints an address, or an inner form"),
    ("refused", r"OBJECT_(OF|UPDATE)\(|STRUCTURED<", "types of Java classes"),
    ("refused", r"^TRY_PARSE_JSON\(j\) (=|<>|<) TRY_PARSE_JSON\(j\)$", "Spark compares no VARIANTs"),
    ("refused", r"^ARRAY_(CONTAINS|POSITION|REMOVE|DISTINCT|UNION)\(ARRAY\[MAP\[", "Spark compares no MAPs"),
    ("refused", r"^(\(tt - |TIMESTAMP(DIFF|ADD)\([A-Z]+, (\d+, )?tt)", "TIME in arithmetic: Flink's overflows"),
    ("different", r"^(UNIX_TIMESTAMP|CURRENT_ROW_TIMESTAMP)\(\)$|^UUID\(\) = UUID\(\)$", "another one every time"),
    ("different", r"^SECOND\((dd|DATE '2024-12-30')\)$", "a defect of Flink's: a date's seconds are not 0"),
    (
        "fails",
        r"^TIMESTAMPADD\(DAY, (l|2147483647), |TIMESTAMPADD\(DAY, 1, TIMESTAMP '9999-12-31 23:59:59'\)",
        "years beyond 9999, of which Flink writes four digits or signs",
    ),
    ("fails", r"^MAP\[\(TRY_CAST\(CAST\(NULL", "Spark's maps have no NULL keys"),
    ("accepted", r"^SIGN\(\(TRY_CAST\(v AS TINYINT\)\)\)$", "as SIGN(y)"),
    ("different", r"^JSON_QUOTE\('Ünï 😀x'\)$", "a defect of Flink's, as JSON_QUOTE('é😀')"),
    ("different", r"^TRY_CAST\(('12a'|'1d'|'1f'|CAST\('a' AS CHAR\(3\)\)) AS DECIMAL", "a defect of Flink's: it reads the digits before a letter"),
    ("accepted", r"^(GREATEST|LEAST)\((n, 2|1, n)\)$", "Flink's code fails on NULL"),
    ("accepted", r"^(SUBSTRING|SUBSTR|LEFT|RIGHT|LPAD|RPAD|REPEAT|SPLIT_INDEX)\(.*\bl\b", "Flink's code generator takes INT only"),
    ("accepted", r"^[LR]PAD\('1', (-1, '0'|3, '')\)$", "Flink can't compute this NULL as a constant"),
    ("accepted", r"^TRY_CAST\(CAST\('NaN' AS DOUBLE\) AS DECIMAL", "Flink fails, TRY_CAST or not"),
    ("accepted", r"^([LR]PAD\('1'|REPEAT\('ab'), 2147483647", "no memory holds it"),
    ("accepted", r"^TRY_CAST\(PARSE_JSON\('.*'\) AS VARIANT\)$", "no cast at all"),
    ("accepted", r"^(TRY_)?PARSE_JSON\(\(", "the record's cast to STRING"),
    ("accepted", r"^(LEFT|REPEAT)\('abc?', \(MINUTE\(", "Flink's code generator takes INT only"),
    ("accepted", r"^JSON_EXISTS\('.*', \(", "Flink's code generator knows constant paths only"),
    ("accepted", r"^'Anna' LIKE \(SHA512\(", "Flink's planner makes it NOT NULL, and fails"),
    ("accepted", r"^POSITION\(\(IF\(", "the first argument of Flink's POSITION does not begin with a parenthesis"),
)

_NAMED = {"refused": REFUSED, "fails": FAILS, "accepted": ACCEPTED, "different": DIFFERENT, "typed": TYPED}


def kind(expression: str) -> str:
    """What is different about an expression; empty where nothing is."""
    named = (name for name, expressions in _NAMED.items() if expression in expressions)
    return next(named, next((name for name, pattern, _ in OF_THE_GRID if re.search(pattern, expression)), ""))
