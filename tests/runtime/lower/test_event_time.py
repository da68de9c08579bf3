"""Event time on a real topic: late rows, a partition that is behind, one that is idle."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import catch_up, open_session, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = [pytest.mark.spark, pytest.mark.kafka]
HOUR = 3_600_000
SCRIPT = """
CREATE TABLE events (ts BIGINT, at_ltz AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR at_ltz AS at_ltz)
WITH ('connector' = 'kafka', 'topic' = '{topics}', 'properties.bootstrap.servers' = '{bootstrap}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset'{options});
CREATE TABLE answers (window_start TIMESTAMP_LTZ(0), n BIGINT) WITH ('connector' = 'print');
INSERT INTO answers SELECT CAST(window_start AS TIMESTAMP_LTZ(0)), COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(at_ltz), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
"""


class Windows:
    """A windowed count over topics, and what it has printed."""

    def __init__(self, project: Path, engine, broker, topics: list[str], partitions: int = 1, idle: str = "0 s", options: str = "") -> None:
        self.broker = broker
        self.rows: list[str] = []
        for topic in topics:
            broker.topic(topic, partitions)
        self.session = open_session(project, engine=engine, emit=self.rows.append)
        list(self.session.run(f"SET 'table.exec.source.idle-timeout' = '{idle}'"))
        self.job = submit(self.session, SCRIPT.format(topics=";".join(topics), bootstrap=broker.bootstrap, options=options))

    def send(self, topic: str, *times: int) -> list[str]:
        """Produce records with these times; the rows that come out."""
        self.broker.broker.produce(topic, [f'{{"ts": {t}}}' for t in times])
        return self.out()

    def send_to(self, topic: str, rows: dict[int, list[int]]) -> list[str]:
        """Produce records with these times to partitions; the rows that come out."""
        self.broker.send(topic, *((partition, None, f'{{"ts": {t}}}') for partition, times in rows.items() for t in times))
        return self.out()

    def out(self) -> list[str]:
        self.rows.clear()
        catch_up(self.job)
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


MINUTE = 60_000


def an_hour_behind(step: int) -> dict[int, list[int]]:
    """Twenty minutes of eight partitions, a record a minute in each; the last of them is an hour behind the others."""
    ahead = [((step + 3) * 20 + m) * MINUTE for m in range(20)]
    return {**{p: [t + p for t in ahead] for p in range(7)}, 7: [t - HOUR for t in ahead]}


def test_catching_up_with_a_partition_an_hour_behind(tmp_path: Path, engine, broker) -> None:
    windows = Windows(tmp_path, engine, broker, ["skew-8"], partitions=8)
    found = [row for step in range(6) for row in windows.send_to("skew-8", an_hour_behind(step))]
    assert found == [row(0, 60)], "the slow partition has not come to the end of the second hour"
    assert windows.job.sampled().late == 0
    assert found + windows.end() == [row(0, 60), row(1, 60 + 7 * 60), row(2, 7 * 60)]


def test_an_idle_partition_holds_the_others_back_for_its_time_only(tmp_path: Path, engine, broker) -> None:
    # What the table says counts, not what the session does.
    windows = Windows(tmp_path, engine, broker, ["idle-2"], partitions=2, idle="1 h", options=", 'scan.watermark.idle-timeout' = '8 s'")
    begun = time.monotonic()
    assert windows.send_to("idle-2", {0: [1, 2, HOUR]}) == []
    until(lambda: windows.rows)
    assert windows.rows == [row(0, 2)], "with no further record"
    assert time.monotonic() - begun > 6
    assert windows.send_to("idle-2", {1: [HOUR + 1]}) == []
    assert windows.send_to("idle-2", {0: [2 * HOUR]}) == [], "it counts again"
    assert windows.end() == [row(1, 2), row(2, 1)]


def test_a_restart_keeps_open_windows(tmp_path: Path, engine, broker) -> None:
    windows = Windows(tmp_path, engine, broker, ["again"])
    assert windows.send("again", 1, 2) == []
    windows.session.jobs.stop(windows.job.id)
    windows.job = submit(windows.session, SCRIPT[SCRIPT.index("INSERT") :].strip())
    assert windows.send("again", 3) == []
    assert windows.end() == [row(0, 3)]


HISTORY = """
CREATE TABLE {history} (ts BIGINT, at_ltz AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR at_ltz AS at_ltz)
WITH ('connector' = 'kafka', 'topic' = '{history}', 'properties.bootstrap.servers' = '{bootstrap}', 'format' = 'json',
    'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE {live} (ts BIGINT, at_ltz AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR at_ltz AS at_ltz)
WITH ('connector' = 'kafka', 'topic' = '{live}', 'properties.bootstrap.servers' = '{bootstrap}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE VIEW both_events AS SELECT * FROM {history} UNION ALL SELECT * FROM {live};
CREATE TABLE answers (window_start TIMESTAMP_LTZ(0), n BIGINT) WITH ('connector' = 'print');
"""
COUNTS = """
INSERT INTO answers SELECT CAST(window_start AS TIMESTAMP_LTZ(0)), COUNT(*)
FROM TABLE(TUMBLE(TABLE both_events, DESCRIPTOR(at_ltz), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
"""


def test_the_end_of_a_bounded_source_holds_an_unbounded_one_back_no_longer(tmp_path: Path, engine, broker) -> None:
    for topic, partitions in (("history", 2), ("live", 1)):
        broker.topic(topic, partitions)
    lines: list[str] = []
    session = open_session(tmp_path, engine=engine, emit=lines.append)
    broker.broker.produce("history", [f'{{"ts": {t}}}' for t in (0, 5, 5 * HOUR)])
    job = submit(session, HISTORY.format(history="history", live="live", bootstrap=broker.bootstrap) + COUNTS)

    def out(*times: int) -> list[str]:
        lines.clear()
        broker.broker.produce("live", [f'{{"ts": {t}}}' for t in times])
        catch_up(job)
        return sorted(lines)

    assert out(7, HOUR) == [row(0, 3)]
    # What the bounded topic gets later is behind its end.
    broker.broker.produce("history", [f'{{"ts": {2 * HOUR}}}'])
    session.jobs.stop(job.id)
    job = submit(session, COUNTS)
    assert out(6 * HOUR) == [row(1, 1), row(5, 1)]
    session.jobs.stop(job.id)
    session.close()
