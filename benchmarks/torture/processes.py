"""The processes of a run, each of which can be killed: the client with its JVM, the broker, a cluster's executors."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.cli.kafka.broker import Broker
from sqlstream.cli.kafka.process import command_line, free_port
from sqlstream.core.java import require_java

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.torture.modes import Mode

# Code that lives so briefly is not worth being compiled well.
QUICK = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=200m"


class Client:
    """``sqlstream -f`` of the project's script, in a process of its own, and its JVM. ``option``: what that is started with."""

    def __init__(self, project: Path, option: str, mode: Mode) -> None:
        self._project, self._option, self._mode = project, option, mode
        self._process: subprocess.Popen[bytes] | None = None
        self.log = project / "client.log"

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        return None if self._process is None else self._process.poll()

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def start(self, master: str) -> None:
        options = [f"spark.driver.extraJavaOptions={QUICK} {self._option}", *self._mode.options]
        if not master.startswith("local"):
            options += [*self._mode.on_cluster, f"spark.executor.extraJavaOptions={QUICK} {self._option}"]
        command = [sys.executable, "-m", "sqlstream", "--project", str(self._project), "--master", master, "-f", str(self._project / "script.sql")]
        command += [part for option in options for part in ("-D", option)]
        # A process of its own, also where this one has a JVM.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYSPARK_GATEWAY")}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, cwd=self._project, env=environment
            )

    @contextlib.contextmanager
    def asked(self, *arguments: str) -> Iterator[None]:
        """While another process asks for something: ``sqlstream jobs`` with these arguments."""
        command = [sys.executable, "-m", "sqlstream", "jobs", *arguments[:1], "--project", str(self._project), *arguments[1:]]
        with (self._project / "asked.log").open("ab") as log:
            asking = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, cwd=self._project)
        try:
            yield
        finally:
            asking.kill()
            asking.wait()

    def kill(self) -> bool:
        """Kill the process of Python, with which its JVM ends; False where it does not run."""
        if self._process is None or not self.runs:
            return False
        self._process.kill()
        self._process.wait()
        return True

    def kill_jvm(self) -> bool:
        """Kill the JVM, which the client starts again; False where there is none at the moment."""
        pids = [] if self._process is None else _javas(self._process.pid)
        return any(_kill(pid) for pid in pids)

    def stop(self) -> None:
        """End it as a user would."""
        if self._process is not None and self.runs:
            self._process.terminate()
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()


class Brokers:
    """A broker that is killed and comes back at its address."""

    def __init__(self, project: Path, topics: Iterable[str]) -> None:
        """``topics``: those that jobs write."""
        self._broker = Broker(project)
        self._broker.start(port=free_port())
        self.bootstrap = self._broker.bootstrap
        self._broker.create_topic("events", partitions=3)
        for topic in ("rates", *topics):
            self._broker.create_topic(topic)

    def kill(self) -> bool:
        """Kill it; returns when it is gone."""
        pid = self._broker.status().pid
        if pid is None or not _kill(pid):
            return False
        while self._broker.status().running:
            time.sleep(0.02)
        return True

    def start(self) -> None:
        self._broker.start()

    def stop(self) -> None:
        self._broker.stop()


class Cluster:
    """A standalone master and a worker, which starts the executors that are killed."""

    def __init__(self, folder: Path, mode: Mode) -> None:
        folder.mkdir()
        self._folder = folder
        port = free_port()
        self.master = f"spark://127.0.0.1:{port}"
        self._daemons = [self._daemon("master.Master", "elected leader", "--port", str(port))]
        work = ("--cores", str(mode.cores), "--memory", mode.memory, "--work-dir", str(folder / "work"))
        self._daemons.append(self._daemon("worker.Worker", "registered with master", *work, self.master))

    def kill_executor(self, *, both: bool) -> int:
        """Kill one of the executors, or both; how many there were."""
        return sum(_kill(pid) for pid in _javas(self._daemons[1].pid)[: 2 if both else 1])

    def stop(self) -> None:
        for daemon in reversed(self._daemons):
            daemon.terminate()
            daemon.wait(30)

    def _daemon(self, name: str, ready: str, *arguments: str) -> subprocess.Popen[bytes]:
        import pyspark

        home = Path(pyspark.__file__).parent
        environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_SCALA_VERSION": "2.13"}
        command = [str(require_java()), "-Xmx256m", *QUICK.split(), "-cp", f"{home}/jars/*", f"org.apache.spark.deploy.{name}"]
        log = self._folder / f"{name}.log"
        with log.open("wb") as output:
            daemon = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--webui-port", "0", *arguments],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, env={**environment, "PYSPARK_PYTHON": sys.executable}, start_new_session=True,
            )  # fmt: skip
        end = time.monotonic() + 60
        while ready not in log.read_text(errors="replace"):
            if daemon.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{name} did not start: {log}")
            time.sleep(0.1)
        return daemon


def _javas(pid: int) -> Sequence[int]:
    """The processes of Java below a process."""
    return [child for child in _below(pid) if "java" in command_line(child).split(" ")[0]]


def _below(pid: int) -> list[int]:
    found = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *_below(int(child))]
    return found


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
