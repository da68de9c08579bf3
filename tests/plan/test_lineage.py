"""Column lineage: which columns of tables each column of a query comes from, and which ones decide about its rows. No JVM."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SqlStreamError
from sqlstream.plan.lineage import Effect, Origin, lineage, through
from sqlstream.plan.nodes import CoGroup, KeyedJoin, Node, Sink
from sqlstream.plan.properties import fields, walk
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from sqlstream.sql.tables import ObjectPath, Table
from tests.plan.test_node_answers import NODES
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.plan.lineage import Influences
    from sqlstream.plan.planned import Planned
    from sqlstream.session.session import Session

RULES = Path(__file__).with_name("rules")
KAFKA = "'connector' = 'kafka', 'properties.bootstrap.servers' = 'h:1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset'"
DECLARATIONS = f"""
CREATE TABLE o (id INT, k INT, n BIGINT, name STRING, place ROW<city STRING, zip ROW<code STRING>>, tags ARRAY<STRING>,
  lines ARRAY<ROW<item STRING, price INT>>, ts TIMESTAMP(3), twice AS n * 2, `at` TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', p AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ({KAFKA}, 'topic' = 'o');
CREATE TABLE c (k INT, name STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ({KAFKA}, 'topic' = 'c');
CREATE TABLE d (k INT, name STRING, price INT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/x', 'table-name' = 'd');
CREATE TABLE rates (k INT, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'upsert-kafka', 'topic' = 'r', 'properties.bootstrap.servers' = 'h:1', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE `Größen` (`a.b` INT, `日本` STRING) WITH ({KAFKA}, 'topic' = 'g');
CREATE TABLE sink (a INT, b STRING) WITH ('connector' = 'blackhole');
CREATE VIEW named AS SELECT k, UPPER(name) AS name FROM c WHERE price > 1;
CREATE VIEW counted AS SELECT name, COUNT(k) AS cnt FROM named GROUP BY name;
"""
FUNCTIONS = """
from collections.abc import Iterator

from sqlstream.udf import AggregateFunction, udaf, udf, udtf


@udf
def doubled(n: int) -> int:
    return n * 2


@udtf
def words(text: str) -> Iterator[str]:
    yield from text.split()


class Total(AggregateFunction):
    def create_accumulator(self):
        return [0]

    def accumulate(self, kept, n: int) -> None:
        kept[0] += n

    def get_value(self, kept) -> int:
        return kept[0]


total = udaf(Total())
"""
HOUR = "DESCRIPTOR(ts), INTERVAL '1' HOUR"
CASES: dict[str, tuple[str, dict[str, str], str]] = {
    "columns as they are": (
        "SELECT id, name AS title FROM o",
        {"id": "o.id", "title": "o.name"},
        "",
    ),
    "a column that comes twice": (
        "SELECT n, n AS m, n + n AS twofold FROM o",
        {"n": "o.n", "m": "o.n", "twofold": "o.n TRANSFORMATION"},
        "",
    ),
    "constants": (
        "SELECT 1 AS a, 'x' AS x, CAST(NULL AS INT) AS nothing, id FROM o",
        {"a": "", "x": "", "nothing": "", "id": "o.id"},
        "",
    ),
    "values": (
        "SELECT * FROM (VALUES (1, 'a')) AS t (a, b)",
        {"a": "", "b": ""},
        "",
    ),
    "a function, a cast": (
        "SELECT UPPER(name) AS u, CAST(id AS STRING) AS s, CAST(id AS INT) AS same FROM o",
        {"u": "o.name TRANSFORMATION", "s": "o.id TRANSFORMATION", "same": "o.id"},
        "",
    ),
    "nested fields": (
        "SELECT place.city, o.place.zip.code, UPPER(place.city) AS u, place FROM o",
        {"city": "o.place.city", "code": "o.place.zip.code", "u": "o.place.city TRANSFORMATION", "place": "o.place"},
        "",
    ),
    "a field of a row that is made": (
        "SELECT r.a AS x FROM (SELECT CAST(ROW(id, n) AS ROW<a INT, b BIGINT>) AS r FROM o)",
        {"x": "o.id TRANSFORMATION, o.n TRANSFORMATION"},
        "",
    ),
    "a field of a row in a view": (
        "SELECT z.code FROM (SELECT place.zip AS z FROM o)",
        {"code": "o.place.zip.code"},
        "",
    ),
    "computed, metadata and watermark columns": (
        "SELECT twice, `at`, ts, p FROM o",
        {"twice": "o.n TRANSFORMATION", "at": "o.at", "ts": "o.ts", "p": ""},
        "",
    ),
    "CASE decides": (
        "SELECT CASE WHEN k > 1 THEN name WHEN n > 2 THEN 'x' ELSE place.city END AS v FROM o",
        {"v": "o.k CONDITIONAL, o.n CONDITIONAL, o.name, o.place.city"},
        "",
    ),
    "other choices": (
        "SELECT COALESCE(k, id) AS c, IF(k > 1, n, 0) AS i, NULLIF(id, k) AS u FROM o",
        {"c": "o.id, o.k, o.k CONDITIONAL", "i": "o.k CONDITIONAL, o.n", "u": "o.id, o.id CONDITIONAL, o.k CONDITIONAL"},
        "",
    ),
    "a filter": (
        "SELECT id FROM o WHERE k > 1 AND name LIKE 'x%'",
        {"id": "o.id"},
        "o.k FILTER, o.name FILTER",
    ),
    "a join; names that are equal": (
        "SELECT o.name, c.name AS other FROM o JOIN c ON o.k = c.k",
        {"name": "o.name", "other": "c.name"},
        "c.k JOIN, o.k JOIN",
    ),
    "a join by more than keys": (
        "SELECT o.id, c.price FROM o LEFT JOIN c ON o.k = c.k AND o.n > c.price",
        {"id": "o.id", "price": "c.price"},
        "c.k JOIN, c.price JOIN, o.k JOIN, o.n JOIN",
    ),
    "a self-join": (
        "SELECT a.id, b.id AS other FROM o AS a JOIN o AS b ON a.k = b.n",
        {"id": "o.id", "other": "o.id"},
        "o.k JOIN, o.n JOIN",
    ),
    "IN": (
        "SELECT id FROM o WHERE k IN (SELECT k FROM c WHERE price > 1)",
        {"id": "o.id"},
        "c.k JOIN, c.price FILTER, o.k JOIN",
    ),
    "a scalar subquery": (
        "SELECT id, (SELECT MAX(price) FROM c WHERE c.k = o.k) AS top FROM o",
        {"id": "o.id", "top": "c.price AGGREGATION"},
        "c.k GROUP_BY, c.k JOIN, o.k JOIN",
    ),
    "an interval join": (
        "SELECT o.id, c.name FROM o JOIN c ON o.k = c.k AND o.ts BETWEEN c.ts AND c.ts + INTERVAL '1' HOUR",
        {"id": "o.id", "name": "c.name"},
        "c.k JOIN, c.ts JOIN, o.k JOIN, o.ts JOIN",
    ),
    "a temporal join": (
        "SELECT o.id, rates.rate FROM o JOIN rates FOR SYSTEM_TIME AS OF o.ts ON o.k = rates.k",
        {"id": "o.id", "rate": "rates.rate"},
        "o.k JOIN, o.ts JOIN, rates.k JOIN, rates.ts JOIN",
    ),
    "a lookup join": (
        "SELECT o.id, d.name FROM o JOIN d FOR SYSTEM_TIME AS OF o.p ON o.k = d.k AND d.price > o.n",
        {"id": "o.id", "name": "d.name"},
        "d.k JOIN, d.price JOIN, o.k JOIN, o.n JOIN",
    ),
    "a view over a view": (
        "SELECT name, cnt FROM counted WHERE cnt > 1",
        {"name": "c.name TRANSFORMATION", "cnt": "c.k AGGREGATION"},
        "c.k FILTER, c.name GROUP_BY, c.price FILTER",
    ),
    "UNION ALL": (
        "SELECT id, name FROM o UNION ALL SELECT k, UPPER(name) FROM c WHERE price > 1",
        {"id": "c.k, o.id", "name": "c.name TRANSFORMATION, o.name"},
        "c.price FILTER",
    ),
    "an aggregate": (
        "SELECT name, SUM(n) AS s, COUNT(*) AS c, COUNT(DISTINCT id) AS d, MAX(n) FILTER (WHERE k > 1) AS f FROM o GROUP BY name",
        {"name": "o.name", "s": "o.n AGGREGATION", "c": "", "d": "o.id AGGREGATION", "f": "o.k CONDITIONAL, o.n AGGREGATION"},
        "o.name GROUP_BY",
    ),
    "HAVING, and an expression of aggregates": (
        "SELECT SUM(n) / COUNT(id) AS average FROM o GROUP BY k HAVING MIN(id) > 1",
        {"average": "o.id AGGREGATION, o.n AGGREGATION"},
        "o.id FILTER, o.k GROUP_BY",
    ),
    "DISTINCT": (
        "SELECT DISTINCT name FROM o",
        {"name": "o.name"},
        "o.name GROUP_BY",
    ),
    "GROUPING SETS": (
        "SELECT name, k, SUM(n) AS s FROM o GROUP BY GROUPING SETS ((name), (k))",
        {"name": "o.name", "k": "o.k", "s": "o.n AGGREGATION"},
        "o.k GROUP_BY, o.name GROUP_BY",
    ),
    "a window aggregate": (
        f"SELECT window_start, k, SUM(n) AS s FROM TABLE(TUMBLE(TABLE o, {HOUR})) GROUP BY window_start, window_end, k",
        {"window_start": "o.ts TRANSFORMATION", "k": "o.k", "s": "o.n AGGREGATION"},
        "o.k GROUP_BY, o.ts GROUP_BY",
    ),
    "a session window": (
        f"SELECT window_end, COUNT(id) AS c FROM TABLE(SESSION(TABLE o PARTITION BY k, {HOUR})) GROUP BY window_start, window_end, k",
        {"window_end": "o.k WINDOW, o.ts TRANSFORMATION", "c": "o.id AGGREGATION"},
        "o.k GROUP_BY, o.ts GROUP_BY",
    ),
    "a window join": (
        f"SELECT a.id, b.price FROM (SELECT * FROM TABLE(TUMBLE(TABLE o, {HOUR}))) AS a JOIN (SELECT * FROM TABLE(TUMBLE(TABLE c, {HOUR}))) AS b ON a.k = b.k AND a.window_start = b.window_start AND a.window_end = b.window_end",
        {"id": "o.id", "price": "c.price"},
        "c.k JOIN, c.ts JOIN, o.k JOIN, o.ts JOIN",
    ),
    "a window Top-N": (
        f"SELECT id, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY n DESC) AS r FROM TABLE(TUMBLE(TABLE o, {HOUR}))) WHERE r <= 3",
        {"id": "o.id", "r": "o.k WINDOW, o.n WINDOW, o.ts WINDOW"},
        "o.k WINDOW, o.n WINDOW, o.ts WINDOW",
    ),
    "OVER": (
        "SELECT id, SUM(n) OVER w AS s, LAG(name) OVER w AS l FROM o WINDOW w AS (PARTITION BY k ORDER BY ts)",
        {"id": "o.id", "s": "o.k WINDOW, o.n AGGREGATION, o.ts WINDOW", "l": "o.k WINDOW, o.name TRANSFORMATION, o.ts WINDOW"},
        "",
    ),
    "Top-N with its number": (
        "SELECT id, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS r FROM o) WHERE r <= 3",
        {"id": "o.id", "r": "o.k WINDOW, o.n WINDOW"},
        "o.k WINDOW, o.n WINDOW",
    ),
    "deduplication": (
        "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS r FROM o) WHERE r = 1",
        {"id": "o.id"},
        "o.k WINDOW, o.ts WINDOW",
    ),
    "MATCH_RECOGNIZE": (
        "SELECT * FROM o MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.name AS first_name, SUM(A.n) AS s, B.id AS last_id AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS A.id > 1, B AS B.n > LAST(A.n)) AS m",
        {"k": "o.k", "first_name": "o.name", "s": "o.n AGGREGATION", "last_id": "o.id"},
        "o.id FILTER, o.k WINDOW, o.n FILTER, o.ts WINDOW",
    ),
    "UNNEST": (
        "SELECT id, tag FROM o CROSS JOIN UNNEST(tags) AS t (tag)",
        {"id": "o.id", "tag": "o.tags TRANSFORMATION"},
        "o.tags JOIN",
    ),
    "UNNEST of rows": (
        "SELECT id, item, price FROM o, UNNEST(lines) AS l (item, price)",
        {"id": "o.id", "item": "o.lines TRANSFORMATION", "price": "o.lines TRANSFORMATION"},
        "o.lines JOIN",
    ),
    "ORDER BY": (
        "SELECT id FROM o ORDER BY ts, name",
        {"id": "o.id"},
        "o.name SORT, o.ts SORT",
    ),
    "changes by key": (
        "SELECT k, rate FROM rates WHERE rate > 1",
        {"k": "rates.k", "rate": "rates.rate"},
        "rates.rate FILTER",
    ),
    "a Python function": (
        "SELECT doubled(id) AS two, doubled(doubled(k)) AS four FROM o",
        {"two": "o.id TRANSFORMATION", "four": "o.k TRANSFORMATION"},
        "",
    ),
    "unicode, and dots in names": (
        "SELECT `a.b` AS `x.y`, `日本` AS `ü` FROM `Größen`",
        {"x.y": "Größen.a.b", "ü": "Größen.日本"},
        "",
    ),
    "a Python table function": (
        "SELECT id, w.word FROM o, LATERAL TABLE(words(name)) AS w (word)",
        {"id": "o.id", "word": "o.name TRANSFORMATION"},
        "o.name JOIN",
    ),
    "a Python aggregate": (
        "SELECT k, total(id) AS t FROM o GROUP BY k",
        {"k": "o.k", "t": "o.id AGGREGATION"},
        "o.k GROUP_BY",
    ),
}  # fmt: skip

# What the rules of the plan put in the place of other nodes says more of rows: of a Top-N that its window decides, of versions by their time.
MORE_EXACT = ("a temporal join", "a window Top-N", "Top-N with its number", "deduplication")


def shown(influences: Influences) -> str:
    """``o.k, o.place.city JOIN``: columns that are in it as they are, and others with what they do."""
    return ", ".join(sorted(_shown(".".join((o.table.path.name, *o.column)), effect) for o, effect in influences))


def _shown(column: str, effect: Effect) -> str:
    return column if effect is Effect.IDENTITY else f"{column} {effect.value}"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "udfs").mkdir()
    (tmp_path / "udfs" / "lineage_functions.py").write_text(FUNCTIONS)
    return open_session(tmp_path, DECLARATIONS)


def planned(session: Session, sql: str) -> Planned:
    return session.planner.planned(parse(sql), session.planner.environment())


@pytest.mark.parametrize("name", CASES)
def test_where_columns_and_rows_come_from(name: str, session: Session) -> None:
    sql, columns, rows = CASES[name]
    plan = planned(session, sql)
    of = lineage(plan.plan)
    assert {column: shown(influences) for column, influences in of.columns.items()} == columns
    assert shown(of.rows) == rows
    # By itself the plan as it is written says the same.
    written = lineage(plan.logical)
    assert [*written.columns.values()] == [*of.columns.values()]
    assert (written.rows == of.rows) is (name not in MORE_EXACT)


def test_a_sink_names_its_columns_by_place(session: Session) -> None:
    of = lineage(planned(session, "INSERT INTO sink SELECT o.k, c.name FROM o JOIN c ON o.k = c.k").plan)
    assert {name: shown(influences) for name, influences in of.columns.items()} == {"a": "o.k", "b": "c.name"}
    partial = lineage(planned(session, "INSERT INTO sink (b) SELECT name FROM c").plan)
    assert {name: shown(influences) for name, influences in partial.columns.items()} == {"a": "", "b": "c.name"}


def test_options_of_a_hint_make_another_table(session: Session) -> None:
    of = lineage(planned(session, "SELECT a.k FROM c AS a JOIN c /*+ OPTIONS('topic' = 'other') */ AS b ON a.k = b.k").plan)
    assert {origin.table.options["topic"] for origin, _ in of.rows} == {"c", "other"}
    assert len(of.rows) == 2


def test_what_an_effect_does_to_another() -> None:
    origin = Origin(Table(ObjectPath("c", "d", "t"), ()), ("x",))
    for outer, inner, expected in (
        (Effect.IDENTITY, Effect.AGGREGATION, Effect.AGGREGATION),
        (Effect.TRANSFORMATION, Effect.IDENTITY, Effect.TRANSFORMATION),
        (Effect.AGGREGATION, Effect.TRANSFORMATION, Effect.AGGREGATION),
        (Effect.AGGREGATION, Effect.CONDITIONAL, Effect.CONDITIONAL),
        (Effect.JOIN, Effect.AGGREGATION, Effect.JOIN),
        (Effect.FILTER, Effect.WINDOW, Effect.FILTER),
    ):
        assert through(outer, frozenset([(origin, inner)])) == {(origin, expected)}


def _queries() -> Iterator[str]:
    for path in sorted(RULES.glob("*.sql")):
        if path.stem != "tables":
            lines = ("" if line.startswith(("--:", "--=")) else line for line in path.read_text().splitlines())
            yield from (s.text for s in split("\n".join(lines)) if not s.text.startswith("SET"))


def test_every_node_answers(session: Session, tmp_path: Path) -> None:
    """Of all queries with which rules are tested, too, the plan says the same as the one that is written."""
    (tmp_path / "rules" / "udfs").mkdir(parents=True)
    shutil.copy(RULES / "words_and_folds.py", tmp_path / "rules" / "udfs")
    of_rules = open_session(tmp_path / "rules", (RULES / "tables.sql").read_text())
    met: set[type[Node]] = set()
    for asked, sql in (*((of_rules, q) for q in _queries()), *((session, q) for q, _, _ in CASES.values())):
        try:
            plan = planned(asked, sql)
        except SqlStreamError:
            # It is there for what a rule refuses.
            continue
        of, written = lineage(plan.plan), lineage(plan.logical)
        assert {*of.columns} == {f.name for f in fields(plan.plan)} or isinstance(plan.plan, Sink), sql
        assert [*written.columns.values()] == [*of.columns.values()], sql
        # A value that is joined, grouped or filtered by is said to be so by both.
        assert {origin for origin, _ in written.rows} <= {origin for origin, _ in of.rows}, sql
        met |= {type(node) for node in (*walk(plan.plan), *walk(plan.logical))}
        met |= {type(node.join) for node in walk(plan.plan) if isinstance(node, CoGroup | KeyedJoin)}
    assert {kind.__name__ for kind in NODES if kind.__module__.startswith("sqlstream.")} == {kind.__name__ for kind in met}
