"""The user's functions in running queries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed
from tests.support.sessions import open_session, rows, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session

MODULE = """
import datetime
import os
import sys
from decimal import Decimal

from pyflink.common import Row
from pyflink.table import DataTypes, FunctionContext, ScalarFunction
from pyflink.table.udf import udf, udtf, TableFunction

from marks import MARK, marked


@udf
def kinds(a: int, b: float, c: bool, d: Decimal, e: bytes, f: datetime.date, g: datetime.time, h: datetime.datetime, i: list[int], j: dict[str, int]) -> str:
    return "; ".join(map(repr, (a, b, c, d, e, f, g, h, i, j)))


@udf(result_type="ROW<a INT, b STRING, c ARRAY<TIMESTAMP(3)>, d MAP<STRING, ROW<x DOUBLE>>, e TIME(0), f DECIMAL(5, 2)>")
def nested(r):
    if r is None:
        return None
    return Row(r.id + 1, r[1] + "€😀", [datetime.datetime(2020, 1, 2, 3, 4, 5, 678901), None], {"k": {"x": 1.5}}, datetime.time(1, 2, 3), Decimal("1.5"))


@udf(result_type=DataTypes.TIMESTAMP_LTZ(3))
def later(t):
    assert t.tzinfo is not None, t
    return t + datetime.timedelta(hours=1)


@udf(input_types=[DataTypes.BIGINT(), DataTypes.STRING()], result_type=DataTypes.STRING(), func_type="pandas")
def label(n, text):
    return n.astype(str) + text


@udf(result_type="BIGINT", func_type="arrow")
def doubled(n):
    import pyarrow.compute as pc

    return pc.multiply(n, 2).cast("int64")


class Opened(ScalarFunction):
    def open(self, function_context: FunctionContext):
        self.word = function_context.get_job_parameter("word", "none")
        self.opened = datetime.datetime.now()

    def eval(self, x):
        return f"{self.word} {marked(x)} {self.opened.isoformat()}"


opened = udf(Opened(), input_types="STRING", result_type="STRING")


@udf(result_type="DOUBLE", deterministic=False)
def dice():
    return int.from_bytes(os.urandom(4), "big")


@udf
def fails(name: str, password: str) -> int:
    if name == "b":
        raise ValueError(f"no user b with {password}")
    return 1


@udf
def größe_ß(x: int) -> int:
    return x


@udf
def 件数(x: int) -> int:
    return x


@udf
def leaves(x: int) -> int:
    sys.exit(3)


@udf
def dies(x: int) -> int:
    os._exit(3)


@udf
def wrong(x: int) -> int:
    return "no" if x == 2 else x


class Pairs(TableFunction):
    def eval(self, text, n):
        for word in (text or "").split():
            yield Row(word, n)


pairs = udtf(Pairs(), input_types=[DataTypes.STRING(), DataTypes.INT()], result_types=[DataTypes.STRING(), DataTypes.INT()])
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory, engine):
    project = tmp_path_factory.mktemp("functions")
    (project / "udfs").mkdir()
    (project / "udfs" / "marks.py").write_text('MARK = "<"\n\n\ndef marked(x):\n    return MARK + x + ">"\n')
    (project / "udfs" / "calls.py").write_text(MODULE)
    notices: list[str] = []
    options = {"table.local-time-zone": "Europe/Prague", "execution.runtime-mode": "batch"}
    made = open_session(project, options=options, engine=engine, notify=notices.append)
    assert notices == []
    made.notices = notices
    yield made
    made.close()


pytestmark = pytest.mark.spark


def test_values(session: Session) -> None:
    ((found,),) = rows(
        session,
        "SELECT kinds(1, 1.5e0, true, 1.5, x'61', DATE '2020-01-01', TIME '10:11:12', TIMESTAMP '2020-07-01 10:00:00.123456', ARRAY[1, CAST(NULL AS INT)], MAP['a', 1])",
    )
    assert found == (
        "1; 1.5; True; Decimal('1.500000000000000000'); b'a'; datetime.date(2020, 1, 1); datetime.time(10, 11, 12); "
        "datetime.datetime(2020, 7, 1, 10, 0, 0, 123456); [1, None]; {'a': 1}"
    )
    assert rows(
        session,
        "SELECT r.a, r.b, r.c[1], r.d['k'].x, r.e, r.f FROM (SELECT nested(r) AS r FROM (VALUES (CAST(ROW(1, 'ň') AS ROW<id INT, name STRING>)), (NULL)) AS t (r))",
    ) == [
        ("2", "ň€😀", "2020-01-02 03:04:05.678", "1.5", "01:02:03", "1.50"),
        (None,) * 6,
    ]
    assert rows(session, "SELECT later(TO_TIMESTAMP_LTZ(0, 3))") == [("1970-01-01 02:00:00.000",)]


def test_names_of_any_letters(session: Session) -> None:
    assert rows(session, "SELECT `größe_ß`(1), `件数`(2)") == [("1", "2")]


