"""The real program in a real terminal. Spark's start is left out where its time would be measured."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import pace
from tests.support.processes import jvms_of

# The command line with the real session, which takes itself for one that has Spark on its way.
WITHOUT_SPARK = """
import sys
from sqlstream.cli import main as cli
def session(*arguments, **settings):
    from sqlstream.session.session import Session
    Session.start_spark = lambda self: None
    return Session(*arguments, **settings)
sys.exit(cli.main(sys.argv[1:], fronts=cli.Fronts(session, cli._shell, cli._run_script)))
"""
# On a machine without load.
PROMPT_SECONDS = 0.5


def shell(terminal, tmp_path, *arguments):
    return terminal("-c", WITHOUT_SPARK, "--project", str(tmp_path), "-hist", str(tmp_path / "history"), *arguments)


def waited_for_a_processor(pid: int) -> float:
    """The seconds for which the main thread of a process could have run, if others had not: where the system tells."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0


def test_the_prompt_comes_at_once(terminal, tmp_path):
    """What else the machine has to do does not count; what the prompt waits for by itself does."""

    def seconds():
        slow = pace.slowness()
        one = shell(terminal, tmp_path)
        passed = one.read_until("sqlstream>") - waited_for_a_processor(one.process.pid)
        one.send("\x04")
        assert one.exit_code() == 0
        return passed / max(slow, pace.slowness())

    # The first time files are read from the disk.
    measured: list[float] = []
    while min(measured, default=PROMPT_SECONDS) >= PROMPT_SECONDS:
        assert len(measured) < 8, measured
        measured.append(seconds())


def test_help_comes_at_once_and_without_the_planner():
    imported = subprocess.run([sys.executable, "-X", "importtime", "-m", "sqlstream", "--help"], capture_output=True, text=True, check=True).stderr
    assert "sqlstream.cli.main" in imported
    for heavy in ("pyspark", "sqlglot", "prompt_toolkit", "sqlstream.session.session"):
        assert heavy not in imported


def test_the_prompt_needs_neither_planner_nor_spark():
    script = "import sys, sqlstream.cli.main, sqlstream.shell.repl; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "prompt_toolkit" in imported
    for heavy in ("pyspark", "sqlglot", "sqlstream.session.session", "sqlstream.plan", "sqlstream.session.completion"):
        assert heavy not in imported


def test_jobs_are_listed_without_the_planner(tmp_path):
    script = "import sys; from sqlstream.cli.main import main; code = main(['jobs', 'list', '--project', '.']); print(*sys.modules); sys.exit(code)"
    imported = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert "sqlstream.runtime.jobs.control.registry" in imported
    for heavy in ("pyspark", "sqlglot", "sqlstream.connectors", "sqlstream.plan.planner"):
        assert heavy not in imported


def test_a_dialogue(terminal, tmp_path):
    one = shell(terminal, tmp_path)
    one.read_until("sqlstream>")
    one.send("SHOW CURRENT\rCATALOG;\r")
    one.read_until("default_catalog")
    one.read_until("1 row in set")
    one.send("SELECT nope FROM nowhere;\r")
    one.read_until("[ERROR]")
    one.read_until("^")
    one.send("HELP\r")
    one.read_until("Lists: COMMANDS")
    one.read_until("sqlstream>")
    one.send("half a stat\x03SHOW CURRENT\r\\nosuch\r")
    one.read_until("There is no command")
    one.send("DATABASE;\r")
    one.read_until(" default_database |")
    one.send("\\q\r")
    one.read_until("Exiting sqlstream...")
    assert one.exit_code() == 0


def test_drop_asks(terminal, tmp_path):
    one = shell(terminal, tmp_path)
    one.read_until("sqlstream>")
    one.send("CREATE TABLE t (n INT) WITH ('connector' = 'print');\rCREATE VIEW v AS SELECT 1 AS n;\r")
    one.read_until("v.sql")
    one.send("DROP VIEW v;\r")
    one.read_until("DROP VIEW v? [y/N]")
    one.send("n\n")
    one.read_until("Nothing was done.")
    one.send("DROP TABLE t;\r")
    one.read_until("DROP TABLE t? [y/N]")
    one.send("\x03")
    one.read_until("Nothing was done.")
    one.send("DROP TABLE t;\r")
    one.read_until("DROP TABLE t? [y/N]")
    one.send("y\n")
    one.read_until("Removed catalog/t.sql")
    one.send("\\d\r")
    one.read_until("1 row in set")
    one.send("QUIT;\r")
    assert one.exit_code() == 0


