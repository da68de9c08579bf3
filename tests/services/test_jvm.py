"""How Spark's JVM is started: by itself where Spark's launcher has nothing to add."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from sqlstream.errors import SetupError
from sqlstream.java import require_java
from sqlstream.spark import jvm, operators


@pytest.mark.parametrize(
    ("options", "environment", "alone"),
    [
        ({}, {}, True),
        ({"spark.sql.shuffle.partitions": "4", "spark.driver.memory": "8g", "spark.hadoop.fs.s3a.endpoint": "x"}, {}, True),
        ({"spark.jars": "mine.jar"}, {}, False),
        ({"spark.jars.packages": "a:b:1"}, {}, False),
        ({"spark.driver.extraClassPath": "x"}, {}, False),
        ({}, {"SPARK_HOME": "/opt/spark"}, False),
        ({}, {"HADOOP_CONF_DIR": ""}, True),
        ({}, {"PYSPARK_SUBMIT_ARGS": "--verbose"}, False),
    ],
)
def test_when_the_launcher_is_not_needed(options, environment, alone) -> None:
    assert jvm.alone(options, environment) is alone


def test_the_class_path_has_no_mllib_and_ours_at_its_end() -> None:
    sparks = operators.libraries()
    found = jvm.class_path(sparks, [Path("/own.jar")])
    names = [p.name for p in found]
    assert names[-1] == "own.jar" and len(names) > 150
    assert any(n.startswith("spark-sql_") for n in names) and not any("mllib_" in n or n.startswith("breeze") for n in names)


def test_the_jdk_is_opened_as_spark_asks() -> None:
    options = jvm.module_options(operators.libraries())
    assert "--add-opens=java.base/java.nio=ALL-UNNAMED" in options and "-Dio.netty.tryReflectionSetAccessible=true" in options
    assert not any("add-modules" in o for o in options), "what MLlib alone needs"


def test_a_jvm_that_ends_is_an_error(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as output, pytest.raises(SetupError, match="did not start"):
        jvm.start(require_java(), [tmp_path], [], "256m", tmp_path, output)
    assert "PythonGatewayServer" in (tmp_path / "log").read_text()


@pytest.mark.spark
def test_a_name_of_the_jvm_is_looked_up_once(spark) -> None:
    view = spark._jvm
    first = view.org.apache.spark.sql.functions
    assert view.org.apache.spark.sql.functions is first and view.functions is view.functions
    assert first.lit(7).toString() == "7"
    with pytest.raises(TypeError):
        view.org.apache.spark.sql.NoSuchClass()


@pytest.mark.parametrize("seconds", [0.6, 1.2])
def test_a_process_that_ends_soon_leaves_no_jvm(tmp_path: Path, seconds: float) -> None:
    program = "import sys, time; from pathlib import Path; from sqlstream.spark.engine import Engine\n"
    program += "Engine(Path(sys.argv[1]), dict, print).start(); time.sleep(float(sys.argv[2]))"
    subprocess.run([sys.executable, "-c", program, str(tmp_path), str(seconds)], check=True, timeout=60)
    end = time.monotonic() + 30
    while left := [p for p in Path("/proc").glob("[0-9]*") if str(tmp_path).encode() in _command(p)]:
        assert time.monotonic() < end, left
        time.sleep(0.1)


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:  # it has ended
        return b""
