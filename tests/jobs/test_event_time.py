"""Event time on a real topic: late rows, a partition that is behind, one that is idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.results import Submitted
from sqlstream.session import Session

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.jobs import Job

pytestmark = [pytest.mark.spark, pytest.mark.kafka]
HOUR = 3_600_000
SCRIPT = """
CREATE TABLE events (ts BIGINT, at_ltz AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR at_ltz AS at_ltz)
WITH ('connector' = 'kafka', 'topic' = '{topics}', 'properties.bootstrap.servers' = '{bootstrap}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE answers (window_start TIMESTAMP_LTZ(0), n BIGINT) WITH ('connector' = 'print');
INSERT INTO answers SELECT CAST(window_start AS TIMESTAMP_LTZ(0)), COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(at_ltz), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
"""


class Windows:
    """A windowed count over topics, and what it has printed."""

    def __init__(self, project: Path, engine, broker, topics: list[str]) -> None:
        self.broker = broker
        self.rows: list[str] = []
        for topic in topics:
            broker.topic(topic)
        self.session = Session(project, options={"table.local-time-zone": "UTC"}, engine=engine, emit=self.rows.append, notify=lambda line: None)
        outcomes = list(self.session.run(SCRIPT.format(topics=";".join(topics), bootstrap=broker.bootstrap)))
        assert isinstance(outcomes[-1], Submitted)
        self.job: Job = self.session.jobs.find(outcomes[-1].job_id)

    def send(self, topic: str, *times: int) -> list[str]:
        """Produce records with these times; the rows that come out."""
        self.broker.broker.produce(topic, [f'{{"ts": {t}}}' for t in times])
        return self.out()

    def out(self) -> list[str]:
        self.rows.clear()
        for query in self.job.queries:
            query.processAllAvailable()
        return sorted(self.rows)

    def end(self) -> list[str]:
        self.rows.clear()
        self.session.jobs.stop(self.job.id, drain=True)
        return sorted(self.rows)


def row(hour: int, n: int) -> str:
    return f"+I[1970-01-01T{hour:02d}:00:00Z, {n}]" if hour else f"+I[1970-01-01T00:00:00Z, {n}]"


def test_a_row_for_a_closed_window_is_dropped(tmp_path: Path, engine, broker) -> None:
    windows = Windows(tmp_path, engine, broker, ["late"])
    assert windows.send("late", 0, HOUR - 1, HOUR) == [row(0, 2)], "the watermark has reached the window's last millisecond"
    assert windows.send("late", 5, HOUR + 5) == [], "the first is late"
    assert windows.end() == [row(1, 2)]


def test_a_partition_that_is_behind_loses_nothing(tmp_path: Path, engine, broker) -> None:
    windows = Windows(tmp_path, engine, broker, ["skew-a", "skew-b"])
    assert windows.send("skew-a", *(m * 60_000 for m in range(120))) == [], "the other partition has said nothing yet"
    assert windows.send("skew-b", *(m * 60_000 for m in range(60))) == []
    assert windows.send("skew-b", HOUR) == [row(0, 120)]
    assert windows.end() == [row(1, 61)]


def test_a_restart_keeps_open_windows(tmp_path: Path, engine, broker) -> None:
    windows = Windows(tmp_path, engine, broker, ["again"])
    assert windows.send("again", 1, 2) == []
    windows.session.jobs.stop(windows.job.id)
    (submitted,) = windows.session.run(SCRIPT[SCRIPT.index("INSERT") :].strip())
    windows.job = windows.session.jobs.find(submitted.job_id)
    assert windows.send("again", 3) == []
    assert windows.end() == [row(0, 3)]
