"""What keeps state goes on exactly while something else of its job is edited: the rows are those of a job that never stopped."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import ValidationError
from tests.support.edited import Begun, Project

if TYPE_CHECKING:
    from tests.support.memory import Memory

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]

TABLES = """
CREATE TABLE quotes (id INT, item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'asks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE others (id INT, item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = 'others', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE VIEW rates AS SELECT item, price, ts, id FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts DESC) AS rn FROM quotes) WHERE rn = 1;
CREATE TABLE appended (a INT, b INT, c INT) WITH ('connector' = 'memory');
CREATE TABLE kept (a INT, b INT, c INT, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'memory');
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

# The rows of a and b that a job gives which never stopped and was never edited.
WHOLE = {
    "MATCH_RECOGNIZE": [(1, 4), (2, 6), (4, 5)],
    "session window": [(1, 15), (2, 12), (8, 1)],
    "window Top-N": [(2, 5), (4, 3), (5, 9), (6, 7), (8, 1)],
    "Top-N": [(2, 5), (4, 3), (5, 9), (6, 7), (8, 1), (59, 0)],
    "first row": [(1, 1), (2, 5), (8, 1)],
    "last row": [(6, 7), (7, 2), (8, 1), (59, 0)],
    "Top-1": [(0, 7), (1, 3), (2, 9)],
    "interval join": [(1, 1), (1, 5), (2, 3), (4, 1), (4, 5), (5, 1), (5, 5), (6, 3), (6, 7), (7, 5), (59, 59)],
    "outer interval join": [(1, 1), (2, 3), (4, 5), (5, 5), (6, 7), (7, None), (8, None), (59, 59)],
    "temporal join": [(1, 1), (4, 1), (5, 5), (6, 3), (7, 5), (59, 59)],
    "OVER": [(1, 1), (2, 5), (4, 4), (5, 13), (6, 12), (7, 14), (8, 1), (59, 0)],
    "regular join": [(1, 1), (1, 5), (2, 3), (4, 1), (4, 5), (5, 1), (5, 5), (6, 3), (7, 1), (7, 5)],
    "outer join": [(1, 5), (2, 7), (4, 5), (5, 5), (6, 7), (7, 5), (8, None), (59, 59)],
    "DISTINCT": [(1, 3), (2, 1)],
    "retractions": [(0, 1), (1, 1), (7, 1), (9, 1)],
}

# Those whose sink has another key: what was written is taken back by all of its columns.
TAKEN_BACK = ("Top-N", "last row", "outer join")
# Those that a branch without a key would give another operator below the sink.
KEYED = (*TAKEN_BACK, "Top-1", "DISTINCT", "retractions")


@dataclass(frozen=True)
class Shape:
    """What keeps state, and a project whose job of it has stopped."""

    name: str
    begun: Begun


@pytest.fixture(scope="module", params=STATEFUL)
def shape(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, engine, memory: Memory):
    path = tmp_path_factory.mktemp("shape")
    (path / "others").mkdir()
    project = Project(path, engine, memory, TABLES)
    project.feed("bids", (1, "a", 1), (2, "b", 5), (4, "a", 3))
    project.feed("asks", (1, "a", 10), (3, "b", 20), (4, "c", 1))
    project.feed("others", (101, "x", 1))
    sink, query = STATEFUL[request.param]
    project.run(f"INSERT INTO {sink} SELECT a, b, CAST(NULL AS INT) FROM ({query});")
    yield Shape(request.param, begun := Begun(project))
    begun.project.session.close()


@pytest.fixture
def project(shape: Shape) -> Project:
    """It goes on, with further rows."""
    project = shape.begun.again()
    project.set("last-state")
    project.feed("bids", (5, "a", 9), (6, "b", 7), (7, "a", 2), (8, "cc", 1))
    project.feed("asks", (5, "a", 30), (6, "c", 1), (7, "b", 4))
    project.feed("bids", (59, "z", 0))
    project.feed("asks", (59, "z", 0))
    return project


def rows(project: Project, sink: str) -> list[tuple[int | None, ...]]:
    return [tuple(None if cell is None else int(cell) for cell in row) for row in project.table(sink)]


def test_an_edit_above_it(shape: Shape, project: Project) -> None:
    sink, query = STATEFUL[shape.name]
    edited = f"INSERT INTO {sink} SELECT a, b, COALESCE(a + b, a) FROM ({query}) WHERE a > -1 OR b IS NULL;"
    if shape.name in TAKEN_BACK:
        with pytest.raises(ValidationError, match="retracts rows by all of their values"):
            project.run(edited)
        return
    project.run(edited)
    assert not any("Part of the state" in said for said in project.said)
    found = rows(project, sink)
    assert Counter((a, b) for a, b, _ in found) == Counter(WHOLE[shape.name])
    # Those of before the edit are as they were written then.
    assert any(c is not None for *_, c in found)
    assert all(c is None or c == a + (b or 0) for a, b, c in found)


# The others show the same of what is edited above them.
BESIDE = ("Top-N", "interval join", "MATCH_RECOGNIZE")


@pytest.mark.parametrize("shape", [name if name in BESIDE else pytest.param(name, marks=pytest.mark.slow) for name in STATEFUL], indirect=True)
def test_an_edit_beside_it(shape: Shape, project: Project) -> None:
    sink, query = STATEFUL[shape.name]
    # What keeps state has other numbers then.
    union = f"SELECT a, b, CAST(NULL AS INT) FROM ({query})"
    if shape.name not in KEYED:
        union = f"SELECT id, price, 0 FROM (SELECT DISTINCT id, price FROM others) UNION ALL {union}"
    second = "INSERT INTO counted SELECT item, COUNT(*) FROM others GROUP BY item"
    project.run(f"EXECUTE STATEMENT SET BEGIN {second}; INSERT INTO {sink} {union}; END;")
    assert not any("Part of the state" in said for said in project.said)
    branch = [] if shape.name in KEYED else [(101, 1, 0)]
    assert Counter(rows(project, sink)) == Counter([*((a, b, None) for a, b in WHOLE[shape.name]), *branch])
    assert project.table("counted") == [("x", "1")]
