"""Names and places that mean nothing or two things are refused, as Flink does; those that it takes are taken. Messages are Flink's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import NotSupported, SqlStreamError, SyntaxProblem, ValidationError
from tests.support.sessions import explained, open_session

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session

DECLARED = """
CREATE TABLE t (a INT, b STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'number-of-rows' = '5');
CREATE TABLE taken (window_start INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE u (a INT, d STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '5');
CREATE TABLE p (a INT, m STRING METADATA) WITH ('connector' = 'print');
CREATE TABLE bh (a INT, m STRING METADATA FROM 'x' VIRTUAL) WITH ('connector' = 'blackhole');
CREATE TABLE k (a INT, `offset` BIGINT METADATA, topic STRING METADATA VIRTUAL) WITH ('connector' = 'kafka', 'topic' = 'k', 'format' = 'json',
  'properties.bootstrap.servers' = 'localhost:1', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE h (a INT, headers MAP<STRING, BYTES> METADATA, topic STRING METADATA VIRTUAL) WITH ('connector' = 'kafka', 'topic' = 'h', 'format' = 'json',
  'properties.bootstrap.servers' = 'localhost:1', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE f (a INT, m STRING METADATA FROM 'file.name') WITH ('connector' = 'filesystem', 'path' = 'f', 'format' = 'json');
"""
WINDOWED = "SELECT * FROM TABLE(TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' HOUR"
MATCHED = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.a AS z"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return open_session(tmp_path_factory.mktemp("project"), DECLARED)


def test_words_that_are_no_functions_are_columns(session: Session) -> None:
    words = "user, USER, current_user, session_user, system_user, current_role, current_path, current_catalog, current_schema".split(", ")
    columns = ", ".join(f"`{w}`" for w in words)
    text = f"SELECT {', '.join(words)} FROM (VALUES ({', '.join('1' for _ in words)})) AS v ({columns}) WHERE user = 1 ORDER BY user LIMIT 1"
    assert f"Calc(select=[{', '.join(words)}]" in explained(session, text)


WINDOW_COLUMNS = """CREATE TABLE w (window_start INT, window_end STRING, window_time INT, `$window_start` INT, a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'datagen')"""
OVER_TAKEN_NAMES = {
    "SELECT COUNT(*) AS n FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' HOUR)) AS x (p, q, r, u, a, ts, ws, we, wt) GROUP BY ws, we":
        "WindowAggregate(",
    "SELECT a FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' HOUR))": "Calc(select=[a]",
    "SELECT window_start, TUMBLE_START(ts, INTERVAL '1' HOUR) AS s, `$window_start` FROM w "
    "GROUP BY window_start, `$window_start`, TUMBLE(ts, INTERVAL '1' HOUR)": "Calc(select=[window_start0 AS window_start, window_start AS s, $window_start]",
    "SELECT SESSION_START(ts, INTERVAL '1' HOUR) AS s, MAX(window_end) AS m FROM w GROUP BY SESSION(ts, INTERVAL '1' HOUR)": "MAX(window_end0) AS m",
    "SELECT s, COUNT(*) FROM TABLE(SESSION(TABLE w PARTITION BY window_start, DESCRIPTOR(ts), INTERVAL '1' HOUR)) AS x (k, q, r, u, a, ts, s, e, wt) "
    "GROUP BY k, s, e": "WindowAggregate(groupBy=[k]",
}  # fmt: skip


@pytest.mark.parametrize("text", OVER_TAKEN_NAMES)
def test_windows_over_columns_that_are_called_as_theirs(session: Session, text: str) -> None:
    list(session.run(WINDOW_COLUMNS.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")))
    assert OVER_TAKEN_NAMES[text] in explained(session, text)


ORDINALS = {
    **dict.fromkeys(("SELECT a, b FROM t ORDER BY 0 LIMIT 5", "SELECT a, b FROM t ORDER BY 3 LIMIT 5", "SELECT * FROM t ORDER BY 4 LIMIT 5", "SELECT a, b FROM t ORDER BY a + 1, 3 LIMIT 5", "SELECT DISTINCT a, b FROM t ORDER BY 3 LIMIT 5", "SELECT a FROM t ORDER BY 0.9 LIMIT 5", "SELECT a FROM t UNION ALL SELECT a FROM u ORDER BY 2 LIMIT 5", "VALUES (1, 2) ORDER BY 0 LIMIT 5", "(SELECT a FROM t) ORDER BY 2 LIMIT 5", "SELECT * FROM (SELECT a FROM t ORDER BY 2 LIMIT 5)", "SELECT a, COUNT(*) FROM t GROUP BY a ORDER BY 3 LIMIT 5", "SELECT a FROM t ORDER BY 1e999999999 LIMIT 5", "SELECT a FROM t ORDER BY 4294967297 LIMIT 5", "SELECT d, x FROM u, LATERAL (SELECT a AS x FROM t WHERE t.b = u.d ORDER BY 2 LIMIT 1) AS s"), "Ordinal out of range"),
    "SELECT *, a FROM t ORDER BY a LIMIT 3": "Column 'a' is ambiguous",
    "SELECT a AS x, b AS x FROM t ORDER BY x LIMIT 3": "Column 'x' is ambiguous",
    "SELECT a, b FROM t ORDER BY NULL LIMIT 5": "Illegal use of 'NULL'",
    "SELECT COUNT(*) FROM t GROUP BY NULL": "Illegal use of 'NULL'",
    "SELECT a, COUNT(*) FROM t GROUP BY 1": "Expression 'a' is not being grouped",
    "SELECT a, COUNT(*) FROM t GROUP BY a HAVING 1": "HAVING clause must be a condition",
    "SELECT DISTINCT a FROM t ORDER BY b LIMIT 3": "Column 'b' not found in any table",
    "SELECT a FROM t LIMIT 2147483648": "LIMIT, OFFSET and FETCH count at most 2147483647 rows.",
    "SELECT a FROM t LIMIT 5 OFFSET 1e999999999": "LIMIT, OFFSET and FETCH count at most 2147483647 rows.",
    "SELECT a FROM t LIMIT \u0663": 'Encountered "\u0663" at line 1, column 31.',
    "SELECT a FROM t FETCH FIRST '1' ROWS ONLY": "Encountered \"'1'\" at line 1, column 37.",
    "SELECT INTERVAL '\u0663' DAY": "Illegal interval literal format '\u0663' for INTERVAL DAY",
    "SELECT DATE '\u0662\u0660\u0662\u0666-01-01'": "Illegal DATE literal '\u0662\u0660\u0662\u0666-01-01': not in format 'yyyy-MM-dd'",
}  # fmt: skip
REPEATED = {
    **{text: f"Duplicate relation name '{name}' in FROM clause" for name, text in (
        ("t", "SELECT * FROM t, t"), ("t", "SELECT 1 FROM t, t"), ("x", "SELECT * FROM t AS x, u AS x"), ("t", "SELECT * FROM t JOIN t ON TRUE"),
        ("t", "SELECT * FROM t NATURAL JOIN t"), ("t", "SELECT * FROM t, (SELECT a FROM u) AS t"), ("t", "SELECT * FROM t, LATERAL (SELECT a FROM u) AS t"),
        ("t", "SELECT * FROM t, UNNEST(ARRAY[1, 2]) AS t (x)"), ("t", "SELECT * FROM t, default_database.t"),
        ("x", "SELECT * FROM t AS x, (t CROSS JOIN u AS x)"),
    )},
    **{text: f"Column '{name}' is ambiguous" for name, text in (
        ("a", "SELECT * FROM (SELECT a, a FROM t)"), ("a", "SELECT a FROM (SELECT a, b AS a FROM t)"), ("a", "SELECT x.* FROM (SELECT a, a FROM t) AS x"),
        ("a", "SELECT * FROM (SELECT *, a FROM t)"), ("a", "SELECT * FROM (SELECT a, a FROM u UNION ALL SELECT a, a FROM u)"),
        ("a", "SELECT * FROM (SELECT a, a FROM u LIMIT 4), t"), ("a", "SELECT * FROM (SELECT DISTINCT a, a FROM t) AS x"),
        ("EXPR$1", "SELECT * FROM (SELECT a AS `EXPR$1`, 2 FROM u)"), ("a", "SELECT * FROM u, LATERAL (SELECT a, a FROM t) AS x"),
    )},
    **{f"SELECT {columns} FROM TABLE(TUMBLE(TABLE taken, DESCRIPTOR(ts), INTERVAL '1' HOUR)) AS x": "Column 'window_start' is ambiguous" for columns in (
        "window_start", "x.window_start", "*", "x.*",
    )},
    "SELECT window_start FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)": "Column 'window_start' not found in any table",
    "SELECT a0 FROM (SELECT a, a FROM t)": "Column 'a0' not found in any table",
    "SELECT * FROM t AS x (p, p, q)": "Duplicate name 'p' in column alias list",
    "SELECT * FROM (VALUES (1, 2)) AS v (p, p)": "Duplicate name 'p' in column alias list",
    "SELECT * FROM t, UNNEST(MAP[1, 2]) AS v (p, p)": "Duplicate name 'p' in column alias list",
    "WITH c AS (SELECT a, a FROM t) SELECT 1 FROM c": "Column has duplicate column name 'a' and no column list specified",
    "WITH c (x, x) AS (SELECT a, b FROM t) SELECT * FROM c": "Duplicate name 'x' in column list",
    "SELECT a FROM t WINDOW w AS (ORDER BY ts), w AS (ORDER BY ts)": "Duplicate window names not allowed",
    f"{WINDOWED}, SIZE => INTERVAL '2' HOUR))": "TUMBLE has its argument 'SIZE' twice.",
    f"{WINDOWED}, NOPE => 1))": "TUMBLE has no argument 'NOPE'.",
    "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, SIZE => INTERVAL '1' HOUR))": "TUMBLE has its argument 'SIZE' twice.",
    "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts, a), INTERVAL '1' HOUR))": "TUMBLE takes one time attribute in DESCRIPTOR.",
    f"{MATCHED}, A.b AS z PATTERN (A) DEFINE A AS A.a > 1)": "Columns ambiguously defined: {z}",
    f"{MATCHED} PATTERN (A) DEFINE A AS A.a > 1, A AS A.a > 2)": "Pattern variable 'A' has already been defined",
}  # fmt: skip
NESTED = {
    "SELECT COUNT(COUNT(*) OVER (ORDER BY ts)) OVER (ORDER BY ts) FROM t": "Aggregate expressions cannot be nested",
    "SELECT SUM(COUNT(*) OVER (ORDER BY ts)) FROM t": "Aggregate expressions cannot be nested",
    "SELECT COUNT(*) OVER (PARTITION BY COUNT(*) OVER (ORDER BY ts) ORDER BY ts) FROM t": "PARTITION BY expression should not contain OVER clause",
    "SELECT COUNT(*) OVER (ORDER BY COUNT(*) OVER (ORDER BY ts)) FROM t": "ORDER BY expression should not contain OVER clause",
    "SELECT a FROM t GROUP BY a, SUM(a) OVER (ORDER BY ts)": "Windowed aggregate expression is illegal in GROUP BY clause",
    "SELECT b FROM t GROUP BY b HAVING COUNT(*) OVER (ORDER BY b) > 1": "Windowed aggregate expression is illegal in HAVING clause",
    "SELECT * FROM (VALUES (SUM(1)))": "Aggregate expression is illegal in VALUES clause",
    "SELECT * FROM t, UNNEST(ARRAY[SUM(t.a)]) AS x (y)": "Aggregate expression is illegal in FROM clause",
    "SELECT a FROM u UNION ALL SELECT a FROM u ORDER BY SUM(a) LIMIT 1": "Aggregate expression is illegal in ORDER BY clause",
    "SELECT * FROM (SELECT ROW_NUMBER() OVER (PARTITION BY b ORDER BY 1) AS n FROM t) WHERE n < 3":
        "Over Agg: The window rank function requires order by clause with non-constant fields. please re-check the over window statement.",
}  # fmt: skip
METADATA = {
    "SELECT a FROM bh": "Connector 'blackhole' can only be used as a sink. It cannot be used as a source.",
    "INSERT INTO p SELECT 1, 'x'": "The 'print' connector has no metadata columns that can be written: 'm' of 'default_catalog.default_database.p'.",
    "INSERT INTO k SELECT 1, 2": "Invalid metadata key 'offset' in column 'offset' of table 'default_catalog.default_database.k'. The connector "
    "supports the following metadata keys for writing:\nheaders\ntimestamp",
    "INSERT INTO f SELECT 1, 'x'": "The 'filesystem' connector has no metadata columns that can be written: 'm' of 'default_catalog.default_database.f'.",
}


@pytest.mark.parametrize(("text", "message"), [*ORDINALS.items(), *REPEATED.items(), *NESTED.items(), *METADATA.items()])
def test_refused_in_flinks_words(session: Session, text: str, message: str) -> None:
    with pytest.raises((ValidationError, NotSupported, SyntaxProblem)) as caught:
        list(session.run(f"EXPLAIN {text}"))
    assert caught.value.message == message


TAKEN = (
    "SELECT COUNT(*) FROM (SELECT a, a FROM t)", "SELECT b FROM (SELECT a, a, b FROM t)", "SELECT p FROM (SELECT a, a FROM t) AS x (p, q)",
    "SELECT t.* FROM (SELECT a, a FROM u) AS x, t", "SELECT a0 FROM (SELECT a, * FROM t) AS x", "SELECT a0 FROM (SELECT * FROM t, u)",
    "SELECT * FROM (SELECT a FROM t), (SELECT a FROM u)", "SELECT * FROM t AS x, t", "SELECT a, a FROM t", "SELECT SUM(a) AS n, COUNT(*) AS n FROM t",
    "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM t WHERE a = 1)", "SELECT t.a, u.a FROM t, u ORDER BY t.a LIMIT 3",
    "SELECT a FROM t UNION ALL SELECT a FROM u ORDER BY a + 1 LIMIT 3", "SELECT a FROM t LIMIT 1.5", "SELECT a FROM t LIMIT 2e0",
    "SELECT COUNT(*) OVER (PARTITION BY 9 ORDER BY 1, ts) FROM t", "SELECT COUNT(*), 1 FROM t GROUP BY 1", "SELECT a FROM t ORDER BY 'x' LIMIT 1",
    "INSERT INTO bh SELECT 1", "INSERT INTO h SELECT 1, CAST(NULL AS MAP<STRING, BYTES>)",
    "SELECT * FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY 1 ORDER BY 1, a) AS n FROM t) WHERE n < 3",
)  # fmt: skip


@pytest.mark.parametrize("text", TAKEN)
def test_taken(session: Session, text: str) -> None:
    assert explained(session, text)


@pytest.mark.parametrize("key", ["2", "(2)", "2.9", "2e0", "b", "(b)"])
def test_a_place_is_a_column(session: Session, key: str) -> None:
    assert "orderBy=[b DESC]" in explained(session, f"SELECT a, b FROM t ORDER BY {key} DESC LIMIT 5")


def test_what_a_limit_counts_is_its_whole_part(session: Session) -> None:
    assert "fetch=[1]" in explained(session, "SELECT a FROM t LIMIT 1.9").split("==")[2]


def test_an_order_of_a_union_by_an_expression_shows_its_columns_alone(session: Session) -> None:
    shown = explained(session, "SELECT a, d FROM u UNION ALL SELECT a, d FROM u ORDER BY a + 1, 2 LIMIT 3")
    assert "orderBy=[$sort0 ASC, d ASC]" in shown
    assert "Calc(select=[a, d]" in shown


VIEWS = {
    "CREATE VIEW v AS SELECT a, a FROM t": "a", "CREATE TEMPORARY VIEW v AS SELECT a, b AS a FROM t": "a", "CREATE VIEW v (x, x) AS SELECT a, b FROM t": "x",
    "CREATE VIEW v AS SELECT a, a AS a0, a FROM t": "a", "CREATE VIEW v AS SELECT a AS `EXPR$1`, 2 FROM u": "EXPR$1",
    "CREATE VIEW v AS SELECT a, a FROM u UNION ALL SELECT a, a FROM u": "a", "ALTER VIEW kept AS SELECT a, a FROM u": "a",
}  # fmt: skip


@pytest.mark.parametrize("text", VIEWS)
def test_the_columns_of_a_view_have_names_of_their_own(session: Session, text: str) -> None:
    list(session.run("CREATE VIEW IF NOT EXISTS kept AS SELECT a FROM u"))
    with pytest.raises(ValidationError, match="A column with the same name `{}` has been defined".format(VIEWS[text].replace("$", r"\$"))):
        list(session.run(text))


def test_a_view_may_name_columns_that_its_query_does_not(session: Session) -> None:
    list(session.run("CREATE VIEW named (x, y) AS SELECT a, a FROM t"))
    assert explained(session, "SELECT x, y FROM named")


def test_a_view_of_the_catalogs_files_with_two_columns_of_a_name_is_refused_where_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "v.sql").write_text("CREATE TABLE u (a INT) WITH ('connector' = 'datagen');\nCREATE VIEW v AS SELECT a, a FROM u;\n")
    with pytest.raises(ValidationError, match="has two columns 'a'"):
        explained(open_session(tmp_path), "SELECT 1 FROM v")


MODULES = {
    "LOAD MODULE core": "A module with name 'core' already exists",
    "LOAD MODULE hive WITH ('hive-version' = '3')": "There is no module 'hive'",
    "UNLOAD MODULE nope": "No module with name 'nope' exists",
    "UNLOAD MODULE core": "The core module can't be unloaded",
    "USE MODULES nope": "No module with name 'nope' exists",
    "USE MODULES core, core": "Module 'core' appears more than once",
}


@pytest.mark.parametrize("text", MODULES)
def test_modules(session: Session, text: str) -> None:
    with pytest.raises(SqlStreamError, match=MODULES[text]):
        list(session.run(text))
