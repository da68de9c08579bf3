"""Scripts: order, echo, exit codes, Ctrl-C."""

import signal
import threading
import time

import pytest

from sqlstream import results
from sqlstream.changelog import Change, RowKind
from sqlstream.errors import JobFailed, ValidationError
from sqlstream.plan.nodes import Field
from sqlstream.shell.screen import Script
from sqlstream.shell.script import run_script
from sqlstream.sql.types import INT

ONE = Change(RowKind.INSERT, ("1",))


def press_ctrl_c_when(ready: threading.Event) -> None:
    def press():
        ready.wait(10)
        time.sleep(0.05)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()


def run(session, screen, text, **more):
    return run_script(lambda: session, Script(text, "q.sql"), screen, **more)


def test_a_script_runs_to_its_end_and_waits_for_its_jobs(fake_session, screen):
    session = fake_session({"INSERT": results.Submitted(statement="INSERT", job_id="1")})
    session.waits = lambda s: screen.notify("1 job runs")
    assert run(session, screen, "SET a; INSERT; SET b", echo=True) == 0
    assert session.ran == ["SET a", "INSERT", "SET b"]
    assert session.closed.is_set()
    assert screen.out.getvalue() == ""
    first = "sqlstream> SET a\n[INFO] Execute statement succeeded.\n\nsqlstream> INSERT\n"
    assert screen.err.getvalue().startswith(first)
    assert screen.err.getvalue().endswith("1 job runs\n")


def test_a_script_stops_at_its_first_error(fake_session, screen):
    session = fake_session({"b": ValidationError("wrong")})
    session.waits = lambda *_: pytest.fail("a failed script does not wait")
    assert run(session, screen, "a; b; c") == 1
    assert session.ran == ["a", "b"]
    assert session.closed.is_set()
    assert "ValidationError [S2]: wrong" in screen.err.getvalue()


def test_an_error_in_the_midst_of_rows_is_an_error(fake_session, screen):
    def changes():
        yield ONE
        raise JobFailed("lost")

    session = fake_session({"s": results.Stream(statement="s", columns=(Field("i", INT),), changes=changes())})
    assert run(session, screen, "s; c") == 1
    assert session.ran == ["s"]
    assert "JobFailed [S5]: lost" in screen.err.getvalue()


def test_a_job_that_fails_while_the_runner_waits_is_an_error(fake_session, screen):
    session = fake_session()

    def fail(*_):
        raise JobFailed("lost")

    session.waits = fail
    assert run(session, screen, "a") == 1


def test_quit_ends_a_script(fake_session, screen):
    session = fake_session()
    assert run(session, screen, "a; QUIT; b") == 0
    assert session.ran == ["a", "QUIT"]


def test_a_session_that_cannot_be_made_is_an_error(screen):
    def refuse():
        raise ValidationError("bad catalog")

    assert run_script(refuse, Script("a"), screen) == 1
    assert "bad catalog" in screen.err.getvalue()


def test_ctrl_c_ends_a_select_and_the_script(fake_session, screen):
    begun = threading.Event()
    session = fake_session()

    def changes():
        yield ONE
        begun.set()
        session.interrupted.wait(10)

    session.answers["s"] = results.Stream(statement="s", columns=(Field("i", INT),), changes=changes())
    press_ctrl_c_when(begun)
    assert run(session, screen, "s; b") == 130
    assert session.ran == ["s"]
    assert screen.out.getvalue().splitlines()[-1].startswith("Query terminated, received a total of 1 row (")
    assert session.closed.is_set()


def test_ctrl_c_while_waiting_stops_the_jobs(fake_session, screen):
    begun = threading.Event()
    session = fake_session()

    def wait(*_):
        begun.set()
        assert session.closed.wait(10)

    session.waits = wait
    press_ctrl_c_when(begun)
    assert run(session, screen, "a") == 130


def test_an_init_file_is_run_first_and_silently(fake_session, screen):
    session = fake_session()
    assert run(session, screen, "b", init=Script("SET a", "init.sql")) == 0
    assert session.ran == ["SET a", "b"]
    assert session.names == ["init.sql", "q.sql"]
    assert screen.err.getvalue().count("succeeded") == 1


@pytest.mark.parametrize("statement", ["SELECT 1", "INSERT INTO t VALUES (1)", "-- why\nSHOW TABLES"])
def test_an_init_file_holds_no_queries(fake_session, screen, statement):
    session = fake_session()
    assert run(session, screen, "b", init=Script(f"SET 'a' = 'b';\n{statement};", "init.sql")) == 1
    assert session.ran == []
    assert "NotSupported [S3]: An init file holds declarations and settings only" in screen.err.getvalue()
    assert " --> init.sql:" in screen.err.getvalue()
