"""Results on the whole screen of a real terminal."""

from __future__ import annotations

import sys

import pytest

# The shell over a session that answers SELECT with changes as they come; DONE ends them.
SHELL = """
import sys, threading, time
from sqlstream.cli import main as cli; from sqlstream.session import results
from sqlstream.core.changelog import Change, RowKind
from sqlstream.plan.nodes import Field
from sqlstream.sql import types as t
from sqlstream.session.standing import Standing
from sqlstream.sql.statements.split import split
from sqlstream.core.errors import ValidationError
class Session:
    def standing(self): return Standing("default_catalog.default_database")
    def suggester(self): return lambda text, cursor: ()
    def __init__(self, *a, **k): self.options = dict(k.get("options") or {}); self.ended = threading.Event()
    def start_spark(self): pass
    def close(self): pass
    def interrupt(self): self.ended.set()
    def nothing(self):
        self.ended.wait(60)
        yield from ()
    def reasons(self):
        self.asked = getattr(self, "asked", 0) + 1
        if self.asked == 1:
            raise ValidationError("The server does not answer.")
        return ["No input: nothing new has come to topic t since the query began."] if self.asked > 2 else []
    def rows(self, fails):
        for i in range(45):
            yield Change(RowKind.INSERT, (f"item {i:02}", str(100 - i)))
        yield Change(RowKind.UPDATE_BEFORE, ("item 44", "56"))
        yield Change(RowKind.UPDATE_AFTER, ("item 44", "1000"))
        if fails:
            raise results_error
        self.ended.wait(60)
    def run(self, text, name=None):
        for piece in split(text):
            words = piece.text.split()
            if words[0] == "SET":
                self.options[words[1].strip("'")] = words[3].strip("'")
                yield results.Done()
            elif words[0] == "QUIT":
                yield results.Exit()
            else:
                self.ended.clear()
                columns = (Field("item", t.STRING), Field("price", t.INT))
                if words[-1] == "nothing":
                    yield results.Stream(columns=columns, changes=self.nothing(), reasons=self.reasons)
                else:
                    yield results.Stream(columns=columns, changes=self.rows("bad" in words))
results_error = ValidationError("The source is broken.")
sys.exit(cli.main(sys.argv[1:], fronts=cli.Fronts(lambda *a, **k: Session(*a, **k), cli._shell, cli._run_script)))
"""


@pytest.fixture
def shell(tmux, tmp_path):
    one = tmux(sys.executable, "-c", SHELL, "--project", str(tmp_path), "-hist", str(tmp_path / "history"), columns=100, rows=23)
    one.wait_for("sqlstream>")
    return one


def test_a_table_refreshes_turns_pages_sorts_and_leaves_its_rows_behind(shell) -> None:
    shell.type("SELECT item, price FROM orders;")
    shell.keys("Enter")
    first = shell.wait_for("45 rows   47 changes")
    assert "page 1 of 3" in first and "item 00" in first and "item 20" not in first
    shell.keys("n")
    assert "item 20" in shell.wait_for("page 2 of 3")
    shell.keys("l")
    assert "1000" in shell.wait_for("page 3 of 3")
    shell.keys("Home", "Right", "s")
    by_price = shell.wait_for("price ^").splitlines()
    assert by_price[2].split() == ["item", "43", "57"]
    shell.keys("s")
    assert shell.wait_for("price v").splitlines()[2].split() == ["item", "44", "1000"]
    shell.keys("o")
    assert "price : 1000" in shell.wait_for("o Back")
    shell.keys("o")
    shell.wait_for("page 1 of 3")
    shell.keys("q")
    shell.wait_for("45 rows in set")
    # The prompt, in place of the page's status line.
    left = shell.wait_for("sqlstream>", gone="page 1 of 3")
    assert "| item 43 |    57 |" in left
    assert left.index("45 rows in set") < left.rindex("sqlstream>")


def test_why_there_are_no_rows(shell) -> None:
    shell.type("SELECT * FROM nothing;")
    shell.keys("Enter")
    # What may be, as long as nothing is known.
    assert "The first rows take some seconds." in shell.wait_for("Nothing has come in 5 s.")
    shell.wait_for("No input: nothing new has come to topic t", gone="The first rows take some seconds.")
    shell.keys("q")
    shell.wait_for("Empty set")


def test_the_changelog(shell) -> None:
    shell.type("SET 'sql-client.execution.result-mode' = 'changelog';")
    shell.keys("Enter")
    shell.wait_for("succeeded")
    shell.type("SELECT item, price FROM orders;")
    shell.keys("Enter")
    shell.wait_for("47 changes")
    shell.keys("l")
    shown = shell.wait_for("page 3 of 3")
    assert "-U  item 44     56" in shown
    assert "+U  item 44   1000" in shown
    shell.keys("C-c")
    shell.wait_for("47 rows in set")


def test_an_error_is_told_at_once_and_when_the_screen_is_left(shell) -> None:
    shell.type("SELECT bad ;")
    shell.keys("Enter")
    shown = shell.wait_for("The source is broken.")
    assert "Failed " in shown and "q Quit" in shown
    shell.keys("q")
    shell.wait_for("The source is broken.", gone="q Quit")


def test_tableau_needs_no_screen(shell) -> None:
    shell.type("SET 'sql-client.execution.result-mode' = 'tableau';")
    shell.keys("Enter")
    shell.wait_for("succeeded")
    shell.type("SELECT bad ;")
    shell.keys("Enter")
    assert "| +U |" in shell.wait_for("The source is broken.")
