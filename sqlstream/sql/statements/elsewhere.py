"""What other dialects write: in come the words of a statement that does not parse, and how far the parser came, out comes how Flink writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.sql.functions import elsewhere as elsewhere_functions

if TYPE_CHECKING:
    from collections.abc import Sequence

_LIMIT = "Write LIMIT, with the number of rows, at the end of the query."
_WINDOW = "Write FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(time), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end: HELP TUMBLE."
_ALL_CHANGES = "Leave it out: a query of a stream gives every change, and a window its rows when the watermark passes its end."
_STREAM = "Write CREATE TABLE: a table of 'connector' = 'kafka' is a stream."
# Consecutive words and signs, of which the parser stops at one; ``*`` is any.
FORMS: tuple[tuple[str, str], ...] = (
    (": :", "Write CAST(value AS type)."),
    ("= =", "Write =."),
    ("& &", "Write AND."),
    (", FROM", "Leave out the comma before FROM."),
    ("SELECT TOP *", _LIMIT),
    ("FETCH FIRST * PERCENT", _LIMIT),
    ("LATERAL VIEW", "Write CROSS JOIN UNNEST(array) AS t (name), or LEFT JOIN LATERAL TABLE(function(..)) AS t (name) ON TRUE."),
    ("WINDOW TUMBLING", _WINDOW),
    ("WINDOW HOPPING", _WINDOW.replace("TUMBLE", "HOP")),
    ("WINDOW SESSION", _WINDOW.replace("TUMBLE", "SESSION")),
    ("EMIT CHANGES", _ALL_CHANGES),
    ("EMIT FINAL", _ALL_CHANGES),
    ("CREATE STREAM", _STREAM),
    ("OR REPLACE STREAM", _STREAM),
    ("CREATE STREAMING", _STREAM),
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
    ("USING DELTA", "Write WITH ('connector' = 'delta', 'table-path' = '..') behind the columns."),
)  # fmt: skip
_FORMS = [(form.split(), hint) for form, hint in FORMS]


def elsewhere(words: Sequence[str], reached: int) -> str | None:
    """How Flink writes what stands at ``reached``, the index of the word where the parser stopped, and is another dialect's; None if it is none."""
    for form, hint in _FORMS:
        for start in range(max(0, reached - len(form)), reached + 1):
            if len(words) >= start + len(form) and all(of in ("*", word) for of, word in zip(form, words[start:], strict=False)):
                return hint
    return None
