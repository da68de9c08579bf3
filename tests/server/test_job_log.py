"""The newest lines about each job."""

from __future__ import annotations

from sqlstream.core.lines import OfJob
from sqlstream.server import job_log
from sqlstream.server.job_log import JobLog


def test_lines_of_jobs_are_kept_and_all_are_told(monkeypatch) -> None:
    monkeypatch.setattr(job_log, "_LINES", 2)
    monkeypatch.setattr(job_log, "_JOBS", 2)
    monkeypatch.setattr(job_log, "_LENGTH", 4)
    told: list[str] = []
    log = JobLog(told.append)
    for line in ("of none", OfJob("a1", "a"), OfJob("b1", "b"), OfJob("a2 is long", "a"), OfJob("a3", "a")):
        log(line)
    assert told == ["of none", "a1", "b1", "a2 is long", "a3"]
    assert [line.text for line in log.of("a")] == ["a2 i", "a3"] and [line.text for line in log.of("b")] == ["b1"]
    # The job that nobody has spoken of for the longest time goes.
    log(OfJob("c1", "c"))
    assert log.of("b") == () and [line.text for line in log.of("a")] == ["a2 i", "a3"] and log.of("x") == ()
