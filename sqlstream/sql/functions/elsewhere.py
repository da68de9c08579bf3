"""Functions of other dialects, by their names in upper case: how Flink writes them."""

from __future__ import annotations

_UNNEST = "Write FROM t CROSS JOIN UNNEST(array) AS u (name)."
_DATE_PART = "Write FLOOR(time TO DAY), or TO HOUR, MONTH and so on."
_COALESCE = "Write COALESCE(a, b)."
_IF = "Write IF(condition, a, b), or CASE."
_PLUS = "Write time + INTERVAL '1' DAY, or TIMESTAMPADD(DAY, 1, time)."
_BETWEEN = "Write TIMESTAMPDIFF(DAY, a, b)."
_FORMAT = "Write DATE_FORMAT(time, 'yyyy-MM-dd')."
_LENGTH = "Write CHAR_LENGTH(text)."
_COUNT = "Write CARDINALITY(array)."
_JSON = "Write JSON_VALUE(text, '$.path'), or JSON_QUERY for a part."
_LIST = "Write LISTAGG(text, ',')."
_ARRAY = "Write ARRAY_AGG(x)."
_MEDIAN = "Write PERCENTILE(x, 0.5)."
_DISTINCT = "Write COUNT(DISTINCT x)."
_SPLIT = "Write SPLIT_INDEX(text, ',', 0): the first part is 0."
_ROW = "Write ROW(a, b), with names by CAST(ROW(a, b) AS ROW<x INT, y STRING>)."
_CAST = "Write TRY_CAST(value AS type)."
_WINDOW = "Write FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(time), INTERVAL '1' MINUTE)): HELP TUMBLE."
_ANY, _ALL = (f"Write {name}(CASE WHEN condition THEN 1 ELSE 0 END) = 1." for name in ("MAX", "MIN"))
_FIRST_ROWS = "Number the rows in a sub-query, ROW_NUMBER() OVER (PARTITION BY key ORDER BY x DESC) AS n, and select WHERE n {}."
_LARGEST = _FIRST_ROWS.format("= 1")
_BOUNDS = "A window gives window_start, window_end and window_time. " + _WINDOW
_TIME = "Write TO_TIMESTAMP_LTZ(number, 3), of milliseconds; 0 instead of 3 for seconds."

