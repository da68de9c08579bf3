"""DROP and STOP ask in a terminal, and say what depends on the object; scripts are never asked."""

import threading
from types import SimpleNamespace

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.plan.nodes import Sink
from sqlstream.session import dependents
from sqlstream.session.statements import jobs as stop
from sqlstream.sql.statements.parsing import parse
from tests.support.sessions import open_session

DECLARATIONS = """
CREATE TABLE t (n INT) WITH ('connector' = 'datagen');
CREATE TABLE other (n INT) WITH ('connector' = 'datagen');
CREATE TABLE sink (n INT) WITH ('connector' = 'print');
CREATE VIEW v AS SELECT n FROM t;
CREATE TEMPORARY VIEW w AS SELECT n FROM v;
CREATE VIEW x AS SELECT n FROM other;
"""


@pytest.fixture
def asked():
    return []


@pytest.fixture
def shell(tmp_path, asked):
    def open_shell(answer, **more):
        (tmp_path / "queries").mkdir(exist_ok=True)
        (tmp_path / "queries" / "reads.sql").write_text("-- :least INT\nWITH x AS (SELECT 1) SELECT n FROM w WHERE n > :least;")
        (tmp_path / "queries" / "not.sql").write_text("WITH t AS (SELECT 1 AS n) SELECT n FROM t; SELEC;")
        return open_session(tmp_path, DECLARATIONS, ask=lambda question, _: asked.append(question) or answer, **more)

    return open_shell


def tables(session):
    return [row[0] for outcome in session.run("SHOW TABLES") for row in outcome.rows]


def test_drop_asks_and_tells_what_depends_on_it(shell, asked):
    session = shell(False)
    (done,) = session.run("DROP TABLE t")
    assert asked == ["DROP TABLE t? These depend on it: query reads, view v, view w."]
    assert done.notices == ("Nothing was done.",)
    assert "t" in tables(session)


def test_a_yes_drops(shell, asked):
    session = shell(True)
    list(session.run("DROP TABLE sink; DROP VIEW IF EXISTS nothing; DROP DATABASE IF EXISTS d"))
    assert asked == ["DROP TABLE sink?"]
    assert "sink" not in tables(session)


def test_nothing_is_asked_of_what_is_not_there(shell, asked, tmp_path):
    with pytest.raises(ValidationError, match="Table with identifier 'default_catalog.default_database.sinc' does not exist"):
        list(shell(True).run("DROP TABLE sinc"))
    with pytest.raises(ValidationError, match="does not exist"):
        list(shell(True).run("DROP DATABASE d"))
    for kind in ("FUNCTION", "TEMPORARY FUNCTION", "TEMPORARY SYSTEM FUNCTION", "CATALOG"):
        with pytest.raises(ValidationError, match="nothing"):
            list(shell(True).run(f"DROP {kind} nothing"))
        list(shell(True).run(f"DROP {kind} IF EXISTS nothing"))
    with pytest.raises(ValidationError, match="no savepoint"):
        list(shell(True).run(f"DROP SAVEPOINT '{tmp_path}'"))
    with pytest.raises(ValidationError, match="is not empty"):
        list(
            shell(True).run("CREATE DATABASE d; USE d; CREATE TABLE t (a INT) WITH ('connector' = 'datagen'); USE default_database; DROP DATABASE d")
        )
    assert asked == []
    list(shell(True).run("CREATE DATABASE d; DROP DATABASE d"))
    assert asked == ["DROP DATABASE d?"]
    (tmp_path / "udfs").mkdir()
    (tmp_path / "udfs" / "texts.py").write_text("from sqlstream.udf import udf\n\n\n@udf(result_type='INT')\ndef one():\n    return 1\n")
    list(shell(True).run("CREATE FUNCTION f AS 'texts.one' LANGUAGE PYTHON; DROP FUNCTION F"))
    assert asked[1:] == ["DROP FUNCTION F?"]


def test_a_script_is_not_asked(tmp_path):
    session = open_session(tmp_path, DECLARATIONS)
    list(session.run("DROP TABLE sink"))
    assert "sink" not in tables(session)


def test_jobs_that_run_depend_on_what_they_read_and_write(shell, tmp_path):
    session = shell(True)
    plan = session.planner.planned(parse("INSERT INTO sink SELECT n FROM v"), session.planner.environment()).plan
    assert isinstance(plan, Sink)
    jobs = [
        SimpleNamespace(id=i, name=f"insert-into_default_catalog.default_database.{i}", sinks=(plan,), done=threading.Event()) for i in ("a", "b")
    ]
    jobs[1].done.set()

    def of(name):
        return sorted(map(str, dependents.of_object(session.context.catalog.path((name,)), session.context.catalog, jobs, tmp_path)))

    assert of("t") == ["job a", "query reads", "view v", "view w"]
    assert of("sink") == ["job a"]
    assert of("other") == ["view x"]


def test_stop_asks(shell, asked, monkeypatch):
    session = shell(False)
    with pytest.raises(ValidationError):
        list(session.run("STOP JOB 'nothing'"))
    stopped = SimpleNamespace(id="abc", name="my job", lives=True, release=lambda: None)
    monkeypatch.setitem(session.jobs._jobs, "abc", stopped)
    monkeypatch.setattr(session.jobs, "stop", lambda *_, **__: pytest.fail("stopped"))
    (done,) = session.run("STOP JOB 'abc'")
    assert asked == ["Stop the job my job? Its state is kept: the same statement continues from there."]
    assert done.notices == ("Nothing was done.",)
    stopped.lives = False
    with monkeypatch.context() as patched:
        patched.setattr(stop, "ask", lambda *_, **__: "")
        list(session.run("STOP JOB 'abc'"))
    assert len(asked) == 1
