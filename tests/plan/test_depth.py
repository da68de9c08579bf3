"""What is nested deeply is planned, as far as Flink plans it and further; beyond that it is refused at its place, and nothing else is lost."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from sqlstream.cli import check
from sqlstream.core.depth import deeply
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.plan.builder import relations
from sqlstream.session.session import Session
from tests.support import pace
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TABLES = "CREATE TABLE t (i INT, s STRING, b BOOLEAN, a ARRAY<INT>) WITH ('connector' = 'datagen', 'number-of-rows' = '2')"
# Flink 2.3 takes 400 of each at most.
LEVELS = 450
NESTED: dict[str, Callable[[int], str]] = {
    "functions": lambda n: f"SELECT {'UPPER(' * n}s{')' * n} FROM t",
    "parentheses": lambda n: f"SELECT {'(1 + ' * n}i{')' * n} FROM t",
    "cases": lambda n: f"SELECT {'CASE WHEN b THEN 2 ELSE ' * n}i{' END' * n} FROM t",
    "sub-queries": lambda n: f"SELECT i FROM {'(SELECT i FROM ' * n}t{')' * n}",
    "conditions": lambda n: f"SELECT i FROM t WHERE {' AND '.join(f'(i <> {k} OR b)' for k in range(n))}",
    "negations": lambda n: f"SELECT {'NOT ' * n}b, {'- ' * n}i FROM t",
    "texts": lambda n: f"SELECT {' || '.join('s' * n)} FROM t",
    "sums": lambda n: f"SELECT {' + '.join('i' * n)} FROM t",
    "casts": lambda n: f"SELECT {'CAST(' * n}i{' AS BIGINT)' * n} FROM t",
    "rows": lambda n: f"SELECT {'ROW(' * n}i{')' * n} FROM t",
    "arrays": lambda n: f"SELECT {'ARRAY[' * n}i{']' * n} FROM t",
    "unions": lambda n: " UNION ALL ".join(["SELECT i FROM t"] * n),
    "queries of WITH": lambda n: (
        f"WITH c0 AS (SELECT i FROM t){''.join(f', c{k} AS (SELECT i FROM c{k - 1})' for k in range(1, n))} SELECT i FROM c{n - 1}"
    ),
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return open_session(tmp_path_factory.mktemp("project"), TABLES)


@pytest.mark.parametrize("kind", NESTED)
def test_what_flink_plans_is_planned(session: Session, kind: str) -> None:
    (explained,) = session.run(f"EXPLAIN {NESTED[kind](LEVELS)}")
    assert "TableSourceScan" in explained.rows[0][0]


@pytest.mark.parametrize("kind", [kind for kind in NESTED if kind != "queries of WITH"])
def test_beyond_there_is_a_refusal_at_its_place(session: Session, kind: str) -> None:
    with pytest.raises(NotSupported, match="nested too deeply") as refused:
        list(session.run(f"SET 'a' = 'b';\nSELECT x FROM ({NESTED[kind](6000)})"))
    assert refused.value.hint
    assert refused.value.location.line == 2
    assert refused.value.location.column > 1


@pytest.mark.parametrize("opened", ["(", "ABS(", "ARRAY[", "CASE WHEN b THEN 2 ELSE ", "(SELECT i FROM ", "CAST("])
def test_what_is_opened_and_never_closed_is_refused_at_once(session: Session, opened: str) -> None:
    def refused() -> None:
        with pytest.raises(NotSupported, match="more than 3,000 levels") as raised:
            list(session.run(f"SET 'a' = 'b';\nSELECT {opened * 30_000}"))
        assert raised.value.location.line == 2

    assert pace.seconds(refused) < 5


@pytest.mark.parametrize("read", ["a.i FROM {0} AS a JOIN {0} AS b ON a.i = b.i", "i FROM {0} UNION ALL SELECT i FROM {0}"])
@pytest.mark.parametrize("shape", ["views", "WITH"])
def test_what_reads_a_view_twice_that_reads_another_twice(session: Session, read: str, shape: str) -> None:
    queries = ["SELECT " + read.format(f"d{k - 1}" if k else "t") for k in range(30)]
    script = "".join(f"CREATE TEMPORARY VIEW d{k} AS {q};" for k, q in enumerate(queries))
    if shape == "WITH":
        script = f"EXPLAIN WITH {', '.join(f'd{k} AS ({q})' for k, q in enumerate(queries))} SELECT * FROM d29"
    with pytest.raises(NotSupported, match="More than 2,000 tables are read") as refused:
        list(session.run(script))
    assert refused.value.offset is not None
    list(session.run("".join(f"DROP TEMPORARY VIEW IF EXISTS d{k};" for k in range(30))))


def test_each_insert_of_a_statement_set_is_counted_by_itself(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "_MOST_READS", 3)
    list(session.run("CREATE TABLE IF NOT EXISTS nowhere (i INT) WITH ('connector' = 'blackhole')"))
    (explained,) = session.run(f"EXPLAIN STATEMENT SET BEGIN {'INSERT INTO nowhere SELECT i FROM t;' * 9} END")
    assert explained.rows


def test_long_lists_and_wide_tables(session: Session) -> None:
    list(session.run(f"CREATE TABLE wide ({', '.join(f'c{k} INT' for k in range(1000))}) WITH ('connector' = 'datagen')"))
    for query in (
        f"SELECT i FROM t WHERE i IN ({', '.join(map(str, range(10_000)))})",
        f"SELECT x FROM t, UNNEST(ARRAY[{', '.join(map(str, range(1000)))}]) AS u (x)",
        f"SELECT CASE {' '.join(f'WHEN i = {k} THEN {k}' for k in range(500))} END FROM t",
        "SELECT * FROM wide",
    ):
        (explained,) = session.run(f"EXPLAIN {query}")
        assert explained.rows


def test_types(session: Session) -> None:
    deep = f"CREATE TABLE x (c {'ROW<f ' * LEVELS}INT{'>' * LEVELS}) WITH ('connector' = 'blackhole')"
    list(session.run(deep))
    with pytest.raises(NotSupported, match="more than 500 levels") as refused:
        list(session.run(f"CREATE TABLE y (a INT, c {'ARRAY<' * 501}INT{'>' * 501}) WITH ('connector' = 'blackhole')"))
    assert refused.value.location.column == len("CREATE TABLE y (a INT, c ") + 1


def test_views_over_views(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "_MOST_VIEWS", 100)
    list(session.run("CREATE VIEW v0 AS SELECT i FROM t;" + "".join(f"CREATE TEMPORARY VIEW v{k} AS SELECT i FROM v{k - 1};" for k in range(1, 100))))
    (explained,) = session.run("EXPLAIN SELECT i FROM v99")
    assert explained.rows
    with pytest.raises(NotSupported, match="More than 100 views are nested") as refused:
        list(session.run("CREATE TEMPORARY VIEW v100 AS SELECT i\n  FROM v99; EXPLAIN SELECT i FROM v100"))
    assert refused.value.offset is not None


def test_a_script_of_many_statements(session: Session) -> None:
    assert sum(1 for _ in session.run("SET 'a' = 'b';" * 2000)) == 2000


def test_a_deep_file_of_the_catalog_keeps_nothing_else_from_loading(tmp_path: Path) -> None:
    catalog = tmp_path / "catalog"
    catalog.mkdir()
    (catalog / "a.sql").write_text(f"CREATE VIEW a AS\nSELECT {'ABS(' * 9000}1{')' * 9000};")
    (catalog / "b.sql").write_text("CREATE TABLE b (i INT) WITH ('connector' = 'datagen');")
    told: list[str] = []
    session = Session(tmp_path, notify=told.append)
    assert [line.partition(": ")[0].rpartition(":")[0] for line in told] == ["catalog/a.sql:2"]
    (explained,) = session.run("EXPLAIN SELECT i FROM b")
    assert explained.rows


def test_check_goes_on_behind_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.sql").write_text(f"SELECT nothing;\nSELECT {'ABS(' * 9000}1{')' * 9000};\nSELECT {'ABS(' * 450}1{')' * 450};\nSELECT nothing;")
    assert check.main(["--project", str(tmp_path), str(tmp_path / "a.sql")], tmp_path, {}) == check.FAILED
    found = [(line.split(":")[1], line.split()[1]) for line in capsys.readouterr().out.splitlines()]
    assert found == [("1", "S2"), ("2", "S3"), ("4", "S2")]


def test_pythons_own_limit_stays_what_it_is() -> None:
    before = sys.getrecursionlimit()

    def down(levels: int) -> int:
        return 0 if levels == 0 else 1 + max(down(levels - 1) for _ in (1,))

    assert deeply(lambda: down(2000)) == 2000
    assert sys.getrecursionlimit() == before
    with pytest.raises(NotSupported, match="nested too deeply"):
        deeply(lambda: down(10**9))
    with pytest.raises(ValidationError, match="as it is"):
        deeply(lambda: (_ for _ in ()).throw(ValidationError("as it is")))
    assert sys.getrecursionlimit() == before


def test_a_from_clause_with_thousands_of_joins_is_refused_at_once(session: Session) -> None:
    joins = "\n".join(f"JOIN t AS t{k} ON t{k - 1}.i = t{k}.i" for k in range(1, 2001))
    with pytest.raises(NotSupported, match="2,000 joins; at most 256 are supported") as refused:
        list(session.run(f"SELECT t0.i FROM t AS t0\n{joins}"))
    assert refused.value.location is not None and refused.value.location.line == 258