FUNCTIONS: dict[str, str] = {
    "DATE_TRUNC": _DATE_PART, "TIMESTAMP_TRUNC": _DATE_PART, "TRUNC": _DATE_PART,
    "NVL": _COALESCE, "ISNULL": _COALESCE, "ZEROIFNULL": "Write COALESCE(x, 0).",
    "NVL2": "Write IF(a IS NOT NULL, b, c).", "IIF": _IF, "IFF": _IF,
    "DATEADD": _PLUS, "DATE_ADD": _PLUS, "DATE_SUB": "Write time - INTERVAL '1' DAY.", "ADD_MONTHS": "Write time + INTERVAL '1' MONTH.",
    "DATEDIFF": _BETWEEN, "DATE_DIFF": _BETWEEN, "GETDATE": "Write CURRENT_TIMESTAMP.", "SYSDATE": "Write CURRENT_TIMESTAMP.",
    "TO_CHAR": _FORMAT, "STRFTIME": _FORMAT, "FORMAT_DATE": _FORMAT, "FORMAT_TIMESTAMP": _FORMAT, "FORMATDATETIME": _FORMAT,
    "TIMESTAMPTOSTRING": _FORMAT, "STRINGTOTIMESTAMP": "Write TO_TIMESTAMP(text, 'yyyy-MM-dd HH:mm:ss').",
    "TIMESTAMP_MILLIS": _TIME, "TIMESTAMP_SECONDS": _TIME, "EPOCH_MS": _TIME, "MAKE_TIMESTAMP": _TIME,
    "LEN": _LENGTH, "LENGTH": _LENGTH, "DATALENGTH": _LENGTH,
    "SIZE": _COUNT, "ARRAY_SIZE": _COUNT, "ARRAY_LENGTH": _COUNT,
    "EXPLODE": _UNNEST, "POSEXPLODE": "Write FROM t CROSS JOIN UNNEST(array) WITH ORDINALITY AS u (name, number).", "FLATTEN": _UNNEST, "GENERATE_SERIES": _UNNEST,
    "GET_JSON_OBJECT": _JSON, "JSON_EXTRACT": _JSON, "JSON_EXTRACT_SCALAR": _JSON, "EXTRACTJSONFIELD": _JSON, "FROM_JSON": _JSON,
    "GROUP_CONCAT": _LIST, "STRING_AGG": _LIST,
    "COLLECT_LIST": _ARRAY, "LIST": _ARRAY, "COLLECT_SET": "Write ARRAY_AGG(DISTINCT x).",
    "MEDIAN": _MEDIAN, "PERCENTILE_CONT": _MEDIAN, "APPROX_PERCENTILE": _MEDIAN,
    "APPROX_COUNT_DISTINCT": _DISTINCT, "DATE_PART": "Write EXTRACT(MINUTE FROM time).", "TO_JSON": "Write JSON_STRING(x).",
    "SESSION_WINDOW": "Write FROM TABLE(SESSION(TABLE t PARTITION BY key, DESCRIPTOR(time), INTERVAL '5' MINUTE)): HELP SESSION.",
    "SPLIT_PART": _SPLIT,
    "STRUCT": _ROW, "NAMED_STRUCT": _ROW, "OBJECT_CONSTRUCT": _ROW,
    "SAFE_CAST": _CAST, "TRY_TO_NUMBER": _CAST, "TO_NUMBER": "Write CAST(text AS DECIMAL(12, 2)).",
    "COUNT_IF": "Write COUNT(*) FILTER (WHERE condition).", "COUNTIF": "Write COUNT(*) FILTER (WHERE condition).",
    "SUM_IF": "Write SUM(x) FILTER (WHERE condition).", "COUNT_DISTINCT": _DISTINCT,
    "LATEST_BY_OFFSET": "Write LAST_VALUE(x).", "EARLIEST_BY_OFFSET": "Write FIRST_VALUE(x).", "ANY_VALUE": "Write FIRST_VALUE(x).",
    "MONOTONICALLY_INCREASING_ID": "Write ROW_NUMBER() OVER (ORDER BY time), or UUID().", "NEWID": "Write UUID().", "RANDOM": "Write RAND().",
    "STRPOS": "Write POSITION('x' IN text).", "CHARINDEX": "Write POSITION('x' IN text).", "CONTAINS": "Write text LIKE '%x%'.",
    "WINDOW": _WINDOW, "TIME_BUCKET": _WINDOW,
    "FIRST": "Write FIRST_VALUE(x).", "LAST": "Write LAST_VALUE(x).",
    "BOOL_OR": _ANY, "LOGICAL_OR": _ANY, "BOOL_AND": _ALL, "LOGICAL_AND": _ALL, "EVERY": _ALL,
    "TOPK": _FIRST_ROWS.format("<= 3"), "TOPKDISTINCT": _FIRST_ROWS.format("<= 3"),
    "MAX_BY": _LARGEST, "MIN_BY": _LARGEST.replace("DESC", "ASC"), "ARG_MAX": _LARGEST, "ARG_MIN": _LARGEST.replace("DESC", "ASC"),
    "AS_VALUE": "Leave it out: write the column itself.",
}  # fmt: skip
# Table functions, and columns that each row of a stream has there.
TABLE_FUNCTIONS: dict[str, str] = {
    "GENERATE_SERIES": "Write CREATE TABLE name (n BIGINT) WITH ('connector' = 'datagen', ..).",
    **dict.fromkeys(
        ("READ_FILES", "READ_CSV", "READ_CSV_AUTO", "READ_JSON", "READ_PARQUET", "PARQUET_SCAN", "CLOUD_FILES"),
        "Write CREATE TABLE name (columns) WITH ('connector' = 'filesystem', 'path' = '..', 'format' = '..').",
    ),
}
COLUMNS: dict[str, str] = {
    "WINDOWSTART": _BOUNDS, "WINDOWEND": _BOUNDS,
    "ROWTIME": "A table of Kafka declares it: ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'.",
    "ROWKEY": "A table of Kafka declares the columns of the key: 'key.format' and 'key.fields'.",
    "SYSDATE": FUNCTIONS["SYSDATE"], "GETDATE": FUNCTIONS["GETDATE"],
}  # fmt: skip
