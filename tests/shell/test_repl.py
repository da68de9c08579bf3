"""The prompt, driven by keys through prompt-toolkit's pipe."""

import threading
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from sqlstream.core.changelog import Change, RowKind
from sqlstream.core.errors import JobFailed, ValidationError
from sqlstream.plan.nodes import Field
from sqlstream.runtime.jobs.job import Job
from sqlstream.runtime.jobs.machine import JobMachine, JobStatus, State
from sqlstream.session import results
from sqlstream.shell.repl import GOODBYE, run_shell
from sqlstream.sql.types import INT, STRING
from tests.shell.conftest import FakeJobs

CTRL_C, CTRL_D = "\x03", "\x04"


def some_jobs(session):
    error = JobFailed("The broker is gone.\nFor good.")
    job = Job(
        "0123abcd-4567", "insert-into_default_catalog.default_database.answers", (), Path(), machine=JobMachine(State(JobStatus.FAILED, error=error))
    )
    session.jobs = FakeJobs([job])
    return results.Done()


@pytest.fixture
def type_keys(screen):
    """Type keys into a shell over a session; its exit code comes back."""

    def run(session, keys, **more):
        opener = session if callable(session) else lambda: session
        with create_pipe_input() as pipe, create_app_session(input=pipe):
            pipe.send_text(keys)
            return run_shell(opener, screen, more.pop("history", None), output=DummyOutput(), **more)

    return run


def test_statements_run_and_quit_ends(fake_session, screen, type_keys):
    rows = results.Rows(columns=(Field("a", STRING),), rows=(("x",),))
    session = fake_session({"SHOW x": rows})
    assert type_keys(session, "SHOW x;\rSET y;\rQUIT;\r") == 0
    assert session.ran == ["SHOW x", "SET y", "QUIT"]
    assert "| x |" in screen.out.getvalue()
    assert screen.err.getvalue().endswith(f"[INFO] {GOODBYE}\n")
    assert session.started and session.closed.is_set()


def test_a_statement_goes_on_until_it_is_complete(fake_session, type_keys):
    session = fake_session()
    type_keys(session, "SELECT 1,\r  ';' || 2\rFROM t;\rQUIT;\r")
    assert session.ran == ["SELECT 1,\n  ';' || 2\n  FROM t", "QUIT"]  # as far indented as the line before


@pytest.mark.parametrize("word", ["quit", "EXIT", " exit "])
def test_quit_needs_no_semicolon(fake_session, type_keys, word):
    assert type_keys(fake_session(), word + "\r") == 0


def test_ctrl_d_ends(fake_session, screen, type_keys):
    session = fake_session()
    assert type_keys(session, CTRL_D) == 0
    assert session.closed.is_set()


def test_ctrl_d_quits_by_a_statement_where_there_are_jobs(fake_session, type_keys):
    """QUIT may ask; a second Ctrl-D does not."""
    session = fake_session({"SHOW x": some_jobs, "QUIT": results.Done()})
    assert type_keys(session, f"SHOW x;\r{CTRL_D}{CTRL_D}") == 0
    assert session.ran == ["SHOW x", "QUIT"]
    session = fake_session({"SHOW x": some_jobs})
    assert type_keys(session, f"SHOW x;\r{CTRL_D}SHOW y;\r") == 0
    assert session.ran == ["SHOW x", "QUIT"]


def test_a_job_that_fails_is_told_once(fake_session, screen, type_keys):
    session = fake_session({"SHOW x": some_jobs})
    type_keys(session, "SHOW x;\rSHOW y;\rQUIT;\r")
    line = "[ERROR] Job 'answers' has failed: The broker is gone. \\why answers says more."
    assert screen.err.getvalue().count("has failed") == 1
    assert line in screen.err.getvalue().splitlines()


def test_with_dml_sync_the_statement_tells(fake_session, screen, type_keys):
    session = fake_session({"SHOW x": some_jobs}, {"table.dml-sync": "true"})
    type_keys(session, "SHOW x;\rQUIT;\r")
    assert "has failed" not in screen.err.getvalue()


def test_ctrl_c_drops_what_was_typed(fake_session, type_keys):
    session = fake_session()
    type_keys(session, f"SELECT nonsense\rmore{CTRL_C}SET a;\rQUIT;\r")
    assert session.ran == ["SET a", "QUIT"]


def test_an_error_does_not_end_the_shell(fake_session, screen, type_keys):
    session = fake_session({"a": ValidationError("wrong"), "b": RuntimeError("a bug")})
    assert type_keys(session, "a; never;\rb;\rSET c;\rQUIT;\r") == 0
    assert session.ran == ["a", "b", "SET c", "QUIT"]
    assert "ValidationError [S2]: wrong" in screen.err.getvalue()
    assert "Defect [S9]: " in screen.err.getvalue()


def test_whole_statements_are_remembered(fake_session, type_keys, tmp_path):
    type_keys(fake_session(), "SELECT 1\rFROM t;\rQUIT;\r", history=tmp_path / "history")
    session = fake_session()
    up_to_select = "\x1b[A" * 3  # QUIT, then the two lines of SELECT
    type_keys(session, f"{up_to_select}\x1b[B\r\rQUIT;\r", history=tmp_path / "history")
    assert session.ran[0] == "SELECT 1\nFROM t"


def test_an_interrupted_select_leaves_the_shell_open(fake_session, screen, type_keys):
    import signal

    def changes():
        yield Change(RowKind.INSERT, ("1",))
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        assert session.interrupted.wait(10)

    session = fake_session()
    session.answers["s"] = results.Stream(columns=(Field("i", INT),), changes=changes())
    assert type_keys(session, "s; never;\rSET a;\rQUIT;\r") == 0
    assert session.ran == ["s", "SET a", "QUIT"]
    assert "Query terminated, received a total of 1 row (" in screen.out.getvalue()


def test_a_session_that_cannot_be_made_ends_the_shell(screen, type_keys):
    def refuse():
        raise ValidationError("bad catalog")

    assert type_keys(refuse, "") == 1
    assert "bad catalog" in screen.err.getvalue()


def test_the_history_is_its_owners(fake_session, type_keys, tmp_path):
    type_keys(fake_session(), "QUIT;\r", history=tmp_path / "history")
    assert (tmp_path / "history").stat().st_mode & 0o077 == 0


def test_a_history_that_cannot_be_kept_is_no_reason_to_stop(fake_session, screen, type_keys, tmp_path):
    (tmp_path / "file").touch()
    assert type_keys(fake_session(), "QUIT;\r", history=tmp_path / "file" / "history") == 0
    assert "[NOTICE] The history of this shell will not be saved" in screen.err.getvalue()
