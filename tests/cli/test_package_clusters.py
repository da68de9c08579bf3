"""Packages on clusters whose machines have Spark, Java and a shell: no sqlstream, no Python of ours, an empty home."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from sqlstream.cli.kafka.process import free_port
from sqlstream.core import tars
from sqlstream.core.java import require_java
from tests.support.cluster import QUICK, daemon, wait_for
from tests.support.processes import ensure_runs
from tests.support.remote import Remote
from tests.support.waiting import until
from tests.support.yarn import Yarn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.hdfs import Hdfs

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(1200)]
SPARK = Path(pyspark.__file__).parent
# What a machine has, beside Java. Not Python.
PROGRAMS = "bash sh env tar gzip chmod mkdir mv cp ln rm ls cat dirname readlink id kill setsid uname find touch whoami"
MODULE = """
import sys

from sqlstream.udf import udf

from loud import louder


@udf
def shout(word: str) -> str:
    return louder(word)


@udf
def place(word: str) -> bool:
    import numpy

    return "/environment/" in sys.executable and "/environment/" in numpy.__file__


@udf
def unhappy(word: str) -> bool:
    raise ValueError(f"{word} will not do")
"""
CATALOG = """
CREATE TABLE words (w STRING) WITH ('connector' = 'filesystem', 'path' = '${env:DATA}/words', 'format' = 'json');
CREATE TABLE shouted (w STRING, packed BOOLEAN, PRIMARY KEY (w) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = '${env:DATA}/shouted');
CREATE TABLE spoken (w STRING) WITH ('connector' = 'kafka', 'topic' = 'spoken', 'properties.bootstrap.servers' = '${env:BOOTSTRAP}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE written (w STRING) WITH ('connector' = 'filesystem', 'path' = '${env:DATA}/written', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE copied (w STRING) WITH ('connector' = 'delta', 'table-path' = '${env:DATA}/copied');
CREATE TABLE counted (w STRING, n BIGINT, PRIMARY KEY (w) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = '${env:DATA}/counted');
"""
BATCH = """
SET 'execution.runtime-mode' = 'batch';
SET 'table.dml-sync' = 'true';
INSERT INTO shouted SELECT shout(w), place(w) FROM words;
"""
FAILING = """
SET 'execution.runtime-mode' = 'batch';
SET 'table.dml-sync' = 'true';
INSERT INTO shouted SELECT shout(w), unhappy(w) FROM words;
"""
REFUSED = "INSERT INTO shouted SELECT w, nobody FROM words;\n"
KAFKA = """
SET 'table.dml-sync' = 'true';
INSERT INTO shouted SELECT shout(w), place(w) FROM spoken;
"""
STREAM = """
SET 'execution.checkpointing.interval' = '500ms';
SET 'table.dml-sync' = 'true';
EXECUTE STATEMENT SET BEGIN
INSERT INTO counted SELECT w, COUNT(*) FROM written GROUP BY w;
INSERT INTO copied SELECT shout(w) FROM written;
END;
"""
SCRIPTS = {"shout.sql": BATCH, "fail.sql": FAILING, "refused.sql": REFUSED, "kafka.sql": KAFKA, "stream.sql": STREAM}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of two scripts, unpacked."""
    folder = tmp_path_factory.mktemp("packed") / "words project"
    for name, text in {
        "udfs/calls.py": MODULE,
        "udfs/loud.py": "def louder(word):\n    return word.upper() + '!'\n",
        "catalog/words.sql": CATALOG,
        **SCRIPTS,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    command = [
        sys.executable,
        "-m",
        "sqlstream",
        "package",
        "--project",
        folder,
        "-o",
        folder.parent / "my words.tar",
        *(folder / script for script in SCRIPTS),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    with tarfile.open(folder.parent / "my words.tar") as tar:
        tars.unpack(tar, folder.parent)
    return folder.parent / "my words"


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine that has nothing of ours."""
    for folder in ("bin", "home", "data/words"):
        (tmp_path / folder).mkdir(parents=True)
    for program in PROGRAMS.split():
        if found := shutil.which(program, path="/usr/bin:/bin:/usr/sbin:/sbin"):
            (tmp_path / "bin" / program).symlink_to(found)
    (tmp_path / "data" / "words" / "1.json").write_text('{"w": "hello"}\n{"w": "schön"}\n{"w": "hello"}\n')
    java = Path(require_java()).resolve()
    return {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path / "home"), "JAVA_HOME": str(java.parent.parent), "SPARK_HOME": str(SPARK),
            "SPARK_LOCAL_IP": "127.0.0.1", "DATA": str(tmp_path / "data"), "LANG": "C.UTF-8"}  # fmt: skip


def command(package: Path, *arguments: str) -> list[str]:
    common = ["spark.driver.host=127.0.0.1", "spark.driver.memory=512m", "spark.executor.memory=512m", "spark.executor.cores=1", "spark.sql.shuffle.partitions=1",
              f"spark.driver.extraJavaOptions={QUICK}", f"spark.executor.extraJavaOptions={QUICK}"]  # fmt: skip
    return [str(package / "submit"), *(part for c in common for part in ("--conf", c)), *arguments]


def submit(package: Path, machine: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(package, *arguments), env=machine, capture_output=True, text=True, timeout=500, cwd=machine["HOME"])


def processes() -> dict[int, tuple[int, str]]:
    """Of each process its parent and its state: Z of one that has ended, and that nobody has asked for its exit code."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent, *_ = stat.read_text().rpartition(")")[2].split()
            found[int(stat.parent.name)] = (int(parent), state)
    return found


class Running:
    """A driver that runs here: the process of ``submit``, which is its JVM, and that JVM's Python."""

    def __init__(self, package: Path, machine: dict[str, str], *arguments: str) -> None:
        self.log = Path(machine["HOME"]) / "driver.log"
        with self.log.open("ab") as out:
            self.jvm = subprocess.Popen(command(package, *arguments), env=machine, stdout=out, stderr=out, cwd=machine["HOME"])

    @property
    def python(self) -> int:
        """Its JVM has other children for moments."""
        of_jvm = [pid for pid, (parent, _) in processes().items() if parent == self.jvm.pid]
        (found,) = (pid for pid in of_jvm if b"/main.py" in Path(f"/proc/{pid}/cmdline").read_bytes())
        return found

    def until(self, reached: Callable[[], object], seconds: float = 180) -> None:
        until(
            reached, seconds, every=0.5, meanwhile=lambda: ensure_runs(self.jvm, self.log), said=lambda: self.log.read_text(errors="replace")[-8000:]
        )

    def ended(self, pid: int) -> int:
        """The exit code, when it and its Python, ``pid``, have ended."""
        code = self.jvm.wait(90)
        until(lambda: processes().get(pid, (0, "Z"))[1] == "Z", said=lambda: "its Python is left behind")
        return code


def rows(spark, path: Path | str) -> list[tuple]:
    return sorted(tuple(row) for row in spark.read.format("delta").load(str(path)).collect())


def written(machine: dict[str, str], number: int, *words: str) -> None:
    """A file more for the job that reads them as they come."""
    folder = Path(machine["DATA"]) / "written"
    folder.mkdir(exist_ok=True)
    hidden = folder / f".{number}.json"
    hidden.write_text("".join(f'{{"w": "{word}"}}\n' for word in words))
    hidden.rename(folder / f"{number}.json")


@pytest.fixture
def master(bare: dict[str, str], tmp_path: Path) -> Iterator[str]:
    """The address of a standalone cluster with a worker, on a bare machine."""
    port = free_port()
    deploy, options = "org.apache.spark.deploy", ("--host", "127.0.0.1", "--webui-port", "0")
    address = f"spark://127.0.0.1:{port}"
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(daemon(tmp_path, "master", f"{deploy}.master.Master", *options, "--port", str(port), variables=bare))
        wait_for(log, "I have been elected leader")
        work = ("--cores", "1", "--memory", "768m", "--work-dir", str(tmp_path / "work"))
        log = stack.enter_context(daemon(tmp_path, "worker", f"{deploy}.worker.Worker", *options, *work, address, variables=bare))
        wait_for(log, "Successfully registered with master")
        yield address


def test_on_a_standalone_cluster(package: Path, bare: dict[str, str], master: str, spark, broker) -> None:
    done = submit(package, bare, "--master", master, "--", "shout.sql")
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows(spark, f"{bare['DATA']}/shouted") == [("HELLO!", True), ("SCHÖN!", True)]
    broker.produce("spoken", ['{"w": "from afar"}'])
    done = submit(package, {**bare, "BOOTSTRAP": broker.bootstrap}, "--master", master, "--", "kafka.sql")
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows(spark, f"{bare['DATA']}/shouted") == [("FROM AFAR!", True), ("HELLO!", True), ("SCHÖN!", True)]


@pytest.mark.parametrize(
    ("script", "told"),
    [("none.sql", "There is no script 'none.sql' in this package."), ("refused.sql", "nobody"), ("fail.sql", "ValueError: hello will not do")],
)
def test_a_script_that_fails(package: Path, bare: dict[str, str], master: str, script: str, told: str) -> None:
    """What it says is ours; Spark's log, on the other stream, has its traces."""
    done = submit(package, bare, "--master", master, "--", script)
    assert done.returncode == 1, done.stdout + done.stderr
    assert told in done.stdout and "[ERROR]" in done.stdout
    assert "\tat " not in done.stdout and "py4j" not in done.stdout, done.stdout


def test_a_driver_is_killed(package: Path, bare: dict[str, str], master: str, spark) -> None:
    """Its JVM, its Python, by SIGTERM: what is submitted again goes on, and each row is there once."""
    words = []
    for number, victim in enumerate(("jvm", "python", "terminated")):
        fresh = ["hello", f"word{number}", f"word{number}"]
        words += fresh
        written(bare, number, *fresh)
        driver = Running(package, bare, "--master", master, "--", "stream.sql")
        python = 0
        try:
            driver.until(lambda: any((Path(bare["DATA"]) / "copied" / "_delta_log").glob("*.json")))
            driver.until(lambda: len(rows(spark, f"{bare['DATA']}/copied")) == len(words))  # noqa: B023
            python = driver.python
            written(bare, number + 100, "late")
            words.append("late")
            if victim == "jvm":
                driver.jvm.kill()
                assert driver.ended(python) == -signal.SIGKILL
            elif victim == "python":
                os.kill(python, signal.SIGKILL)
                assert driver.ended(python) != 0
            else:
                driver.jvm.terminate()
                assert driver.ended(python) == 128 + signal.SIGTERM
        finally:
            driver.jvm.kill()
            driver.jvm.wait()
    driver = Running(package, bare, "--master", master, "--", "stream.sql")
    try:
        counts = sorted(Counter(words).items())
        driver.until(lambda: rows(spark, f"{bare['DATA']}/counted") == counts)
        driver.until(lambda: rows(spark, f"{bare['DATA']}/copied") == sorted((f"{word.upper()}!",) for word in words))
    finally:
        python = driver.python
        driver.jvm.terminate()
        driver.ended(python)


@pytest.fixture
def yarn(bare: dict[str, str]) -> Iterator[Yarn]:
    """A YARN on a bare machine."""
    started = Yarn()
    try:
        started.start(bare)
        yield started
    finally:
        started.stop()


def to_yarn(machine: dict[str, str], yarn: Yarn) -> tuple[dict[str, str], tuple[str, ...]]:
    """The environment of who submits, without that of the driver, and arguments."""
    settings = {"spark.yarn.jars": f"local:{SPARK}/jars/*", "spark.yarn.appMasterEnv.DATA": machine["DATA"], "spark.executor.instances": "1"}
    arguments = ("--master", "yarn", "--deploy-mode", "cluster", *(part for k, v in settings.items() for part in ("--conf", f"{k}={v}")))
    return {k: v for k, v in machine.items() if k != "DATA"} | {"HADOOP_CONF_DIR": str(yarn.settings)}, arguments


def test_on_yarn(package: Path, bare: dict[str, str], yarn: Yarn, tmp_path: Path, spark) -> None:
    machine, there = to_yarn(bare, yarn)
    done = submit(package, machine, *there, "--conf", "spark.yarn.maxAppAttempts=1", "--", "shout.sql")
    assert done.returncode == 1, "nothing says where jobs are kept"
    assert yarn.ended() == ("my words", "FAILED", 1)
    assert "Set 'execution.checkpointing.dir' in sqlstream.toml, or behind --" in yarn.logs()
    assert "Traceback" not in yarn.logs()
    done = submit(package, machine, *there, "--", "shout.sql", "-D", f"execution.checkpointing.dir={tmp_path / 'kept'}")
    assert done.returncode == 0, done.stderr[-4000:] + yarn.logs()[-20000:]
    assert yarn.ended() == ("my words", "SUCCEEDED", 1)
    assert rows(spark, f"{bare['DATA']}/shouted") == [("HELLO!", True), ("SCHÖN!", True)]
    assert list((tmp_path / "kept" / "jobs").iterdir())


def test_yarn_starts_a_killed_driver_again(package: Path, bare: dict[str, str], yarn: Yarn, hdfs: Hdfs, spark) -> None:
    machine, there = to_yarn(bare, yarn)
    written(bare, 1, "hello", "hello")
    copied = f"{bare['DATA']}/copied"
    driver = Running(package, machine, *there, "--", "stream.sql", "-D", f"execution.checkpointing.dir={hdfs.url}/streams")
    try:
        driver.until(lambda: any(Path(copied, "_delta_log").glob("*.json")) and len(rows(spark, copied)) == 2)
        written(bare, 2, "late", "hello")
        assert yarn.kill_drivers() == 1
        driver.until(lambda: rows(spark, copied) == [("HELLO!",)] * 3 + [("LATE!",)])
        driver.until(lambda: rows(spark, f"{bare['DATA']}/counted") == [("hello", 3), ("late", 1)])
        assert yarn.applications()[-1].attempts == 2
        assert Remote(spark, hdfs.url).names(f"{hdfs.url}/streams/jobs")
        yarn.kill()
        assert driver.jvm.wait(90) == 1, "what was killed has not succeeded"
        assert yarn.ended().state == "KILLED"
    finally:
        driver.jvm.kill()
        driver.jvm.wait()
