"""The broker is killed in the midst of a micro-batch: a script's job goes on by itself, with each row once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.processes import ensure_runs
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(600), pytest.mark.slow]
ROWS = 200_000
SCRIPT = """
CREATE TABLE events (id INT) WITH ('connector' = 'kafka', 'topic' = 'events', 'properties.bootstrap.servers' = '{servers}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset');
CREATE TABLE copies (id INT) WITH ('connector' = 'filesystem', 'path' = 'copies', 'format' = 'json');
CREATE TABLE topics (id INT PRIMARY KEY NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'copied', 'properties.bootstrap.servers' = '{servers}',
  'properties.delivery.timeout.ms' = '6000', 'properties.request.timeout.ms' = '3000', 'properties.max.block.ms' = '6000',
  'key.format' = 'json', 'value.format' = 'json');
"""
INTO_BOTH = """EXECUTE STATEMENT SET BEGIN INSERT INTO copies SELECT id FROM events;
INSERT INTO topics SELECT id FROM events WHERE MOD(id, 100) = 0; END;
"""


class Run:
    """``sqlstream -f`` of a script, in a process of its own."""

    def __init__(self, project: Path, script: str, *options: str) -> None:
        (project / "script.sql").write_text(script)
        self.log, self.project = project / "run.log", project
        command = [sys.executable, "-m", "sqlstream", "--project", str(project), "-f", str(project / "script.sql")]
        for option in ("spark.network.timeout=8s", "spark.network.timeoutInterval=8s", *options):
            command += ["-D", option]
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True)

    def until(self, true, seconds: float = 240) -> None:
        until(true, seconds, meanwhile=lambda: ensure_runs(self.process, self.log), said=lambda: self.said)

    @property
    def said(self) -> str:
        return self.log.read_text()

    def copied(self) -> list[int]:
        """What a reader of the table sees: files that a commit names."""
        lines = (line for path in (self.project / "copies").glob("part-*") for line in path.read_text().splitlines())
        return sorted(json.loads(line)["id"] for line in lines)

    def begun(self) -> bool:
        """Whether a micro-batch is being written into both sinks."""
        return len(list((self.project / ".sqlstream" / "jobs").glob("*/1/checkpoint/*/offsets/0"))) == 2

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 143, self.said


@pytest.mark.parametrize("seconds", [8, 60])
def test_a_broker_that_is_killed_in_the_midst_of_a_micro_batch(tmp_path: Path, own_broker, seconds: int) -> None:
    broker = own_broker.broker
    servers = broker.bootstrap
    broker.create_topic("events", partitions=2)
    broker.produce("events", [json.dumps({"id": n}) for n in range(ROWS)])
    broker.create_topic("copied")
    run = Run(tmp_path, SCRIPT.format(servers=servers) + INTO_BOTH)
    try:
        run.until(run.begun)
        os.kill(broker.status().pid or 0, signal.SIGKILL)
        run.until(lambda: "is started again in" in run.said)
        time.sleep(seconds)
        assert "runs again" not in run.said and run.process.poll() is None
        broker.start()
        assert broker.bootstrap == servers
        broker.produce("events", [json.dumps({"id": ROWS})])
        run.until(lambda: len(run.copied()) > ROWS)
        run.until(lambda: broker.client.latest("copied", 1) != [] and "runs again" in run.said)
        run.end()
    finally:
        run.process.kill()
    assert run.copied() == list(range(ROWS + 1))
    assert "[ERROR]" not in run.said and "Traceback" not in run.said


def test_a_broker_that_is_away_when_a_job_goes_on(tmp_path: Path, own_broker) -> None:
    """As after the start of a machine."""
    broker = own_broker.broker
    servers = broker.bootstrap
    broker.create_topic("events", partitions=2)
    broker.produce("events", ['{"id": 0}'])
    script = SCRIPT.format(servers=servers) + "INSERT INTO copies SELECT id FROM events;"
    quick = "'properties.default.api.timeout.ms' = '3000', 'properties.request.timeout.ms' = '2000', 'scan.startup.mode'"
    first = Run(tmp_path, script)
    try:
        first.until(lambda: first.copied() == [0])
        first.end()
    finally:
        first.process.kill()
    broker.stop()
    run = Run(tmp_path, script.replace("'scan.startup.mode'", quick))
    try:
        run.until(lambda: "is started again in" in run.said)
        broker.start()
        broker.produce("events", ['{"id": 1}'])
        run.until(lambda: run.copied() == [0, 1])
        run.end()
    finally:
        run.process.kill()
    assert "[ERROR]" not in run.said and "Traceback" not in run.said
