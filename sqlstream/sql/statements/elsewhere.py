"""What other dialects write: in come the words of a statement that does not parse, and how far the parser came, out comes how Flink writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.sql.functions import elsewhere as elsewhere_functions
from sqlstream.sql.syntax.lexer import RESERVED

if TYPE_CHECKING:
    from collections.abc import Sequence

_LIMIT = "Write LIMIT, with the number of rows, at the end of the query."
_WINDOW = "Write FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(time), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end: HELP TUMBLE."
_ALL_CHANGES = "Leave it out: a query of a stream gives every change, and a window its rows when the watermark passes its end."
_STREAM = "Write CREATE TABLE: a table of 'connector' = 'kafka' is a stream."
_ALONE = "Leave it out: nothing else is dropped. DROP DATABASE has CASCADE."
_COLUMNS, _TABLES = "Name the columns that you want.", "Write SHOW TABLES."
_TOPICS = "SHOW TABLES lists tables; INFER TABLE FROM 'topic' makes one of a topic, and PEEK 'topic' shows its records."
_AGAIN = "Submit its statement again, which resumes it, or run sqlstream jobs start NAME in a terminal."
_STOP = "Write STOP JOB 'name': its state is kept, and its statement, submitted again, resumes it."
_OF_DELTA = "Leave it out: no statement here changes the files of a table. Spark's own SQL has it for Delta tables."
_AS_THEY_ARE = "Leave it out: each query looks for the files of its tables itself."
_ALL_AT_ONCE = "Leave it out: there are no transactions. EXECUTE STATEMENT SET BEGIN .. END runs several INSERTs as one job."
_RIGHTS = "Leave it out: there are no users here, and no rights."
_LIKE = "Write CREATE TABLE name LIKE other."
_NAMES = "Names are written in backticks: `name`. An array is ARRAY[a, b]."
_REGEXP = "Write REGEXP(text, 'pattern')."
_FILES = "Write WITH ('connector' = 'filesystem', 'path' = '..', 'format' = '..') behind the columns."
_JOBS = "Write SHOW JOBS."
_DIVIDED = "Write a / b: two whole numbers give a whole number."
# Consecutive words and signs, of which the parser stops at one; ``*`` is any, ``^`` the beginning of the statement, ``$`` a literal or the end.
FORMS: tuple[tuple[str, str], ...] = (
    (": :", "Write CAST(value AS type)."),
    ("= =", "Write =."),
    ("& &", "Write AND."),
    (", FROM", "Leave out the comma before FROM."),
    ("SELECT TOP *", _LIMIT),
    ("FETCH FIRST * PERCENT", _LIMIT),
    ("AUTO_INCREMENT", "Leave it out: rows have the keys that are written."),
    ("CHECK (", "Leave it out: WHERE in the INSERT keeps other rows out."),
    ("COLLATE *", "Leave it out: texts are equal where all their letters are; UPPER(text) on both sides compares them in any case."),
    (") USING DELTA", "Write WITH ('connector' = 'delta', 'table-path' = '..') behind the columns."),
    (") USING *", "Write WITH ('connector' = '..') behind the columns."),
    (") STORED AS", _FILES),
    (") LOCATION $", _FILES),
    ("RENAME COLUMN", "Write RENAME a TO b."),
    ("MODIFY COLUMN", "Write MODIFY name type."),
    ("ALTER TABLE * ALTER", "Write MODIFY name type."),
    ("ALTER TABLE * CHANGE", "Write RENAME a TO b, and MODIFY b type."),
    ("SHOW RUNNING *", _JOBS),
    ("SHOW PROCESSLIST", _JOBS),
    ("LIST JOBS", _JOBS),
    ("SHOW TABLE", _TABLES),
    ("SHOW QUERY", "Write SHOW QUERIES."),
    ("^ \\ *", "Commands with a backslash are for the shell. A script has statements for all of them: DESCRIBE name, SHOW TABLES, HELP."),
    ("NOT NULL", "Write IS NOT NULL."),
    ("OUTER JOIN", "Write FULL OUTER JOIN, LEFT JOIN or RIGHT JOIN."),
    ("FROM $", "The name of a table is a word, or stands in backticks: `name`."),
    ("≠", "Write <>."),
    ("≤", "Write <=."),
    ("≥", "Write >=."),
    ("LATERAL FLATTEN", elsewhere_functions.FUNCTIONS["FLATTEN"]),
    ("LATERAL VIEW", "Write CROSS JOIN UNNEST(array) AS t (name), or LEFT JOIN LATERAL TABLE(function(..)) AS t (name) ON TRUE."),
    ("WINDOW TUMBLING", _WINDOW),
    ("WINDOW HOPPING", _WINDOW.replace("TUMBLE", "HOP")),
    ("WINDOW SESSION", _WINDOW.replace("TUMBLE", "SESSION")),
    ("EMIT CHANGES", _ALL_CHANGES),
    ("EMIT FINAL", _ALL_CHANGES),
    ("CREATE STREAM", _STREAM),
    ("OR REPLACE STREAM", _STREAM),
    ("CREATE STREAMING", _STREAM),
    ("CREATE TYPE", "Write the type where it is used: name ROW<a INT, b STRING>."),
    ("^ DECLARE *", "Leave it out: there are no variables. SET 'key' = 'value' sets an option; a parameter of a saved query is written :name."),
    ("CREATE SINK", "Write CREATE TABLE name (columns) WITH ('connector' = ..) and INSERT INTO name SELECT .."),
    ("CREATE SOURCE", "Write CREATE TABLE name (columns) WITH ('connector' = ..)."),
    ("ADD COLUMN", "Write ADD name type, or ADD (a type, b type)."),
    ("DROP COLUMN", "Write DROP name, or DROP (a, b)."),
    ("DISTINCT ON", "Number the rows in a sub-query, ROW_NUMBER() OVER (PARTITION BY key ORDER BY time) AS n, and select WHERE n = 1."),
    ("UNNEST (", elsewhere_functions.FUNCTIONS["EXPLODE"]),
    ("STRING_AGG (", elsewhere_functions.FUNCTIONS["STRING_AGG"]),
    ("GROUP_CONCAT (", elsewhere_functions.FUNCTIONS["GROUP_CONCAT"]),
    ("WINDOW (", elsewhere_functions.FUNCTIONS["WINDOW"]),
    ("EXPLAIN ANALYZE", "Write EXPLAIN; figures of a job that runs: SHOW JOB METRICS."),
    ("WITHIN *", "Write a condition of times in ON: a.time BETWEEN b.time - INTERVAL '1' HOUR AND b.time."),
    ("WATERMARK * AS", "Write WATERMARK FOR time AS time - INTERVAL '5' SECOND."),
    (") , SELECT", "Leave out the comma before SELECT."),
    ("DROP STREAM", "Write DROP TABLE name."),
    ("DESCRIBE STREAM", "Write DESCRIBE name."),
    ("SHOW STREAMS", _TABLES),
    ("LIST TABLES", _TABLES),
    ("LIST STREAMS", _TABLES),
    ("SHOW TOPICS", _TOPICS),
    ("LIST TOPICS", _TOPICS),
    ("^ PRINT *", "Write PEEK 'topic', or SELECT * FROM table."),
    ("^ TERMINATE *", "Write STOP JOB 'name'; SHOW JOBS lists the jobs."),
    ("CREATE MATERIALIZED VIEW", "Write CREATE TABLE name (columns) WITH ('connector' = ..) and INSERT INTO name SELECT .., a job that keeps it."),
    (") PARTITION BY", "Write PARTITIONED BY (column) behind the columns, before WITH."),
    (", )", "Leave out the comma before )."),
    ("GROUP BY ALL", "Name the columns of the groups."),
    ("* EXCEPT (", _COLUMNS),
    ("* EXCLUDE (", _COLUMNS),
    ("* REPLACE (", _COLUMNS),
    ("DEFAULT *", "Leave it out: a column without a value is NULL. COALESCE(x, value) in the query gives another one."),
    ("SAMPLE *", "Write WHERE RAND() < 0.1."),
    ("- > $", elsewhere_functions.FUNCTIONS["FROM_JSON"]),
    ("- > > $", elsewhere_functions.FUNCTIONS["FROM_JSON"]),
    ("- > *", "There are no functions without a name: UNNEST the array, and ARRAY_AGG what becomes of its elements."),
    ("^ START JOB", _AGAIN),
    ("^ RESUME JOB", _AGAIN),
    ("^ RESTART JOB", "STOP JOB 'name' and submit its statement again, or run sqlstream jobs restart NAME in a terminal."),
    ("^ CANCEL JOB", _STOP),
    ("^ PAUSE JOB", _STOP),
    ("^ SUSPEND JOB", _STOP),
    ("^ KILL *", _STOP),
    ("DROP QUERY", "A saved query is a file in queries/: delete that. DROP JOB 'name' deletes what a job has kept."),
    ("OR REPLACE VIEW", "Write ALTER VIEW name AS query, or DROP VIEW IF EXISTS name before CREATE VIEW."),
    ("OR REPLACE FUNCTION", "Write DROP FUNCTION IF EXISTS name, then CREATE FUNCTION name AS 'module.function' LANGUAGE PYTHON."),
    ("FOREIGN KEY", "Leave it out: no connector checks what a row refers to."),
    ("SAFE_CAST (", elsewhere_functions.FUNCTIONS["SAFE_CAST"]),
    ("CREATE TABLE * ( LIKE", _LIKE),
    ("CREATE TABLE LIKE", _LIKE),
    ("ADD COLUMNS", "Write ADD (a type, b type)."),
    ("ON CONFLICT (", "Leave out the columns: ON CONFLICT DO NOTHING goes by the PRIMARY KEY of the table. Without ON CONFLICT rows are upserted."),
    ("^ BEGIN $", _ALL_AT_ONCE),
    ("^ BEGIN TRANSACTION", _ALL_AT_ONCE),
    ("^ COMMIT", _ALL_AT_ONCE),
    ("^ ROLLBACK", _ALL_AT_ONCE),
    ("^ OPTIMIZE *", _OF_DELTA),
    ("^ VACUUM *", _OF_DELTA),
    ("^ CACHE *", "Leave it out. What several queries use is a view, or a table that a job writes."),
    ("^ REFRESH *", _AS_THEY_ARE),
    ("^ MSCK *", _AS_THEY_ARE),
    ("DESCRIBE HISTORY", "The page of sqlstream serve shows the history of Delta tables."),
    ("DESCRIBE FORMATTED", "Write DESCRIBE name, or SHOW CREATE TABLE name."),
    ("EXPLAIN EXTENDED", "Write EXPLAIN query."),
    ("SET TBLPROPERTIES", "Write ALTER TABLE name SET ('key' = 'value')."),
    ("^ COPY *", "Write CREATE TABLE name (columns) WITH ('connector' = 'filesystem', ..) and INSERT INTO .. SELECT .. FROM name."),
    ("CREATE INDEX", "Leave it out: tables have no indexes."),
    ("CREATE TEMP *", "Write CREATE TEMPORARY."),
    ("CREATE EXTERNAL TABLE", _FILES),
    ("CREATE SCHEMA", "Write CREATE DATABASE name."),
    ("DROP SCHEMA", "Write DROP DATABASE name."),
    ("USE SCHEMA", "Write USE name."),
    ("SHOW SCHEMAS", "Write SHOW DATABASES."),
    ("^ GRANT *", _RIGHTS),
    ("^ REVOKE *", _RIGHTS),
    ("AT TIME ZONE", "SET 'table.local-time-zone' is the zone in which times are shown and cast. CONVERT_TZ(text, 'UTC', 'Asia/Tokyo') is of texts."),
    ("~", _REGEXP),
    ("REGEXP $", _REGEXP),
    ("* DIV *", _DIVIDED),
    ("/ /", _DIVIDED),
    ("IN [", "Write IN (a, b)."),
    ("SELECT [", _NAMES),
    (", [", _NAMES),
    ("ASOF JOIN", "Write JOIN table FOR SYSTEM_TIME AS OF a.time AS b ON a.key = b.key: the row of b as it was at that time."),
    ("DROP TABLE * CASCADE", _ALONE),
    ("DROP VIEW * CASCADE", _ALONE),
    ("{ {", "A parameter of a saved query is written :name. dbt fills such a place in before it sends the statement."),
)  # fmt: skip
_BEGINS = ("SELECT", "INSERT", "CREATE", "DROP", "SET", "WITH", "EXPLAIN")
_FORMS = [(form.split(), hint) for form, hint in FORMS]


def elsewhere(words: Sequence[str], reached: int) -> str | None:
    """How Flink writes what stands at ``reached``, the index of the word where the parser stopped, and is another dialect's; None if it is none."""
    if reached and words[reached - 1 : reached + 1] == ["AS", ""]:
        return "A name is a word, or stands in backticks: AS `name`."
    padded, at = ["^", *words], reached + 1
    for form, hint in _FORMS:
        for start in range(max(0, at - len(form)), at + 1):
            if len(padded) >= start + len(form) and all(map(_is, form, padded[start:])):
                return hint
    return None


def _is(of: str, word: str) -> bool:
    return of in ("*", word) or (of == "$" and not word)


def missing(words: Sequence[str], reached: int) -> str | None:
    """What is missing before the word at ``reached``, where the parser stopped; None if that can't be told. A literal is an empty word."""
    *_, first, before, word = ["SELECT", "SELECT", *words[: reached + 1]]
    if word in _BEGINS and (_is_name(before) or before in ("", ")", "*")):
        return "End the statement before it with ;."
    return "Write a comma between columns, or between tables." if all(map(_is_name, (first, before, word))) else None


def _is_name(word: str) -> bool:
    return word.isidentifier() and word not in RESERVED
