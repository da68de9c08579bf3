"""Editing in a real terminal: completion, history, several statements, the editor, vi keys. No Spark."""

import re
import stat
import sys

import pytest

from sqlstream.shell.keys import without_prompts
from tests.support.waiting import until

pytestmark = pytest.mark.timeout(300)

# The real session, which takes itself for one that has Spark on its way; what it runs is written to a file, line by line.
PROGRAM = """
import sys
from pathlib import Path
from sqlstream.cli import main as cli
def session(project, **settings):
    from sqlstream.session.session import Session
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
def shell(tmux, project):
    def start(*arguments, env=None):
        one = tmux(sys.executable, "-c", PROGRAM, "--project", str(project), *arguments, env=env)
        one.wait_for("sqlstream>")
        one.type("SHOW CAT")
        # With the session come the completions.
        until(lambda: "CATALOGS" in one.screen, every=0.3, meanwhile=lambda: one.keys("Tab"), said=lambda: one.screen)
        one.keys("C-c")
        # Keys are read by the next prompt only, which stands below this one.
        until(lambda: one.screen.count("sqlstream>") == 2 and "keyword" not in one.screen, said=lambda: one.screen)
        return one

    return start


def ran(project):
    return [eval(line) for line in (project / "ran").read_text().splitlines()]


def test_a_menu_of_columns_is_there_while_one_types(shell, project):
    one = shell()
    one.type("SHOW COLUMNS FROM o")
    one.wait_for("orders")
    one.wait_for("datagen")
    one.keys("Tab")
    one.wait_for("SHOW COLUMNS FROM orders")
    one.type(";")
    one.keys("Enter")
    one.wait_for("2 rows in set")
    one.type("CLEAR;")
    one.keys("Enter")
    one.wait_for("sqlstream>", gone="2 rows in set")
    one.type("EXPLAIN SELECT * FROM orders WHERE pri")
    one.wait_for("price")
    one.wait_for("INT")
    one.keys("Tab", "Enter")  # takes the entry; the statement is not run
    one.type(" > 1;")
    one.keys("Enter")
    one.wait_for("Optimized Physical Plan")
    assert ran(project)[-1] == "EXPLAIN SELECT * FROM orders WHERE price > 1;"


def test_history_comes_back_whole_and_is_searched(shell, project):
    one = shell()
    one.type("SHOW TABLES")
    one.keys("Enter")
    one.type("  LIKE 'or%'")
    one.keys("Enter")
    one.type(";")  # as far indented as the line before
    one.keys("Enter")
    one.wait_for("1 row in set")
    one.type("SHOW CATALOGS;")
    one.keys("Enter")
    one.wait_for("default_catalog |\n+-----------------+\n1 row in set\n\nsqlstream>")
    one.keys("C-r")
    one.wait_for("I-search backward:")
    one.type("like 'OR!")
    one.wait_for("I-search backward: like 'OR!   (nothing found)")
    one.keys("BSpace")
    one.wait_for("I-search backward: like 'OR", gone="nothing found")
    one.wait_for("1 row in set\n\nsqlstream> SHOW TABLES\n>   LIKE 'or%'\n>   ;")
    one.keys("Enter")
    one.wait_for("sqlstream>", gone="I-search")
    one.keys("Enter")
    wanted = "SHOW TABLES\n  LIKE 'or%'\n  ;"
    until(lambda: len(ran(project)) >= 3, said=lambda: ran(project))
    assert ran(project) == [wanted, "SHOW CATALOGS;", wanted]
    history = project / ".sqlstream" / "history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    one.keys("C-d")
    again = shell()
    # A key between two prompts is lost.
    until(lambda: "SHOW TABLES" in again.screen, every=1, meanwhile=lambda: again.keys("Up"), said=lambda: again.screen)
    again.wait_for("LIKE 'or%'")


def test_passwords_are_not_written_down(shell, project):
    one = shell()
    one.type("CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'jdbc', 'password' = 'geheim');")
    one.keys("Enter")
    one.wait_for("[INFO] Execute statement succeeded.\n\nsqlstream>\n")
    one.keys("Up")
    one.wait_for("\n\nsqlstream> CREATE TEMPORARY TABLE t")
    text = (project / ".sqlstream" / "history").read_text()
    assert "'password' = '******'" in text and "geheim" not in text


def test_one_of_several_statements_runs(shell, project):
    one = shell()
    one.type("SHOW CATALOGS; SHOW DATABASES; SHOW VIEWS")
    for _ in range(14):
        one.keys("Left")
    one.keys("F5")
    one.wait_for("1 row in set")
    one.wait_for("sqlstream> SHOW CATALOGS; SHOW DATABASES; SHOW VIEWS")
    assert ran(project) == ["SHOW DATABASES;"]
    one.keys("C-e")
    one.keys("M-Enter")
    one.wait_for("Empty set")
    assert ran(project) == ["SHOW DATABASES;", "SHOW VIEWS;"]


def test_the_editor_gives_its_text_back(shell, project):
    editor = project / "editor.sh"
    editor.write_text('#!/bin/sh\ncase "$1" in *.sql) echo "SHOW CURRENT CATALOG;" > "$1";; esac\n')
    editor.chmod(0o755)
    one = shell(env={"EDITOR": str(editor), "VISUAL": str(editor)})
    one.type("SHOW something")
    one.keys("C-x", "C-e")
    one.wait_for("SHOW CURRENT CATALOG;", gone="something")
    assert not (project / "ran").exists()
    one.keys("Enter")
    one.wait_for("1 row in set")


def test_vi_keys(shell, project):
    one = shell("-D", "sql-client.edit-mode=vi")
    one.type("SHOW CATALOGS extra;")
    one.keys("Escape")
    one.type("0wwdw")  # to the third word, delete it
    one.wait_for("SHOW CATALOGS ;")
    one.keys("Enter")
    one.wait_for("1 row in set")
    assert ran(project) == ["SHOW CATALOGS ;"]
    one.type("SET 'sql-client.edit-mode' = 'emacs';")
    one.keys("Enter")
    one.wait_for("[INFO]")


def test_what_is_typed_has_colours(shell):
    one = shell()
    one.type("SELECT 'text', 12 FROM orders -- why")
    one.wait_for("-- why")
    assert "\x1b[" in one.coloured.split("SELECT")[-2][-12:]
    plain = shell(env={"NO_COLOR": "1"})
    plain.type("SELECT 'text', 12 FROM orders -- why")
    plain.wait_for("-- why")
    assert not re.search(r"\x1b\[(3[0-8]|9\d)", plain.coloured)


def test_what_is_pasted_with_its_prompts(shell, project):
    """As it stands in the docs, and on the screen."""
    one = shell()
    one.paste("sqlstream> SHOW CREATE TABLE\n> orders;")
    one.keys("Enter")
    one.wait_for("price")
    assert ran(project)[-1] == "SHOW CREATE TABLE\norders;"


def test_prompts_are_left_out_of_what_begins_with_one():
    assert without_prompts("sqlstream> SHOW TABLES;\nsqlstream> SELECT a\n> FROM t;") == "SHOW TABLES;\nSELECT a\nFROM t;"
    assert without_prompts("SELECT 1\n> 0;") == "SELECT 1\n> 0;"
