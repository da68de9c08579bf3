"""What the shell tells of running jobs: status bar, live figures, a line of progress. A real terminal, no Spark."""

from __future__ import annotations

import io
import sys
from dataclasses import replace

import pytest

from sqlstream.runtime.monitor import figures
from sqlstream.runtime.monitor.figures import job_progress
from sqlstream.runtime.monitor.metrics import Batch, Input, JobMetrics, Partition, QueryMetrics
from sqlstream.shell import progress
from sqlstream.shell.progress import Progress
from sqlstream.shell.prompt_state import fitted
from sqlstream.shell.screen import Screen

# The real session, with a job whose rows grow by 1,000 whenever it is looked at.
SHELL = """
import sys
from dataclasses import replace
from types import SimpleNamespace
from sqlstream.cli import main as cli
from sqlstream.runtime.jobs.job import Job
from sqlstream.runtime.jobs.machine import JobStatus
from sqlstream.runtime.jobs.script import JobScript
from sqlstream.runtime.monitor.metrics import Input, Partition, QueryMetrics
query = QueryMetrics(rows_out=7, watermark=1_700_000_000_000, inputs=(Input("t", 0, (Partition("t-0", 5, 8), Partition("t-1", 5, 5))),))
class Growing:
    metrics = query
    def sample(self, *, look=False):
        rows = self.metrics.ended_rows + 1000
        self.metrics = replace(self.metrics, ended_rows=rows, recent=((0, 0), (1000, 500)))
        return self.metrics
    def end(self): pass
def session(project, **settings):
    from sqlstream.session.session import Session
    Session.start_spark = lambda self: None
    made = Session(project, **settings)
    job = Job("0123abcd", "insert-into_default_catalog.default_database.answers", (None,), project, watches={0: Growing()})
    made.jobs._jobs[job.id], made.jobs._submissions[job.id] = job, SimpleNamespace(script=JobScript((), ("SHOW TABLES;",)))
    made.jobs.stop_all = lambda **_: None
    return made
sys.exit(cli.main(sys.argv[1:], fronts=cli.Fronts(session, cli._shell, cli._run_script)))
"""


@pytest.fixture
def shell(tmux, tmp_path):
    def start(*arguments, **more):
        one = tmux(sys.executable, "-c", SHELL, "--project", str(tmp_path), "-hist", str(tmp_path / "history"), *arguments, columns=140, **more)
        one.wait_for("sqlstream>")
        return one

    return start


def test_the_status_bar(shell) -> None:
    one = shell()
    bar = one.wait_for("1 job running").rstrip().splitlines()[-1]
    assert bar == " default_catalog.default_database | streaming, table | 1 job running | 0 rows/s | lag 3 | watermark 2023-11-14 22:13:20"
    one.type("CREATE DATABASE other; USE other; SET 'execution.runtime-mode' = 'batch';")
    one.keys("Enter")
    one.wait_for("default_catalog.other | batch, table")
    one.type("SET 'sql-client.display.status-bar' = 'false';")
    one.keys("Enter")
    one.wait_for("sqlstream>", gone="job running")


def test_quit_asks_while_jobs_run(shell) -> None:
    one = shell()
    one.wait_for("1 job running")
    question = "1 job is running and stops with the shell: answers.\nIts state is kept"
    for leave in (("QUIT", "Enter"), ("C-d",)):
        one.keys(*leave)
        one.wait_for("Hand it over to the background, and quit? [y/N]")
        one.keys("n", "Enter")
        one.wait_for("Quit? [y/N]")
        assert question in one.screen
        one.keys("n", "Enter")
        one.wait_for("Nothing was done.")
        one.type("CLEAR;")
        one.keys("Enter")
        one.wait_for("1 job running", gone="Nothing was done.")
    one.keys("C-d")
    one.wait_for("Hand it over to the background, and quit? [y/N]")
    one.keys("n", "Enter")
    one.wait_for("Quit? [y/N]")
    one.keys("y", "Enter")
    one.wait_for("Exiting sqlstream")


def test_no_status_bar(shell) -> None:
    one = shell("-D", "sql-client.display.status-bar=false")
    one.type("SHOW CURRENT CATALOG;")
    one.keys("Enter")
    assert "running" not in one.wait_for("1 row in set")


def test_figures_are_live_until_one_quits(shell) -> None:
    one = shell()
    one.type("\\top")
    one.keys("Enter")
    first = one.wait_for("Running   1 row")
    assert "rows in" in first and "lag by partition" in first and "t-0: 3" in first
    one.wait_for("3000")
    one.keys("o")
    assert "watermark : 2023-11-14 22:13:20" in one.wait_for("o Back")
    one.keys("o")
    one.wait_for("page 1 of 1")
    one.keys("q")
    left = one.wait_for("1 row in set")
    assert " job : answers" in left and "status : RUNNING" in left


def test_where_rows_are_not_to_move_there_is_one_snapshot(shell) -> None:
    one = shell("-D", "sql-client.execution.result-mode=tableau")
    one.type("SHOW JOB METRICS;")
    one.keys("Enter")
    assert "rows in : 1000" in one.wait_for("1 row in set")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def job(rows: int, total: int) -> JobMetrics:
    query = QueryMetrics(batch=Batch(rows, total, 0, None, 2, 0), recent=((0, 0), (1000, 10)), inputs=(Input("t", 0, (Partition("t-0", 0, total),)),))
    return JobMetrics("1", "reading", "RUNNING", 0.0, (query,))


def test_progress_stays_on_its_line_in_a_terminal(monkeypatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    screen = Screen(io.StringIO(), Terminal())
    shown = Progress(screen)
    shown([job_progress(job(1, 4))])
    screen.notify("something else")
    shown([job_progress(job(2, 4))])
    shown([job_progress(job(3, 4))])
    shown([])
    line = lambda rows: figures.progress_line(job(rows, 4))[:59]
    erase = "\r\x1b[K"
    assert screen.err.getvalue() == f"{line(1)}{erase}something else\n{line(2)}{erase}{line(3)}{erase}"


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_progress_elsewhere_is_a_line_now_and_then(monkeypatch, stream) -> None:
    monkeypatch.setenv("TERM", "dumb")
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    screen = Screen(io.StringIO(), stream())
    shown, said = Progress(screen), []
    for second in range(400):
        now[0] = 1000.0 + second
        shown([job_progress(job(1, 4) if second < 200 else replace(job(1, 4), status="RESTARTING"))])
        if len(lines := screen.err.getvalue().splitlines()) > len(said):
            said.append(second)
    # Ever more seldom, and again soon after something has changed.
    assert said == [10, 30, 70, 150, 200, 220, 260, 340]
    assert lines[0] == "reading: 1 of 4 rows read, 10 rows/s"


def test_a_status_bar_keeps_what_matters_in_a_narrow_terminal():
    status = "default_catalog.bank | streaming, table | 2 jobs running | 1 failed | 12,345 rows/s | lag 7 | watermark 2026-01-01 10:00:00"
    assert fitted(status, 200) == status
    assert fitted(status, 110) == status.replace(" | streaming, table", "")
    assert fitted(status, 95) == "bank | 2 jobs running | 1 failed | 12,345 rows/s | lag 7 | watermark 2026-01-01 10:00:00"
    assert fitted(status, 60) == "bank | 2 jobs running | 1 failed | 12,345 rows/s | lag 7"
    assert fitted(status, 5) == "bank"
