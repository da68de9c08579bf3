"""What keeps state goes on exactly while something else of its job is edited: the rows are those of a job that never stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import ValidationError
from tests.support.edited import Project

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

TABLES = """
CREATE TABLE quotes (id INT, item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'asks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE others (id INT, item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = 'others', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE VIEW rates AS SELECT item, price, ts, id FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts DESC) AS rn FROM quotes) WHERE rn = 1;
CREATE TABLE appended (a INT, b INT, c INT) WITH ('connector' = 'delta', 'table-path' = 'appended');
CREATE TABLE kept (a INT, b INT, c INT, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'kept');
CREATE TABLE appended_whole WITH ('table-path' = 'appended_whole') LIKE appended (OVERWRITING OPTIONS);
CREATE TABLE kept_whole WITH ('table-path' = 'kept_whole') LIKE kept (OVERWRITING OPTIONS);
"""
RANKED = "SELECT id AS a, price AS b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY {}) AS rn FROM bids) WHERE rn <= {}"
# What gives rows of a and b, and into which sink.
STATEFUL = {
    "MATCH_RECOGNIZE": ("appended", """
        SELECT a, b FROM bids MATCH_RECOGNIZE (PARTITION BY item ORDER BY ts MEASURES x.id AS a, y.id AS b
            AFTER MATCH SKIP TO NEXT ROW PATTERN (x w* y) DEFINE w AS w.price < x.price, y AS y.price > x.price)"""),
    "session window": ("appended", """
        SELECT MIN(id) AS a, SUM(price) AS b FROM TABLE(SESSION(TABLE bids PARTITION BY item, DESCRIPTOR(ts), INTERVAL '4' SECOND))
        GROUP BY item, window_start, window_end"""),
    "window Top-N": ("appended", """
        SELECT id AS a, price AS b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY price DESC) AS rn
            FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '30' SECOND))) WHERE rn <= 2"""),
    "Top-N": ("kept", RANKED.format("price DESC", 2)),
    "first row": ("kept", RANKED.format("ts", 1)),
    "last row": ("kept", RANKED.format("ts DESC", 1)),
    "Top-1": ("kept", RANKED.format("price DESC", 1).replace("id AS a", "k AS a").replace("item", "k").replace("bids", "(SELECT *, MOD(id, 3) AS k FROM bids)")),
    "interval join": ("appended", """
        SELECT b.id AS a, q.id AS b FROM bids AS b JOIN quotes AS q ON b.item = q.item AND q.ts BETWEEN b.ts - INTERVAL '4' SECOND AND b.ts + INTERVAL '4' SECOND"""),
    "outer interval join": ("appended", """
        SELECT b.id AS a, q.id AS b FROM bids AS b LEFT JOIN quotes AS q ON b.item = q.item AND q.ts BETWEEN b.ts - INTERVAL '1' SECOND AND b.ts + INTERVAL '1' SECOND"""),
    "temporal join": ("appended", "SELECT b.id AS a, r.id AS b FROM bids AS b JOIN rates FOR SYSTEM_TIME AS OF b.ts AS r ON b.item = r.item"),
    "OVER": ("appended", """
        SELECT id AS a, SUM(price) OVER (PARTITION BY item ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS b FROM bids"""),
    "regular join": ("appended", "SELECT b.id AS a, q.id AS b FROM bids AS b JOIN asks AS q ON b.item = q.item AND b.price < q.price"),
    "outer join": ("kept", "SELECT b.id AS a, q.id AS b FROM bids AS b LEFT JOIN rates AS q ON b.item = q.item"),
    "DISTINCT": ("kept", "SELECT CAST(CHAR_LENGTH(item) AS INT) AS a, CAST(COUNT(DISTINCT item) AS INT) AS b FROM bids GROUP BY CHAR_LENGTH(item)"),
    "retractions": ("kept", "SELECT m AS a, CAST(COUNT(*) AS INT) AS b FROM (SELECT item, MAX(price) AS m FROM bids GROUP BY item) GROUP BY m"),
}  # fmt: skip


# Those whose sink has another key: what was written is taken back by all of its columns.
TAKEN_BACK = ("Top-N", "last row", "outer join")
# Those that a branch without a key would give another operator below the sink.
KEYED = (*TAKEN_BACK, "Top-1", "DISTINCT", "retractions")


@pytest.fixture
def project(tmp_path: Path, engine):
    (tmp_path / "others").mkdir()
    made = Project(tmp_path, engine)
    list(made.session.run(TABLES))
    yield made
    made.session.close()


@pytest.mark.parametrize("edit", ["above it", "beside it"])
@pytest.mark.parametrize("name", STATEFUL)
def test_state_goes_on_exactly(project: Project, name: str, edit: str) -> None:
    sink, query = STATEFUL[name]
    first = f"INSERT INTO {sink} SELECT a, b, CAST(NULL AS INT) FROM ({query})"
    project.feed("bids", (1, "a", 1), (2, "b", 5), (4, "a", 3))
    project.feed("asks", (1, "a", 10), (3, "b", 20), (4, "c", 1))
    project.feed("others", (101, "x", 1))
    project.run(f"{first};")
    project.set("last-state")
    project.feed("bids", (5, "a", 9), (6, "b", 7), (7, "a", 2), (8, "cc", 1))
    project.feed("asks", (5, "a", 30), (6, "c", 1), (7, "b", 4))
    project.feed("bids", (59, "z", 0))
    project.feed("asks", (59, "z", 0))
    if edit == "above it":
        edited = f"INSERT INTO {sink} SELECT a, b, COALESCE(a + b, a) FROM ({query}) WHERE a > -1 OR b IS NULL;"
        if name in TAKEN_BACK:
            with pytest.raises(ValidationError, match="taken back by all of their values"):
                project.run(edited)
            return
        project.run(edited)
        branch = []
    else:
        # What keeps state has other numbers then.
        if name in KEYED:
            union = f"SELECT a, b, CAST(NULL AS INT) FROM ({query})"
        else:
            union = f"SELECT id, price, 0 FROM (SELECT DISTINCT id, price FROM others) UNION ALL SELECT a, b, CAST(NULL AS INT) FROM ({query})"
        second = "INSERT INTO counted SELECT item, COUNT(*) FROM others GROUP BY item"
        project.run(f"EXECUTE STATEMENT SET BEGIN {second}; INSERT INTO {sink} {union}; END;")
        branch = [] if name in KEYED else [("101", "1", "0")]
    assert not any("a part is kept" in said for said in project.said)
    list(project.session.run("SET 'pipeline.name' = 'whole';"))
    project.run(f"{first.replace(sink, f'{sink}_whole')};")
    list(project.session.run("SET 'execution.runtime-mode' = 'batch';"))
    # NULL is not sorted beside numbers.
    rows, whole = (project.rows(f"SELECT a, COALESCE(b, -1), COALESCE(c, -1) FROM {table}") for table in (sink, f"{sink}_whole"))
    if edit == "above it":
        assert any(c != "-1" for *_, c in rows)
        assert all(int(c) in (-1, int(a) + max(int(b), 0)) for a, b, c in rows)
        rows = [(a, b, "-1") for a, b, _ in rows]
    assert rows == sorted(whole + branch)
    assert len(whole) > 1
