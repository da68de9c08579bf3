"""Where sqlstream differs from real Flink on purpose, or as far as it is known. Everything else must be the same."""

from __future__ import annotations

import re

# Right in Flink, refused here.
REFUSED = {
    "i IN ('7', '8')": "number and text: Flink refuses = of them, but not IN",
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
}

# Fails here while running, where Flink gives NULL or FALSE.
FAILS: dict[str, str] = {}

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
    "CAST(CAST('2024-01-01 00:00:00.123456789' AS TIMESTAMP(9)) AS STRING)": "Spark's timestamps end with microseconds",
}

# Another type.
TYPED = {".5": "the parser writes 0.5"}

# The same for many expressions of the grid: what it is (refused, fails, accepted, different, typed), a pattern of the expressions, why.
OF_THE_GRID: tuple[tuple[str, str, str], ...] = (
    ("typed", r"^((b|CAST\(NULL AS BOOLEAN\)) AND FALSE|TRUE OR (b|CAST\(NULL AS BOOLEAN\)))$", "Flink computes with constants: NOT NULL"),
    ("typed", r"^CASE WHEN 1 > 0 THEN 'a' ELSE", "as above"),
    ("typed", r"^NULLIF\(-?[\d.]+(e0)?, (-?[\d.]+(e0)?|CAST\(NULL AS INT\))\)$", "as above"),
    ("refused", r"^'x' IN \(1, 2\)$", "number and text: Flink refuses = of them, but not IN"),
    ("refused", r"^'Anna' SIMILAR TO (s|u|c|CAST\(NULL AS VARCHAR\(\d+\)\))$", "a pattern that is no constant"),
    ("refused", r"^(ROUND\(1.555|TRUNCATE\(42.345), (i|CAST\(NULL AS INT\))\)$", "as ROUND(n, i)"),
    ("refused", r"^(CEIL\(tt TO HOUR|TIMESTAMPADD\(DAY, 1, tt)\)$", "Flink's TIME overflows: 24:00:00"),
    ("refused", r"^TO_TIMESTAMP_LTZ\(1767225600000, CAST\(NULL AS INT\)\)$", "a precision that is no constant"),
    ("refused", r"^JSON_(VALUE|QUERY)\(ai, |^JSON_QUERY\(.*, ai\)$", "an array is neither JSON nor a path"),
    ("accepted", r"^ATAN2\((n|2.5|1), (n|2.5|2)\)$", "Flink's code generator knows no DECIMAL here"),
    ("accepted", r"^TIMESTAMPADD\(DAY, 1, DATE '2024-12-30'\)$", "a defect of Flink's planner"),
    ("accepted", r"^JSON_EXISTS\('.*', (s|u|CAST\(NULL AS VARCHAR\(\d+\)\))\)$", "Flink's code generator knows constant paths only"),
    ("fails", r"^MAP\[(s|u|c|i|ai|CAST\(NULL AS VARCHAR\(\d+\)\)), 1\]$", "Spark's maps have no NULL keys"),
    ("refused", r"^PRINTF\('%s-%d', ai, 1\)$", "Flink prints the array's address"),
    ("different", r"^(UNIX_TIMESTAMP|CURRENT_ROW_TIMESTAMP)\(\)$|^UUID\(\) = UUID\(\)$", "another one every time"),
    ("different", r"^SECOND\((dd|DATE '2024-12-30')\)$", "a defect of Flink's: a date's seconds are not 0"),
    ("different", r"^TIMESTAMPADD\(DAY, (l|2147483647), ", "years beyond 9999"),
    ("different", r"^JSON_QUOTE\('Ünï 😀x'\)$", "a defect of Flink's, as JSON_QUOTE('é😀')"),
    ("different", r"^TRY_CAST\(('12a'|'1d'|'1f'|CAST\('a' AS CHAR\(3\)\)) AS DECIMAL", "a defect of Flink's: it reads the digits before a letter"),
    ("accepted", r"^(GREATEST|LEAST)\((n, 2|1, n)\)$", "Flink's code fails on NULL"),
    ("accepted", r"^(SUBSTRING|SUBSTR|LEFT|RIGHT|LPAD|RPAD|REPEAT|SPLIT_INDEX)\(.*\bl\b", "Flink's code generator takes INT only"),
    ("accepted", r"^[LR]PAD\('1', (-1, '0'|3, '')\)$", "Flink can't compute this NULL as a constant"),
    ("accepted", r"^TRY_CAST\(CAST\('NaN' AS DOUBLE\) AS DECIMAL", "Flink fails, TRY_CAST or not"),
    ("accepted", r"^([LR]PAD\('1'|REPEAT\('ab'), 2147483647", "no memory holds it"),
    ("accepted", r"^TRY_CAST\(PARSE_JSON\('.*'\) AS VARIANT\)$", "no cast at all"),
)

_NAMED = {"refused": REFUSED, "fails": FAILS, "accepted": ACCEPTED, "different": DIFFERENT, "typed": TYPED}


def kind(expression: str) -> str:
    """What is different about an expression; empty where nothing is."""
    named = (name for name, expressions in _NAMED.items() if expression in expressions)
    return next(named, next((name for name, pattern, _ in OF_THE_GRID if re.search(pattern, expression)), ""))
