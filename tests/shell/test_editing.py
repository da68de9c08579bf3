"""Editing in a real terminal: completion, history, several statements, the editor, vi keys. No Spark."""

import re
import stat
import sys

import pytest

sys.path.insert(0, __file__.rpartition("/")[0])
from tmux import TMUX, Tmux

pytestmark = [pytest.mark.skipif(TMUX is None, reason="tmux is not installed"), pytest.mark.timeout(300)]

# The real session, which takes itself for one that has Spark on its way; what it runs is written to a file, line by line.
PROGRAM = """
import sys
from pathlib import Path
from sqlstream import cli
def session(project, **settings):
    from sqlstream.session import Session
    Session.start_spark = lambda self: None
    execute = Session.run
    def run(self, script, name=None):
        with (project / "ran").open("a") as file:
            file.write(repr(script) + chr(10))
        return execute(self, script, name)
    Session.run = run
    return Session(project, **settings)
sys.exit(cli.main(sys.argv[1:], fronts=cli.Fronts(session, cli._shell, cli._run_script)))
"""
ORDERS = "CREATE TABLE orders (item STRING, price INT) WITH ('connector' = 'datagen');"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "orders.sql").write_text(ORDERS)
    return tmp_path


@pytest.fixture
def shell(project):
    opened = []

    def start(*arguments, env=None):
        one = Tmux("-c", PROGRAM, "--project", str(project), *arguments, env=env)
        opened.append(one)
        one.until("sqlstream>")
        # The session is open when it completes.
        for _ in range(60):
            one.type("SHOW CAT")
            try:
                one.until("CATALOGS", timeout=3)
                break
            except AssertionError:
                one.press("C-c")
                one.until("sqlstream>")
        one.press("C-c")
        one.until(gone="CATALOGS")
        return one

    yield start
    for one in opened:
        one.close()


def ran(project):
    return [eval(line) for line in (project / "ran").read_text().splitlines()]


def test_a_menu_of_columns_is_there_while_one_types(shell, project):
    one = shell()
    one.type("SELECT pr")
    one.press("C-a")  # no table is known yet, so there is no column
    one.press("C-c")
    one.type("SHOW COLUMNS FROM o")
    one.until("orders", "datagen")
    one.press("Tab")
    one.until("SHOW COLUMNS FROM orders")
    one.type(";")
    one.press("Enter")
    one.until("2 rows in set")
    one.type("EXPLAIN SELECT * FROM orders WHERE pri")
    one.until("price", "INT")
    one.press("Tab", "Enter")  # takes the entry; the statement is not run
    one.type(" > 1;")
    one.press("Enter")
    one.until("Optimized Physical Plan")
    assert ran(project)[-1] == "EXPLAIN SELECT * FROM orders WHERE price > 1;"


def test_history_comes_back_whole_and_is_searched(shell, project):
    one = shell()
    one.type("SHOW TABLES")
    one.press("Enter")
    one.type("  LIKE 'or%'")
    one.press("Enter")
    one.type(";")  # as far indented as the line before
    one.press("Enter")
    one.until("1 row in set")
    one.type("SHOW CATALOGS;")
    one.press("Enter")
    one.until("default_catalog")
    one.press("C-c")
    one.press("C-r")
    one.type("LIKE")
    one.until("  LIKE 'or%'", "reverse")
    one.press("Enter")
    one.until(gone="reverse")
    one.press("M->")
    one.press("Enter")
    wanted = "SHOW TABLES\n  LIKE 'or%'\n  ;"
    for _ in range(300):
        if ran(project).count(wanted) == 2:
            break
        one.until("sqlstream>")
    assert ran(project) == [wanted, "SHOW CATALOGS;", wanted]
    history = project / ".sqlstream" / "history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    one.press("C-d")
    again = shell()
    again.press("Up")
    again.until("SHOW TABLES", "LIKE 'or%'")


def test_passwords_are_not_written_down(shell, project):
    one = shell()
    one.type("CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'jdbc', 'password' = 'geheim');")
    one.press("Enter")
    one.until("sqlstream> \n")
    one.press("Up")
    one.until("'geheim'")
    text = (project / ".sqlstream" / "history").read_text()
    assert "'password' = '******'" in text and "geheim" not in text


def test_one_of_several_statements_runs(shell, project):
    one = shell()
    one.type("SHOW CATALOGS; SHOW DATABASES; SHOW VIEWS")
    for _ in range(14):
        one.press("Left")
    one.press("F5")
    one.until("default_database")
    one.until("sqlstream> SHOW CATALOGS; SHOW DATABASES; SHOW VIEWS")
    assert ran(project) == ["SHOW DATABASES;"]
    one.press("C-e")
    one.press("M-Enter")
    one.until("Empty set")
    assert ran(project) == ["SHOW DATABASES;", "SHOW VIEWS;"]


def test_the_editor_gives_its_text_back(shell, project):
    editor = project / "editor.sh"
    editor.write_text('#!/bin/sh\ncase "$1" in *.sql) echo "SHOW CURRENT CATALOG;" > "$1";; esac\n')
    editor.chmod(0o755)
    one = shell(env={"EDITOR": str(editor), "VISUAL": str(editor)})
    one.type("SHOW something")
    one.press("C-x", "C-e")
    one.until("SHOW CURRENT CATALOG;", gone="something")
    assert not (project / "ran").exists()
    one.press("M->", "Enter")
    one.until("default_catalog")


def test_vi_keys(shell, project):
    one = shell("-D", "sql-client.edit-mode=vi")
    one.type("SHOW CATALOGS extra;")
    one.press("Escape")
    one.type("0wwdw")  # to the third word, delete it
    one.until("SHOW CATALOGS ;")
    one.press("Enter")
    one.until("default_catalog")
    assert ran(project) == ["SHOW CATALOGS ;"]
    one.type("SET 'sql-client.edit-mode' = 'emacs';")
    one.press("Enter")
    one.until("[INFO]")


def test_what_is_typed_has_colours(shell):
    one = shell()
    one.type("SELECT 'text', 12 FROM orders -- why")
    one.until("-- why")
    assert "\x1b[" in one.screen(colours=True).split("SELECT")[-2][-12:]
    plain = shell(env={"NO_COLOR": "1"})
    plain.type("SELECT 'text', 12 FROM orders -- why")
    plain.until("-- why")
    assert not re.search(r"\x1b\[(3[0-8]|9\d)", plain.screen(colours=True))
