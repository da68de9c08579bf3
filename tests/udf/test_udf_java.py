"""Functions in Java that are written for Flink: what they take and give, in queries and jobs; jars and what is refused."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import NotSupported, SqlStreamError, ValidationError
from sqlstream.runtime.engine import java_functions
from tests.support.function_jar import function_jar
from tests.support.sessions import catch_up, explained, feed, open_session, rows, run, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("java_functions")]
NAMES = {
    "up": "Up", "adding": "Add", "words": "Words", "letters": "Letters", "types": "Types", "class_of": "Any", "opened": "Opened", "later": "Later", "small": "Small", "total": "Total", "different": "Distinct",
}  # fmt: skip
BATCH = {"execution.runtime-mode": "batch", "pipeline.global-job-parameters": "greeting:hello"}


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return function_jar(tmp_path_factory.mktemp("jar"))


def declared(jar: Path) -> str:
    return "; ".join(f"CREATE TEMPORARY FUNCTION {name} AS 'acme.{implementation}' USING JAR '{jar}'" for name, implementation in NAMES.items())


@pytest.fixture
def session(engine, tmp_path: Path, jar: Path) -> Session:
    computed = (
        "CREATE TABLE sequence (a INT, b AS adding(CAST(a AS STRING), CAST(a AS STRING), 'x')) WITH ('connector' = 'datagen', 'number-of-rows' = '1', "
        "'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '1'); "
        "CREATE VIEW computed AS SELECT a AS v, REPLACE(b, ', x', '') AS b FROM sequence"
    )
    return open_session(tmp_path, f"{declared(jar)}; {computed}", engine=engine, options=BATCH)


@pytest.mark.parametrize(("query", "expected"), [
    ("SELECT up('abc'), up(CAST(NULL AS STRING))", [("ABC", "none")]),
    ("SELECT adding(1, 2), adding(CAST(1 AS BIGINT), 5), adding('a', 'b', 'c'), adding(CAST(NULL AS BIGINT), 1)", [("3", "6", "[a, b, c]", None)]),
    ("SELECT adding(a, b) FROM (VALUES (1, CAST(NULL AS INT)), (1, 2)) AS t (a, b)", [(None,), ("3",)]),
    ("SELECT a, word, length FROM (VALUES ('hello big'), (CAST(NULL AS STRING))) AS t (a), LATERAL TABLE(words(a))", [
        ("hello big", "hello", "5"), ("hello big", "big", "3")]),
    ("SELECT a, l FROM (VALUES ('ab'), ('')) AS t (a) LEFT JOIN LATERAL TABLE(letters(a)) AS x (l) ON TRUE", [("ab", "a"), ("ab", "b"), ("", None)]),
    ("SELECT types(TRUE), types(CAST(1.25 AS DECIMAL(10, 2))), types(3e0), types(x'0102ff'), types(DATE '2026-01-31'), types(TIME '10:11:12')", [
        ("FALSE", "1.875", "1.5", "x'ff0201'", "2026-02-01", "11:11:12")]),
    ("SELECT types(TIMESTAMP '1969-12-31 10:11:12.123'), types(CAST(TIMESTAMP '2026-01-31 10:11:12.123' AS TIMESTAMP_LTZ(3)))", [
        ("1969-12-31 10:11:12.130", "2026-01-31 10:12:12.123")]),
    ("SELECT types(ARRAY[1, 2]), types(MAP['a', 1]), types(CAST(ROW(1, 'x') AS ROW<a INT, b STRING>)), types('a', 'b')[2]", [
        ("[1, 2, NULL]", "{a=1, more=NULL}", "(x, [1])", "b")]),
    ("SELECT types(3, 'n').name, types(3, 'n').x, types(3, 'n').`day`", [("n", "3", "2026-01-03")]),
    ("SELECT class_of(1), class_of('x'), class_of(1.5), class_of(TIMESTAMP '2026-01-01 00:00:00'), class_of(ROW(1, 'a')), class_of(CAST(NULL AS INT))", [
        ("Integer 1", "String x", "BigDecimal 1.5", "LocalDateTime 2026-01-01T00:00", "Row +I[1, a]", "null")]),
    ("SELECT class_of(INTERVAL '1' DAY), class_of(DATE '2026-01-01'), class_of(TRUE), class_of(MAP['a', 1])", [
        ("Duration PT24H", "LocalDate 2026-01-01", "Boolean true", "HashMap {a=1}")]),
    ("SELECT small(), small(CAST(1 AS SMALLINT)), small() + 1", [("42", "2", "43")]),
    ("SELECT v, b FROM computed", [("1", "[1, 1]")]),
    ("SELECT k, total(v), total(DISTINCT v), total(v) FILTER (WHERE v > 1) FROM (VALUES ('a', CAST(1 AS BIGINT)), ('a', 1), ('a', 3), ('b', NULL)) "
     "AS t (k, v) GROUP BY k", [("a", "5", "4", "3"), ("b", "0", "0", "0")]),
    ("SELECT total(v) + 1, COUNT(*) FROM (SELECT CAST(1 AS BIGINT) AS v) WHERE v > 1", [("1", "0")]),
    ("SELECT v, total(v) OVER (ORDER BY p ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM (SELECT v, PROCTIME() AS p FROM (VALUES (CAST(1 AS BIGINT)), "
     "(1), (1)) AS t (v))", [("1", "1"), ("1", "2"), ("1", "2")]),
    ("SELECT opened('bob')", [("hello bob true",)]),
    ("SELECT later(x), up(CAST(later(x) AS STRING)) FROM (VALUES (1), (2)) AS t (x) WHERE later(x) > 2", [("3", "3")]),
    ("SELECT k, SUM(adding(v, 1)) FROM (VALUES ('a', 1), ('a', 2)) AS t (k, v) GROUP BY k HAVING up(k) = 'A'", [("a", "5")]),
])  # fmt: skip
def test_values(session: Session, query: str, expected: list[tuple[str | None, ...]]) -> None:
    assert sorted(rows(session, query), key=str) == sorted(expected, key=str)


def test_a_plain_value_of_a_table_function_is_a_column_without_a_name(session: Session) -> None:
    (answer,) = run(session, "SELECT * FROM LATERAL TABLE(letters('xy'))")
    assert [c.name for c in answer.columns] == ["EXPR$0"]


@pytest.mark.parametrize(("statement", "kind", "message", "hint"), [
    ("SELECT up(5)", ValidationError, "Cannot apply 'UP' to arguments of type 'UP(<INTEGER>)'", "UP takes: UP(text => STRING)"),
    ("SELECT small(CAST(NULL AS SMALLINT))", ValidationError, "Cannot apply 'SMALL' to arguments of type 'SMALL(<SMALLINT>)'", "SMALL takes: "),
    ("SELECT words('x')", ValidationError, "WORDS is a table function", "LATERAL TABLE(WORDS(..))"),
    ("SELECT * FROM LATERAL TABLE(up('x'))", ValidationError, "UP is not a table function", "SELECT UP(..)"),
    ("CREATE FUNCTION f AS 'acme.Nothing' USING JAR '{jar}'", ValidationError, "There is no class 'acme.Nothing'", "USING JAR"),
    ("CREATE FUNCTION f AS 'java.lang.String' USING JAR '{jar}'", ValidationError, "is no function of Flink's", "USING JAR"),
    ("CREATE FUNCTION f AS 'acme.Up' USING JAR 'nothing.jar'", ValidationError, "There is no jar 'nothing.jar'", "of this machine"),
    ("CREATE FUNCTION f AS 'acme.Up'", ValidationError, "No jar has the class 'acme.Up'", "USING JAR 'file.jar'"),
    ("CREATE FUNCTION f AS 'acme.Pairs' USING JAR '{jar}'", NotSupported, "of the kind table aggregate", "in Python"),
    ("ADD JAR 'nothing.jar'", ValidationError, "There is no jar 'nothing.jar'", "of this machine"),
    ("REMOVE JAR 'nothing.jar'", ValidationError, "There is no jar 'nothing.jar' in this session", "SHOW JARS"),
    ("SELECT opened(x) FROM (VALUES ('a'), ('bad')) AS t (x)", SqlStreamError,
     "The function OPENED fails: IllegalArgumentException: no 'bad' is known, at Opened.java:", ""),
])  # fmt: skip
def test_refused(session: Session, jar: Path, statement: str, kind: type[SqlStreamError], message: str, hint: str) -> None:
    with pytest.raises(kind) as refused:
        rows(session, statement.format(jar=jar))
    assert message in str(refused.value) and hint in (refused.value.hint or "")


def test_jars_of_the_session(engine, tmp_path: Path, jar: Path) -> None:
    session = open_session(tmp_path, engine=engine, options=BATCH)
    run(session, f"ADD JAR '{jar}'; ADD JAR {jar}; CREATE TEMPORARY FUNCTION f AS 'acme.Up' LANGUAGE SCALA")
    assert rows(session, "SHOW JARS") == [(str(jar),)]
    assert rows(session, "SELECT f('a')") == [("A",)]
    run(session, f"REMOVE JAR '{jar}'")
    assert rows(session, "SHOW JARS") == []
    with pytest.raises(ValidationError, match="No jar has the class"):
        rows(session, "SELECT f('a')")


def test_a_jar_that_was_built_again(engine, tmp_path: Path) -> None:
    built = function_jar(tmp_path)
    session = open_session(tmp_path, f"CREATE FUNCTION f AS 'acme.Up' USING JAR '{built}'", engine=engine, options=BATCH)
    assert rows(session, "SELECT f('a')") == [("A",)]
    function_jar(tmp_path, {"text.toUpperCase()": 'text + "!"'})
    assert rows(session, "SELECT f('a')") == [("a!",)]


def test_what_it_is_is_asked_once(engine, tmp_path: Path, jar: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "SELECT up('a'), up(up('b'))"
    assert rows(open_session(tmp_path, declared(jar), engine=engine, options=BATCH), query) == [("A", "B")]

    def asked(*given: object, **more: object) -> None:
        raise AssertionError(given)

    monkeypatch.setattr(java_functions.subprocess, "run", asked)
    assert rows(open_session(tmp_path, declared(jar), engine=engine, options=BATCH), query) == [("A", "B")]


def test_described(session: Session, jar: Path) -> None:
    told = dict(rows(session, "DESCRIBE FUNCTION EXTENDED adding"))
    assert told["class name"] == "acme.Add" and told["function language"] == "JAVA" and told["kind"] == "SCALAR"
    assert told["signature"] == "ADDING(a INT NOT NULL, b INT NOT NULL), ADDING(a BIGINT, b BIGINT), ADDING(parts STRING...)"
    assert told["resource uris"] == f"['{jar}']"


def streaming(tmp_path: Path, jar: Path, columns: str, written: str) -> str:
    """A stream ``r`` of the files in ``in``, a Delta table ``out_``, and the functions."""
    (tmp_path / "in").mkdir()
    return (
        f"CREATE TABLE r ({columns}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', 'format' = 'json', "
        f"'source.monitor-interval' = '1 s'); CREATE TABLE out_ ({written}) WITH ('connector' = 'delta', "
        f"'table-path' = '{tmp_path / 'out'}'); {declared(jar)}"
    )


def test_a_job_goes_on_with_its_functions(engine, tmp_path: Path, jar: Path) -> None:
    tables = streaming(tmp_path, jar, "k STRING, x INT", "k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED")
    insert = "INSERT INTO out_ SELECT up(word), total(adding(x, 1)) FROM r, LATERAL TABLE(words(k)) WHERE up(k) <> 'NO' GROUP BY up(word)"
    session = open_session(tmp_path / "project", tables, engine=engine)
    feed(tmp_path / "in", {"k": "a b", "x": 1}, {"k": "no", "x": 100})
    job = submit(session, insert)
    catch_up(job)
    session.jobs.stop_all()
    session.close()
    session = open_session(tmp_path / "project", tables, engine=engine)
    feed(tmp_path / "in", {"k": "b c", "x": 2})
    catch_up(submit(session, insert))
    run(session, "SET 'execution.runtime-mode' = 'batch'")
    until(lambda: sorted(rows(session, "SELECT * FROM out_")) == [("A", "2"), ("B", "5"), ("C", "3")])
    session.jobs.stop_all()


def test_accumulators(engine, tmp_path: Path, jar: Path) -> None:
    """They stay over a restart, rows are retracted from them, and thousands are folded in; one with a view keeps its rows."""
    tables = streaming(tmp_path, jar, "k STRING, x BIGINT", "of_ STRING, n BIGINT, d BIGINT, PRIMARY KEY (of_) NOT ENFORCED")
    # The newest value of each k counts: one that comes later takes the one before back.
    newest = "SELECT k, LAST_VALUE(x) AS x FROM r GROUP BY k"
    insert = f"INSERT INTO out_ SELECT 'all', total(x), different(x) FROM ({newest})"

    def job(*given: dict[str, object]) -> list[tuple[str, ...]]:
        session = open_session(tmp_path / "project", tables, engine=engine)
        plan = explained(session, insert)
        assert "ACCUMULATOR" in plan and "ARGUMENTS" in plan
        feed(tmp_path / "in", *given)
        catch_up(submit(session, insert))
        run(session, "SET 'execution.runtime-mode' = 'batch'")
        found = rows(session, "SELECT * FROM out_")
        session.jobs.stop_all()
        session.close()
        return found

    many = [{"k": f"k{i}", "x": i % 10} for i in range(3000)]
    assert job(*many) == [("all", "13500", "10")]
    assert job({"k": "k9", "x": 109}, {"k": "new", "x": None}) == [("all", "13600", "11")]
    assert job({"k": "k9", "x": 0}) == [("all", "13491", "10")]


def test_no_process_of_javas_is_left(session: Session) -> None:
    rows(session, "SELECT up('zzz')")
    found = subprocess.run(["pgrep", "-f", "sqlstream.flink.Signatures"], capture_output=True, text=True, check=False)
    assert found.stdout == ""
