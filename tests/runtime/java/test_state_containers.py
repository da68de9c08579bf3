"""The containers that keep rows in a state, each against a simple model with random operations, on a JVM without Spark: StateTests.java."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from sqlstream.core import jars
from sqlstream.core.java import require_java
from sqlstream.runtime.engine.jvm import module_options
from sqlstream.runtime.java import compile_into, jar, libraries

pytestmark = pytest.mark.spark
HERE = Path(__file__).parent
TESTS = (
    "chunks", "row lists", "row changes", "event time buffer", "arrivals that begin again", "join buffer", "join buffer of whole chunks",
    "numbered rows", "sliding frame", "value counts", "sliding frame of many rows", "value counts of many values", "layouts",
)  # fmt: skip


# So many times thousands of operations.
@pytest.fixture(scope="module", params=[4, pytest.param(100, marks=pytest.mark.slow)])
def reports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What StateTests says of each test."""
    class_path = [jar(print), *libraries(), *jars.ensure("spark")]
    (compiler,) = jars.ensure("compiler")
    classes = compile_into(tmp_path_factory.mktemp("classes"), compiler, class_path, sorted(HERE.rglob("*.java")), "-failOnWarning")
    seed = int(os.environ.get("SQLSTREAM_TEST_SEED", random.randrange(1 << 31)))
    command = [str(require_java()), "-XX:TieredStopAtLevel=1", *module_options(libraries()), "-cp", os.pathsep.join(map(str, [classes, *class_path]))]
    done = subprocess.run([*command, "sqlstream.state.StateTests", str(seed), str(request.param)], capture_output=True, text=True, check=False)
    found = dict(line.split("\t", 1) for line in done.stdout.splitlines() if "\t" in line)
    assert found, done.stderr
    return found


@pytest.mark.parametrize("name", TESTS)
def test_a_container_does_what_its_model_does(name: str, reports: dict[str, str]) -> None:
    assert reports[name] == "ok"


def test_all_are_asked_for(reports: dict[str, str]) -> None:
    assert sorted(reports) == sorted(TESTS)