def test_whole_columns(session: Session) -> None:
    assert rows(session, "SELECT label(x, y), doubled(x), doubled(doubled(x)) FROM (VALUES (1, 'a'), (2, 'ž')) AS t (x, y)") == [
        ("1a", "2", "4"),
        ("2ž", "4", "8"),
    ]


def test_open_and_parameters(session: Session) -> None:
    list(session.run("SET 'pipeline.global-job-parameters' = 'word:hi,other:x:y'"))
    found = rows(session, "SELECT opened(x) FROM (VALUES ('a'), ('b')) AS t (x)")
    assert [f[0].rsplit(" ", 1)[0] for f in found] == ["hi <a>", "hi <b>"]
    list(session.run("RESET 'pipeline.global-job-parameters'"))
    assert rows(session, "SELECT SUBSTRING(opened('a'), 1, 8)") == [("none <a>",)]


def test_a_call_is_made_once_where_it_is_named_twice(session: Session) -> None:
    assert rows(session, "SELECT a = a, a = b FROM (SELECT dice() AS a, dice() AS b)") == [("TRUE", "FALSE")]
    assert rows(session, "SELECT COUNT(*) FROM (VALUES (1), (2)) AS t (x) WHERE ABS(dice()) >= 0 AND COALESCE(dice(), 0) >= 0") == [("2",)]


def test_calls_everywhere(session: Session) -> None:
    assert rows(
        session,
        "SELECT doubled(x), SUM(doubled(x)), COUNT(*) FILTER (WHERE doubled(x) > 2) FROM (VALUES (1), (2)) AS t (x) GROUP BY doubled(x) HAVING doubled(doubled(x)) > 4",
    ) == [("4", "4", "1")]
    assert rows(
        session,
        "SELECT a.x, b.y FROM (VALUES (1), (2)) AS a (x) LEFT JOIN (VALUES (4)) AS b (y) ON doubled(doubled(a.x)) = b.y AND doubled(y) = 8 ORDER BY x",
    ) == [("1", "4"), ("2", None)]
    assert rows(session, "SELECT a.x FROM (VALUES (1), (2)) AS a (x) JOIN (VALUES (1), (2)) AS b (y) ON a.x = b.y AND doubled(a.x + b.y) = 8") == [
        ("2",)
    ]
    assert rows(session, "VALUES (doubled(1)), (doubled(2))") == [("2",), ("4",)]
    assert rows(
        session,
        "SELECT w, m FROM (VALUES ('a b'), (CAST(NULL AS STRING))) AS t (x) LEFT JOIN LATERAL TABLE(pairs(UPPER(label(1, x)), 7)) AS p (w, m) ON TRUE",
    ) == [("1A", "7"), ("B", "7"), (None, None)]
    assert rows(session, "SELECT x, SUM(doubled(x)) OVER (ORDER BY x) FROM (VALUES (1), (2)) AS t (x)") == [("1", "2"), ("2", "6")]
    assert rows(
        session,
        "SELECT CASE WHEN doubled(x) = 2 THEN label(x, 'one') ELSE 'more' END FROM (VALUES (1), (2)) AS t (x) WHERE x IN (SELECT doubled(y) / 2 FROM (VALUES (1), (2)) AS u (y))",
    ) == [("1one",), ("more",)]


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        (
            "SELECT fails(x, password) FROM (VALUES ('a', 'geheim'), ('b', 'geheim')) AS t (x, password)",
            "The Python function FAILS failed for ('b', ******): ValueError: no user b with ******, at ",
        ),
        ("SELECT fails(x, y) FROM (VALUES ('b', 'geheim')) AS t (x, y)", "The Python function FAILS failed for ('b', ******): "),
        ("SELECT wrong(x) FROM (VALUES (1), (2)) AS t (x)", "The Python function WRONG returned 'no' (str), which is not of type BIGINT, for (2)."),
        ("SELECT leaves(1)", "The Python function LEAVES failed for (1): SystemExit: 3, at "),
        ("SELECT UPPER(label(dies(1), 'a'))", "The Python worker ended unexpectedly while a function of the query ran (DIES, LABEL)."),
        (
            "SELECT label(x, y) FROM (VALUES (1, 'a')) AS t (x, y) WHERE later(CAST(NULL AS TIMESTAMP_LTZ(3))) IS NULL",
            "The Python function LATER failed for (NULL): AttributeError: ",
        ),
    ],
)
def test_failures(session: Session, sql: str, problem: str) -> None:
    with pytest.raises(JobFailed) as raised:
        rows(session, sql)
    assert raised.value.message.startswith(problem)
    assert raised.value.location is not None
    if problem.startswith("The Python function"):
        assert raised.value.location.column == sql.lower().index(problem.split()[3].lower()) + 1
    assert "geheim" not in raised.value.message
    assert "Traceback" not in raised.value.message


