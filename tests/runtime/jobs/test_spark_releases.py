"""A job goes on with another release of Spark: each of its processes runs on one."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.background import Background
from tests.support.keyed_run import KeyedRun
from tests.support.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.kafka]
STATELESS, STATE = "tests/runtime/jobs/test_real_time.py", "tests/runtime/jobs/test_real_time_state.py"


def run_on(release: str, *arguments: str) -> None:
    """Run tests in a process of their own, on ``release``."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {"SQLSTREAM_TEST_SPARK": release}
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, env=variables, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr


@pytest.mark.long
def test_queries_with_state_in_real_time() -> None:
    run_on("4.3", STATELESS, STATE, "-k", "chain or latest or left or printed or savepoint_has")


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("tests", [STATE, STATELESS, "tests/goldens"])
def test_what_needs_no_delta(tests: str) -> None:
    run_on("4.3", tests)


class Project(Background):
    """A project with a script that writes ``shapes`` in real time where the release of Spark can."""

    def __init__(self, folder: Path, stream: KeyedRun, *shapes: str) -> None:
        inserts = [f"SET 'pipeline.name' = '{shape}';\n{stream.watch(shape)}" for shape in shapes]
        super().__init__(folder, ";\n".join([stream.declared(*shapes), *inserts]) + ";\n")

    def on(self, release: str) -> str:
        options = {"spark.version": release, "execution.real-time": "auto", "spark.master": "local[24]", "spark.sql.shuffle.partitions": "2"}
        return self.start(**options)


@pytest.mark.slow
def test_a_job_goes_on_with_each_release(tmp_path: Path, broker) -> None:
    """With all its state, forth and back."""
    stream = KeyedRun(broker, "releases")
    project = Project(tmp_path, stream, "top", "joined", "latest", "totals", "both")
    try:
        for release in ("4.2", "4.3", "4.2", "4.3"):
            stream.send(40)
            assert "FAILED" not in project.on(release)
            for shape in stream.rows:
                stream.arrive(shape, 120)
            stream.send(20)
            for shape in stream.rows:
                stream.arrive(shape)
            assert "FAILED" not in project.stop()
    finally:
        project.stop()
        stream.consumer.close()


@pytest.mark.slow
def test_state_of_another_operator_is_not_gone_on_with(tmp_path: Path, broker) -> None:
    """That of a function of which only Spark's own aggregate, which a job has on 4.2, knows what it keeps."""
    stream = KeyedRun(broker, "releases-aggregate")
    project = Project(tmp_path, stream, "totals")
    project.script.write_text(project.script.read_text().replace("COUNT(*)", "CHAR_LENGTH(LISTAGG('a'))"))
    stream.send(40)
    try:
        assert "FAILED" not in project.on("4.2")
        until(lambda: bool(stream.rows["totals"]), 120, every=0.1, meanwhile=stream.read)
        assert "FAILED" not in project.stop()
        told = project.on("4.3")
        assert "FAILED" in told and "The state of GroupAggregate can't be kept" in told
    finally:
        project.stop()
        stream.consumer.close()


@pytest.mark.slow
@pytest.mark.parametrize("shapes", [("totals", "odd", "latest"), ("joined", "top", "chain"), ("left", "last", "anti")], ids=" ".join)
def test_after_kills_the_rows_by_key_are_those_of_all_records(tmp_path: Path, broker, shapes: tuple[str, ...]) -> None:
    stream = KeyedRun(broker, f"killed-{shapes[0]}")
    project = Project(tmp_path, stream, *shapes)
    chance = random.Random(7)
    try:
        assert "FAILED" not in project.on("4.3")
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
        project.stop()
        stream.consumer.close()
