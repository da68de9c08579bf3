"""How a process with jobs ends: by a signal to all of a service, by the death of its JVM. It is told, nothing is left behind, and the state is whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.processes import ensure_runs, jvms_of
from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

TABLES = """
CREATE TABLE numbers (id INT) WITH ('connector' = 'filesystem', 'path' = 'numbers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE copies (id INT) WITH ('connector' = 'filesystem', 'path' = 'copies', 'format' = 'json');
CREATE TABLE shown (id INT) WITH ('connector' = 'print');
"""
JOBS = "INSERT INTO copies SELECT id FROM numbers;\nINSERT INTO shown SELECT id FROM numbers;\n"
OPTIONS = ["-D", "spark.master=local[2]"]


class Running:
    """A script of the two jobs in a process group of its own, once both give rows."""

    def __init__(self, project: Path, *options: str) -> None:
        self.project = project
        self.log = project / "run.log"
        (project / "script.sql").write_text(TABLES + JOBS)
        command = [sys.executable, "-m", "sqlstream", "--project", str(project), "-f", str(project / "script.sql"), *OPTIONS, *options]
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True)

    def until(self, *texts: str) -> None:
        self._until(lambda: all(text in self.said for text in texts))

    def _until(self, holds: Callable[[], bool]) -> None:
        until(holds, meanwhile=lambda: ensure_runs(self.process, self.log), said=lambda: self.said)

    @property
    def said(self) -> str:
        return self.log.read_text()

    def until_copied(self, rows: int) -> None:
        self._until(lambda: len(copied(self.project)) >= rows)

    def settle(self) -> None:
        """Until no micro-batch is under way: what one that is killed has printed is printed again."""
        self._until(lambda: self._logged("offsets") == self._logged("commits"))

    def _logged(self, log: str) -> set[tuple[Path, str]]:
        return {(path.parent.parent, path.name) for path in (self.project / ".sqlstream").rglob(f"{log}/[0-9]*")}

    def jvm(self) -> int:
        (found,) = jvms_of(self.process.pid)
        return found

    def exit_code(self) -> int:
        return self.process.wait(60)


def put(project: Path, number: int) -> None:
    (project / "numbers").mkdir(exist_ok=True)
    feed(project / "numbers", {"id": number})


def copied(project: Path) -> list[str]:
    return sorted(line for path in (project / "copies").glob("part-*") for line in path.read_text().splitlines())


@pytest.mark.slow
def test_a_service_is_stopped_and_the_next_time_its_jvm_dies(tmp_path: Path) -> None:
    put(tmp_path, 1)
    first = Running(tmp_path)
    try:
        first.until("+I[1]")
        first.settle()
        jvm = first.jvm()
        # As systemd does.
        os.kill(jvm, signal.SIGTERM)
        os.killpg(first.process.pid, signal.SIGTERM)
        assert first.exit_code() == 143
        assert not Path(f"/proc/{jvm}").exists(), "the JVM is gone before its locks are free"
        assert "rror" not in first.said and "Traceback" not in first.said and "\tat " not in first.said
    finally:
        first.process.kill()
    put(tmp_path, 2)
    second = Running(tmp_path)
    try:
        second.until("+I[2]", "continues where it stopped")
        assert "+I[1]" not in second.said
        second.settle()
        os.kill(second.jvm(), signal.SIGKILL)
        second.until("into_default_catalog.default_database.copies' has failed: Spark died: its JVM was killed (SIGKILL). It is started again in 1.")
        put(tmp_path, 3)
        second.until("+I[3]", "copies' runs again", "shown' runs again")
        assert second.said.count("+I[") == 2
        os.kill(second.jvm(), signal.SIGKILL)
        put(tmp_path, 4)
        second.until("+I[4]")
        second.process.send_signal(signal.SIGTERM)
        assert second.exit_code() == 143
        assert "[ERROR]" not in second.said and "Traceback" not in second.said and "Exception" not in second.said
    finally:
        second.process.kill()
    third = Running(tmp_path, "-D", "restart-strategy.type=none")
    try:
        put(tmp_path, 5)
        third.until("+I[5]")
        third.until_copied(5)
        os.kill(third.jvm(), signal.SIGKILL)
        assert third.exit_code() == 1
        assert "JobFailed [S5]: Spark died: its JVM was killed (SIGKILL).\n --> " in third.said and "\n  INSERT INTO " in third.said
        assert "Traceback" not in third.said and "Exception" not in third.said
    finally:
        third.process.kill()
    assert copied(tmp_path) == [f'{{"id":{n}}}' for n in range(1, 6)]
