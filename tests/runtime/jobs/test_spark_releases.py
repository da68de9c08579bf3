"""A job goes on with another release of Spark: each of its processes runs on one."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.support.keyed_run import KeyedRun
from tests.support.processes import children

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow]


class Project:
    """A project with a script that writes ``shapes`` in real time where the release of Spark can."""

    def __init__(self, folder: Path, stream: KeyedRun, *shapes: str) -> None:
        self.folder, self.script = folder, folder / "script.sql"
        inserts = [f"SET 'pipeline.name' = '{shape}';\n{stream.watch(shape)}" for shape in shapes]
        self.script.write_text(";\n".join([stream.declared(*shapes), *inserts]) + ";\n")

    def command(self, verb: str) -> list[str]:
        return [sys.executable, "-m", "sqlstream", "jobs", verb, "--project", str(self.folder)]

    def jobs(self, verb: str, *arguments: str) -> str:
        """What the command says; where it fails, behind FAILED."""
        done = subprocess.run([*self.command(verb), *arguments], capture_output=True, text=True, check=False, timeout=300)
        return ("" if done.returncode == 0 else "FAILED\n") + done.stdout + done.stderr

    def start(self, release: str) -> str:
        options = {"spark.version": release, "execution.real-time": "auto", "spark.master": "local[24]", "spark.sql.shuffle.partitions": "2"}
        return self.jobs("start", str(self.script), "--detach", *(part for option in options.items() for part in ("-D", "=".join(option))))

    def kill(self) -> None:
        """Kill the process that runs the script, and its JVM with it, by SIGKILL: its supervisor starts it again."""
        (script,) = self.folder.glob(".sqlstream/background/*/script.json")
        for pid, _ in children(json.loads(script.read_text())["supervisor"]):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_a_job_goes_on_with_each_release(tmp_path: Path, broker) -> None:
    """With all its state, forth and back."""
    stream = KeyedRun(broker, "releases")
    project = Project(tmp_path, stream, "top", "joined", "latest")
    try:
        for release in ("4.2", "4.3", "4.2", "4.3"):
            stream.send(40)
            assert "FAILED" not in project.start(release)
            for shape in stream.rows:
                stream.arrive(shape, 120)
            stream.send(20)
            for shape in stream.rows:
                stream.arrive(shape)
            assert "FAILED" not in project.jobs("stop", str(project.script))
    finally:
        project.jobs("stop", str(project.script))
        stream.consumer.close()


def test_state_of_another_operator_is_not_gone_on_with(tmp_path: Path, broker) -> None:
    """Spark's own aggregate, which a job has on 4.2: on 4.3 ours computes it, which runs in real time, too."""
    stream = KeyedRun(broker, "releases-aggregate")
    project = Project(tmp_path, stream, "totals")
    stream.send(40)
    try:
        assert "FAILED" not in project.start("4.2")
        stream.arrive("totals", 120)
        assert "FAILED" not in project.jobs("stop", str(project.script))
        told = project.start("4.3")
        assert "FAILED" in told and "The state of stateStoreSave can't be kept" in told
    finally:
        project.jobs("stop", str(project.script))
        stream.consumer.close()


@pytest.mark.parametrize("shapes", [("totals", "odd", "latest"), ("joined", "top", "chain"), ("left", "last", "anti")], ids=" ".join)
def test_after_kills_the_rows_by_key_are_those_of_all_records(tmp_path: Path, broker, shapes: tuple[str, ...]) -> None:
    stream = KeyedRun(broker, f"killed-{shapes[0]}")
    project = Project(tmp_path, stream, *shapes)
    chance = random.Random(7)
    try:
        assert "FAILED" not in project.start("4.3")
        for _ in range(int(os.environ.get("SQLSTREAM_TEST_KILLS", "5"))):
            # From the start of the JVM to some time after the first rows.
            end = time.monotonic() + chance.uniform(3, 25)
            while time.monotonic() < end:
                stream.send(5)
                stream.read()
                time.sleep(0.2)
            project.kill()
        stream.send(50)
        for shape in shapes:
            stream.arrive(shape, 180)
    finally:
        project.jobs("stop", str(project.script))
        stream.consumer.close()
