"""--output csv and json: rows on stdout, all else on stderr."""

import io
import json
import time

import pytest

from sqlstream.core.changelog import Change, RowKind
from sqlstream.plan.nodes import Field
from sqlstream.session import results
from sqlstream.shell.screen import Screen, Script
from sqlstream.shell.script import run_script
from sqlstream.shell.views import show
from sqlstream.sql import types as t


def printed(outcome, output):
    screen = Screen(io.StringIO(), io.StringIO(), output=output)
    show(outcome, screen, {}, time.monotonic(), lambda: False)
    return screen.out.getvalue(), screen.err.getvalue()


COLUMNS = (Field("a", t.INT), Field("b,c", t.STRING))


def test_rows():
    rows = results.Rows(columns=COLUMNS, rows=(("1", 'x"'), (None, "")), notices=("note",))
    assert printed(rows, "csv") == ('a,"b,c"\r\n1,"x"""\r\n,""\r\n', "[NOTICE] note\n")
    assert printed(rows, "json") == ('{"a": 1, "b,c": "x\\""}\n{"a": null, "b,c": ""}\n', "[NOTICE] note\n")


def test_changes_come_one_by_one():
    given = []

    def changes():
        for kind, cell in ((RowKind.INSERT, "1"), (RowKind.UPDATE_BEFORE, "1"), (RowKind.UPDATE_AFTER, "2")):
            given.append(kind)
            yield Change(kind, (cell, None))

    out, err = printed(results.Stream(columns=COLUMNS, changes=changes()), "json")
    assert [json.loads(line)["op"] for line in out.splitlines()] == ["+I", "-U", "+U"]
    assert err == ""
    assert printed(results.Stream(columns=COLUMNS, changes=changes()), "csv")[0] == 'op,a,"b,c"\r\n+I,1,\r\n-U,1,\r\n+U,2,\r\n'


@pytest.mark.parametrize("output", ["csv", "json"])
def test_a_script_prints_nothing_but_rows_to_stdout(tmp_path, output):
    from sqlstream.session.session import Session

    screen = Screen(io.StringIO(), io.StringIO(), output=output)
    script = Script("CREATE TABLE a (n INT) WITH ('connector' = 'print'); SHOW TABLES; \\d", "a.sql")
    assert run_script(lambda: Session(tmp_path, notify=screen.notify, emit=screen.emit), script, screen, echo=True) == 1
    assert screen.out.getvalue() == {"csv": "table name\r\na\r\n", "json": '{"table name": "a"}\n'}[output]
    assert "\x1b" not in screen.out.getvalue() + screen.err.getvalue()


def test_a_backslash_command_without_a_terminal(tmp_path):
    from sqlstream.session.session import Session

    screen = Screen(io.StringIO(), io.StringIO(), output="csv")
    assert run_script(lambda: Session(tmp_path, notify=screen.notify), Script("\\d"), screen) == 0
    assert screen.out.getvalue() == "table name\r\n"
    assert run_script(lambda: Session(tmp_path, notify=screen.notify), Script("\\dd"), screen) == 1
    assert "There is no command \\dd." in screen.err.getvalue()
