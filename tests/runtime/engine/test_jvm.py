"""How Spark's JVM is started: by itself where Spark's launcher has nothing to add."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sqlstream.core import jars
from sqlstream.core.errors import SetupError
from sqlstream.core.java import require_java
from sqlstream.runtime.engine import jvm
from sqlstream.runtime.engine.java_process import JavaProcess
from sqlstream.runtime.java import libraries
from tests.support import needs
from tests.support.waiting import until


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
    assert jvm.without_launcher(options, environment) is alone


def test_the_class_path_has_no_mllib_and_ours_at_its_end() -> None:
    sparks = libraries()
    found = jvm.class_path(sparks, [Path("/own.jar")])
    names = [p.name for p in found]
    assert names[-1] == "own.jar" and len(names) > 150
    assert any(n.startswith("spark-sql_") for n in names) and not any("mllib_" in n or n.startswith("breeze") for n in names)


def test_the_jdk_is_opened_as_spark_asks() -> None:
    options = jvm.module_options(libraries())
    assert "--add-opens=java.base/java.nio=ALL-UNNAMED" in options and "-Dio.netty.tryReflectionSetAccessible=true" in options
    assert not any("add-modules" in o for o in options), "what MLlib alone needs"


def test_a_jvm_that_ends_is_an_error(tmp_path: Path) -> None:
    def run(command, environment) -> JavaProcess:
        return JavaProcess(command, environment, tmp_path, lambda _: None)

    with pytest.raises(SetupError, match="did not start") as caught:
        jvm.start(require_java(), [tmp_path], [], "256m", {}, run)
    assert jvm.GATEWAY in (tmp_path / "jvm.log").read_text()
    assert caught.value.hint is not None and caught.value.hint.startswith("Spark died: its JVM ended with exit status 1")


# Each is read back by Java.
SHOW = """
import java.io.*; import java.nio.charset.StandardCharsets; import java.util.*;
public class Show { public static void main(String[] a) throws IOException {
  Properties p = new Properties();
  try (Reader r = new InputStreamReader(new FileInputStream(a[0]), StandardCharsets.UTF_8)) { p.load(r); }
  PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  for (String k : new TreeSet<>(p.stringPropertyNames())) { out.print(k + "=" + p.getProperty(k) + "\\0"); }
  for (String k : new TreeSet<>(System.getProperties().stringPropertyNames())) {
    if (k.startsWith("our.")) { out.print(k + "=" + System.getProperty(k) + "\\0"); } } } }
"""


def test_java_reads_what_stands_in_files(tmp_path: Path) -> None:
    settings = {"spark.a": "b c ", "spark.k:=e y": "#!x=:\\y", "spark.lines": " a\nb\t\r\f", "spark.unicode": "ž€"}
    values = {"our.space": "a b", "our.quote": '\'"x"', "our.back": "\\\\host\\", "our.lines": "a\nb\tc\r", "our.hash": "#!:=", "our.empty": ""}
    (tmp_path / "Show.java").write_text(SHOW)
    (tmp_path / "p").write_text(jvm.properties(settings), encoding="utf-8")
    (tmp_path / "a").write_text(jvm.argument_file([f"-D{k}={v}" for k, v in values.items()]), encoding="utf-8")
    (compiler,) = jars.ensure("compiler")
    subprocess.run([require_java(), "-jar", compiler, "-17", "-d", tmp_path, tmp_path / "Show.java"], check=True)
    done = subprocess.run([require_java(), f"@{tmp_path / 'a'}", "-cp", tmp_path, "Show", tmp_path / "p"], capture_output=True, check=True)
    assert dict(line.split("=", 1) for line in done.stdout.decode().split("\0")[:-1] if "k:" not in line) == {
        **{k: v for k, v in settings.items() if "k:" not in k}, **values,
    }  # fmt: skip
    assert "spark.k:=e y=#!x=:\\y" in done.stdout.decode()


def test_the_launcher_is_told_in_files_of_their_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    needs.launcher()
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--verbose pyspark-shell")
    asked: list[str] = []

    def run(command, environment) -> JavaProcess:
        submit, _, file, *rest = command
        assert submit.endswith("/bin/spark-submit") and rest == ["--verbose", "pyspark-shell"] and environment["SPARK_LOCAL_IP"] == "127.0.0.1"
        assert environment["JAVA_HOME"] == str(require_java().resolve().parent.parent)
        text = Path(file).read_text()
        (arguments,) = re.findall("spark.driver.extraJavaOptions=@(.*)", text)
        assert [stat.S_IMODE(Path(f).stat().st_mode) for f in (file, arguments)] == [0o600, 0o600]
        asked.extend([text, Path(arguments).read_text()])
        raise SetupError("none is started")

    settings = {"spark.hadoop.fs.s3a.secret.key": "hidden", "spark.driver.extraJavaOptions": "-Dpassword=hidden"}
    with pytest.raises(SetupError, match="none is started"):
        jvm.through_launcher(require_java(), settings, ["-Dpassword=hidden"], {"SPARK_LOCAL_IP": "127.0.0.1"}, run)
    assert "spark.hadoop.fs.s3a.secret.key=hidden\n" in asked[0] and asked[1] == '"-Dpassword=hidden"\n'


def test_a_java_that_the_launcher_does_not_start_on_is_refused(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    (tmp_path / "release").write_text('MODULES="java.base java.se"')
    with pytest.raises(SetupError, match=r"jdk\.incubator\.vector") as caught:
        jvm.through_launcher(java, {}, [], {}, lambda command, environment: pytest.fail("it is started"))
    assert "JAVA_HOME" in (caught.value.hint or "") and "pipeline.jars" in (caught.value.hint or "")


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
    program = "import sys, time; from pathlib import Path; from sqlstream.runtime.engine.session import Engine\n"
    program += "Engine(Path(sys.argv[1]), dict, print).start(); time.sleep(float(sys.argv[2]))"
    subprocess.run([sys.executable, "-c", program, str(tmp_path), str(seconds)], check=True, timeout=60)

    def left() -> list[Path]:
        return [p for p in Path("/proc").glob("[0-9]*") if str(tmp_path).encode() in _command(p)]

    until(lambda: not left(), said=left)


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:  # it has ended
        return b""
