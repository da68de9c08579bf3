"""SHOW CREATE VIEW: Flink's text of a view, every name in it qualified; run, it gives the same view."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import open_session, plans

if TYPE_CHECKING:
    from sqlstream.session.session import Session

DECLARED = """
CREATE TABLE t (a INT, b STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'number-of-rows' = '5');
CREATE TABLE u (a INT, d STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '5');
CREATE TABLE rr (r ROW<x INT, y ROW<z INT>>, m MAP<STRING, INT>, n ARRAY<ROW<p INT>>) WITH ('connector' = 'datagen');
CREATE VIEW v1 AS SELECT a, b FROM t;
"""
# A statement that Flink was given, and what it said to SHOW CREATE VIEW then.
RECORDED = [b.removeprefix(">> ").split("\n", 1) for b in (Path(__file__).parent / "recorded_views.txt").read_text().strip().split("\n\n>> ")]
QUERIES = (
    "SELECT a FROM t WHERE a IN (SELECT a FROM u WHERE d = b) AND NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
    "SELECT x.a, s.m FROM t AS x LEFT JOIN LATERAL (SELECT MAX(u.a) AS m FROM u WHERE u.a = x.a) AS s ON TRUE",
    "SELECT * FROM t NATURAL JOIN u", "SELECT a, d FROM t FULL JOIN u USING (a)", "SELECT * FROM (t CROSS JOIN u) JOIN v1 ON v1.a = u.a",
    "SELECT a FROM t INTERSECT SELECT a FROM u ORDER BY a LIMIT 3", "(SELECT a AS z FROM t) UNION (SELECT a FROM u EXCEPT SELECT 1)",
    "SELECT r.x, r.y.z, rr.r.y, m['k'], n[1].p FROM rr WHERE r.x > 1 AND m['k'] IS NOT NULL", "SELECT q.p FROM rr CROSS JOIN UNNEST(n) AS q (p)",
    "SELECT r.*, rr.r.y.* FROM rr", "SELECT *, r.*, r.y.* FROM rr AS q", "SELECT a AS b, SUM(a) AS s FROM t GROUP BY GROUPING SETS ((a), ()) HAVING SUM(a) > 1", "SELECT *, a AS z FROM (SELECT a FROM t), (SELECT d FROM u)",
    "SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS v (a, b) WHERE a > 1", "SELECT a FROM t /*+ OPTIONS('number-of-rows' = '3') */ WHERE b IS NOT NULL",
    "SELECT COUNT(*) OVER w AS c, LAG(a, 1) OVER w AS l FROM t WINDOW w AS (PARTITION BY b ORDER BY ts)",
    "SELECT a AS b, b AS a FROM t WINDOW w AS (PARTITION BY b ORDER BY ts) QUALIFY ROW_NUMBER() OVER w = 1 AND b > 1",
    "WITH c (k) AS (SELECT a FROM t), e AS (SELECT k FROM c) SELECT * FROM e, c",
    "SELECT (SELECT COUNT(*) FROM u WHERE u.a = t.a) + 1 AS n, CASE WHEN EXISTS (SELECT 1 FROM u) THEN 1 ELSE 2 END AS m FROM t",
    "SELECT window_start, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end",
    "SELECT TUMBLE_START(ts, INTERVAL '1' HOUR) AS s, COUNT(*) AS n FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
    "SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a DESC) AS n FROM t) WHERE n <= 3",
    "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a ORDER BY ts MEASURES A.b AS z ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW "
    "PATTERN (A B) DEFINE A AS A.b = 'x', B AS B.b = A.b)",
)  # fmt: skip


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return open_session(tmp_path, DECLARED)


def text(session: Session, statement: str) -> str:
    (outcome,) = session.run(statement)
    return str(outcome.rows[0][0])


@pytest.mark.parametrize(("statement", "expected"), RECORDED, ids=lambda part: part[:40])
def test_it_is_flinks(session: Session, statement: str, expected: str) -> None:
    name = re.search(r"VIEW (\w+)", statement)
    assert name is not None
    list(session.run(statement.replace("VIEW v1 ", "VIEW IF NOT EXISTS v1 ")))
    assert text(session, f"SHOW CREATE VIEW {name[1]}").strip() == expected


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_shown_gives_the_same_view_in_any_database(session: Session, query: str) -> None:
    list(session.run(f"CREATE VIEW v AS {query}"))
    shown = text(session, "SHOW CREATE VIEW v")
    list(session.run(f"CREATE DATABASE other; USE other; {shown.replace('`v` (', '`w` (', 1)}"))
    assert plans(session, "SELECT * FROM default_database.w") == plans(session, "SELECT * FROM default_database.v")
    assert text(session, "SHOW CREATE VIEW default_database.w").replace("`w` (", "`v` (", 1) == shown
