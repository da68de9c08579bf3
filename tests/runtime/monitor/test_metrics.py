"""Figures of recorded jobs, and as text. No JVM."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sqlstream.runtime.monitor import figures
from sqlstream.runtime.monitor.metrics import (
    Batch,
    Input,
    LeastLag,
    Partition,
    QueryMetrics,
    Split,
    StateOperator,
    Timed,
    _timed_since,
    continued,
    sampled,
)
from tests.runtime.monitor.recordings import FOLDER, job, recorded


def test_rows_offsets_and_watermarks_of_a_job_over_two_partitions() -> None:
    history = recorded("skewed")
    last = history[-1]
    assert (last.rows_in, last.rows_out, last.late, last.batches) == (301, 1, 1, 8)
    assert last.inputs == (Input("skewed", 301, (Partition("skewed-0", 100, 100), Partition("skewed-1", 201, 201))),)
    assert last.lag == 0
    assert last.watermark == 1700005935000 and last.state_bytes == 4272
    assert last.batch is None and last.batch_ms is not None
    assert [s.name for t in last.timed for s in t.splits] == ["skewed-0", "skewed-1"]
    assert history[0] == replace(
        QueryMetrics(), at=history[0].at, recent=((history[0].at, 0),), written=((history[0].at, 0),), timed=history[0].timed
    )
    assert [m.rows_in for m in history] == sorted(m.rows_in for m in history)


def test_the_rate_of_micro_batches_that_are_far_apart() -> None:
    """Samples come each second, micro-batches with 50 rows each ten seconds."""
    query, rates = QueryMetrics(), []
    for second in range(60):
        query = _timed_since(query, replace(query, at=second * 1000, ended_rows=50 * (min(second, 40) // 10)))
        rates.append(query.rows_per_second)
    assert rates[20:60] == [5.0] * 40 and query.pace_ms == 10_000
    assert len(query.recent) < 15
    # Nothing comes any more.
    for second in range(60, 240):
        query = _timed_since(query, replace(query, at=second * 1000))
        rates.append(query.rows_per_second)
    assert rates[60] == 5.0 and set(rates[61:]) == {0.0} and query.pace_ms == 0


def test_a_query_that_was_started_anew_counts_on() -> None:
    last = recorded("skewed")[-1]
    assert continued(last, QueryMetrics()).rows_in == 301
    # A micro-batch that did not end is read again.
    broken_off = replace(last, batch=Batch(5, 10, 0, None, 1, 0))
    assert broken_off.rows_in == 306 and continued(broken_off, QueryMetrics()).rows_in == 301
    both = continued(last, last)
    assert (both.rows_in, both.rows_out, both.late, both.batches) == (602, 2, 2, 16)
    assert both.inputs == (replace(last.inputs[0], rows=602),) and both.lag == 0
    cheap = recorded("cheap")[-1]
    assert [(f.arrived, f.passed) for f in continued(cheap, cheap).filters] == [(200, 0)]


def test_the_watermark_is_none_until_every_partition_has_one() -> None:
    history = recorded("skewed")
    first = next(m for m in history if m.rows_in)
    assert first.timed[0].watermark is None and first.watermark is None
    both = next(m for m in history if all(s.watermark for s in m.timed[0].splits))
    assert both.timed[0].watermark == 1700000034000, "the least"


def test_a_filter_that_lets_nothing_through() -> None:
    last = recorded("cheap")[-1]
    assert [(f.arrived, f.passed) for f in last.filters] == [(100, 0)]
    assert last.rows_out == 0


def test_catching_up() -> None:
    history = recorded("catching_up")
    rows = [m.rows_in for m in history]
    assert rows == sorted(rows) and rows[0] == 0 and rows[-1] == 3_000_000
    middle = next(m for m in history if m.batch and m.batch.rows > 1_000_000)
    assert middle.batch is not None and middle.batch.total == 3_000_000
    assert 0.3 < (middle.batch.fraction or 0) < 0.5
    assert middle.rows_per_second > 50_000
    assert middle.lag == 3_000_000 - middle.batch.rows, "what is read is not waited for, though the micro-batch is not through"
    assert history[-1].batch is None and history[-1].lag == 0


def test_idle_splits_do_not_count() -> None:
    slow, fast = Split("t-0", 5, True, 9), Split("t-1", 8, False, 0)
    assert Timed("t", (slow, fast)).watermark == 8
    assert Timed("t", (replace(slow, idle=False), fast)).watermark == 5
    assert Timed("t", (replace(fast, watermark=None), fast)).watermark is None
    assert Timed("t", (replace(fast, watermark=None),), raised=7).watermark == 7


def test_what_a_job_of_several_queries_says() -> None:
    partitions = (Partition("t-0", 5, 9), Partition("t-1", 1, 1))
    one = QueryMetrics(ended_rows=5, watermark=10, states=(StateOperator("dedupe", 0, 7),), inputs=(Input("t", 5, partitions),))
    two = QueryMetrics(ended_rows=6, late=2, inputs=(Input("t", 5, (Partition("t-0", 8, 9),)),), states=(StateOperator("dedupe", 3, 0),))
    both = job(one, two)
    assert (both.rows_in, both.late, both.lag, both.watermark, both.state_rows, both.state_bytes) == (11, 2, 4, 10, 3, 7)
    assert both.partitions == (Partition("t-0", 5, 9), Partition("t-1", 1, 1))
    assert job(QueryMetrics()).lag is None


@pytest.mark.parametrize(
    ("minutes", "behind"),
    [
        ([(1, 0, 0), (2, 500, 1000), (3, 900, 2000)], True),
        ([(1, 0, 0), (2, 500, 1000)], False),
        # As much as a hundredth of what is read comes and goes by chance.
        ([(1, 0, 0), (2, 10, 1000), (3, 900, 2000)], False),
        ([(1, 500, 0), (2, 400, 1000), (3, 900, 2000)], False),
        # Nothing is read, and more comes.
        ([(1, 500, 7), (2, 501, 7), (3, 501, 7)], True),
        # Nobody has looked meanwhile.
        ([(1, 0, 0), (5, 500, 1000), (6, 900, 2000)], False),
    ],
)
def test_more_comes_than_is_read(minutes: list[tuple[int, int, int]], behind: bool) -> None:
    query = QueryMetrics(minutes=tuple(LeastLag(*minute) for minute in minutes))
    assert query.falls_behind is behind
    assert job(QueryMetrics(), query).falls_behind is behind
    assert job(query, status="FAILED").falls_behind is False


def test_the_least_lag_of_each_minute() -> None:
    history = recorded("catching_up", times=10)
    minutes = history[-1].minutes
    assert len(minutes) == 3 and [m.number for m in minutes] == sorted({m.at // 60_000 for m in history if m.lag is not None})[-3:]
    for minute in minutes:
        assert minute.lag == min(m.lag for m in history if m.lag is not None and m.at // 60_000 == minute.number)


def test_what_has_come_since_a_micro_batch_was_planned_waits() -> None:
    """Brokers are asked while it runs. Of each micro-batch as much is left out where lags are compared."""
    lines = [json.loads(line) for line in (FOLDER / "catching_up.jsonl").read_text().splitlines()]
    line = next(each for each in lines if each["sample"]["running"] and each["sample"]["running"]["tasks"])
    sample = {"real_time": False, "waits": False, "heap": None, **line["sample"]}
    before = sampled(QueryMetrics(), sample, line["tables"])
    ends = {p.name: p.latest + 7 for i in before.inputs for p in i.partitions}
    assert ends and before.lag == before.planned_lag is not None
    asked = [{"servers": "b:1", "silent": None, "silence": None, "unread": [], "looked": 0, "every": 0, "name": "t", "read": {}, "ends": ends}]
    after = sampled(before, {**sample, "ended": [], "at": sample["at"] + 1000, "topics": asked}, line["tables"])
    assert (after.lag, after.planned_lag) == (before.lag + 7 * len(ends), before.lag)
    again = sampled(after, {**sample, "ended": [], "at": sample["at"] + 2000, "topics": asked}, line["tables"])
    assert (again.lag, again.planned_lag, again.minutes[-1].lag) == (after.lag, before.lag, before.lag)


def test_what_the_next_micro_batch_has_read_in_real_time_when_one_ends() -> None:
    lines = [json.loads(line) for line in (FOLDER / "catching_up.jsonl").read_text().splitlines()]
    line = next(each for each in lines if any(source["numInputRows"] for ended in each["sample"]["ended"] for source in ended["sources"]))
    sample = {
        "heap": None,
        "waits": False,
        **line["sample"],
        "real_time": True,
        "running": {"tasks": 1, "rows": 0, "bytes": 0, "size": 0, "done": 0, "start": {}, "end": {}},
    }
    first = sampled(QueryMetrics(), {**sample, "read": 0}, line["tables"]).ended_rows
    assert first > 0
    ended = sampled(QueryMetrics(), {**sample, "read": first + 4000}, line["tables"])
    assert (ended.ended_rows, ended.rows_in) == (first, first + 4000)
    further = sampled(ended, {**sample, "ended": [], "read": first + 4001, "at": sample["at"] + 1000}, line["tables"])
    assert (further.rows_in, further.last_input) == (first + 4001, further.at)


def test_a_row_of_the_overview() -> None:
    query = QueryMetrics(
        at=1, ended_rows=12, rows_out=3, watermark=1_700_000_000_500, late=1, states=(StateOperator("dedupe", 0, 42),),
        inputs=(Input("t", 12, tuple(Partition(f"t-{i}", 0, i) for i in range(11))),),
    )  # fmt: skip
    cells = dict(zip(figures.OVERVIEW, figures.overview(job(query)), strict=True))
    assert cells == {
        "job": "answers", "status": "RUNNING", "restarts": "0", "rows in": "12", "rows out": "3", "rows/s": "0", "lag": "55",
        "watermark": "2023-11-14 22:13:20.500", "state rows": None, "state bytes": "42", "late rows": "1",
        "lag by partition": "t-10: 10, t-9: 9, t-8: 8, t-7: 7, t-6: 6, t-5: 5, t-4: 4, t-3: 3, and 2 more", "last error": None, "job id": "0123abcd",
    }  # fmt: skip


def test_the_status_bar() -> None:
    assert figures.status_line("c.d", "streaming, table", []) == "c.d | streaming, table | 0 jobs running"
    running = QueryMetrics(watermark=1_700_000_000_000, recent=((0, 0), (1000, 1500)), inputs=(Input("t", 1, (Partition("t-0", 0, 1200),)),))
    jobs = [job(running), job(QueryMetrics(), status="FAILED", error="x"), job(status="FINISHED")]
    assert figures.status_line("c.d", "batch, tableau", jobs) == (
        "c.d | batch, tableau | 1 job running | 1 failed | 1,500 rows/s | lag 1,200 | watermark 2023-11-14 22:13:20"
    )


def test_a_progress_line() -> None:
    reading = QueryMetrics(ended_rows=10, batch=Batch(500, 2000, 0, None, 4, 1), recent=((0, 0), (1000, 100)))
    assert figures.progress_line(job(reading)) == ("answers  [#####---------------] 25 %  500 of 2,000 rows  100 rows/s  1 of 4 tasks  15 s left")
    assert figures.plain_progress(job(reading)) == "answers: 500 of 2,000 rows read, 100 rows/s"
    files = replace(reading, batch=Batch(7, None, 50, 100, 4, 2))
    assert figures.progress_line(job(files)) == "answers  [##########----------] 50 %  17 rows read  100 rows/s  2 of 4 tasks"
    assert figures.progress_line(job(QueryMetrics(ended_rows=1))) == "answers  1 row read  0 rows/s"


@pytest.mark.parametrize(("seconds", "text"), [(0, "0 s"), (59.6, "1 min"), (125, "2 min 5 s"), (3 * 3600 + 61, "3 h 1 min")])
def test_durations(seconds: float, text: str) -> None:
    assert figures.duration(seconds) == text


def test_moments_are_of_the_zone() -> None:
    assert figures.moment(1_700_000_000_000, "Asia/Tokyo") == "2023-11-15 07:13:20"
    assert figures.moment(253_402_300_800_001, "Asia/Tokyo") == "10000-01-01 09:00:00.001", "beyond Python's calendar"
    assert figures.moment(-62_135_596_800_001, "UTC") == "0000-12-31 23:59:59.999"
    assert figures.clock(1_700_000_000_000, "Asia/Tokyo") == "07:13:20"
