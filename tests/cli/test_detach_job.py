"""DETACH JOB: a job of a shell goes on in the background, where its offsets and its state are, and comes back."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from benchmarks.torture.tables import DeltaTable
from sqlstream.cli import background
from sqlstream.cli import main as cli
from tests.support.sessions import open_session, rows, run, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

NAME = "Ann's  „Kopie“ $1"
# What only this session has: an option, a temporary table and view, a table that no file holds because of its secret.
DECLARED = """
SET 'pipeline.name' = 'Ann''s  „Kopie“ $1';
CREATE TEMPORARY TABLE numbers (n BIGINT) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json');
CREATE TABLE copied (n BIGINT, c BIGINT) WITH ('connector' = 'delta', 'table-path' = 'copied');
CREATE TABLE never (n BIGINT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 'n', 'username' = 'u', 'password' = 'hunter2');
CREATE TEMPORARY VIEW doubled AS SELECT n, n * 2 AS c FROM numbers;
"""
INSERT = "INSERT INTO copied SELECT n, c FROM doubled"


def jobs(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sqlstream", "jobs", "--project", str(project), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=project, timeout=180)


@pytest.mark.timeout(600)
def test_each_row_is_there_once_while_a_job_moves(tmp_path: Path, engine, broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    broker.topic(topic := "detached", 2)
    session = open_session(
        tmp_path, DECLARED.format(topic=topic, servers=broker.bootstrap), engine=engine, interactive=True, background=cli._background(tmp_path)
    )
    table, ended, sent = DeltaTable(tmp_path / "copied"), threading.Event(), [0]

    def produce() -> None:
        while not ended.wait(0.05):
            broker.produce(topic, [json.dumps({"n": n}) for n in range(sent[0], sent[0] + 5)], 2)
            sent[0] += 5

    def written() -> int:
        return sum(table.rows().values())

    def listed() -> dict[str, object]:
        return next(r for r in map(json.loads, jobs(tmp_path, "list", "--json").stdout.splitlines()) if r["job name"] == NAME)

    producer = threading.Thread(target=produce)
    producer.start()
    try:
        for _ in range(2):
            submit(session, INSERT)
            before = written()
            until(lambda more=before: written() > more)
            ((name, log, stops),) = rows(session, "DETACH JOB 'Ann''s  „Kopie“ $1'")
            assert (name, shlex.split(stops)) == (NAME, ["sqlstream", "jobs", "stop", NAME])
            (one,) = (r for r in rows(session, "SHOW JOBS EXTENDED") if r[1] == NAME)
            ((folder, script),) = background.scripts(tmp_path)
            assert (one[7], str(background.log_of(folder))) == (f"{script.process}@{one[7].partition('@')[2]}", log)
            assert (listed()["supervisor"], listed()["restarts"]) == (script.supervisor, 0)
            before = written()
            until(lambda more=before: written() > more)
            ended.wait(1)
            assert "hunter2" not in jobs(tmp_path, "logs", NAME).stdout
            stopped = jobs(tmp_path, *shlex.split(stops)[2:])
            assert (stopped.returncode, f"its jobs are stopped, and their state is kept: {NAME}." in stopped.stderr) == (0, True), stopped
            assert not background.is_running(folder)
        ended.set()
        producer.join()
        # What the job had not read yet.
        again = jobs(tmp_path, "start", NAME, "--detach")
        assert again.returncode == 0, again
        until(lambda: written() >= sent[0])
        time.sleep(2)
        assert table.rows() == {(n, 2 * n): 1 for n in range(sent[0])}
    finally:
        ended.set()
        producer.join()
        for _, script in background.scripts(tmp_path):
            jobs(tmp_path, "stop", script.file)
        session.close()
    assert (tmp_path / ".sqlstream" / "detached").stat().st_mode & 0o777 == 0o700
    (file,) = (tmp_path / ".sqlstream" / "detached").iterdir()
    assert (file.stat().st_mode & 0o777, "hunter2" in file.read_text()) == (0o600, True)
    run(open_session(tmp_path), "DROP JOB 'Ann''s  „Kopie“ $1'")
    assert not file.exists()
