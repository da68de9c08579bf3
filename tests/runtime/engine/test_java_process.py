"""The process of the JVM, played by one of Python: apart from our signals, gone with us, and why it ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from py4j.protocol import Py4JNetworkError

from sqlstream.runtime.engine.failures import while_it_runs
from sqlstream.runtime.engine.java_process import JavaProcess, cause
from tests.support.waiting import until

# Like the JVM it ends with its input.
WAITS = "import sys; print('up', flush=True); sys.stdin.read()"


def start(folder: Path, program: str) -> tuple[JavaProcess, list[JavaProcess]]:
    died: list[JavaProcess] = []
    return JavaProcess([sys.executable, "-c", program], os.environ, folder, died.append), died


def printed(folder: Path, text: str = "up") -> None:
    until(lambda: text in (folder / "jvm.log").read_text())


def test_it_ends_with_its_input_and_nobody_hears_of_it(tmp_path: Path) -> None:
    process, died = start(tmp_path, WAITS)
    process.end(10)
    assert not process.running and process.death is None and died == []


def test_what_does_not_end_by_itself_is_killed(tmp_path: Path) -> None:
    process, died = start(tmp_path, "import time; print('up', flush=True); time.sleep(60)")
    printed(tmp_path)
    began = time.monotonic()
    process.end(0.2)
    assert time.monotonic() - began < 5 and not process.running and died == []


def test_what_is_asked_of_it_while_it_ends_is_not_an_error(tmp_path: Path) -> None:
    process, _ = start(tmp_path, "import time; print('up', flush=True); time.sleep(60)")
    printed(tmp_path)
    ending = threading.Thread(target=process.end, args=(5,))
    ending.start()
    until(lambda: process.ending)
    began = time.monotonic()
    with while_it_runs():
        raise Py4JNetworkError("An error occurred while trying to connect to the Java server")
    assert process.running and time.monotonic() - began < 2
    process.kill()
    ending.join()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_all_of_a_service_does_not_reach_it(tmp_path: Path, number: int) -> None:
    process, died = start(tmp_path, WAITS)
    printed(tmp_path)
    assert os.getpgid(process.pid) != os.getpgid(0)
    os.kill(process.pid, number)
    assert not process.ended_within(0.3)
    process.end(10)
    assert died == []


def test_of_its_death_is_told(tmp_path: Path) -> None:
    heard = threading.Event()
    process = JavaProcess([sys.executable, "-c", WAITS], os.environ, tmp_path, lambda _: heard.set())
    printed(tmp_path)
    os.kill(process.pid, signal.SIGKILL)
    assert heard.wait(10) and process.ended_within(0)
    assert process.death.message == "Spark died: its JVM was killed (SIGKILL)."


def test_what_it_said_before_is_another_ones(tmp_path: Path) -> None:
    (tmp_path / "jvm.log").write_text("java.lang.OutOfMemoryError: of yesterday\n")
    process, _ = start(tmp_path, "print('of today'); raise SystemExit(4)")
    assert process.ended_within(10)
    assert process.death.message == "Spark died: its JVM ended with exit status 4 (of today)."


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it ends with its input")
def test_it_is_killed_with_us(tmp_path: Path) -> None:
    program = "import os, sys, time; from pathlib import Path; from sqlstream.runtime.engine.java_process import JavaProcess\n"
    program += "one = JavaProcess([sys.executable, '-c', 'import time; time.sleep(60)'], os.environ, Path(sys.argv[1]), print)\n"
    program += "print(one.pid, flush=True); time.sleep(60)"
    ours = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert ours.stdout is not None
    pid = int(ours.stdout.readline())
    ours.kill()
    ours.wait()
    until(lambda: _state(pid) in ("", "Z"), said=lambda: _state(pid))
    ours.stdout.close()


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@pytest.mark.parametrize(
    ("code", "jvm", "spark", "message"),
    [
        (
            52,
            "",
            "x\njava.lang.OutOfMemoryError: Java heap space\n\tat a.b",
            "Spark died: it ran out of memory (exit status 52): java.lang.OutOfMemoryError: Java heap space.",
        ),
        (
            3,
            "Terminating due to java.lang.OutOfMemoryError: Metaspace\n",
            "",
            "Spark died: it ran out of memory (exit status 3): java.lang.OutOfMemoryError: Metaspace.",
        ),
        (52, "", "", "Spark died: it ran out of memory (exit status 52)."),
        (1, "Error: no\n\tat a.b.c\n", "java.lang.OutOfMemoryError: of another", "Spark died: its JVM ended with exit status 1 (Error: no)."),
        (1, "NOTE: Picked up JDK_JAVA_OPTIONS: -Da=b\n", "", "Spark died: its JVM ended with exit status 1."),
        (-9, "java.lang.OutOfMemoryError: of another", "", "Spark died: its JVM was killed (SIGKILL)."),
        (-6, "# A fatal error\n", "", "Spark died: its JVM was killed (SIGABRT)."),
    ],
)
def test_why_it_ended(code: int, jvm: str, spark: str, message: str) -> None:
    found = cause(code, jvm, spark, Path("/p/.sqlstream/log"))
    assert found.message == message
    # A job is started again in another one.
    assert found.error().heals
    assert found.hint.endswith("See jvm.log and spark.log in /p/.sqlstream/log.")
    assert ("spark.driver.memory" in found.hint) is (code in (3, 52))
    assert ("dmesg" in found.hint) is (code == -9)