def test_a_stream(session: Session, tmp_path: Path) -> None:
    """A job's functions are those of its start, whatever comes of their files."""
    (tmp_path / "in").mkdir()
    emitted: list[str] = []
    project = tmp_path / "project"
    (project / "udfs").mkdir(parents=True)
    module = project / "udfs" / "greeting.py"
    module.write_text("from sqlstream.udf import udf\n\n\n@udf\ndef greet(name: str) -> str:\n    return 'hello ' + name\n")
    declared = (
        f"CREATE TABLE names (name STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', 'format' = 'json', 'source.monitor-interval' = '1 s');"
        "CREATE TABLE greetings (text STRING, n BIGINT) WITH ('connector' = 'print');"
    )
    other = open_session(project, declared, engine=session.context.engine.engine, emit=emitted.append)
    insert = "INSERT INTO greetings SELECT greet(name), COUNT(*) FROM names WHERE greet(name) <> 'hello x' GROUP BY greet(name)"

    def run(name: str) -> list[str]:
        (tmp_path / "in" / f"{name}.json").write_text(f'{{"name": "{name}"}}\n')
        until(lambda: emitted)
        found, emitted[:] = list(emitted), []
        return found

    job = submit(other, insert)
    assert run("a") == ["+I[hello a, 1]"]
    module.write_text("from sqlstream.udf import udf\n\n\n@udf\ndef greet(name: str) -> str:\n    return 'bye ' + name\n")
    list(other.run("SHOW JOBS"))
    assert run("b") == ["+I[hello b, 1]"]
    other.jobs.stop(job.id)
    # The same statement goes on from its checkpoint, with what the function does now.
    list(other.run(insert))
    assert run("c") == ["+I[bye c, 1]"]
    other.jobs.stop_all()


def test_a_filter_of_a_value_makes_no_second_call(session: Session) -> None:
    ((text,),) = rows(session, "EXPLAIN SELECT s, s + 1 FROM (SELECT doubled(x) AS s FROM (VALUES (1)) AS t (x)) WHERE s > 1")
    assert text.split("== Spark Plan ==")[1].count("ArrowEvalPython") == 1


def test_rows_that_fail_are_left_out_and_kept(session: Session) -> None:
    folder = session.project / ".sqlstream" / "dead-letters"
    list(session.run("SET 'udf.on-error' = 'dead-letter'"))
    try:
        values = "(VALUES ('a', 'geheim', TIME '10:11:12', 1), ('b', 'geheim', TIME '10:11:12', 2), ('c', 'geheim', CAST(NULL AS TIME), 2)) AS t (name, password, at_, n)"
        assert rows(session, f"SELECT name, fails(name, password) + wrong(n) FROM {values} WHERE fails(name, password) > 0") == [("a", "2")]
        assert rows(session, f"SELECT name, w FROM {values} LEFT JOIN LATERAL TABLE(pairs(name, CAST(wrong(n) AS INT))) AS p (w, m) ON TRUE") == [
            ("a", "a")
        ]
        assert rows(session, "SELECT doubled(doubled(n)), label(wrong(n), 'x') FROM (VALUES (1), (2), (3)) AS t (n)") == [("4", "1x"), ("12", "3x")]
    finally:
        list(session.run("RESET 'udf.on-error'"))
    letters = [json.loads(line) for file in folder.glob("*.jsonl") for line in file.read_text("utf-8").splitlines()]
    assert {x["source"] for x in letters} == {"FAILS", "WRONG"}
    told = [n for n in session.notices if "left out" in n]
    assert {n.split(": ")[0] for n in told} >= {"[NOTICE] 1 row was left out, for which WRONG failed"}
    assert all((session.project / n.split(": ")[1]).is_file() for n in told)
    (failed,) = {json.dumps(x["row"]) for x in letters if x["source"] == "FAILS"}
    row = json.loads(failed)
    assert "geheim" not in json.dumps(letters)
    assert next(iter(row.values())) == "b"
    assert any("which is not of type BIGINT, for (2)" in x["error"] for x in letters)


@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_a_job_says_how_many_rows_it_has_left_out(session: Session, mode: str) -> None:
    list(
        session.run(f"""
    SET 'udf.on-error' = 'dead-letter';
    SET 'table.dml-sync' = 'true';
    SET 'execution.runtime-mode' = '{mode}';
    CREATE TABLE numbers_{mode} (n INT) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '5');
    CREATE TABLE kept_{mode} (n BIGINT) WITH ('connector' = 'blackhole');
    """)
    )
    try:
        for condition in ("", "WHERE n <> 2"):
            list(session.run(f"INSERT INTO kept_{mode} SELECT wrong(n) FROM numbers_{mode} {condition}"))
        known = [dict(rows(session, f"DESCRIBE JOB EXTENDED '{job.id}'")).get("rows left out") for job in list(session.jobs)[-2:]]
        assert known == ["1", None]
    finally:
        list(session.run("RESET 'udf.on-error'; RESET 'table.dml-sync'; RESET 'execution.runtime-mode'"))
