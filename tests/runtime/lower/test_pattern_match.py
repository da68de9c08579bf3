"""Matches of many rows: over restarts, with more rows than an entry of the state holds, and in time that grows with them only."""

from __future__ import annotations

import time

import pytest

from tests.support.printing import PrintingJob
from tests.support.sessions import open_session

pytestmark = pytest.mark.spark
QUERY = """SELECT item, n, total, first_x, last_x FROM ticks MATCH_RECOGNIZE (
PARTITION BY item ORDER BY ts
MEASURES COUNT(A.x) AS n, SUM(A.x) AS total, FIRST(A.x, 300) AS first_x, LAST(A.x, 300) AS last_x
AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS x >= 0)"""


def rows(item: str, *values: tuple[int, int]) -> list[tuple[str, int, str]]:
    return [(item, x, f"2026-01-01 00:{second // 60:02d}:{second % 60:02d}") for second, x in values]


def test_a_match_of_many_rows_over_restarts(tmp_path, engine) -> None:
    ticks = "item STRING, x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    job = PrintingJob(tmp_path, engine, {"ticks": ticks}, "item STRING, n BIGINT, total BIGINT, first_x INT, last_x INT", QUERY)
    job.columns["ticks"] = ["item", "x", "ts"]
    try:
        for part in range(3):
            # The watermark is that of the micro-batch before: no row is late by another one's time.
            numbers = range(400 * part + 1, 400 * part + 401)
            assert job.feed("ticks", *rows("a", *((i, i) for i in numbers)), *rows("b", (numbers[-1], part))) == []
            job.restart()
        assert job.feed("ticks", *rows("a", (1300, -1)), *rows("b", (1301, -1))) == [
            f"+I[a, 1200, {1200 * 1201 // 2}, 301, 900]",
            "+I[b, 3, 3, null, null]",
        ]
        # Nothing is kept of rows that are of no match any more.
        assert job.feed("ticks", *rows("a", (1302, 5), (1303, 6), (1304, -2))) == ["+I[a, 2, 11, null, null]"]
    finally:
        job.close()


@pytest.mark.parametrize(
    ("skip", "define", "expected"),
    [
        ("PAST LAST ROW", "A AS x >= 0", ("1", "99999", "1")),
        ("TO NEXT ROW", "A AS x >= 0", ("99999", "99999", "99999")),
        ("PAST LAST ROW", "A AS x >= 0 AND (LAST(A.x, 1) IS NULL OR x > LAST(A.x, 1)), B AS x < LAST(A.x)", ("1", "99999", "1")),
    ],
    ids=["past last row", "to next row", "with the row before"],
)
def test_a_hundred_thousand_rows_of_one_key(tmp_path, engine, skip: str, define: str, expected: tuple[str, ...]) -> None:
    engine.spark.range(1, 100_001).selectExpr(
        "1 AS item", "IF(id = 100000, -6000000000, id) AS x", "date_format(timestamp_seconds(1767225600 + id), 'yyyy-MM-dd HH:mm:ss') AS ts"
    ).coalesce(1).write.json(str(tmp_path / "ticks"))
    declared = (
        "CREATE TABLE ticks (item INT, x BIGINT, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'ticks', 'format' = 'json');"
        "SET 'execution.runtime-mode' = 'batch';"
    )
    client = open_session(tmp_path, declared, engine=engine)
    began = time.monotonic()
    (found,) = client.run(
        "SELECT COUNT(*), MAX(x), MAX(y) FROM ticks MATCH_RECOGNIZE (PARTITION BY item ORDER BY ts MEASURES LAST(A.x) AS x, FIRST(A.x) AS y "
        f"AFTER MATCH SKIP {skip} PATTERN (A+ B) DEFINE {define});"
    )
    assert found.rows == (expected,)
    # Each row a second time for each other row would be 10 billion steps.
    assert time.monotonic() - began < 300
    client.close()
