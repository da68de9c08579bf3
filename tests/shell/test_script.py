"""Scripts: order, echo, exit codes, Ctrl-C."""

import signal
import threading
import time

import pytest

from sqlstream.core.changelog import Change, RowKind
from sqlstream.core.errors import JobFailed, ValidationError
from sqlstream.plan.nodes import Field
from sqlstream.session import results
from sqlstream.session.session import Session
from sqlstream.shell import foreground
from sqlstream.shell.foreground import Terminated, handled
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


def test_a_job_that_fails_ends_what_runs_and_the_script(fake_session, screen):
    session = fake_session()

    def changes():
        yield ONE
        threading.Thread(target=lambda: session.jobs.on_failure(JobFailed("lost"))).start()
        assert session.interrupted.wait(10)

    session.answers["s"] = results.Stream(statement="s", columns=(Field("i", INT),), changes=changes())
    assert run(session, screen, "s; b") == 1
    assert session.ran == ["s"]
    assert screen.out.getvalue().splitlines()[-1].startswith("Query terminated, received a total of 1 row (")
    assert screen.err.getvalue().count("JobFailed [S5]: lost") == 1
    assert session.closed.is_set()


def test_a_job_that_is_waited_for_fails_once_and_hides_what_it_cuts_off(fake_session, screen):
    session = fake_session()
    lost = JobFailed("lost")

    def wait_for(raised):
        def answer(_):
            session.jobs.on_failure(lost)
            return raised

        return answer

    session.answers = {"INSERT": wait_for(lost)}
    assert run(session, screen, "INSERT; b") == 1
    session.answers = {"INSERT": wait_for(JobFailed("cancelled"))}
    assert run(session, screen, "INSERT; b") == 1
    assert screen.err.getvalue().count("JobFailed") == screen.err.getvalue().count("JobFailed [S5]: lost") == 2


@pytest.mark.parametrize(
    ("error", "code"), [(OSError(28, "No space left"), 75), (JobFailed("away"), 75), (ValidationError("no"), 1), (KeyError(), 1)]
)
def test_what_may_be_over_after_a_while_has_a_code_of_its_own(fake_session, screen, error, code):
    def fail(_):
        raise error

    session = fake_session({"INSERT": fail})
    assert run(session, screen, "INSERT", hindered=75) == code
    assert run(session, screen, "INSERT") == 1
    assert ("JobFailed [S5]: The disk is full." in screen.err.getvalue()) == isinstance(error, OSError)

    def refuse():
        raise error

    assert run_script(refuse, Script("a"), screen, hindered=75) == code


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
        assert session.interrupted.wait(10)

    session.waits = wait
    press_ctrl_c_when(begun)
    assert run(session, screen, "a") == 130


def press(number: int, times: int, ready: threading.Event) -> None:
    """Send a signal so many times, a moment apart."""

    def send():
        for _ in range(times):
            assert ready.wait(10)
            time.sleep(0.1)
            signal.pthread_kill(threading.main_thread().ident, number)

    threading.Thread(target=send, daemon=True).start()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_closes_the_session_without_a_word(fake_session, screen, number, code):
    begun = threading.Event()
    session = fake_session()

    def wait(*_):
        begun.set()
        assert session.closed.wait(10)
        raise JobFailed("cancelled")

    session.waits = wait
    press(number, 1, begun)
    with handled(terminate):
        assert run(session, screen, "a") == code
    assert session.closed.is_set() and not session.hurried.is_set()
    assert "cancelled" not in screen.err.getvalue()


def terminate(number, *_):
    raise Terminated(number)


def test_a_second_ctrl_c_hurries_the_close(fake_session, screen):
    begun = threading.Event()
    session = fake_session()

    def wait(*_):
        begun.set()
        assert session.interrupted.wait(10)

    session.waits = wait
    session.close = lambda: session.hurried.wait(10) and session.closed.set()
    press(signal.SIGINT, 2, begun)
    began = time.monotonic()
    assert run(session, screen, "a") == 130
    assert session.closed.is_set() and time.monotonic() - began < 5


def test_a_close_that_takes_too_long_is_hurried(monkeypatch):
    monkeypatch.setattr(foreground, "CLOSE_SECONDS", 0.1)
    hurried = threading.Event()
    began = time.monotonic()
    foreground.close_in_order(lambda: hurried.wait(10), hurried.set)
    assert hurried.is_set() and time.monotonic() - began < 5


def test_what_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with handled(terminate):
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_init_file_is_run_first_and_silently(fake_session, screen):
    session = fake_session()
    assert run(session, screen, "b", init=Script("SET a", "init.sql")) == 0
    assert session.ran == ["SET a", "b"]
    assert session.names == ["init.sql", "q.sql"]
    assert screen.err.getvalue().count("succeeded") == 1


def test_an_init_file_holds_no_queries(tmp_path, screen):
    assert run(Session(tmp_path), screen, "SELECT 1", init=Script("SET 'a' = 'b';\nSELECT 1;", "init.sql")) == 1
    assert "NotSupported [S3]: An init file may hold only declarations and settings" in screen.err.getvalue()
    assert " --> init.sql:2:1" in screen.err.getvalue()
