"""What other programs are told of jobs, in Prometheus' format. No JVM."""

from __future__ import annotations

import json
import socket
import urllib.request
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parsed_open
from prometheus_client.parser import text_string_to_metric_families as parsed

from sqlstream.core import settings
from sqlstream.core.errors import ValidationError
from sqlstream.runtime.monitor.metrics import BrokerContact, QueryMetrics, Split, StateOperator, Timed
from sqlstream.runtime.monitor.reporting.dead_letters import DeadLetters
from sqlstream.runtime.monitor.reporting.families import FAMILIES, Reported
from sqlstream.runtime.monitor.reporting.reporter import HOST, PORT, Reporter
from tests.runtime.monitor.recordings import job, recorded

if TYPE_CHECKING:
    from pathlib import Path

OPERATOR = "flink_taskmanager_job_task_operator_"
PLAIN, OPEN = "text/plain", "application/openmetrics-text; version=1.0.0"


class Told(Reporter):
    """Of jobs that are known."""

    def __init__(self, folder: Path, *jobs: Reported) -> None:
        super().__init__(lambda: (), folder)
        self._told = list(jobs)

    def reported(self) -> list[Reported]:
        return self._told

    def samples(self, name: str) -> dict[tuple[str, ...], float]:
        """The samples of a metric, by the values of its own labels."""
        text, _ = self.text(PLAIN)
        samples = [s for family in parsed(text.decode()) for s in family.samples if s.name == name]
        assert len({frozenset(s.labels.items()) for s in samples}) == len(samples), "two have the same labels"
        labels = next((f.labels for f in FAMILIES if f.name == name.removesuffix("_total")), ())
        return {tuple(s.labels[label] for label in labels): s.value for s in samples}


def test_a_recorded_job(tmp_path: Path) -> None:
    told = Told(tmp_path, Reported(job(recorded("skewed")[-1]), ("answers",), 4))
    sink, source = "Sink: answers", "Source: skewed"
    assert told.samples("flink_jobmanager_numRunningJobs") == {(): 1}
    assert told.samples(f"{OPERATOR}numRecordsIn") == {(sink, source, "0"): 301, (sink, sink, "0"): 1}
    assert told.samples(f"{OPERATOR}numRecordsOut") == {(sink, sink, "0"): 1}
    assert told.samples(f"{OPERATOR}KafkaSourceReader_topic_partition_currentOffset") == {
        (sink, source, "0", "skewed", "0"): 100,
        (sink, source, "0", "skewed", "1"): 201,
    }
    assert told.samples(f"{OPERATOR}pendingRecords") == {(sink, source, "0"): 0}
    assert told.samples(f"{OPERATOR}currentInputWatermark") == {(sink, sink, "0"): 1700005935000}
    assert set(told.samples(f"{OPERATOR}currentOutputWatermark")) == {(sink, source, "0"), (sink, source, "1")}
    assert told.samples(f"{OPERATOR}numLateRecordsDropped") == {(sink, sink, "0"): 1}
    assert told.samples("flink_jobmanager_job_numberOfCompletedCheckpoints") == {(): 8}
    assert told.samples("flink_jobmanager_job_lastCheckpointDuration") == {(): 1733}
    assert told.samples("sqlstream_micro_batch_phase_seconds")[sink, "addBatch"] == 1.307
    assert told.samples("sqlstream_state_bytes") == {(sink, "stateStoreSave", "0"): 4272}
    assert told.samples("sqlstream_rows_read_total") == {(sink,): 301}
    assert told.samples("sqlstream_dead_letters_total") == {(): 4}
    status = told.samples("sqlstream_job_status")
    assert status[("RUNNING",)] == 1 and sum(status.values()) == 1


