"""Errors and messages, and which stream they go to."""

import io
import json
import re
from itertools import pairwise

import pytest

from sqlstream.core.errors import JobFailed, Location, NotSupported, SetupError, ValidationError, columns
from sqlstream.core.lines import OfJob, Passing
from sqlstream.shell.prose import wrapped
from sqlstream.shell.screen import Screen, error_lines

SCRIPT = "SET 'a' = 'b';\nSELECT id,\n\tnope\nFROM t;"


def test_an_error_points_into_the_script():
    error = ValidationError("Column 'nope' not found in any table.", at=12, hint="Did you mean 'node'?")
    error.located(SCRIPT, "q.sql", SCRIPT.index("SELECT"))
    assert error_lines(error, verbose=False) == [
        "[ERROR] Could not execute SQL statement. Reason:",
        "ValidationError [S2]: Column 'nope' not found in any table.",
        " --> q.sql:3:2",
        "  \tnope",
        "  \t^",
        "hint: Did you mean 'node'?",
    ]


def test_an_error_of_the_machine_is_one_line():
    error = SetupError("Java 17 or newer is needed, and none was found.", hint="Install one.").located(SCRIPT, "q.sql", 0)
    assert error_lines(error, verbose=False) == ["[ERROR] Java 17 or newer is needed, and none was found. Install one."]


def test_an_error_without_place_or_hint():
    assert error_lines(NotSupported("No.", hint="Yes."), verbose=False)[1:] == ["NotSupported [S3]: No.", "hint: Yes."]


def test_the_trace_is_for_verbose_only():
    def failed():
        try:
            raise KeyError("cause")
        except KeyError as cause:
            try:
                raise NotSupported("No.", hint="Yes.") from cause
            except NotSupported as error:
                return error

    assert not any("Traceback" in line for line in error_lines(failed(), verbose=False))
    assert any("KeyError: 'cause'" in line for line in error_lines(failed(), verbose=True))


def test_an_error_of_another_kind_shows_its_first_line():
    lines = error_lines(RuntimeError("first\n\tat org.apache.Jvm(Stack.java:1)"), verbose=False)
    assert lines[1:] == ["RuntimeError: first", "hint: SET 'sql-client.verbose' = 'true'; shows the whole trace"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_passing_lines_are_for_terminals_where_nobody_types(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    file, terminal = io.StringIO(), Terminal()
    for stream in (file, terminal):
        screen = Screen(err=stream)
        screen.notify("Downloading")
        screen.notify(Passing("1 of 2"))
        screen.notify(Passing("2 of 2"))
        with screen.prompting():
            screen.notify(Passing("3 of 2"))
            screen.notify("done")
    assert file.getvalue() == "Downloading\ndone\n"
    assert terminal.getvalue() == "Downloading\n1 of 2\r\x1b[K2 of 2\r\x1b[Kdone\n"


def test_results_and_the_rest_part_ways(screen):
    screen.emit("row")
    screen.info("said")
    screen.notices(["no effect"])
    screen.echo("SELECT 1,\n  2")
    assert screen.out.getvalue() == "row\n"
    assert screen.err.getvalue() == "[INFO] said\n[NOTICE] no effect\nsqlstream> SELECT 1,\n>   2\n"


class Full(io.StringIO):
    """A file on a full disk."""

    def flush(self):
        raise OSError(28, "No space left on device")


def test_on_a_full_disk_a_notice_is_left_out_and_a_row_is_not():
    screen = Screen(out=Full(), err=Full())
    screen.notify("a notice")
    screen.error(ValueError("x"))
    with pytest.raises(OSError, match="No space left"):
        screen.emit("a row")


def test_logs_for_programs():
    """An object a line, however many lines a message has; nothing of the terminal; rows of results are as they are."""
    out, err = io.StringIO(), io.StringIO()
    screen = Screen(out, err, log_format="json", timestamps=True)
    screen.emit("a row")
    screen.info("Execute statement succeeded.")
    screen.notices(["Ä\nb"])
    screen.notify()
    screen.notify("Job 'x' goes on.")
    screen.error(ValidationError("Column 'nope' not found.", at=12, hint="Did you mean 'node'?").located(SCRIPT, "q.sql", SCRIPT.index("SELECT")))
    failed = JobFailed("No.")
    failed.job = "counting"
    screen.error(failed, verbose=True)
    screen.error(KeyError("password=x"))
    screen.notify(OfJob("+I[1]", "printing"))
    screen.notify(OfJob("[ERROR] Job 'a' has failed.", "a", SetupError("No.", hint="Why?")))
    assert out.getvalue() == "a row\n"
    logged = [json.loads(line) for line in err.getvalue().splitlines()]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("time")) for line in logged)
    assert "JobFailed" in logged[4].pop("trace")
    assert logged == [
        {"level": "INFO", "message": "Execute statement succeeded."},
        {"level": "NOTICE", "message": "Ä\nb"},
        {"level": "INFO", "message": "Job 'x' goes on."},
        {
            "level": "ERROR", "message": "Column 'nope' not found.", "error": "ValidationError", "code": "S2", "hint": "Did you mean 'node'?",
            "location": "q.sql:3:2",
        },
        {"level": "ERROR", "message": "No.", "error": "JobFailed", "code": "S5", "job": "counting"},
        {"level": "ERROR", "message": "'password=******'", "error": "KeyError"},
        {"level": "INFO", "message": "+I[1]", "job": "printing"},
        {"level": "ERROR", "message": "No.", "error": "SetupError", "code": "S4", "hint": "Why?", "job": "a"},
    ]  # fmt: skip


LONG = "SELECT a, 'wide 数据', " + "b, " * 40 + "nope, " + "c, " * 40 + "d FROM t"


@pytest.mark.parametrize("width", [40, 80, 500])
def test_a_long_clause_is_shown_where_it_is_wrong(width):
    error = ValidationError("Column 'nope' not found in any table.", hint="It has a, b, c, and d: a name is as it was declared.")
    error.location = Location.of(LONG, "q.sql", LONG.index("nope"), 4)
    lines = error_lines(error, verbose=False, width=width)
    assert all(columns(line) <= width for line in lines[1:])
    shown, carets = next((a, b) for a, b in pairwise(lines) if "^" in b)
    # Wide characters before it take two columns.
    begin = carets.index("^")
    assert carets.endswith("^^^^") and cells(shown)[begin : begin + 4] == ["n", "o", "p", "e"]
    # Nothing is lost between the lines.
    assert " ".join(lines[-2:]).replace("  ", " ").endswith("a name is as it was declared.")


def cells(line):
    """The characters of ``line`` by the columns of a terminal; the second one of a wide character is empty."""
    return [cell for char in line for cell in [char, *[""] * (columns(char) - 1)]]


def test_messages_end_their_lines_between_words(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    terminal, file = Terminal(), io.StringIO()
    message = "Job 'totals' has changed: it begins anew, and what it has kept is forgotten."
    for stream in (terminal, file):
        Screen(err=stream).notices([message])
    assert file.getvalue() == f"[NOTICE] {message}\n"
    assert terminal.getvalue() == "[NOTICE] Job 'totals' has changed: it\nbegins anew, and what it has kept is\nforgotten.\n"


def test_below_a_second_column_words_go_on_there():
    assert wrapped("  \\d [NAME]  lists tables and views, or shows one of them", 34) == [
        "  \\d [NAME]  lists tables and",
        "             views, or shows one",
        "             of them",
    ]
    assert wrapped("https://a.very.long.name.of.something/that/can/not/be/parted", 20) == [
        "https://a.very.long.name.of.something/that/can/not/be/parted"
    ]