def test_sigterm_ends_the_shell(terminal, tmp_path):
    one = shell(terminal, tmp_path)
    one.read_until("sqlstream>")
    one.process.send_signal(signal.SIGTERM)
    assert one.exit_code() == 143


@pytest.mark.spark
def test_a_select_in_the_terminal(terminal, tmp_path):
    one = terminal("-m", "sqlstream", "--project", str(tmp_path), "-hist", str(tmp_path / "history"))
    one.read_until("sqlstream>")
    one.send("SET 'execution.runtime-mode' = 'batch';\rSELECT 1 AS a, 'x' AS b;\r")
    one.read_until("| 1 | x |", timeout=120)
    one.read_until("1 row in set")
    one.send("QUIT;\r")
    assert one.exit_code() == 0


@pytest.mark.spark
@pytest.mark.timeout(300)
@pytest.mark.long
def test_after_the_death_of_spark_jobs_and_statements_go_on_in_a_new_one(tmux, tmp_path):
    options = [
        "-D",
        "spark.master=local[2]",
        "-D",
        "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1",
        "-D",
        "sql-client.execution.result-mode=tableau",
    ]
    one = tmux(sys.executable, "-m", "sqlstream", "--project", str(tmp_path), *options, columns=200)
    one.wait_for("sqlstream>")
    one.type("CREATE TABLE g (n BIGINT) WITH ('connector' = 'datagen'); CREATE TABLE b (n BIGINT) WITH ('connector' = 'blackhole');")
    one.keys("Enter")
    for n in ("n", "n + 1"):
        one.type(f"CLEAR; INSERT INTO b SELECT {n} FROM g;")
        one.keys("Enter")
        one.wait_for("Job ID:", 120, gone="has failed")
        (jvm,) = jvms_of(one.pid)
        os.kill(jvm, signal.SIGKILL)
        one.wait_for("[ERROR] Spark died: its JVM was killed (SIGKILL). The next statement that needs it starts it again.")
        one.wait_for("Job 'b' has failed: Spark died: its JVM was killed (SIGKILL). It is started again in")
    one.type("CLEAR; SELECT 'a' || 'b' AS x;")
    one.keys("Enter")
    assert "Exception" not in one.wait_for("| +I |", 120)
    # The first prompt after CLEAR: what is typed before it is read otherwise.
    one.wait_for("sqlstream>")
    one.keys("C-d")
    one.wait_for("Hand them over to the background, and quit? [y/N]")
    one.type("n")
    one.keys("Enter")
    one.wait_for("2 jobs are running and stop with the shell")
    one.type("y")
    one.keys("Enter")
    one.wait_for("Exiting sqlstream")


def test_a_saved_file_of_functions_is_loaded_while_one_works(terminal, tmp_path):
    (tmp_path / "udfs").mkdir()
    module = tmp_path / "udfs" / "greeting.py"
    module.write_text("from sqlstream.udf import udf\n@udf\ndef hello(name: str) -> str: return name\n")
    one = shell(terminal, tmp_path)
    one.read_until("sqlstream>")
    one.send("SHOW USER FUNCTIONS;\r")
    one.read_until("hello")
    one.read_until("1 row in set")
    module.write_text(module.read_text() + "@udf\ndef goodbye(name: str) -> str: return name\n")
    one.send("SHOW USER FUNCTIONS;\r")
    one.read_until("udfs/greeting.py reloaded")
    one.read_until("goodbye")
    module.write_text("def hello(:\n")
    one.send("SHOW USER FUNCTIONS;\r")
    one.read_until("The module 'greeting' cannot be loaded: invalid syntax.")
    one.read_until("Empty set")
    one.send("QUIT;\r")
    assert one.exit_code() == 0
