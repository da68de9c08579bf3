"""Partitions that are committed by their time: a job, stopped and started again, over the watermark of its input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import feed, open_session, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

SCRIPT = """
CREATE TABLE bids (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE hours (item STRING, `day` STRING, `hour` STRING) PARTITIONED BY (`day`, `hour`)
WITH ('connector' = 'filesystem', 'path' = 'hours', 'format' = 'json', 'partition.time-extractor.timestamp-pattern' = '$day $hour:00:00',
  'sink.partition-commit.trigger' = 'partition-time', 'sink.partition-commit.delay' = '1 h', 'sink.partition-commit.policy.kind' = 'success-file');
"""
INSERT = "INSERT INTO hours SELECT item, DATE_FORMAT(ts, 'yyyy-MM-dd'), DATE_FORMAT(ts, 'HH') FROM bids"


def test_hours_are_committed_as_the_watermark_passes_them(tmp_path: Path, engine) -> None:
    (tmp_path / "bids").mkdir()
    session = open_session(tmp_path, SCRIPT, engine=engine)

    def put(*times: str) -> None:
        feed(tmp_path / "bids", *({"item": "a", "ts": f"2026-01-01 {t}"} for t in times))

    def wait_for(pattern: str, count: int) -> list[str]:
        def found() -> list[str]:
            return sorted(str(path.parent.name) for path in (tmp_path / "hours").glob(pattern))

        until(lambda: len(found()) >= count, said=found)
        return found()

    try:
        job = submit(session, INSERT)
        put("07:10:00", "08:00:01")
        assert len(wait_for("day=*/hour=*/part-*", 2)) == 2
        assert wait_for("day=*/*/_SUCCESS", 0) == []
        list(session.run(f"STOP JOB '{job.id}'"))
        job = submit(session, INSERT)
        put("08:00:01.001", "08:00:00.500")
        assert wait_for("day=*/*/_SUCCESS", 1) == ["hour=07"]
        put("09:30:00")
        assert wait_for("day=*/*/_SUCCESS", 2) == ["hour=07", "hour=08"]
        list(session.run(f"STOP JOB '{job.id}' WITH SAVEPOINT WITH DRAIN"))
        assert wait_for("day=*/*/_SUCCESS", 3) == ["hour=07", "hour=08", "hour=09"]
    finally:
        session.jobs.stop_all()
        session.close()