def test_nothing_is_told_twice_or_of_what_is_not_known(tmp_path: Path) -> None:
    """Two queries write one table, and one reads a table twice; of a job that begins little is known."""
    twice = Timed("t", (Split("", 5, False, 0),))
    query = QueryMetrics(timed=(twice, twice), states=(StateOperator("dedupe", 0, 1),) * 2, brokers=(BrokerContact("a:9092", silent=1),))
    other = replace(job(QueryMetrics(rows_out=None), status="FAILED"), id="4567")
    told = Told(tmp_path, Reported(job(query, query), ("t", "t (2)")), Reported(other, ("u",)))
    for family in FAMILIES:
        told.samples(family.name + ("_total" if family.counts else ""))
    assert set(told.samples("sqlstream_rows_read_total")) == {("Sink: t",), ("Sink: t (2)",), ("Sink: u",)}
    assert ("Sink: u", "Sink: u", "0") not in told.samples(f"{OPERATOR}numRecordsOut")
    assert told.samples("sqlstream_brokers_silent") == {("Sink: t",): 1, ("Sink: t (2)",): 1, ("Sink: u",): 0}
    assert Told(tmp_path).samples("flink_jobmanager_numRunningJobs") == {(): 0}


def test_names_as_people_write_them(tmp_path: Path) -> None:
    told = Told(tmp_path, Reported(job(QueryMetrics(ended_rows=1)), ('a "b"\\\nc ü',)))
    assert told.samples("sqlstream_rows_read_total") == {('Sink: a "b"\\\nc ü',): 1}


def test_both_formats(tmp_path: Path) -> None:
    told = Told(tmp_path, Reported(job(recorded("skewed")[-1]), ("answers",)))
    text, kind = told.text(OPEN)
    assert kind.startswith("application/openmetrics-text") and text.endswith(b"# EOF\n")
    assert {f.name for f in parsed_open(text.decode())} >= {f.name for f in FAMILIES}
    assert told.text("")[1].startswith("text/plain")


def test_rows_that_are_left_out(tmp_path: Path) -> None:
    def letter(query: str | None) -> str:
        return json.dumps({"query": query, "row": {"a": "query"}}) + "\n"

    file = tmp_path / "functions-1.jsonl"
    file.write_text(letter("before"))
    letters = DeadLetters(tmp_path)
    assert letters.counts() == {}
    with file.open("a") as out:
        out.write(letter("a") + letter("b") + letter(None) + "no letter\n[]\n" + letter("a")[:10])
    (tmp_path / "rows-2.jsonl").write_text(letter("a"))
    assert letters.counts() == {"a": 2, "b": 1}
    with file.open("a") as out:
        out.write(letter("a")[10:])
    assert letters.counts() == letters.counts() == {"a": 3, "b": 1}
    file.unlink()
    assert letters.counts() == {"a": 3, "b": 1}
    assert DeadLetters(tmp_path / "none").counts() == {}


def test_a_port(tmp_path: Path) -> None:
    said: list[str] = []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        told = Told(tmp_path, Reported(job(recorded("skewed")[-1]), ("answers",)))
        told.listen({}, said.append)
        assert said == []
        told.listen({PORT: str(port)}, said.append)
        assert said.pop().startswith(f"Metrics of jobs are not to be had: 127.0.0.1 port {port}: ")
        told.listen({PORT: f"{port},0"}, said.append)
        told.listen({PORT: f"{port},0"}, said.append)
    (line,) = said
    address = line.removeprefix("Metrics of jobs are at ")
    with urllib.request.urlopen(address, timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert b"sqlstream_job_status" in answer.read()
    told.close()
    told.close()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(address, timeout=10)


def test_options() -> None:
    assert settings.read({PORT: "9250-9252, 9260"}, PORT) == (9250, 9251, 9252, 9260)
    assert settings.read({}, PORT) is None and settings.read({}, HOST) == "127.0.0.1"
    for wrong in ("", "x", "-1", "9260-9250", "70000", "1-", "9249;9250"):
        with pytest.raises(ValidationError, match="is not a port, or a range of ports such as 9250-9260"):
            settings.check(PORT, wrong)
    factory = "metrics.reporter.prom.factory.class"
    assert settings.check(factory, "org.apache.flink.metrics.prometheus.PrometheusReporterFactory") is None
    with pytest.raises(ValidationError, match="is not one of"):
        settings.check(factory, "org.apache.flink.metrics.jmx.JMXReporterFactory")
